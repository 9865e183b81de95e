import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.questions import KINDS, Question, check, load
from rag.errors import InputError, PinciteError
from rag.nouns import Turn
from rag.text import readable

KILN = "Kiln trains **sparse** networks in one pass. It keeps 12.5\\% of the weights of the dense network at hand."
MOLE = "Mole digs for causal links in streams. It needs $O(n \\log n)$ memory and no labels, on nine public streams."
READABLE = [readable(KILN), readable(MOLE)]
ROW: dict[str, Any] = {
    "id": "q1",
    "kind": "numeric",
    "question": "How many of the weights does Kiln keep?",
    "history": [],
    "answerable": True,
    "evidence": ["It keeps 12.5\\% of the weights of the dense network"],
    "facts": [["12.5%", "12.5 %", "12.5 percent"]],
    "forbidden": ["87.5"],
    "reference": "It keeps 12.5% of them.",
}
GOOD = Question(
    id="q1",
    kind="numeric",
    question="How many of the weights does Kiln keep?",
    evidence=("It keeps 12.5\\% of the weights of the dense network",),
    facts=(("12.5%", "12.5 %", "12.5 percent"),),
    forbidden=("87.5",),
    reference="It keeps 12.5% of them.",
)


def write(folder: Path, *lines: str | dict[str, Any]) -> Path:
    file = folder / "set.jsonl"
    file.write_text(
        "\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines) + "\n", encoding="utf-8"
    )
    return file


# --- loading ---


def test_a_line_becomes_a_question(tmp_path: Path) -> None:
    assert load(write(tmp_path, ROW)) == [GOOD]


def test_history_keeps_its_order(tmp_path: Path) -> None:
    turns = [{"question": "What is Kiln?", "answer": "A trainer."}, {"question": "Sparse?", "answer": "Yes."}]
    (one,) = load(write(tmp_path, ROW | {"kind": "followup", "history": turns}))
    assert one.history == (Turn("What is Kiln?", "A trainer."), Turn("Sparse?", "Yes."))


def test_a_byte_order_mark_blank_lines_and_odd_line_separators_harm_nothing(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    odd = json.dumps(ROW | {"question": "one\u2028two"}, ensure_ascii=False)
    file.write_bytes(b"\xef\xbb\xbf" + odd.encode() + b"\r\n\r\n" + json.dumps(ROW | {"id": "q2"}).encode())
    assert [q.question for q in load(file)] == ["one\u2028two", GOOD.question]


def test_fields_that_may_be_left_out(tmp_path: Path) -> None:
    (one,) = load(write(tmp_path, {"id": "a", "kind": "absent_far", "question": "Why?", "answerable": False}))
    assert one == Question("a", "absent_far", "Why?", answerable=False)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not valid JSON"),
        ("[1]", "not a JSON object but list"),
        ({k: v for k, v in ROW.items() if k != "kind"}, "the field 'kind' is missing"),
        (ROW | {"id": 7}, "'id' must be text, not 7"),
        (ROW | {"answerable": "yes"}, "'answerable' must be true or false, not 'yes'"),
        (ROW | {"evidence": "a quote"}, "'evidence' must be a list of texts"),
        (ROW | {"facts": ["12.5%"]}, "'facts' must hold lists of texts"),
        (ROW | {"facts": {}}, "'facts' must be a list"),
        (ROW | {"history": [{"question": "?"}]}, "'history' must hold objects with 'question' and 'answer'"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, line: str | dict[str, Any], said: str) -> None:
    file = write(tmp_path, ROW, line)
    with pytest.raises(PinciteError) as caught:
        load(file)
    assert f"{file}, line 2: " in str(caught.value) and said in str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.jsonl cannot be read: No such file"):
        load(tmp_path / "nothing.jsonl")
    (tmp_path / "latin.jsonl").write_bytes('{"id": "Zürich"}'.encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.jsonl is not UTF-8"):
        load(tmp_path / "latin.jsonl")


# --- checking ---


def test_a_sound_set_has_no_faults_over_readable_text_and_over_text_as_found() -> None:
    assert check([GOOD], READABLE) == []
    assert check([GOOD], [KILN, MOLE]) == []
    assert "\\" not in READABLE[0] and "\\" in GOOD.evidence[0]


def test_a_quote_must_be_in_one_place() -> None:
    lost = replace(GOOD, evidence=("It keeps 21.5\\% of the weights of the dense network",))
    assert check([lost], READABLE) == [
        f"q1: evidence is in no abstract of the collection: {lost.evidence[0]!r}",
    ]
    assert check([GOOD], [KILN, KILN + " Twice."]) == [
        f"q1: evidence is not unique, it is in 2 abstracts: {GOOD.evidence[0]!r}"
    ]
    assert check([GOOD], [KILN + " Again: it keeps 12.5% of the weights of the dense network."]) == [
        f"q1: evidence is not unique, it is 2 times in its abstract: {GOOD.evidence[0]!r}"
    ]


def test_a_short_quote() -> None:
    short = replace(GOOD, evidence=("It keeps 12.5\\% of the weights",))
    assert check([short], READABLE) == [
        f"q1: evidence shorter than 40 characters: {short.evidence[0]!r}",
    ]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"evidence": ()}, "answerable, but it has no evidence"),
        ({"facts": ()}, "answerable, but it has no facts"),
        ({"facts": (("12.5%",), ())}, "a fact needs at least one surface form, none of them empty: []"),
        (
            {"facts": (("12.5%", "$ $"),)},
            "a fact needs at least one surface form, none of them empty: ['12.5%', '$ $']",
        ),
        ({"facts": (("13 layers",),)}, "a fact that is in neither evidence nor reference: ['13 layers']"),
        ({"facts": (("2.5%",),)}, "a fact that is in neither evidence nor reference: ['2.5%']"),
        ({"forbidden": ("12.5",)}, "the reference holds the forbidden phrase '12.5'"),
        ({"forbidden": ("dense network",)}, "the evidence holds the forbidden phrase 'dense network'"),
        ({"forbidden": ("**",)}, "an empty forbidden phrase"),
        ({"kind": "compare"}, "compare needs two or more papers; its evidence is from 1"),
        ({"kind": "followup"}, "a followup without history"),
        ({"kind": "count"}, "count without the number in digits among its facts"),
        ({"kind": "absent_near"}, "answerable is true, which does not go with the kind absent_near"),
        ({"history": (Turn("?", "!"),) * 4}, "4 earlier turns; at most 3"),
        ({"reference": " "}, "the reference is empty"),
        ({"question": ""}, "the question is empty"),
        ({"unknown": ("forbiden",)}, "unknown field forbiden"),
    ],
)
def test_each_fault_is_found(changes: dict[str, Any], fault: str) -> None:
    assert check([replace(GOOD, **changes)], READABLE) == [f"q1: {fault}"]


def test_an_unknown_kind_is_answered_with_the_known_ones() -> None:
    (fault,) = check([replace(GOOD, kind="numerical")], READABLE)
    assert fault == f"q1: unknown kind 'numerical'; known: {', '.join(sorted(KINDS))}"
    assert len(KINDS) == 13


def test_unanswerable_questions_have_neither_evidence_nor_facts() -> None:
    absent = Question(
        "q2", "absent_near", "On how many GPUs?", answerable=False, reference="It does not say."
    )
    assert check([absent], READABLE) == []
    assert check([replace(absent, facts=(("8",),))], READABLE) == [
        "q2: not answerable, but it has evidence or facts"
    ]


def test_questions_about_the_collection_need_no_evidence() -> None:
    about = Question("q3", "about", "How many papers are there?", facts=(("2", "two"),), reference="Two.")
    assert check([about], READABLE) == []


def test_ids_and_questions_are_used_once() -> None:
    assert check([GOOD, replace(GOOD, question="And Kiln?")], READABLE) == ["q1: the id is used 2 times"]
    same = replace(GOOD, id="q2", question="how many of the weights does kiln keep")
    assert check([GOOD, same], READABLE) == ["q2: asks the same as q1"]
    later = replace(same, kind="followup", history=(Turn("What is Kiln?", "A trainer."),))
    assert check([GOOD, later], READABLE) == []


# --- the development sets ---

SHARED = Path(__file__).parents[2] / "shared"


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared development material is not here")
def test_the_development_sets_are_sound() -> None:
    seeds = [
        b
        for name in ("iclr2024", "icml2024")
        for b in (SHARED / "seeds" / f"{name}.txt").read_text().split("\n\n")
    ]
    assert check(load(SHARED / "eval" / "dev_seeds.jsonl"), map(readable, seeds)) == []
    lines = (SHARED / "eval" / "dev_corpus_papers.jsonl").read_text(encoding="utf-8").strip().split("\n")
    papers = [readable(json.loads(line)["abstract"]) for line in lines]
    assert check(load(SHARED / "eval" / "dev_corpus.jsonl"), papers) == []
