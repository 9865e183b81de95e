"""Stand-ins for titles. The abstracts are invented."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.labels import LENGTH, label
from rag.text import plain, readable

SHARED = Path(__file__).parents[2] / "shared"
HEADING = "ICML 2024 Papers"
BACKGROUND = "Pebbles are hard to sort in the dark. Sorters such as OldNet need light, and light is dear. "


@pytest.mark.parametrize(
    ("abstract", "phrase"),
    [
        (
            BACKGROUND + "We propose TidyNet, a small network for sorting pebbles. TidyNet is fast.",
            "TidyNet, a small network for sorting pebbles",
        ),
        (
            BACKGROUND
            + "In this paper, we therefore introduce a new method, Dark Sorting (DaSo), that needs no light.",
            "method, Dark Sorting (DaSo), that needs no light",
        ),
        (
            BACKGROUND
            + "We collect sacks and train a pebble sorter named MoonNet. It sorts pebbles by night.",
            "pebble sorter named MoonNet",
        ),
        (
            BACKGROUND
            + "This paper presents an approach, referred to as GLOW, for sorting pebbles in the dark.",
            "GLOW, for sorting pebbles in the dark",
        ),
        (
            "We argue that pebbles should be sorted in the dark. Light is dear, and pebbles are patient.",
            "pebbles should be sorted in the dark",
        ),
        (
            "In 1991, Roe proved a theorem about pebbles. We propose a fast implementation of this result.",
            "Roe proved a theorem about pebbles",
        ),
        (
            "Pebbles wait at the river for someone who sorts all by weight and by the colour of the grain.",
            "Pebbles wait at the river for someone who sorts all by weight",
        ),
    ],
)
def test_the_phrase_is_what_the_paper_says_of_itself(abstract: str, phrase: str) -> None:
    assert label(abstract, HEADING, 7) == f"ICML 2024 Papers #7: {phrase}"


def test_a_phrase_is_cut_at_a_word_with_an_ellipsis() -> None:
    got = label(
        "We propose careful unhurried painstaking pebble inspection " + "everywhere " * 9, HEADING, 12
    )
    assert got.endswith(" everywhere …") and len(got) <= LENGTH


def test_formulas_and_markup_are_plain() -> None:
    abstract = r"We introduce $\textbf{PebbleNet}$ (**Pe**bble **Net**), for $x^2$ pebbles."
    got = label(readable(abstract), HEADING, 1)
    assert got == "ICML 2024 Papers #1: PebbleNet (Pebble Net), for x² pebbles"
    assert not set("$\\*{}") & set(got)


def test_no_bracket_stays_open() -> None:
    long = (
        "We introduce STONE (Sorting To Order Numerous Elements of every kind known under the sun), a tool."
    )
    got = label(long, HEADING, 1)
    assert got.count("(") == got.count(")") and "STONE" in got


def test_heading_and_number() -> None:
    assert label("We propose TidyNet for pebbles.", "", 3) == "Paper #3: TidyNet for pebbles"
    assert label("", HEADING, 3) == "ICML 2024 Papers #3"
    got = label("We propose TidyNet for pebbles.", "A very long heading of a list of papers that goes on", 3)
    assert got == "A very long heading of a list … #3: TidyNet for pebbles"


def test_other_languages() -> None:
    abstract = "我们提出了一种新的方法，用来整理河边的石头。它比以前的方法更快。"
    assert label(abstract, HEADING, 1) == "ICML 2024 Papers #1: 我们提出了一种新的方法，用来整理河边的石头"


@given(st.text(max_size=300), st.text(max_size=60), st.integers(1, 100_000))
def test_any_label_is_short_and_from_the_abstract(abstract: str, heading: str, number: int) -> None:
    got = label(abstract, heading, number)
    assert 0 < len(got) <= LENGTH
    head, _, phrase = got.partition(f"#{number}: ")
    assert phrase.removesuffix("…)").removesuffix("…").strip() in " ".join(plain(abstract).split())


@pytest.mark.shared
def test_seed_labels_name_their_methods() -> None:
    path = SHARED / "seeds" / "papers.json"
    if not path.exists():
        pytest.skip("needs the development material seeds/papers.json")
    labels = {}
    for name in ("icml2024.txt", "iclr2024.txt"):
        paragraphs = (path.parent / name).read_text().split("\n\n")
        abstracts = [readable(text.strip()) for text in paragraphs[1:] if text.strip()]
        labels |= {(name, n): label(text, "ICML 2024 Papers", n) for n, text in enumerate(abstracts, 1)}
    named = {
        ("icml2024.txt", 2): "InstructSpeech",
        ("icml2024.txt", 9): "SILVER",
        ("icml2024.txt", 10): "video-SALMONN",
        ("icml2024.txt", 15): "PPAE",
        ("icml2024.txt", 16): "L-MAC",
        ("iclr2024.txt", 1): "FedDA",
        ("iclr2024.txt", 5): "Hierarchical Diffuser",
        ("iclr2024.txt", 9): "AEMC-NE",
        ("iclr2024.txt", 10): "SRigL",
        ("iclr2024.txt", 12): "ITIT",
        ("iclr2024.txt", 14): "ASMR",
        ("iclr2024.txt", 16): "LACE",
    }
    assert {key: name in labels[key] for key, name in named.items()} == dict.fromkeys(named, True)
    assert len(set(labels.values())) == 38
