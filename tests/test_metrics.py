import json
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.bootstrap import differences, totals
from eval.matching import fact_found, folded, holds, is_number, numbers, opening, skeleton, without_markers
from eval.metrics import FIGURES, Abstracts, RowScore, Share, refusals, score_row, word_limit
from eval.questions import Question, load
from eval.ranking import figures, trec
from rag.text import readable

KILN = (
    "Kiln trains sparse networks in one pass. It keeps 12.5% of the weights and runs 3.4 times faster "
    "than the dense network on a laptop processor. Accuracy falls by 0.2 points."
)
MOLE = "Mole digs for causal links in streams. On nine streams it needs $O(n \\log n)$ memory and no labels."
ABSTRACTS = Abstracts({"kiln": KILN, "mole": MOLE})
SPEED = Question(
    id="q1",
    kind="numeric",
    question="How much faster is Kiln?",
    evidence=("It keeps 12.5% of the weights and runs 3.4 times faster than the dense network",),
    facts=(("3.4 times", "3.4x", "3.4×"), ("laptop",)),
    forbidden=("12.5 times",),
    reference="It runs 3.4 times faster on a laptop processor.",
)


def cite(key: str, text: str, quote: str, **changes: Any) -> dict[str, Any]:
    start = text.index(quote)
    return {"n": 1, "paper": key, "quote": quote, "start": start, "end": start + len(quote)} | changes


def answered(*sentences: tuple[str, list[dict[str, Any]]], **changes: Any) -> dict[str, Any]:
    return {
        "status": "answered",
        "text": " ".join(text for text, _ in sentences),
        "sentences": [{"text": text, "support": "weak", "citations": cited} for text, cited in sentences],
    } | changes


QUOTE = cite("kiln", KILN, KILN[41:141])
GOOD = answered(("Kiln is 3.4 times faster on a laptop.", [QUOTE]))

# --- matching ---


@pytest.mark.parametrize(
    ("text", "phrase", "found"),
    [
        ("it takes 3 steps", "3", True),
        ("it takes 3.5 steps", "3", False),
        ("it takes 13 steps", "3", False),
        ("a drop of 3% in all", "3", False),
        ("takes 3.", "3", True),
        ("on 3,000 images", "3", False),
        ("three papers", "three", True),
        ("threefold", "three", False),
        ("gains 12.5 points", "2.5", False),
        ("gains 2.5x", "2.5", True),
        ("gains 12.5 points", "2.5 points", False),  # a phrase that begins with a digit is not cut out either
        ("gains 2.5 points", "2.5 points", True),
        ("uses task-embeddings", "task-embedding", True),
    ],
)
def test_numbers_are_never_cut_out_of_longer_ones(text: str, phrase: str, found: bool) -> None:
    assert holds(folded(text), phrase) is found


def test_markup_and_typography_make_no_difference() -> None:
    assert folded("**Up** to $\\mathbf{38}\\%$ —  it’s `fast`") == "up to 38% - it's fast"
    assert folded("$2 \\times 3$") == "2 × 3"
    assert skeleton("Its $O(n^2)$ cost…") == skeleton("its O(n2)  COST") == "itson2cost"


def test_markers_leave_a_gap_where_they_stood() -> None:
    assert without_markers("It is so [1][2-3], and [4, 5] more [a].") == "It is so   , and   more [a]."


def test_a_count_must_stand_in_the_opening_clause() -> None:
    forms = ("2", "two")
    assert fact_found(forms, "Two of the 38 papers do: Kiln and Mole.", counted=True)
    assert not fact_found(forms, "These papers do: 1. Kiln 2. Mole", counted=True)
    assert fact_found(forms, "These papers do: 1 is Kiln, 2 is Mole", counted=False)
    assert opening("Five of the 38 do. Kiln") == "Five  do"


def test_numbers_as_written() -> None:
    assert numbers("from 2.7 to 10,000 in 3.") == ["2.7", "10,000", "3"]
    assert is_number("seven") and is_number("3.4") and not is_number("3.4 times")


# --- one row ---


def test_a_right_answer() -> None:
    score = score_row(SPEED, GOOD, ABSTRACTS)
    assert score == RowScore(
        dead=Share(0, 1),
        right=Share(1, 1),
        facts=Share(2, 2),
        over=Share(0, 1),
        refok=None,  # answerable: does not apply
        cited=Share(1, 1),
        exact=Share(1, 1),
        ingold=Share(1, 1),
        gldhit=Share(1, 1),
        long=Share(0, 1),
        own=Share(1, 1),
        nums=Share(1, 1),  # 3.4 stands in the quote
        citpre=Share(1, 1),
        citrec=Share(1, 1),
        quoted=Share(0, 1),
        supported=Share(0, 1),
        weak=Share(1, 1),
    )


def test_a_missing_fact_a_forbidden_phrase_and_length_make_an_answer_wrong() -> None:
    half = score_row(SPEED, answered(("Kiln is 3.4 times faster.", [])), ABSTRACTS)
    assert (half.right, half.facts) == (Share(0, 1), Share(1, 2))  # the laptop is missing
    swapped = score_row(SPEED, answered(("3.4 times, or 12.5 times, on a laptop.", [])), ABSTRACTS)
    assert (swapped.right, swapped.facts) == (Share(0, 1), Share(2, 2))
    padded = GOOD | {"text": GOOD["text"] + " and" * 53}  # 8 + 53 = 61 words; max(60, 3 x 9) are allowed
    assert word_limit(SPEED) == 60
    assert (score_row(SPEED, padded, ABSTRACTS).right, score_row(SPEED, padded, ABSTRACTS).long) == (
        Share(0, 1),
        Share(1, 1),
    )


def test_the_limit_grows_with_the_reference() -> None:
    assert word_limit(Question("a", "lookup", "?", reference="word " * 30)) == 90  # 3 x 30
    assert word_limit(Question("a", "list", "?", reference="word " * 29)) == 120  # 4 x 29 = 116
    assert word_limit(Question("a", "compare", "?", reference="word " * 31)) == 124  # 4 x 31


def test_a_refusal_of_an_answerable_question() -> None:
    score = score_row(
        SPEED, {"status": "not_found", "text": "Not here. Closest: Kiln, 3.4 times."}, ABSTRACTS
    )
    assert score.figures() == {
        "dead": Share(0, 1),
        "right": Share(0, 1),
        "facts": Share(0, 2),  # what a refusal happens to say counts for nothing
        "over": Share(1, 1),
        "long": Share(0, 1),
    }


@pytest.mark.parametrize(
    ("row", "refused", "dead"),
    [({"status": "not_found"}, 1, 0), (GOOD, 0, 0), ({"status": "error", "error": "x"}, 0, 1), ({}, 0, 1)],
)
def test_an_unanswerable_question_has_one_figure(row: dict[str, Any], refused: int, dead: int) -> None:
    absent = Question("q2", "absent_near", "On how many GPUs?", answerable=False)
    assert score_row(absent, row, ABSTRACTS).figures() == {"dead": Share(dead, 1), "refok": Share(refused, 1)}


def test_a_failed_row_is_wrong_but_no_refusal() -> None:
    score = score_row(SPEED, {"status": "error", "error": "out of memory"}, ABSTRACTS)
    assert (score.dead, score.right, score.over, score.cited) == (Share(1, 1), Share(0, 1), Share(0, 1), None)


def test_citations_are_counted_and_averaged() -> None:
    row = answered(
        ("Kiln is 3.4 times faster on a laptop.", [QUOTE, cite("mole", MOLE, MOLE[:38])]),
        ("It is fast.", []),
        ("Kiln needs 7 days.", [cite("kiln", KILN, KILN[:40], start=1)]),
    )
    score = score_row(SPEED, row, ABSTRACTS)
    assert score.cited == Share(2, 3)
    assert score.exact == Share(2, 3)  # the last one's span is off by one
    assert score.ingold == Share(2 / 3, 1)  # kiln, not mole, kiln
    assert score.nums == Share(1, 2)  # 3.4 stands, 7 does not


def test_citations_are_measured_against_gold_evidence_both_ways() -> None:
    two = replace(SPEED, evidence=(*SPEED.evidence, "Mole digs for causal links in streams."))
    row = answered(
        ("Kiln is 3.4 times faster on a laptop.", [QUOTE, cite("kiln", KILN, KILN[:40])]),
        ("It is fast.", [QUOTE]),
    )
    score = score_row(two, row, ABSTRACTS)
    assert score.citpre == Share(2, 3)  # QUOTE twice, and one of another sentence of the paper
    assert score.citrec == Share(1, 2)  # nothing cites the sentence of Mole
    assert score.ingold == Share(1, 1)  # and yet every citation is of a gold paper


def test_without_gold_quotes_there_is_no_precision() -> None:
    score = score_row(replace(SPEED, evidence=(), papers=("kiln",)), GOOD, ABSTRACTS)
    assert (score.citpre, score.citrec) == (None, None)
    silent = score_row(SPEED, answered(("Fast.", [])), ABSTRACTS)
    assert (silent.citpre, silent.citrec) == (None, Share(0, 1))  # no citation: no precision, recall 0


def test_grades_are_shares_of_sentences() -> None:
    row = answered(("Kiln is fast.", [QUOTE]), ("It is.", [QUOTE]), ("So it is.", [QUOTE]))
    for sentence, grade in zip(row["sentences"], ("quoted", "supported", "supported"), strict=True):
        sentence["support"] = grade
    score = score_row(SPEED, row, ABSTRACTS)
    assert (score.quoted, score.supported, score.weak) == (Share(1, 3), Share(2, 3), Share(0, 3))


def test_without_the_abstracts_the_other_figures_are_the_same() -> None:
    known = score_row(SPEED, GOOD, ABSTRACTS).figures()
    assert score_row(SPEED, GOOD, None).figures() == {
        name: share for name, share in known.items() if name not in ("exact", "ingold", "own")
    }


def test_both_errors_of_refusal() -> None:
    rows = [{"over": Share(x, 1)} for x in (1, 0, 0, 0)] + [{"refok": Share(x, 1)} for x in (1, 1, 0)]
    assert refusals(rows) == {
        "refpre": Share(2, 3),  # three refusals, two of them right
        "refrec": Share(2, 3),  # three unanswerable questions, two refused
        "refover": Share(1, 4),
    }
    assert refusals([{"over": Share(0, 1)}]) == {"refover": Share(0, 1)}  # no refusal: no precision
    assert refusals([{}]) == {}


def test_no_citations_means_no_figure_about_them() -> None:
    score = score_row(SPEED, answered(("3.4 times on a laptop.", [])), ABSTRACTS)
    assert (score.cited, score.exact, score.ingold, score.nums) == (Share(0, 1), None, None, None)
    assert score.gldhit == Share(0, 1)  # an answer that cites nothing hits nothing


def test_a_citation_of_an_unknown_paper_counts_by_its_quote() -> None:
    moved = cite("kiln", KILN, KILN[41:141], paper="another-key")
    score = score_row(SPEED, answered(("Fast.", [moved])), ABSTRACTS)
    assert (score.ingold, score.exact) == (Share(1, 1), Share(0, 1))
    short = {"paper": "another-key", "quote": "Kiln trains", "start": 0, "end": 11}  # under 20 letters
    assert score_row(SPEED, answered(("Fast.", [short])), ABSTRACTS).ingold == Share(0, 1)


def test_a_verbatim_sentence_is_not_in_own_words() -> None:
    row = answered((KILN[:40], []), ("It keeps 12.5 % of the *weights*", []), ("Kiln is sparse.", []))
    assert score_row(SPEED, row, ABSTRACTS).own == Share(1, 3)  # layout and markup hide no copy


def test_evidence_as_found_finds_the_readable_abstract() -> None:
    quote = "see our [demo page](https://kiln.example/demo) for the sound"
    abstracts = Abstracts({"k": "Please see our demo page for the sound.", "m": MOLE})
    assert abstracts.gold(Question("q", "lookup", "?", evidence=(quote,))) == {"k"}
    assert abstracts.gold(Question("q", "lookup", "?", evidence=("see our demo page for no sound",))) == set()


def test_lists_and_counts_have_no_figure_for_numbers() -> None:
    listing = Question("q", "list", "?", facts=(("kiln",),), evidence=SPEED.evidence)
    assert score_row(listing, answered(("1. Kiln", [QUOTE])), ABSTRACTS).nums is None


def test_questions_without_facts_are_never_called_right() -> None:
    claim = Question("q", "SUPPORT", "Kiln is fast.", papers=("kiln",))
    score = score_row(claim, GOOD, ABSTRACTS)
    assert (score.right, score.facts, score.gldhit) == (None, None, None)
    assert (score.over, score.ingold) == (Share(0, 1), Share(1, 1))


# --- totals and intervals ---


def test_totals_are_ratios_of_sums() -> None:
    rows = [{"facts": Share(1, 2)}, {"facts": Share(3, 3), "nums": Share(0, 1)}, {}]
    found = totals(rows)
    assert found["facts"].value == 0.8  # (1 + 3) / (2 + 3), not the mean of 1/2 and 1
    assert (found["facts"].n, found["nums"].n) == (2, 1)
    assert found["facts"].low >= 0.5 and found["facts"].high <= 1
    assert totals([]) == {} == totals([{}])


def test_an_interval_is_near_the_normal_one_and_always_the_same() -> None:
    rows = [{"right": Share(i < 70, 1)} for i in range(100)]
    one = totals(rows)["right"]
    # normal: 0.7 +- 1.96 x sqrt(0.7 x 0.3 / 100) = 0.7 +- 0.0898
    assert one.low == pytest.approx(0.61, abs=0.015) and one.high == pytest.approx(0.79, abs=0.015)
    assert totals(rows)["right"] == one
    wider = totals(rows, level=0.99)["right"]
    assert wider.low < one.low and wider.high > one.high


def test_differences_are_paired() -> None:
    a = [{"right": Share(i % 2, 1)} for i in range(60)]
    b = [{"right": Share(i % 2 or i == 0, 1)} for i in range(60)]
    one = differences(a, b)["right"]
    assert one.value == pytest.approx(1 / 60)  # 31/60 - 30/60: only one question differs
    assert one.low == 0 and one.high <= 4 / 60  # unpaired, chance alone would give +- 18 points
    assert differences([{"x": Share(1, 1)}], [{"y": Share(1, 1)}]) == {}


# --- rankings ---


def test_figures_of_a_ranking() -> None:
    judged = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}, "q3": {"d": 1}}
    found = figures(judged, {"q1": ["a", "x", "b"], "q2": ["x", "c"], "unjudged": ["a"]})
    assert set(found) == {"q1", "q2", "q3"}
    assert found["q1"]["nDCG@10"].hits == pytest.approx(0.91972, abs=1e-5)  # (1 + 1/2) / (1 + 1/log2(3))
    assert found["q2"]["nDCG@10"].hits == pytest.approx(0.63093, abs=1e-5)  # 1/log2(3)
    assert found["q2"]["MRR"] == Share(0.5, 1)
    assert found["q1"]["recall@10"] == Share(1.0, 1)
    assert {s.hits for s in found["q3"].values()} == {0.0}  # no ranking: nothing returned is 0
    assert totals(list(found.values()))["MRR"].value == 0.5  # (1 + 1/2 + 0) / 3


def test_only_the_first_hundred_count_for_recall_at_100() -> None:
    ranking = [f"x{i}" for i in range(100)] + ["a"]
    assert figures({"q": {"a": 1}}, {"q": ranking})["q"]["recall@100"].hits == 0
    assert figures({"q": {"a": 1}}, {"q": ranking[1:]})["q"]["recall@100"].hits == 1


def test_a_run_file_keeps_the_order() -> None:
    assert trec({"q1": ["b", "a"], "q2": []}, "tag") == "q1 Q0 b 1 2 tag\nq1 Q0 a 2 1 tag\n"


# --- agreement with the independent judge ---

SHARED = Path(__file__).parents[2] / "shared"
COLUMNS = ("right", "facts", "over", "refok", "cited", "exact", "ingold", "gldhit", "long", "own", "nums")
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared development material is not here")


class Judge:
    """`score.py` run on rows, and rows made at random from a set and its abstracts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.set = SHARED / "eval" / "dev_seeds.jsonl"
        self.corpora = [SHARED / "seeds" / name for name in ("iclr2024.txt", "icml2024.txt")]
        self.questions = load(self.set)
        blocks = [b.strip() for file in self.corpora for b in file.read_text().split("\n\n")[1:]]
        self.papers = {f"paper-{n}": readable(block) for n, block in enumerate(filter(None, blocks))}
        self.abstracts = Abstracts(self.papers)
        self.papers_file = folder / "papers.jsonl"
        rows = [{"key": key, "abstract": text} for key, text in self.papers.items()]
        self.papers_file.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def table(self, questions: Path, rows: list[dict[str, Any]]) -> dict[str, list[str]]:
        """The judge's printed figures by kind."""
        answers = self.folder / "answers.jsonl"
        answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
        command = [sys.executable, SHARED / "eval" / "score.py", questions, answers, *self.corpora]
        out = subprocess.run(
            [*map(str, command), "--papers", str(self.papers_file)],
            capture_output=True,
            text=True,
            check=True,
        )
        lines = [line.split("  dead ") for line in out.stdout.splitlines()[1:]]
        return {one[0].split()[0]: one[0].split()[2:] + one[1:] for one in lines}

    def ours(self, questions: list[Question], rows: list[dict[str, Any]]) -> dict[str, list[str]]:
        """The same table from our figures."""
        by_id = {row["id"]: row for row in rows}
        scored = [(q.kind, score_row(q, by_id.get(q.id, {}), self.abstracts).figures()) for q in questions]
        found = {}
        for kind in [*dict.fromkeys(q.kind for q in questions), "ALL"]:
            mine = [figures for k, figures in scored if kind in (k, "ALL")]
            found[kind] = [_printed([f[name] for f in mine if name in f]) for name in COLUMNS]
            dead = sum(f["dead"].hits for f in mine)
            found[kind] += [f"{dead:.0f}"] if dead else []
        return found

    def row(self, q: Question, rng: random.Random) -> dict[str, Any] | None:
        """An answer of one of many kinds, good and bad."""
        how = rng.choice(
            ("reference", "reference", "pasted", "wrong numbers", "refusal", "noise", "failed", "none")
        )
        if how == "none":
            return None
        if how == "failed":
            return {"id": q.id, "status": "error", "error": "it broke"}
        if how == "refusal":
            near = rng.choice(list(self.papers.values()))[:60]
            return {"id": q.id, "status": "not_found", "text": f"Not here. Closest: {near}", "sentences": []}
        gold = sorted(self.abstracts.gold(q)) or rng.sample(list(self.papers), 2)
        if how == "pasted":
            texts = self.papers[rng.choice(gold)].split(". ")
        else:
            texts = (q.reference or "It does.").split(". ")
        if how == "wrong numbers":
            texts = ["".join(rng.choice("0123456789") if c.isdigit() else c for c in text) for text in texts]
        if how == "noise":
            texts = [
                *texts,
                "",
                "**3** of the 38 papers, `i.e.` $\\mathbf{5}$",
                *self.papers[rng.choice(gold)].split(". ")[:2],
            ]
        sentences = [{"text": text, "citations": self.citations(q, gold, rng)} for text in texts]
        marked = " ".join(s["text"] + "".join(f" [{c['n']}]" for c in s["citations"]) for s in sentences)
        status = rng.choice(("answered", "answered", "partial"))
        return {"id": q.id, "status": status, "text": marked, "sentences": sentences}

    def citations(self, q: Question, gold: list[str], rng: random.Random) -> list[dict[str, Any]]:
        found = []
        for n in range(rng.choice((0, 1, 1, 1, 2, 3))):
            key = rng.choice(gold) if rng.random() < 0.7 else rng.choice(list(self.papers))
            text = self.papers[key]
            start = rng.randrange(len(text) - 60)
            end = start + rng.choice((12, 50, 200))
            inside = [e for e in q.evidence if e in text]
            if inside and rng.random() < 0.5:
                start = text.index(inside[0])
                end = start + len(inside[0])
            shift = rng.choice((0, 0, 0, 1))
            named = key if rng.random() < 0.9 else "not-in-the-library"
            found.append(
                {
                    "n": n + 1,
                    "paper": named,
                    "quote": text[start:end],
                    "start": start + shift,
                    "end": end + shift,
                }
            )
        return found


def _printed(shares: list[Share]) -> str:
    return f"{100 * sum(s.hits for s in shares) / sum(s.of for s in shares):.1f}" if shares else "-"


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    return Judge(tmp_path_factory.mktemp("judge"))


@pytest.mark.shared
@needs_shared
@pytest.mark.parametrize("seed", range(6))
def test_totals_are_those_of_the_judge(judge: Judge, seed: int) -> None:
    rng = random.Random(seed)
    rows = [row for q in judge.questions if (row := judge.row(q, rng)) is not None]
    assert judge.ours(judge.questions, rows) == judge.table(judge.set, rows)


@pytest.mark.shared
@needs_shared
def test_single_rows_are_those_of_the_judge(judge: Judge) -> None:
    rng = random.Random(99)
    lines = judge.set.read_text().splitlines()
    for number in rng.sample(range(len(lines)), 25):
        one = judge.folder / "one.jsonl"
        one.write_text(lines[number] + "\n")
        q = judge.questions[number]
        row = judge.row(q, rng)
        rows = [row] if row else []
        assert judge.ours([q], rows) == judge.table(one, rows), q.id


@pytest.mark.shared
@needs_shared
def test_reference_texts_are_right(judge: Judge) -> None:
    said = [{"id": q.id, "status": "answered", "text": q.reference} for q in judge.questions]
    scores = [score_row(q, row, judge.abstracts) for q, row in zip(judge.questions, said, strict=True)]
    wrong = [q.id for q, score in zip(judge.questions, scores, strict=True) if score.right == Share(0, 1)]
    assert wrong == []


def test_figures_are_listed_once() -> None:
    ours_alone = {"dead", "citpre", "citrec", "quoted", "supported", "weak"}
    assert FIGURES[0] == "dead" and set(COLUMNS) == set(FIGURES) - ours_alone
