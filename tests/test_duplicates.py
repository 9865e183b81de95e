"""Doubtful pairs, what a person says of them, and that it lasts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from shelf import BITTERN, DUNLIN, GODWIT, numbered, put, record

from rag.duplicates import Told, doubts, explain, keep_apart, merge, take_out
from rag.errors import InputError
from rag.importing import Importer
from rag.keeping import remove
from rag.library import Library

TITLE = "Bittern: A Radio That Sleeps Through Winter"
NEAR = BITTERN.replace("copper", "brass")
EDITED = BITTERN.replace("In three winters Bittern lost 2 of 140 messages.", "It never lost a message.")


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "collection")


def listed(library: Library) -> list[tuple[str, str, str]]:
    return [(d.one.key, d.other.key, d.why) for d in doubts(library)]


def keys(library: Library) -> list[str]:
    return [paper.key for paper in library.papers()]


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (
            record(title=TITLE, authors=("Ada Reed",)),
            record(DUNLIN, title=TITLE.upper(), authors=("Bo Marsh",)),
            "same title, other first author: Ada Reed, Bo Marsh",
        ),
        (
            record(title=TITLE, authors=("Ada Reed",), year=2019),
            record(DUNLIN, title=TITLE, authors=("Ada Reed",), year=2024),
            "same title, 5 years apart: 2019, 2024",
        ),
        (
            record(title=TITLE, authors=("Ada Reed",)),
            record(DUNLIN, title=TITLE),
            "same title, other abstracts; one names no authors",
        ),
        (record(title=TITLE), record(title="Reed Radios for Marshes"), "same abstract, other titles"),
        (
            record(title=TITLE),
            record(NEAR, title="Reed Radios for Marshes"),
            "abstracts 94% alike, other titles",
        ),
        (record(), record(EDITED, number=2), "abstracts 57% alike, no title to tell"),
        (record(title=TITLE), record(EDITED, title="Reed Radios for Marshes"), ""),
        (record(title=TITLE), record(DUNLIN, title="Maps of Mud"), ""),
        (record(), record(DUNLIN, number=2), ""),
    ],
)
def test_doubtful_pairs_are_listed_with_what_speaks_for_and_against(
    library: Library, one: object, other: object, why: str
) -> None:
    put(library, [replace(one, citekey="a"), replace(other, citekey="b")])  # type: ignore[type-var]
    assert listed(library) == ([("a", "b", why)] if why else [])


def test_what_very_many_papers_share_raises_no_doubt(library: Library) -> None:
    put(library, [record(BITTERN, n, title=f"Volume {n} of the Radio Almanac") for n in range(60)])
    assert listed(library) == []


def twins(library: Library) -> None:
    put(library, [record(citekey="a", title=TITLE)], "one.bib")
    put(library, [record(citekey="b", title="Reed Radios for Marshes")], "two.bib")


def test_a_merged_pair_is_one_paper_and_stays_so(library: Library) -> None:
    twins(library)
    merge(library, "a", "b")
    assert keys(library) == ["a"] and listed(library) == []
    assert remove(library, "two.bib") == (0, 1) and keys(library) == ["a"]
    again = put(library, [record(citekey="b", title="Reed Radios for Marshes")], "two.bib")
    assert (again.added, again.joined) == (0, 1), "the file came back"
    changed = [record(NEAR, citekey="b", title="Reed Radios for Marshes", year=2024)]
    assert put(library, changed, "two.bib").added == 0, "and was edited"
    (paper,) = library.papers()
    assert (paper.year, paper.sources) == (2024, ("one.bib", "two.bib"))


def test_a_pair_kept_apart_is_listed_no_more_and_stays_two(library: Library) -> None:
    twins(library)
    keep_apart(library, "b", "a")
    assert listed(library) == [] and keys(library) == ["a", "b"]
    put(library, [record(title=TITLE), record(title="Reed Radios for Marshes", number=2)], "three.jsonl")
    assert listed(library) == [] and len(keys(library)) == 2
    with_id = [
        record(citekey="a", title=TITLE, doi="10.1/x"),
        record(citekey="b", title="Reed Radios for Marshes", doi="10.1/x", number=2),
    ]
    assert put(library, with_id[:1], "one.bib").added == 0
    assert put(library, with_id[1:], "two.bib").added == 0
    assert len(keys(library)) == 2, "even an identifier does not overrule it"


def test_records_taken_out_of_a_paper_stay_out(library: Library) -> None:
    put(library, [record(title=TITLE, doi="10.1/x", citekey="a")], "one.bib")
    theirs = record(DUNLIN, title="Maps of Mud", doi="10.1/x", citekey="b")
    assert put(library, [theirs], "two.bib").joined == 1
    assert take_out(library, "a", [2]) == "b"
    assert [(p.key, p.title, p.abstract) for p in library.papers()] == [
        ("a", TITLE, BITTERN),
        ("b", "Maps of Mud", DUNLIN),
    ]
    assert library.postings("mudflats", 9) == [2] and listed(library) == []
    assert remove(library, "two.bib") == (1, 0)
    assert put(library, [theirs], "two.bib").added == 1, "the file came back"
    put(library, [replace(theirs, year=2024)], "two.bib")
    assert [(p.key, p.year) for p in library.papers()] == [("a", None), ("b", 2024)], "and was edited"
    merge(library, "b", "a")
    assert keys(library) == ["b"], "what was said last holds"
    assert put(library, [replace(theirs, year=2023)], "two.bib").added == 0
    assert keys(library) == ["b"]


def test_what_cannot_be_done_is_said(library: Library) -> None:
    put(library, [record(citekey="a")], "one.bib")
    for wrong in (("a", "nobody"), ("nobody", "a")):
        with pytest.raises(InputError, match=r"no paper 'nobody'.*pincite papers"):
            merge(library, *wrong)
    with pytest.raises(InputError, match="a is one paper already"):
        keep_apart(library, "a", "a")
    with pytest.raises(InputError, match="made of one record"):
        take_out(library, "a", [1])
    put(library, [record(citekey="a")], "two.bib")
    with pytest.raises(InputError, match="say exactly the same"):
        take_out(library, "a", [2])
    put(library, [record(NEAR, title=TITLE)], "three.bib")
    for numbers, said in (([4], "no record 4"), ([0], "no record 0"), ([1, 2, 3], "to be left a record")):
        with pytest.raises(InputError, match=f"a has {said}: give some of 1 to 3"):
            take_out(library, "a", numbers)
    assert keys(library) == ["a"]


def test_a_paper_is_explained_by_its_records(library: Library) -> None:
    put(library, [record(BITTERN, 3, heading="Marsh Days")], "list.txt")
    cited = record(BITTERN, title=TITLE, authors=("Ada Reed",), year=2024, citekey="reed24")
    put(library, [cited], "refs.bib")
    latest = record(
        BITTERN + " It sold well.",
        title=TITLE,
        authors=("Ada Reed",),
        url="https://arxiv.org/abs/2401.00001v2",
    )
    put(library, [latest], "arxiv.jsonl")
    (key,) = keys(library)
    first, second, third = explain(library, key)
    assert (first.why, first.gave) == ("", ())
    assert (second.why, second.gave) == ("same abstract", ("title", "authors", "year"))
    assert third == Told(
        record=replace(latest, source="arxiv.jsonl"),
        version="arXiv v2",
        why="same title and first author",
        gave=("url", "abstract"),
    )
    put(library, [record(GODWIT, title="Godwit: Drones That Rest", citekey="g")], "more.bib")
    merge(library, key, "g")
    assert explain(library, key)[3].why == "you said so"
    assert explain(library, "nobody") == []


def test_removing_what_held_two_papers_together_parts_them(library: Library) -> None:
    put(library, [record(title=TITLE, doi="10.1/x", citekey="a")], "one.bib")
    put(library, [record(DUNLIN, title="Maps of Mud", arxiv="2401.00001", citekey="b")], "two.bib")
    bridge = record(GODWIT, title="Godwit at Rest", doi="10.1/x", arxiv="2401.00001", citekey="c")
    assert put(library, [bridge], "three.bib").merged == 1
    assert keys(library) == ["a"]
    assert remove(library, "three.bib") == (0, 1)
    assert [(p.key, p.title, p.sources) for p in library.papers()] == [
        ("a", TITLE, ("one.bib",)),
        ("b", "Maps of Mud", ("two.bib",)),
    ]
    assert library.postings("drones", 9) == []


def test_names_of_an_older_program_are_made_anew(library: Library) -> None:
    put(library, [record(title=TITLE), record(numbered(2), 2)])
    names = library.db.execute("SELECT * FROM names ORDER BY 1, 2").fetchall()
    for use in (lambda: list(doubts(library)), lambda: Importer(library, Path("/files/none"))):
        library.db.execute("DELETE FROM names")
        library.put("names", "names/1")
        use()
        assert library.db.execute("SELECT * FROM names ORDER BY 1, 2").fetchall() == names
    assert put(library, [record(title=TITLE, year=2024)], "more.bib").joined == 1
