"""The same records make the same papers, whatever their order and whichever files they are spread over."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from shelf import BITTERN, DUNLIN, GODWIT, numbered, put, record

from rag.identity import SAME, resemblance
from rag.keeping import records_of, remove
from rag.library import Library
from rag.nouns import Record
from rag.serial import record_json, to_record

TEXTS = (BITTERN, BITTERN.replace("copper", "brass"), DUNLIN, GODWIT, numbered(1))
TITLES = (
    "Bittern: A Radio That Sleeps",
    "bittern - a radio that sleeps!",
    "Maps of Moving Mud",
    "Drones That Rest",
)
assert resemblance(TEXTS[0], TEXTS[1]) >= SAME


def told(titles: st.SearchStrategy[str]) -> st.SearchStrategy[Record]:
    """Records that share identifiers, titles, people and texts in every which way."""
    return st.builds(
        record,
        abstract=st.sampled_from(TEXTS),
        title=titles,
        authors=st.sampled_from([(), ("Ada Reed",), ("A. Reed", "Bo Marsh"), ("Bo Marsh",)]),
        year=st.sampled_from([None, 2019, 2021, 2023]),
        doi=st.sampled_from(["", "", "10.1/x", "10.1/y"]),
        arxiv=st.sampled_from(["", "", "2401.00001", "2401.00002"]),
    )


Papers = set[frozenset[str]]


def papers(records: list[Record], files: list[int], *, gone: int | None = None) -> Papers:
    """The papers that a new collection makes of records, each as the set of what its records tell."""
    with tempfile.TemporaryDirectory() as folder:
        library = Library(Path(folder))
        for file in dict.fromkeys(files):
            put(library, [r for r, f in zip(records, files, strict=True) if f == file], f"{file}.jsonl")
        if gone is not None:
            remove(library, f"{gone}.jsonl")
        made = {
            frozenset(record_json(one)[1] for _, one in records_of(library.db, paper.id))
            for paper in library.papers()
        }
        library.close()
        return made


def spread(count: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, 2), min_size=count, max_size=count)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_titled_records_make_the_same_papers_in_any_order_and_any_files(data: st.DataObject) -> None:
    records = data.draw(st.lists(told(st.sampled_from(TITLES)), min_size=2, max_size=7))
    shuffled = data.draw(st.permutations(records))
    assert papers(records, [0] * len(records)) == papers(shuffled, data.draw(spread(len(records))))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_untitled_records_make_the_same_papers_too(data: st.DataObject) -> None:
    records = data.draw(st.lists(told(st.just("")), min_size=2, max_size=7))
    shuffled = data.draw(st.permutations(records))
    assert papers(records, [0] * len(records)) == papers(shuffled, data.draw(spread(len(records))))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_removed_file_leaves_the_papers_that_there_were_without_it(data: st.DataObject) -> None:
    records = data.draw(st.lists(told(st.sampled_from(TITLES)), min_size=2, max_size=7))
    files = data.draw(spread(len(records)))
    rest = [(r, f) for r, f in zip(records, files, strict=True) if f != 0]
    without = papers([r for r, _ in rest], [f for _, f in rest])
    assert papers(records, files, gone=0) == without


@given(told(st.text(max_size=20)), st.text(max_size=20), st.text(max_size=20))
def test_a_stored_record_is_read_as_it_was(one: Record, found: str, heading: str) -> None:
    whole = replace(one, abstract_found=found, title_found=found, heading=heading, line=7)
    text, tells = record_json(whole)
    assert to_record(text) == whole
    assert tells == record_json(replace(whole, number=9, line=None, source="other.txt"))[1]
