"""`pincite papers` and `remove`, as people and scripts meet them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fakes import HashEmbedder
from shelf import BITTERN, DUNLIN

import rag.opening
from rag.library import Library
from ui.cli import pincite

FIRST = f"""
@inproceedings{{reed24, title={{Bittern: A Radio That Sleeps}}, author={{Ada Reed}}, year={{2024}},
  booktitle={{ICML}}, doi={{10.1000/x}}, abstract={{{BITTERN}}}}}
@article{{marsh24, title={{Maps of Moving Mud}}, author={{Bo Marsh}}, year={{2024}}, abstract={{{DUNLIN}}}}}
"""
SECOND = f"""
@article{{mud, title={{Maps of Moving Mud}}, author={{Cy Shore}}, year={{2024}}, abstract={{{DUNLIN}}}}}
@misc{{reed23, title={{Bittern, a Radio}}, author={{Ada Reed and Bo Marsh}}, year={{2023}}, doi={{10.1000/x}},
  url={{https://arxiv.org/abs/2401.00001v2}}, abstract={{{BITTERN}}}}}
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PINCITE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(rag.opening, "embedder_of", lambda *_, **__: HashEmbedder())
    monkeypatch.chdir(tmp_path)
    Path("first.bib").write_text(FIRST, "utf-8")
    Path("second.bib").write_text(SECOND, "utf-8")
    assert run("index", "first.bib", "second.bib").exit_code == 0
    return tmp_path / "home"


def run(*words: str) -> Result:
    return CliRunner().invoke(pincite, ["--offline", "--quiet", *words])


def keys() -> list[str]:
    return [json.loads(line)["key"] for line in run("papers", "--json").output.splitlines()]


def test_a_paper_is_shown_with_its_records_and_why_they_are_one(home: Path) -> None:
    shown = run("papers", "show", "reed24").output
    assert shown.splitlines()[-3:] == [
        "2 records: first.bib #1, second.bib #2 (arXiv v2); title, year, venue, url, abstract from "
        "first.bib #1; authors from second.bib #2 (arXiv v2)",
        "  1. first.bib #1: the first",
        "  2. second.bib #2 (arXiv v2): same DOI",
    ]
    row = json.loads(run("papers", "show", "reed24", "--json").output)
    assert row["key"] == "reed24" and [r["why"] for r in row["records"]] == ["", "same DOI"]
    assert row["records"][1]["version"] == "arXiv v2" and row["records"][1]["gave"] == ["authors"]


def test_a_doubtful_pair_is_listed_until_somebody_decides(home: Path) -> None:
    assert keys() == ["reed24", "marsh24", "mud"]
    assert run("papers", "duplicates").output == (
        "marsh24  mud  (same title, other first author: Bo Marsh, Cy Shore)\n"
        "  Maps of Moving Mud\n  Maps of Moving Mud\n"
    )
    assert json.loads(run("papers", "duplicates", "--json").output) == {
        "one": "marsh24",
        "other": "mud",
        "why": "same title, other first author: Bo Marsh, Cy Shore",
        "labels": ["Maps of Moving Mud"] * 2,
    }
    assert run("papers", "split", "marsh24", "mud").output == "marsh24 and mud stay two papers.\n"
    assert run("papers", "duplicates").output == "No two papers of this collection look like one.\n"
    assert run("papers", "duplicates", "--json").output == ""
    assert run("papers", "merge", "marsh24", "mud").output == "mud is marsh24 now.\n"
    assert keys() == ["reed24", "marsh24"]


def test_what_was_said_survives_edited_files_and_a_rebuild(home: Path) -> None:
    run("papers", "merge", "marsh24", "mud")
    assert run("papers", "split", "reed24", "--record", "2").output == "reed23 was taken out of reed24.\n"
    assert keys() == ["reed24", "marsh24", "reed23"]
    Path("second.bib").write_text(SECOND.replace("2023", "2022") + "% edited\n", "utf-8")
    for again in (("index", "second.bib", "first.bib"), ("index", "--rebuild")):
        assert run(*again).exit_code == 0
        assert keys() == ["reed24", "marsh24", "reed23"], again


def test_removing_a_file_removes_what_only_it_brought_everywhere(home: Path) -> None:
    """The library, the full text, the vectors; a paper of two files keeps what the other tells."""
    done = run("remove", "first.bib")
    assert done.output == "1 removed, 1 kept: another file holds them\n"
    library = Library(home / "collections" / "default")
    assert [(p.key, p.title, p.sources, p.year) for p in library.papers()] == [
        ("reed24", "Bittern, a Radio", ("second.bib",), 2023),
        ("mud", "Maps of Moving Mud", ("second.bib",), 2024),
    ]
    assert library.pending() == 0
    alive = {paper.id for paper in library.papers()}
    assert set(library.postings("mudflats", 9)) <= alive
    assert {row[0] for row in library.db.execute("SELECT DISTINCT paper_id FROM chunks")} == alive
    assert run("remove", "first.bib").exit_code == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("papers", "split", "reed24"), 2, "Name two papers, or one and --record"),
        (("papers", "split", "reed24", "mud", "--record", "1"), 2, "Name two papers, or one and --record"),
        (("papers", "split", "reed24", "--record", "7"), 1, "reed24 has no record 7"),
        (("papers", "merge", "reed24", "nobody"), 1, "no paper 'nobody'"),
        (("papers", "show", "nobody"), 1, "no paper 'nobody'"),
        (("remove", "nobody"), 1, "no paper and no file 'nobody'"),
    ],
)
def test_what_cannot_be_done_is_said(home: Path, words: tuple[str, ...], code: int, said: str) -> None:
    done = run(*words)
    assert done.exit_code == code and said in f"{done.output}{done.exception}"
