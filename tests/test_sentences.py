"""Sentence spans: exact, complete, and where people would put them (tests/sentence_marks.json)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.bench_sentences import MARKS, Marked, held_out, invented, score, seeds
from rag.latex import formulas
from rag.sentences import LONGEST, split
from rag.text import readable

CASES = invented(json.loads(MARKS.read_text(encoding="utf-8")))
SHARED = Path(__file__).parents[2] / "shared"
# "phase I. Vitamin C": a single letter ends a sentence only before a word that begins many sentences.
# "Is this correct? Answer yes or no." within quotation marks.
UNSOLVED = {"single letter ends a sentence", "question inside quotes"}

WORDS = st.sampled_from(
    "We The it x 3D e.g. et al. Fig. 3.5 i.i.d. etc. model. (GPT-4). $x.y$ $n=3.$ ? ! ... . [1] (2) 1. “so.” \" ' ; , "
    "https://e.org/a.b 。 我们 Yahoo! \\(a. b\\) p<.05 U.S. ) ( é X.".split()
)
GAPS = st.sampled_from([" ", " ", " ", "", "\n", "\u00a0", "  "])
TEXTS = st.one_of(
    st.lists(st.tuples(WORDS, GAPS), max_size=40).map(lambda pairs: "".join(w + g for w, g in pairs)),
    st.text(max_size=80),
)


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split(text)]


@pytest.mark.parametrize("case", [c for c in CASES if c.name not in UNSOLVED], ids=lambda case: case.name)
def test_hard_case_is_split_as_marked(case: Marked) -> None:
    assert sentences(case.text) == [case.text[start:end] for start, end in case.spans]


def test_accuracy_on_all_hard_cases() -> None:
    scores = score(split, CASES)
    assert scores.precision > 0.99  # one of 114 boundaries is wrong
    assert scores.recall > 0.99  # one is missed


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the local development material (shared)")
@pytest.mark.parametrize(
    ("texts", "sentences"),
    [(lambda m: seeds(m, SHARED / "seeds"), 283), (lambda m: held_out(m, SHARED), 421)],
)
def test_real_abstracts_are_split_as_marked_by_reading(
    texts: Callable[[dict[str, Any]], list[Marked]], sentences: int
) -> None:
    cases = texts(json.loads(MARKS.read_text(encoding="utf-8")))
    assert sum(len(case.spans) for case in cases) == sentences
    for case in cases:
        assert split(case.text) == case.spans, case.name


@pytest.mark.parametrize(
    "whole",
    [
        "Okafor et al. (2019) and Tan et al. Transformers agree.",  # abbreviations
        "We use e.g. Adam, i.e. a method w.r.t. Fig. 3, cf. Eq. (2), vs. All.",
        "The gain is 0.5 or 3.14, p<0. 05, in some cases (28% v. 59%, p. 561).",
        "Bitterns by A. T. Okafor, R. A. Lind, & G. K. Tan are non-i.i.d. (shifted) samples.",
        "It takes two steps: 1. We align the tokens.",
        "Code is at https://reeds. example.org/bittern.",
        'Users ask "why?", and leave.',
        "Can it be learned online? — that is, by a stream?",
        "What is the price of robustness? (ii) what is the price of fairness?",
        "The rate $O(n. K)$ and \\(a. b\\) with $$x. Y$$ and \\[ f. G \\] hold.",  # formulas
    ],
)
def test_no_end_within_a_sentence(whole: str) -> None:
    assert sentences(whole) == [whole]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("We extend the work of Okafor et al.", "However, it is slow."),
        ("It plays a role in MRS.", "With more data it grows."),
        ("It takes 256 ms.", "Finally it lands."),
        ("The bound holds for X.", "Intuitively, it is tight."),
        ("Many tools exist.", "pySLAM is one of them."),
        ("Two effects are seen in tissues.", "miR-203 is the first."),
        ("We improve three models.", "(ii) We test them."),
        ("It keeps texts, tables, etc.", "Bitterns are kept, too."),
        ("We list the results.", "• We prove a bound."),
    ],
)
def test_end_between_sentences(first: str, second: str) -> None:
    assert sentences(f"{first} {second}") == [first, second]


@given(TEXTS)
@settings(max_examples=500, deadline=None)
def test_spans_are_exact_ordered_and_complete(text: str) -> None:
    spans = split(text)
    assert all(text[start:end] and text[start:end] == text[start:end].strip() for start, end in spans)
    assert all(first[1] <= second[0] for first, second in zip(spans, spans[1:], strict=False))
    covered = {i for start, end in spans for i in range(start, end)}
    assert {i for i, c in enumerate(text) if not c.isspace()} <= covered


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_no_formula_is_split(text: str) -> None:
    text = readable(text)
    ends = {end for _, end in split(text)}
    assert not any(start < end < stop for start, stop in formulas(text) for end in ends)


def test_a_sentence_is_found_again_in_the_whole() -> None:
    """Span offsets count code points, also past characters outside the basic plane."""
    text = "We test 𝔸 and 😀. It works."
    assert split(text) == [(0, 16), (17, 26)]


@pytest.mark.parametrize("empty", ["", " ", "\n\t "])
def test_no_text_has_no_sentences(empty: str) -> None:
    assert split(empty) == []


def test_text_without_stops_is_cut_to_readable_pieces() -> None:
    text = " ".join(f"word{n}" for n in range(1500))
    pieces = sentences(text)
    assert [len(piece.split()) for piece in pieces] == [LONGEST] * 12 + [60]
    assert " ".join(pieces) == text


def test_long_sentence_is_cut_after_a_clause_and_never_in_a_formula() -> None:
    clause = "one two three four five six seven eight nine $a_1 + b; c$"
    text = "; ".join([clause] * 30)  # 30 clauses of 10 words, the formula counted as one
    pieces = sentences(text)
    assert [piece.count(clause) for piece in pieces] == [12, 12, 6]
    assert all(piece.endswith(";") for piece in pieces[:-1])


def test_sentence_of_the_longest_length_stays_whole() -> None:
    text = " ".join(["word"] * LONGEST)
    assert split(text) == [(0, len(text))]


@pytest.mark.parametrize(
    "unit", ["word ", "word", "We show it. ", ". ", "?", ".(", "A. ", '"? ', "1. ", "$x$. "]
)
def test_a_huge_line_takes_linear_time(unit: str) -> None:
    text = unit * (300_000 // len(unit))
    start = time.perf_counter()
    spans = split(text)
    assert time.perf_counter() - start < 20  # measured below 1 s; quadratic code takes many minutes
    assert spans[-1][1] == len(text.rstrip())
