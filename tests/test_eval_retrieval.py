"""BEIR folders, rankings over a small real collection, and the `eval` commands through the command line."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from test_runs import Scripted

from eval.beir import is_beir, load
from eval.metrics import Abstracts, Share
from eval.questions import Question
from eval.retrieval import as_keys, build_collection, documents_of, gold_judgements, measure, rank
from rag.embed import Embedder, Vectors
from rag.errors import InputError, PinciteError
from rag.indexing import Quiet
from rag.library import Library
from rag.retrieve import Retriever
from rag.settings import Settings
from rag.words import words
from ui.commands.evaluate import evaluate

CORPUS = [
    ("d1", "Kiln", ["Kiln trains sparse networks in one pass.", "It keeps one weight in eight of them."]),
    (
        "d2",
        "Mole",
        ["Mole digs for causal links in streams.", "It needs little memory and no labels at all."],
    ),
    (
        "d3",
        "Heron",
        ["Heron waits before it answers.", "Waiting longer makes its answers shorter and better."],
    ),
    ("d4", "Kiln", ["Kiln trains sparse networks in one pass.", "It keeps one weight in eight of them."]),
]
QUERIES = [("q1", "sparse networks in one pass"), ("q2", "causal links in streams"), ("q3", "unjudged words")]
ANSWERS = [
    {"query_id": "q1", "answer": None, "label": "SUPPORT", "evidence": [{"doc_id": "d1", "sentences": [1]}]},
    {"query_id": "q2", "answer": ["links", "causal links", "links"], "label": "answerable", "evidence": []},
    {"query_id": "q3", "answer": None, "label": "NOT_ENOUGH_INFO", "evidence": []},
]


class HashEmbedder(Embedder):
    """Each word has a place of its own: near means shared words."""

    name, dimension, max_tokens, fingerprint = "hash", 64, 512, "hash-1"

    def _encode(self, texts: Sequence[str]) -> Vectors:
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                out[row, zlib.crc32(word.encode()) % self.dimension] += 1
        return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        return [len(words(text)) + 2 for text in texts]


def lines(rows: Sequence[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A BEIR folder of four documents, two of them the same paper."""
    home = tmp_path / "tiny"
    (home / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": i, "title": title, "text": " ".join(said), "metadata": {"sentences": said}}
        for i, title, said in CORPUS
    ]
    (home / "corpus.jsonl").write_text(lines(corpus))
    (home / "queries.jsonl").write_text(lines([{"_id": i, "text": text} for i, text in QUERIES]))
    (home / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td4\t1\nq1\td3\t0\nq2\td2\t1\n")
    return home


@pytest.fixture
def retriever(folder: Path, tmp_path: Path) -> Retriever:
    embedder = HashEmbedder()
    library, vectors = build_collection(folder / "corpus.jsonl", tmp_path / "made", lambda: embedder, Quiet())
    return Retriever(library, vectors, embedder)


# --- BEIR folders ---


def test_a_folder_without_answers(folder: Path) -> None:
    assert is_beir(folder) and not is_beir(folder / "qrels")
    one = load(folder)
    assert one.name == "tiny" and one.judgements == {"q1": {"d4": 1, "d3": 0}, "q2": {"d2": 1}}
    assert one.questions == (
        Question("q1", "query", "sparse networks in one pass", papers=("d4",)),  # grade 0 is not relevant
        Question("q2", "query", "causal links in streams", papers=("d2",)),
    )
    assert [file.name for file in one.files] == ["corpus.jsonl", "queries.jsonl", "test.tsv"]


def test_a_folder_with_claims_and_answers(folder: Path) -> None:
    (folder / "answers.jsonl").write_text(lines(ANSWERS))
    assert load(folder).questions == (
        Question(
            "q1",
            "SUPPORT",
            "sparse networks in one pass",
            evidence=("It keeps one weight in eight of them.",),
            papers=("d1",),
        ),
        Question(
            "q2", "answerable", "causal links in streams", facts=(("links", "causal links"),), papers=("d2",)
        ),
        Question("q3", "NOT_ENOUGH_INFO", "unjudged words", answerable=False),
    )


def test_splits_with_files_of_their_own(folder: Path) -> None:
    (folder / "qrels" / "train.tsv").write_text("t1\td1\t2\n")
    (folder / "queries.train.jsonl").write_text(lines([{"_id": "t1", "text": "weights"}]))
    assert [(q.id, q.papers) for q in load(folder, "train").questions] == [("t1", ("d1",))]
    with pytest.raises(
        InputError, match=r"dev\.tsv does not exist\. Splits that have judgements: test, train"
    ):
        load(folder, "dev")


def test_what_is_wrong_with_a_folder_is_named(folder: Path) -> None:
    qrels = folder / "qrels" / "test.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\nq1 d1 1\n")
    with pytest.raises(InputError, match=r"test\.tsv, line 2: expected query id, .* found 'q1 d1 1'"):
        load(folder)
    qrels.write_text("q1\td1\t1\nq9\td1\t1\n")
    with pytest.raises(InputError, match="1 judged queries have no text, for one 'q9'"):
        load(folder)
    with pytest.raises(InputError, match="is no BEIR folder"):
        load(folder / "qrels")


# --- rankings ---


def test_a_corpus_becomes_a_collection_that_knows_its_documents(retriever: Retriever) -> None:
    assert retriever.library.size()[0] == 3  # d4 says what d1 says
    documents = documents_of(retriever.library)
    assert documents == {"d1": ("d1", "d4"), "d2": ("d2",), "d3": ("d3",)}
    asked = [Question("a", "query", "?", papers=("d4", "d1")), Question("b", "query", "?", papers=("gone",))]
    assert as_keys(asked, documents) == {"a": ("d1",), "b": ()}
    with pytest.raises(InputError, match="none of the set's documents. Run again with --index-corpus"):
        as_keys(asked[1:], documents)


def test_a_second_call_embeds_nothing(retriever: Retriever, folder: Path, tmp_path: Path) -> None:
    def never() -> Embedder:
        raise AssertionError("there is nothing to embed")

    library, _ = build_collection(folder / "corpus.jsonl", tmp_path / "made", never, Quiet())
    assert library.size()[0] == 3


def test_three_ways_of_ranking(retriever: Retriever) -> None:
    found = rank(retriever, ("causal streams",))
    assert list(found) == ["full text", "vectors", "fused"]
    assert found["full text"] == ["d2"]
    assert found["vectors"][0] == "d2" and sorted(found["vectors"]) == ["d1", "d2", "d3"]
    assert found["fused"][0] == "d2"
    assert rank(retriever, ("and then?", "sparse networks"))["full text"] == [
        "d1"
    ]  # a follow-up's second form


def test_measured_over_documents(retriever: Retriever, folder: Path, tmp_path: Path) -> None:
    one = load(folder)
    documents = documents_of(retriever.library)
    found = measure(one.questions, retriever, one.judgements, tmp_path, documents=documents)
    assert found["q1"]["full text MRR"] == Share(0.5, 1)  # d4 stands behind its twin d1
    assert found["q2"]["fused nDCG@10"] == Share(1, 1)
    assert len(found["q1"]) == 15  # three ways, five measures
    first = (tmp_path / "run.trec").read_text().splitlines()[0].split()
    assert first[:4] == ["q1", "Q0", "d1", "1"] and first[5] == "pincite-fused"
    assert (tmp_path / "run.full-text.trec").read_text().splitlines()[1].split()[2] == "d4"


def test_questions_are_judged_by_their_evidence(retriever: Retriever, tmp_path: Path) -> None:
    asked = [
        Question("a", "lookup", "What is sparse?", evidence=("It keeps one weight in eight of them.",)),
        Question("b", "absent_far", "Who won?", answerable=False),
        Question("c", "about", "How many papers?"),
    ]
    abstracts = Abstracts({p.key: p.abstract for p in retriever.library.papers()})
    judged = gold_judgements(asked, abstracts)
    assert judged == {"a": {"d1": 1}}
    assert set(measure(asked, retriever, judged, tmp_path)) == {"a"}


# --- the commands ---


@dataclass
class Context:
    """What `ui.cli` hands to a command, around the small collection and a scripted assistant."""

    settings: Settings
    retriever: Retriever
    quiet: bool = True

    def open_library(self) -> Library:
        return self.retriever.library

    def open_retriever(self) -> Retriever:
        return self.retriever

    def open_assistant(self) -> Scripted:
        assistant = Scripted()
        assistant.retriever = self.retriever  # type: ignore[attr-defined]
        assistant.fingerprint = lambda: {"llm": "scripted"}  # type: ignore[attr-defined]
        return assistant


@pytest.fixture
def call(retriever: Retriever, tmp_path: Path) -> Any:
    context = Context(Settings(home=tmp_path), retriever)

    def called(*arguments: str | Path) -> Result:
        return CliRunner().invoke(evaluate, [str(a) for a in arguments], obj=context)

    return called


ITEM: dict[str, Any] = {
    "id": "k",
    "kind": "lookup",
    "question": "What does Kiln keep?",
    "answerable": True,
    "evidence": ["Kiln trains sparse networks in one pass."],
    "facts": [["one pass"]],
    "reference": "Kiln trains them in one pass.",
}
ABSENT = {
    "id": "x",
    "kind": "absent_far",
    "question": "Who won the cup?",
    "answerable": False,
    "reference": "Not here.",
}


def test_check_prints_faults_and_fails(call: Any, tmp_path: Path) -> None:
    good = tmp_path / "good.jsonl"
    good.write_text(lines([ITEM, ABSENT]))
    done = call("check", good)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "2 questions, no faults.\n")
    bad = tmp_path / "bad.jsonl"
    bad.write_text(lines([ITEM | {"facts": []}, ABSENT]))
    done = call("check", bad)
    assert done.stdout == "k: answerable, but it has no facts\n"
    assert isinstance(done.exception, PinciteError) and "1 faults in" in str(done.exception)


def test_run_compare_and_gate(call: Any, tmp_path: Path) -> None:
    questions = tmp_path / "set.jsonl"
    questions.write_text(lines([ITEM, ABSENT]))
    done = call("run", questions, "--out", tmp_path / "a", "--without-gold")
    assert done.exit_code == 0, done.exception
    assert done.stdout.splitlines()[0].split()[:4] == ["kind", "n", "right", "facts"]
    assert [row.split()[0] for row in done.stdout.splitlines()[1:5]] == [
        "lookup",
        "absent_far",
        "ALL",
        "gold_removed",
    ]
    assert json.loads((tmp_path / "a" / "run.json").read_text())["options"] == {
        "without_gold": True,
        "split": "test",
    }
    call("run", questions, "--out", tmp_path / "b")
    done = call("compare", tmp_path / "a", tmp_path / "b")
    assert done.stdout.startswith("No difference beyond noise in right answers, ")
    assert "2 questions in both runs; 1 that only one of them asked are left out" in done.stdout
    found = json.loads(call("compare", tmp_path / "a", tmp_path / "b", "--json").stdout)
    assert (found["common"], found["flips"]) == (2, [])
    done = call("gate", tmp_path / "a", tmp_path / "b")
    assert (done.exit_code, done.stderr) == (0, "Passed: no drop beyond noise.\n")


def test_gate_fails_on_a_drop(call: Any, tmp_path: Path) -> None:
    questions = tmp_path / "set.jsonl"
    questions.write_text(lines([ITEM | {"id": f"k{n}"} for n in range(30)]))
    call("run", questions, "--out", tmp_path / "a")
    call("run", questions, "--out", tmp_path / "b")
    scores = tmp_path / "b" / "scores.jsonl"
    rows = [json.loads(line) for line in scores.read_text().splitlines()]
    for row in rows:
        row["figures"]["exact"] = [0, 1]
    for name, value in (("a", 1), ("b", 0)):
        file = tmp_path / name / "scores.jsonl"
        file.write_text(lines([row | {"figures": row["figures"] | {"exact": [value, 1]}} for row in rows]))
    done = call("gate", tmp_path / "a", tmp_path / "b")
    assert isinstance(done.exception, PinciteError)
    assert "beyond noise. exact quotes: 100.0 before, 0.0 now" in str(done.exception)


def test_several_sets_get_a_folder_each(call: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text(lines([ABSENT]))
    call("run", tmp_path / "one.jsonl", tmp_path / "two.jsonl", "--out", tmp_path / "out")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["one", "two"]
    done = call("run", tmp_path / "one.jsonl", tmp_path / "one.jsonl", "--out", tmp_path / "out")
    assert done.exit_code == 2 and "same name" in done.stderr


def test_retrieval_only_over_both_kinds_of_sets(call: Any, folder: Path, tmp_path: Path) -> None:
    done = call("run", folder, "--out", tmp_path / "beir", "--retrieval-only", "--limit", "1")
    assert done.exit_code == 0, done.exception
    assert "full text nDCG@10" in done.stdout and "over 1" in done.stdout
    assert (tmp_path / "beir" / "run.trec").exists() and not (tmp_path / "beir" / "answers.jsonl").exists()
    questions = tmp_path / "set.jsonl"
    questions.write_text(
        lines([ITEM | {"evidence": ["This sentence stands in none of the papers."]}, ITEM | {"id": "l"}])
    )
    done = call("run", questions, "--out", tmp_path / "own", "--retrieval-only")
    assert done.stderr == "1 of 2 questions quote papers that are not in this collection.\n"
    assert (tmp_path / "own" / "run.trec").read_text().startswith("k Q0 d1 1 ")


def test_a_beir_folder_is_also_asked(call: Any, folder: Path, tmp_path: Path) -> None:
    (folder / "answers.jsonl").write_text(lines(ANSWERS))
    done = call("run", folder, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.exception
    rows = [json.loads(line) for line in (tmp_path / "out" / "answers.jsonl").read_text().splitlines()]
    assert [(row["id"], row["status"]) for row in rows] == [(q, "not_found") for q in ("q1", "q2", "q3")]
    assert [row.split()[0] for row in done.stdout.splitlines()[1:4]] == [
        "SUPPORT",
        "answerable",
        "NOT_ENOUGH_INFO",
    ]


@pytest.mark.parametrize("options", [["--retrieval-only", "--without-gold"], ["--index-corpus"]])
def test_options_that_do_not_go_together(call: Any, tmp_path: Path, options: list[str]) -> None:
    questions = tmp_path / "set.jsonl"
    questions.write_text(lines([ITEM]))
    assert call("run", questions, "--out", tmp_path / "out", *options).exit_code == 2


def test_help_holds_examples(call: Any) -> None:
    for command in ([], ["check"], ["run"], ["compare"], ["gate"]):
        assert "pincite eval " in call(*command, "--help").stdout


def test_drafts_are_run_and_the_summary_says_so(call: Any, tmp_path: Path) -> None:
    questions = tmp_path / "set.jsonl"
    questions.write_text(lines([ITEM | {"reviewed": False}, ABSENT, ITEM | {"id": "l", "reviewed": True}]))
    done = call("run", questions, "--out", tmp_path / "a")
    assert done.stdout.splitlines()[-1].startswith("1 of 3 questions are drafts that nobody has reviewed")
    assert json.loads((tmp_path / "a" / "run.json").read_text())["unreviewed"] == 1
    questions.write_text(lines([ITEM, ABSENT]))
    assert "drafts" not in call("run", questions, "--out", tmp_path / "b").stdout


def test_only_the_questions_with_some_ids(call: Any, tmp_path: Path) -> None:
    questions = tmp_path / "set.jsonl"
    questions.write_text(lines([ITEM, ABSENT, ITEM | {"id": "l"}]))
    call("run", questions, "--out", tmp_path / "a", "--ids", "l,x")
    rows = [json.loads(line) for line in (tmp_path / "a" / "answers.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["x", "l"]  # in the set's order
    done = call("run", questions, "--out", tmp_path / "b", "--ids", "l,m,n")
    assert "The set has no question with the id m, n." in str(done.exception)
    done = call("run", questions, "--out", tmp_path / "b", "--ids", "l", "--kinds", "absent_far")
    assert "There is no question to ask" in str(done.exception)


@pytest.mark.parametrize("field", [{"reviewed": "no"}, {"note": 3}])
def test_the_fields_of_drafts_are_checked(call: Any, tmp_path: Path, field: dict[str, Any]) -> None:
    questions = tmp_path / "set.jsonl"
    questions.write_text(lines([ITEM | field]))
    done = call("check", questions)
    assert isinstance(done.exception, InputError) and f"'{next(iter(field))}' must be" in str(done.exception)
