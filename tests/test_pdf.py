"""PDF: title and abstract by layout, from papers that are made here. All texts are invented."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from pdfs import Piece, made
from shelf import BITTERN, DUNLIN

from rag.readers import read

HEAD: list[Piece] = [
    ("", 9, "Proceedings of the 41st International Conference on Machine Learning, Vienna, 2024."),
    ("B", 17, "Radios That Sleep: Waking Sensors\nby the Boom of a Bird"),
    ("", 11, "Ann Roe    Bob van der Berg\nMarsh University"),
]
BODY: list[Piece] = [("", 10, "Sensors are small. They sleep a lot, and this is no part of the abstract.")]
TITLE = "Radios That Sleep: Waking Sensors by the Boom of a Bird"


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("label", ["Abstract", "ABSTRACT", "Abstract.", "A B S T R A C T"])
@pytest.mark.parametrize(
    "end", ["1 Introduction", "1. INTRODUCTION", "I. INTRODUCTION", "Introduction", "Keywords: radio"]
)
def test_title_and_abstract(tmp_path: Path, label: str, end: str, columns: int) -> None:
    pieces = [*HEAD, ("B", 12, label), ("", 10, BITTERN), ("B", 12, end), *BODY]
    [got] = read(made(tmp_path / "a.pdf", pieces, columns=columns))
    assert (got.title, got.abstract, got.number, got.source) == (TITLE, BITTERN, 1, "a.pdf")
    assert (got.venue, got.year) == ("ICML", 2024)


@pytest.mark.parametrize("label", ["Abstract—", "Abstract: ", "Abstract. ", "ABSTRACT "])
def test_an_abstract_on_the_line_of_its_label(tmp_path: Path, label: str) -> None:
    pieces = [*HEAD, ("", 10, label.replace("—", "-") + BITTERN), ("B", 12, "1 Introduction"), *BODY]
    [got] = read(made(tmp_path / "a.pdf", pieces))
    assert (got.title, got.abstract) == (TITLE, BITTERN)


def test_a_word_parted_at_a_line_end_is_put_together(tmp_path: Path) -> None:
    text = BITTERN.replace("batteries", "bat-\nteries")
    [got] = read(
        made(tmp_path / "a.pdf", [*HEAD, ("B", 12, "Abstract"), ("", 10, text), ("B", 12, "1 Introduction")])
    )
    assert got.abstract == BITTERN


def test_the_files_own_fields_fill_what_the_layout_does_not_tell(tmp_path: Path) -> None:
    pieces: list[Piece] = [
        ("", 10, "Marsh notes"),
        ("", 10, "Abstract"),
        ("", 10, BITTERN),
        ("", 10, "1 Introduction"),
    ]
    [got] = read(made(tmp_path / "a.pdf", pieces, title="Radios That Sleep", author="Ann Roe, Bob Poe"))
    assert (got.title, got.authors) == ("Radios That Sleep", ("Ann Roe", "Bob Poe"))
    [got] = read(made(tmp_path / "b.pdf", pieces, title="Microsoft Word - draft.doc"))
    assert got.title == ""


def test_what_has_no_abstract_is_a_problem(tmp_path: Path) -> None:
    [problem] = read(
        made(tmp_path / "a.pdf", [*HEAD, *BODY, ("", 10, "Abstract Syntax is no abstract. " * 3)])
    )
    assert (problem.cause, problem.field) == ("no abstract", "abstract")
    [problem] = read(made(tmp_path / "scan.pdf", []))
    assert problem.cause == "a PDF without text, such as a scan"
    [problem] = read(made(tmp_path / "locked.pdf", HEAD, password="secret"))
    assert problem.cause == "the PDF is locked by a password"
    (tmp_path / "cut.pdf").write_bytes(b"%PDF-1.7\n%\xe2\xe3")
    [problem] = read(tmp_path / "cut.pdf")
    assert problem.cause == "the PDF is damaged, or none" and problem.remedy


def test_a_pdf_in_an_archive(tmp_path: Path) -> None:
    made(tmp_path / "a.pdf", [*HEAD, ("B", 12, "Abstract"), ("", 10, DUNLIN), ("B", 12, "1 Introduction")])
    with zipfile.ZipFile(tmp_path / "papers.zip", "w") as zipped:
        zipped.write(tmp_path / "a.pdf", "2024/a.pdf")
    [got] = read(tmp_path / "papers.zip")
    assert (got.title, got.abstract, got.source) == (TITLE, DUNLIN, "papers.zip!2024/a.pdf")
