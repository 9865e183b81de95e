"""CSV and TSV as people have them. All texts are invented."""

from __future__ import annotations

import csv
import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.nouns import Problem, Record
from rag.readers import read, table

SHARED = Path(__file__).parents[2] / "shared"
A1 = "We propose TidyNet, a small network for sorting pebbles. It needs 12 % less memory than before."
A2 = "Rivers are hard to model on a laptop; we show that a coarse grid is enough, though, for most of them."


@pytest.fixture
def file(tmp_path: Path):
    def write(content: str | bytes, name: str = "papers.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def rows(*lines: list[str], delimiter: str = ",", end: str = "\r\n") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerows(lines)
    return out.getvalue()


def records(items: list[Record | Problem]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def problems(items: list[Record | Problem]) -> list[Problem]:
    return [item for item in items if isinstance(item, Problem)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_table_whatever_parts_its_cells(file, delimiter: str, encoding: str) -> None:
    text = rows(
        ["Title", "Authors", "Year", "Abstract "],
        ["Pebbles", "Roe, Ann; Poe, Bob", "2024", A1],
        ["Größe", "Émile Poe", "2023", A2],
        delimiter=delimiter,
    )
    got = list(read(file(text.encode(encoding), "papers.txt")))
    assert [(r.number, r.line, r.title, r.authors, r.year, r.abstract) for r in got] == [
        (1, 2, "Pebbles", ("Ann Roe", "Bob Poe"), 2024, A1),
        (2, 3, "Größe", ("Émile Poe",), 2023, A2),
    ]


def test_zotero(file) -> None:
    text = rows(
        ["Key", "Item Type", "Publication Year", "Author", "Title", "Publication Title", "DOI", "Url", "Abstract Note"],
        ["AB12CD34", "conferencePaper", "2024", "Roe, Ann; van der Berg, Bob", "Pebbles", "ICML 2024", "10.1234/x",
         "https://marsh.example/1", A1],
    )  # fmt: skip
    [got] = read(file(text))
    assert (got.citekey, got.authors, got.venue, got.year) == (
        "AB12CD34", ("Ann Roe", "Bob van der Berg"), "ICML", 2024,
    )  # fmt: skip
    assert (got.doi, got.url) == ("10.1234/x", "https://marsh.example/1")


def test_embase(file) -> None:
    text = rows(
        ["Title", "Original Title", "Author Names", "Source", "Abstract", "Original Abstract", "Open URL Link"],
        ["Reeds", "", "Roe A., Poe B.C.", "Marsh Letters (2014) 3:3 (152-160). Date of Publication: 2014", A1, "",
         "http://lib.example/x?sid=E&id=doi:10.4103%2F2303-90&atitle=Reeds"],
    )  # fmt: skip
    [got] = read(file(text))
    assert (got.authors, got.venue, got.year) == (("A. Roe", "B.C. Poe"), "Marsh Letters", 2014)
    assert got.doi == "10.4103/2303-90"


def test_a_list_that_a_program_wrote_into_a_cell(file) -> None:
    text = rows(["abstract", "first_authors"], [A1, "['Roe, Ann', 'Poe, Bob']"], [A2, "[Roe"])
    assert [r.authors for r in read(file(text))] == [("Ann Roe", "Bob Poe"), ("[Roe",)]


def test_a_first_column_without_a_name(file) -> None:
    """What pandas writes."""
    [got] = read(file(f" \n\t\n\ttitle\tabstract\n0\tReeds\t{A1}\n"))
    assert (got.title, got.abstract, got.line) == ("Reeds", A1, 4)


def test_excels_own_first_line(file) -> None:
    got = list(read(file(f"sep=;\r\ntitle;abstract\r\nReeds;{A1}\r\n")))
    assert [(r.title, r.abstract, r.number, r.line) for r in got] == [("Reeds", A1, 1, 3)]


def test_quoted_line_ends_and_empty_rows(file) -> None:
    text = rows(
        ["title", "abstract"], ["A", A1.replace(". ", ".\n\n")], ["", ""], ["B", 'He said "so", and left us.']
    )
    got = list(read(file(text)))
    assert [(r.title, r.abstract, r.number, r.line) for r in got] == [
        ("A", A1, 1, 2),
        ("B", 'He said "so", and left us.', 2, 6),
    ]


def test_missing_values(file) -> None:
    got = list(read(file(rows(["title", "abstract"], ["A", ""], ["", A1], ["B"], [], ["C", A2, "", ""]))))
    assert [(type(item), item.line) for item in got] == [(Problem, 2), (Record, 3), (Problem, 4), (Record, 6)]
    assert {(p.cause, p.field) for p in problems(got)} == {("no abstract", "abstract")}
    assert [p.record for p in problems(got)] == [1, 3]


def test_a_row_with_too_many_cells_is_told_and_not_guessed(file) -> None:
    got = list(read(file(f'title,abstract\nA,{A2}\nB,"{A1}"\n')))
    assert [r.title for r in records(got)] == ["B"]
    assert [(p.line, p.record, p.cause) for p in problems(got)] == [
        (2, 1, "the row has 4 cells, but there are 2 columns")
    ]


def test_a_quotation_mark_that_is_not_closed_costs_no_other_row(file) -> None:
    text = f'title,abstract\nA,"{A1}\nB,"{A1}"\nC,"{A1}"\n'
    got = list(read(file(text)))
    assert [(r.title, r.abstract) for r in records(got)] == [("A", A1), ("B", A1), ("C", A1)]
    assert [(p.line, "not closed" in p.cause) for p in problems(got)] == [(2, True)]


def test_sloppy_quotation_marks_are_taken_as_they_are(file) -> None:
    got = list(read(file('title,abstract\n"A" b,We call it "sorting" in all of the nine papers on it.\n')))
    assert [(r.title, r.abstract) for r in got] == [
        ("A b", 'We call it "sorting" in all of the nine papers on it.')
    ]


def test_endless_open_quotation_marks_end_the_reading(file) -> None:
    got = list(read(file("title,abstract\n" + f'A,"{A1}\n' * 400)))
    assert "quotation mark" in problems(got)[-1].cause
    assert len(got) < 450


def test_a_huge_cell_is_a_problem(file) -> None:
    got = list(read(file(f'title,abstract\nA,{"pebble " * 30_000}\nB,"{A1}"\n')))
    assert [p.cause for p in problems(got)] == ["a cell is longer than 131,072 characters"]
    assert [r.title for r in records(got)] == ["B"]


def test_a_table_without_abstracts_names_its_columns(file) -> None:
    [problem] = read(file(rows(["Title", "Authors", "Words"], ["A", "Ann Roe", "x"])))
    assert "its columns: 'Title', 'Authors', 'Words'" in problem.cause
    assert "--map abstract=COLUMN" in problem.remedy
    unknown = rows(["Name of it", "Who", "What"], *[[f"T{n}", "Ann", A1] for n in range(3)])
    [problem] = read(file(unknown))
    assert "'Name of it', 'Who', 'What'" in problem.cause


def test_columns_can_be_named(file) -> None:
    text = rows(["Paper Title", "Text of it", "Who", "title"], ["Reeds", A1, "Ann Roe", "Dr"])
    columns = {"title": "paper title", "abstract": "Text of it", "authors": "Who"}
    [got] = read(file(text), columns)
    assert (got.title, got.abstract, got.authors) == ("Reeds", A1, ("Ann Roe",))
    got = list(read(file(rows(["title", "abstract"], ["A", A1])), {"year": "When"}))
    assert [type(item) for item in got] == [Problem, Record]
    assert (got[0].cause, got[0].field) == ("there is no column 'When'", "year")
    [got] = read(file(A1, "list.txt"), columns)
    assert isinstance(got, Record)


def test_names_of_columns_can_be_stored_whatever_they_hold(file) -> None:
    """C24"""
    [problem] = read(file(b"title,year\0\xff,\xed\xa0\x80who\nA,2024,x\n"))
    (problem.cause + problem.remedy).encode()
    assert "\0" not in problem.cause


@pytest.mark.parametrize(
    "text",
    [
        "In abstract terms, we sort pebbles, rocks, and sand, by their weight and by their colour.",
        f"ICML 2024 Papers\n\n{A1}\n\n{A2}\n",
        f"{A1}\n{A2}\n{A1}\n",
    ],
)
def test_prose_with_commas_is_no_table(file, text: str) -> None:
    assert not table.fits(text) and not table.looks_like_one(text)
    assert records(list(read(file(text, "list.txt"))))


def test_tables_are_read_in_constant_memory(file) -> None:
    path = file(rows(["title", "abstract"], *[[f"T{n}", A1 * 10] for n in range(1_500)]))
    tracemalloc.start()
    assert sum(1 for _ in read(path)) == 1_500
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < path.stat().st_size / 2


ANY = settings(deadline=None, suppress_health_check=list(HealthCheck))
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('",;\n\t'), max_size=40)


@ANY
@given(texts=st.lists(st.tuples(TEXT, TEXT), max_size=5))
def test_what_a_csv_writer_writes_is_read(file, texts: list[tuple[str, str]]) -> None:
    given_rows = [[title, f"{A1} {text}"] for title, text in texts]
    got = list(read(file(rows(["title", "abstract"], *given_rows).encode("utf-8", "replace"))))
    assert len(records(got)) == len(texts)
    assert len(problems(got)) == (not texts)


EXPECTED = {  # file: records, problems
    "embase_export.csv": (6, 0),
    "generic_semicolon.csv": (2, 0),
    "generic_tab.tsv": (2, 0),
    "generic_column_names_with_spaces.csv": (2, 0),
    "missing_values.csv": (2, 2),
}


@pytest.mark.shared
@pytest.mark.parametrize("name", EXPECTED)
def test_real_tables(name: str) -> None:
    path = SHARED / "files" / name
    if not path.exists():
        pytest.skip(f"needs the development material {name}")
    got = list(read(path))
    assert (len(records(got)), len(problems(got))) == EXPECTED[name]
    assert {p.cause for p in problems(got)} <= {"no abstract"}
    if name == "embase_export.csv":
        assert [(r.year, len(r.authors), bool(r.doi)) for r in got] == [
            (2014, 2, True), (2004, 7, True), (2019, 12, True), (2018, 2, True), (2011, 2, True), (2017, 4, True),
        ]  # fmt: skip
