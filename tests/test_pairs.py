"""Doubtful pairs as the page shows them, and what pressing a button does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fake_assistant import FakeAssistant
from payloads import PAYLOADS
from shelf import GODWIT, put, record
from test_tabs import harmless

from rag.duplicates import Doubt, doubts
from rag.settings import Settings
from ui.web import pairs
from ui.web.adding import Watched
from ui.web.pairs import BEGINNING, SHOWN, decide, heading, pairs_html, undecided


@pytest.fixture
def assistant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeAssistant:
    """Two papers with one abstract under two titles, and another such pair."""
    monkeypatch.setattr(pairs, "bring_up_to_date", lambda *_: 0)
    first = FakeAssistant({}, home=tmp_path)
    made = first.beside(Settings(home=tmp_path, collection="twins"))
    put(
        made.library,
        [record(citekey="a", title="Bittern: A Sleeping Radio", authors=("Ada Reed",))],
        "one.bib",
    )
    put(made.library, [record(citekey="b", title="Radios That Sleep")], "two.bib")
    put(made.library, [record(GODWIT, citekey="c", title="Godwit Rests on Roads")], "one.bib")
    put(made.library, [record(GODWIT, citekey="d", title="Sleeping on Warm Air")], "two.bib")
    return made


def keys(assistant: FakeAssistant) -> list[str]:
    return [paper.key for paper in assistant.library.papers()]


def test_one_paper_and_two_papers_stick(assistant: FakeAssistant) -> None:
    said = decide(assistant, "a", "b", True, Watched())
    assert said == "One paper from now on: “Bittern: A Sleeping Radio” and “Radios That Sleep”."
    assert keys(assistant) == ["a", "c", "d"]
    said = decide(assistant, "c", "d", False, Watched())
    assert said == "Two papers from now on: “Godwit Rests on Roads” and “Sleeping on Warm Air”."
    assert keys(assistant) == ["a", "c", "d"] and undecided(assistant.library) == ([], 0)


def test_a_pair_of_which_one_has_gone_changes_nothing(assistant: FakeAssistant) -> None:
    for _ in range(2):  # another tab was quicker
        said = decide(assistant, "a", "b", True, Watched())
    assert said == "One of these two papers is not here any more." and keys(assistant) == ["a", "c", "d"]
    assert decide(assistant, "", "../x", True, Watched()) == said


def test_a_pair_is_shown_side_by_side_with_why_and_two_buttons(assistant: FakeAssistant) -> None:
    (doubt, _), total = undecided(assistant.library)
    html = pairs_html([doubt], total)
    for part in (
        "Same abstract, other titles",
        "Ada Reed",
        "No authors named",
        "From one.bib",
        "From two.bib",
    ):
        assert part in html
    assert 'data-press="a" data-other="b" data-same="1"' in html and 'data-same=""' in html
    assert "… and 1 more" in html and "Marsh sensors fall silent" in html
    assert heading(total) == "2 pairs of papers may be one" and heading(1) == "1 pair of papers may be one"


def test_only_some_pairs_and_beginnings_are_shown(assistant: FakeAssistant) -> None:
    (doubt, _), _ = undecided(assistant.library)
    long = replace(doubt, one=replace(doubt.one, abstract="word " * 200))
    assert len(pairs._beginning(long.one.abstract)) <= BEGINNING + 2
    assert pairs._beginning("x" * 999).endswith("x …") and pairs._beginning("short") == "short"
    html = pairs_html([long] * SHOWN, 1_000 + SHOWN)
    assert html.count('class="pair"') == SHOWN and "… and 1,000 more" in html


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_payload_survives_in_a_pair(assistant: FakeAssistant, payload: str) -> None:
    one = next(doubts(assistant.library))
    hostile = replace(
        one.one, key=payload, label=payload, title=payload, abstract=payload, authors=(payload,),
        venue=payload, venue_as_found=payload, sources=(payload,),
    )  # fmt: skip
    html = pairs_html([Doubt(hostile, hostile, payload)], 1, payload)
    assert harmless(html) and html.count('class="say"') == 2
