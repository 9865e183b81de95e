"""The real files in docs/formats.md: as many papers, abstracts and problems as the table says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rag.nouns import Problem, Record
from rag.readers import read

ROOT = Path(__file__).parents[1]
FILES = ROOT.parent / "shared" / "files"
_ROW = re.compile(r"^\| `([^`]+)` \|[^|]*\| (\d+) \| (\d+) \| (\d+) \|", re.M)
TABLE = {
    name: tuple(map(int, counts)) for name, *counts in _ROW.findall((ROOT / "docs/formats.md").read_text())
}


def real(name: str) -> list[Record | Problem]:
    if not (FILES / name).exists():
        pytest.skip(f"needs the development material files/{name}")
    return list(read(FILES / name))


def test_the_table_is_there() -> None:
    assert len(TABLE) >= 27


@pytest.mark.shared
@pytest.mark.parametrize("name", TABLE)
def test_counts_are_those_of_the_table(name: str) -> None:
    got = real(name)
    read_ones = [item for item in got if isinstance(item, Record)]
    without = [item for item in got if isinstance(item, Problem) and item.field == "abstract"]
    assert (len(read_ones) + len(without), len(read_ones), len(got) - len(read_ones)) == TABLE[name]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "number", "first", "people", "year", "venue", "identifier"),
    [
        (
            "zotero_export.ris",
            1,
            "Rens van de Schoot",
            17,
            2021,
            "Nature Machine Intelligence",
            "10.1038/s42256-020-00287-7",
        ),
        ("embase_export.ris", 1, "R. Liu", 2, 2014, "Endoscopic Ultrasound", "10.4103/2303-9027.138783"),
        (
            "scopus_export.ris",
            1,
            "A. Labanski",
            4,
            2020,
            "Psychoneuroendocrinology",
            "10.1016/j.psyneuen.2019.104501",
        ),
        (
            "ovid_via_zotero.ris",
            1,
            "Ines A Trindade",
            5,
            2019,
            "Clinical Psychology & Psychotherapy",
            "10.1002/cpp.2398",
        ),
        (
            "proquest_export.ris",
            1,
            "Hannah Jones",
            7,
            2019,
            "Journal of Traumatic Stress",
            "10.1002/jts.22387",
        ),
        (
            "pubmed_via_zotero.ris",
            2,
            "G. Hicks",
            4,
            2019,
            "Techniques in coloproctology",
            "10.1007/s10151-019-02080-0",
        ),
        (
            "pubmed_endnote_export.enw.txt",
            1,
            "M. Abdel-Tawab",
            3,
            2011,
            "Clin Pharmacokinet",
            "10.2165/11586800-000000000-00000",
        ),
        ("endnote_many_authors.ris", 1, "Christopher Verylongname", 7456, None, "", ""),
        ("pubmed_75_records.nbib", 1, "Osama O Zaidat", 65, 2019, "Stroke", "10.1161/strokeaha.118.021126"),
        (
            "pubmed_single.nbib",
            1,
            "Waleed Brinjikji",
            3,
            2018,
            "Journal of neurointerventional surgery",
            "10.1136/neurintsurg-2017-013179",
        ),
        (
            "pubmed_efetch_29768149.xml",
            1,
            "Paul M O'Byrne",
            10,
            2018,
            "The New England journal of medicine",
            "10.1056/nejmoa1715274",
        ),
        (
            "medline_baseline_slice_25.xml",
            2,
            "C G Stewart",
            3,
            1979,
            "Journal of the South African Veterinary Association",
            "",
        ),
        ("arxiv_api_query_10.atom.xml", 3, "Yuqi Chen", 5, 2020, "ISSTA", "2005.14124"),
        (
            "arxiv_api_id_list_old_style.atom.xml",
            1,
            "Andrew Gould",
            4,
            2006,
            "ActaAstron",
            "astro-ph/0601001",
        ),
        ("icml_cc_downloads_events_16.json", 1, "Philipp Holl", 2, 2024, "ICML", ""),
        ("papercopilot_openreview_colm2024_5.json", 1, "Yujia Hu", 4, 2024, "COLM", "0UK8c2kg7c"),
        ("papercopilot_openreview_iclr2018_10.json", 2, "Yan Zhang", 3, 2018, "ICLR", "B12Js_yRb"),
        ("aicpl_normalized_iclr2023_5.json", 1, "Julius Adebayo", 4, 2023, "ICLR", "RUzSobdYy0V"),
        ("pmlr_icml24_first3.bib", 1, "Elias Abad Rocamora", 5, 2024, "ICML", "AZWqXfM6z9"),
    ],
)
def test_what_one_paper_of_a_file_says(
    name: str, number: int, first: str, people: int, year: int | None, venue: str, identifier: str
) -> None:
    got = next(item for item in real(name) if isinstance(item, Record) and item.number == number)
    assert (got.authors[0], len(got.authors), got.year, got.venue) == (first, people, year, venue)
    assert identifier in (got.doi, got.arxiv, got.openreview)
