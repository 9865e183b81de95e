"""JSON as sites and tools export it. All texts are invented."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from reading import A1, A2, CSL, OPENREVIEW_1, T1, T2, peak, problems, read_all, records

from rag.nouns import Record
from rag.readers import jsonlines

PAPER = {"title": T1, "abstract": A1}
OTHER = {"title": T2, "abstract": A2}


def only(tmp_path: Path, value: object) -> Record:
    [got] = records(read_all(tmp_path, json.dumps(value)))
    return got


def openreview_2() -> dict[str, Any]:
    """As the second version of the API has it: each value in an object of its own."""
    notes = copy.deepcopy(OPENREVIEW_1)
    for note in notes["notes"]:  # type: ignore[attr-defined]
        del note["invitation"]
        note["invitations"] = ["ICLR.cc/2024/Conference/-/Submission", "ICLR.cc/2024/Conference/-/Edit"]
        note["content"] = {key: {"value": value} for key, value in note["content"].items()}
        note["content"]["venue"] = {"value": "ICLR 2024 poster"}
        note["content"]["venueid"] = {"value": "ICLR.cc/2024/Conference"}
    return notes


@pytest.mark.parametrize(("reply", "year"), [(OPENREVIEW_1, 2022), (openreview_2(), 2024)])
@pytest.mark.parametrize("indent", [None, 2])
def test_openreview(tmp_path: Path, reply: dict[str, Any], year: int, indent: int | None) -> None:
    one, two = records(read_all(tmp_path, json.dumps(reply, indent=indent)))
    assert (one.title, one.abstract, one.authors) == (T1, A1, ("Ann Roe", "Bob Poe"))
    assert (one.venue, one.year, one.openreview) == ("ICLR", year, "aB3dE6gH91")
    assert one.url == "https://openreview.net/forum?id=aB3dE6gH91"
    assert (two.title, two.number) == (T2, 2)


def test_openreview_without_venue_has_that_of_its_submission_form(tmp_path: Path) -> None:
    reply = openreview_2()["notes"][0]
    del reply["content"]["venue"], reply["content"]["venueid"]
    got = only(tmp_path, [reply])
    assert (got.venue, got.venue_as_found, got.year) == ("ICLR", "ICLR 2024", 2024)


@pytest.mark.parametrize(
    ("event", "venue", "year", "authors"),
    [
        (
            {
                "name": T1,
                "speakers/authors": "Ann Roe, Bob Poe",
                "virtualsite_url": "https://ICML.cc//virtual/2024/poster/1",
            },
            "ICML",
            2024,
            ("Ann Roe", "Bob Poe"),
        ),
        (
            {
                "id": 7,
                "name": T1,
                "authors": [
                    {"id": 1, "fullname": "Ann Roe", "institution": "Marsh"},
                    {"fullname": "Bob Poe"},
                ],
                "virtualsite_url": "/virtual/2023/poster/7",
                "sourceurl": "https://openreview.net/group?id=ICLR.cc/2023/Conference",
                "starttime": "2023-05-01T01:45:00-07:00",
            },
            "ICLR",
            2023,
            ("Ann Roe", "Bob Poe"),
        ),
    ],
)
def test_conference_sites(
    tmp_path: Path, event: dict[str, Any], venue: str, year: int, authors: tuple[str, ...]
) -> None:
    for value in (
        [event | {"abstract": A1}],
        {"count": 1, "next": None, "results": [event | {"abstract": A1}]},
    ):
        got = only(tmp_path, value)
        assert (got.title, got.venue, got.year, got.authors) == (T1, venue, year, authors)


def test_paperlists(tmp_path: Path) -> None:
    entry = "@inproceedings{\nroe24,\nbooktitle={First Conference on\n Language Modeling},\nyear={2024}\n}"
    row = PAPER | {"id": "aB3dE6gH91", "author": "Ann Roe;Bob Poe", "bibtex": entry, "status": "Poster"}
    got = only(tmp_path, [row | {"site": "https://openreview.net/forum?id=aB3dE6gH91"}])
    assert (got.venue, got.year, got.authors, got.openreview) == (
        "COLM",
        2024,
        ("Ann Roe", "Bob Poe"),
        "aB3dE6gH91",
    )
    got = only(
        tmp_path,
        [row | {"bibtex": "", "author": "Anonymous", "site": "https://iclr.cc/virtual/2018/poster/3"}],
    )
    assert (got.venue, got.year, got.authors) == ("ICLR", 2018, ())


def test_semantic_scholar_with_nulls(tmp_path: Path) -> None:
    row = PAPER | {
        "paperId": "c31c",
        "externalIds": {"DOI": "10.1234/X", "ArXiv": None, "CorpusId": 5},
        "publicationVenue": None,
        "venue": "",
        "journal": {"name": "Journal of Machine Learning Research", "pages": None},
        "year": None,
        "publicationDate": "2021-10-01",
        "openAccessPdf": None,
        "tldr": {"model": "x", "text": "We summarise."},
        "authors": [{"authorId": None, "name": "A. Roe"}, {"authorId": "2", "name": "Bob Poe"}],
    }
    got = read_all(tmp_path, json.dumps([None, row, None, row | {"abstract": None}]))
    [record] = records(got)
    assert (record.venue, record.year, record.authors, record.doi) == (
        "JMLR",
        2021,
        ("A. Roe", "Bob Poe"),
        "10.1234/x",
    )
    assert (record.abstract, record.note, record.number) == (A1, "", 2)
    assert [(p.record, p.cause) for p in problems(got)] == [
        (1, "null stands where a paper should"),
        (3, "null stands where a paper should"),
        (4, "no abstract"),
    ]


@pytest.mark.parametrize(
    "wrap", [lambda v: v, lambda v: {"items": v}, lambda v: {"status": "ok", "message": {"items": v}}]
)
def test_csl_json_and_crossref(tmp_path: Path, wrap: Any) -> None:
    one, two = records(read_all(tmp_path, json.dumps(wrap(CSL))))
    assert one.authors == ("Ann Roe Jr.", "Bob van der Berg", "Pebble, Sand and Gravel Group")
    assert (one.citekey, one.title, one.abstract) == ("roe2024", T1, A1)
    assert (one.venue, one.year, one.doi, one.url) == (
        "ICML",
        2024,
        "10.1234/pebble.5",
        "https://pebbles.example/roe24",
    )
    assert (two.year, two.abstract) == (2023, A2)


def test_crossref_has_lists_and_jats(tmp_path: Path) -> None:
    row = {
        "title": [T1],
        "container-title": ["Pebbles"],
        "abstract": f"<jats:title>Abstract</jats:title><jats:p>{A1}</jats:p>",
    }
    got = only(tmp_path, {"message": {"items": [row]}})
    assert (got.title, got.venue) == (T1, "Pebbles")
    assert got.abstract.endswith(A1)


@pytest.mark.parametrize(
    "value",
    [
        {"a": PAPER, "b": OTHER},
        {"oral": [PAPER], "poster": [OTHER]},
        {"ICML": {"2024": {"a": PAPER}, "2023": [OTHER]}},
        {"meta": {"count": 2}, "corpus": [PAPER, OTHER]},
        [[PAPER, OTHER]][0],
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_papers_inside_objects(tmp_path: Path, value: object, indent: int | None) -> None:
    got = read_all(tmp_path, json.dumps(value, indent=indent))
    assert [(r.title, r.abstract, r.number) for r in records(got)] == [(T1, A1, 1), (T2, A2, 2)]
    assert not problems(got)


def test_a_paper_with_lists_is_one_paper(tmp_path: Path) -> None:
    row = PAPER | {"results": [{"title": "x"}], "references": [OTHER]}
    for value in (row, [row]):
        assert only(tmp_path, value).title == T1


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("chunk", [1, 7, 100, 1_000_000])
def test_any_size_of_pieces_gives_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, indent: int | None
) -> None:
    monkeypatch.setattr("rag.readers.source.CHUNK", chunk)
    text = json.dumps([PAPER, 4711, None, OTHER, PAPER | {"year": 2024}], indent=indent)
    text = text.replace(json.dumps(A2), '"x" "y"', 1)
    got = read_all(tmp_path, text)
    assert [r.year for r in records(got)] == [None, 2024]
    assert [p.cause.split(" (")[0] for p in problems(got)] == [
        "a number stands where a paper should",
        "null stands where a paper should",
        "not valid JSON: Expecting ',' delimiter",
    ]
    assert [item.line for item in got] == ([1] * 5 if indent is None else [2, 6, 7, 8, 12])


@pytest.mark.parametrize("before", ["[", '{"count": 2, "papers": ['])
@pytest.mark.parametrize("between", [", ", ",\n"])
def test_a_huge_array_needs_the_memory_of_one_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, between: str
) -> None:
    monkeypatch.setattr("rag.readers.source.CHUNK", 5_000)
    small, large = (before + between.join([json.dumps(PAPER)] * n) for n in (500, 8_000))
    assert [type(item) for item in read_all(tmp_path, small)] == [Record] * 500
    assert peak(tmp_path, large) < 3 * peak(tmp_path, small)  # 16 times the papers


def test_an_object_without_end_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.readers.source.CHUNK", 1_000)
    monkeypatch.setattr(jsonlines, "OBJECT_LIMIT", 5_000)
    [problem] = read_all(tmp_path, '[{"abstract": "' + "pebbles " * 10_000)
    assert problem == problems([problem])[0]
    assert problem.cause == "not valid JSON: longer than 5,000 characters, or never closed"
