"""The library's file: opening, damage, transactions, filters, full text."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from shelf import BITTERN, DUNLIN, GODWIT, numbered, put, record

from rag import schema
from rag.errors import LibraryError
from rag.library import Library
from rag.nouns import Filters


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "collection")
    yield library
    library.close()


def ids(library: Library) -> dict[str, int]:
    return {paper.key: paper.id for paper in library.papers()}


# ------------------------------------------------------------------------------- opening and versions


def test_a_new_library_is_empty_and_of_this_version(library: Library) -> None:
    assert library.size() == (0, 0) and library.pending() == 0 and library.generation() == 0
    assert library.db.execute("PRAGMA user_version").fetchone() == (len(schema.MIGRATIONS),)
    assert library.db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert library.db.execute("PRAGMA foreign_keys").fetchone() == (1,)


def test_opening_again_changes_nothing(library: Library) -> None:
    put(library, [record()])
    before = list(library.db.execute("SELECT name, sql FROM sqlite_master ORDER BY name"))
    again = Library(library.folder)
    assert list(again.db.execute("SELECT name, sql FROM sqlite_master ORDER BY name")) == before
    assert again.size() == (1, 4)


@pytest.mark.parametrize("version", range(1, len(schema.MIGRATIONS)))
def test_a_library_of_an_older_version_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:version])
        old = Library(tmp_path)
    old.db.execute("INSERT INTO papers (key, paper, content) VALUES ('kept', '{}', '')")
    old.close()
    now, fresh = Library(tmp_path), Library(tmp_path / "fresh")
    assert now.db.execute("SELECT key FROM papers").fetchall() == [("kept",)]
    tables = "SELECT name, sql FROM sqlite_master ORDER BY name"
    assert now.db.execute(tables).fetchall() == fresh.db.execute(tables).fetchall()


def test_a_step_that_fails_leaves_the_version_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Library(tmp_path).close()
    good = schema.MIGRATIONS
    monkeypatch.setattr(schema, "MIGRATIONS", (*good, "CREATE TABLE half (a); CREATE TABLE papers (b);"))
    with pytest.raises(LibraryError, match="table papers already exists"):
        Library(tmp_path)
    monkeypatch.setattr(schema, "MIGRATIONS", good)
    assert Library(tmp_path).db.execute("SELECT * FROM sqlite_master WHERE name = 'half'").fetchall() == []


def test_a_step_that_another_process_has_taken_meanwhile_is_not_taken_again(tmp_path: Path) -> None:
    """A step that could run twice without an error would throw away what the other process has written since."""
    late = Library(tmp_path)
    versions = [2]  # as a process saw it that then waited for its turn
    late.db.execute("INSERT INTO chunks (vector, paper_id, numbers) VALUES ('v', 1, x'00')")
    with pytest.MonkeyPatch.context() as patch:
        real = schema._version
        patch.setattr(
            schema, "_version", lambda connection: versions.pop(0) if versions else real(connection)
        )
        schema.migrate(late.db)
    assert late.db.execute("SELECT count(*) FROM chunks").fetchone() == (1,)


def test_a_library_of_a_newer_program_is_refused(library: Library) -> None:
    library.db.execute("PRAGMA user_version = 99")
    with pytest.raises(
        LibraryError, match=r"newer Pincite \(tables 99, .*Update Pincite, or choose another --home"
    ):
        Library(library.folder)


def test_processes_that_create_one_library_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from rag.library import Library\n"
        "print('ready', flush=True); start = float(sys.stdin.readline())\n"
        "for n in range(20):\n"
        "    while time.time() < start + n / 20: pass\n"
        "    Library(Path(sys.argv[1], str(n)))"
    )
    crowd = [
        subprocess.Popen(
            [sys.executable, "-c", code, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    assert [one.stdout.readline() for one in crowd if one.stdout] == ["ready\n"] * 3
    start = f"{time.time() + 0.1}\n"
    for one in crowd:
        assert one.stdin
        one.stdin.write(start)
        one.stdin.flush()
    for one in crowd:
        one.communicate(timeout=60)
    assert [one.returncode for one in crowd] == [0, 0, 0]


# -------------------------------------------------------------------------------------------- damage


def filled(folder: Path) -> bytes:
    """The bytes of a library of 200 papers."""
    library = Library(folder)
    put(library, [record(numbered(n), n) for n in range(200)])
    library.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    library.close()
    return library.file.read_bytes()


@pytest.mark.parametrize("kept", [0.5, 0.3, 0.01], ids=str)
def test_a_cut_file_is_told_with_what_to_do(tmp_path: Path, kept: float) -> None:
    whole = filled(tmp_path)
    (tmp_path / "library.sqlite").write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(
        LibraryError, match=r"library\.sqlite .*malformed.*move it away and index your files again"
    ):
        Library(tmp_path)


def test_a_file_that_is_no_database_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "library.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(LibraryError, match=r"library\.sqlite .*not a database.*move it away"):
        Library(tmp_path)


def test_damage_that_shows_only_on_reading_is_told_too(tmp_path: Path) -> None:
    whole = bytearray(filled(tmp_path))
    page = whole.index(b'list-150{"abstract": "The krell150 of') // 4096 * 4096
    whole[page : page + 4096] = b"\xaa" * 4096
    (tmp_path / "library.sqlite").write_bytes(whole)
    library = Library(tmp_path)
    assert library.postings("krell20", 9) == [21], "what is whole can be read"
    with pytest.raises(LibraryError, match=r"library\.sqlite .*malformed.*move it away"):
        list(library.papers())
    with pytest.raises(LibraryError, match="malformed"):
        library.by_id([151])


def test_a_place_that_cannot_be_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LibraryError, match=r"file/home/library\.sqlite .*its folder can be written"):
        Library(tmp_path / "file" / "home")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; test_cli tells it of processes")
def test_a_read_only_folder_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(LibraryError, match="its folder can be written"):
        Library(tmp_path)


def test_a_library_that_another_process_holds_is_told(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.library.BUSY_S", 0.05)
    other = sqlite3.connect(library.file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    impatient = Library(library.folder)
    with pytest.raises(LibraryError, match="cannot be read or written: database is locked"):
        put(impatient, [record()])
    other.close()


def test_a_fault_of_the_program_is_not_taken_for_damage(library: Library) -> None:
    with pytest.raises(sqlite3.IntegrityError), library.writing() as db:
        db.execute("INSERT INTO papers (key, paper, content) VALUES (NULL, '', '')")


# -------------------------------------------------------------------------------- reading and writing


def test_a_transaction_is_stored_whole_or_not_at_all(library: Library) -> None:
    with pytest.raises(KeyboardInterrupt), library.writing() as db:
        db.execute("INSERT INTO papers (key, paper, content) VALUES ('a', '{}', '')")
        raise KeyboardInterrupt
    assert library.size() == (0, 0) and not library.db.in_transaction


def test_the_generation_rises_with_the_change_it_announces(library: Library) -> None:
    with library.writing():
        library.raise_generation()
        library.raise_generation()
    with pytest.raises(ValueError), library.writing():
        library.raise_generation()
        raise ValueError
    assert library.generation() == 2


def test_each_thread_has_a_connection_of_its_own(library: Library) -> None:
    put(library, [record()])
    seen: list[object] = []

    def look() -> None:
        seen.extend([library.db, library.size()])

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen[0] is not library.db and seen[1] == (1, 4)


def test_sentences_are_exact_spans_of_the_abstract(library: Library) -> None:
    put(library, [record(BITTERN, citekey="reed24")])
    paper = library.paper("reed24")
    assert paper
    sentences = library.sentences(paper)
    assert [s.ordinal for s in sentences] == [0, 1, 2, 3]
    assert [s.text for s in sentences] == [paper.abstract[s.start : s.end] for s in sentences]
    assert sentences[2].text == "In three winters Bittern lost 2 of 140 messages."
    assert library.paper("nobody") is None


def test_many_papers_are_fetched_in_pages(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.library.PAGE", 3)
    put(library, [record(numbered(n), n) for n in range(10)])
    every = list(ids(library).values())
    assert set(library.by_id([*every, 999])) == set(every) == set(library.contents(every))


# ------------------------------------------------------------------------------------------- filters


@pytest.fixture
def three(library: Library) -> Library:
    put(
        library,
        [
            record(BITTERN, citekey="b", venue="MARSH", year=2023),
            record(DUNLIN, citekey="d", venue="MARSH", year=2024),
            record(GODWIT, citekey="g", venue="", year=None),
        ],
    )
    return library


@pytest.mark.parametrize(
    ("filters", "keys"),
    [
        (Filters(venues=("MARSH",)), "bd"),
        (Filters(years=(2024, 1999)), "d"),
        (Filters(venues=("MARSH",), years=(2023,)), "b"),
        (Filters(papers=("g", "b")), "bg"),
        (Filters(without=("b",)), "dg"),
        (Filters(papers=("g", "b"), without=("b",)), "g"),
        (Filters(venues=('O\'Hare "x"',)), ""),
    ],
    ids=str,
)
def test_filters_allow_what_passes_all_of_them(three: Library, filters: Filters, keys: str) -> None:
    assert three.allowed(filters) == {ids(three)[key] for key in keys}


def test_no_filter_is_no_restriction(three: Library) -> None:
    assert three.allowed(Filters()) is None


def test_more_keys_than_a_statement_takes_variables_are_no_problem(three: Library) -> None:
    many = tuple(f"k{n}" for n in range(50_000))
    assert three.allowed(Filters(papers=("d", *many))) == {ids(three)["d"]}
    assert three.bm25(["messages"], 5, set(range(50_000)))[0][0] == ids(three)["b"]


# ----------------------------------------------------------------------------------------- full text


def test_full_text_finds_words_stemmed_in_title_and_abstract(three: Library) -> None:
    put(three, [record(numbered(4), citekey="n", title="Weighing Krells")], "more.bib")
    found = ids(three)
    assert three.postings("battery", 9) == [found["b"]], "batteries"
    assert three.postings("weigh", 9) == [found["n"]]
    assert three.postings("absent", 9) == []
    assert len(three.postings("that", 2)) == 2, "at most as many as asked for"


def test_bm25_ranks_papers_that_hold_any_term(three: Library) -> None:
    found = ids(three)
    ranked = three.bm25(["drone", "road", "tides"], 9)
    assert [i for i, _ in ranked] == [found["g"], found["d"]]
    assert ranked[0][1] > ranked[1][1] > 0
    assert three.bm25(["drone", "tides"], 1) == three.bm25(["drone", "tides"], 9)[:1]
    assert [i for i, _ in three.bm25(["drone", "tides"], 9, {found["d"], found["b"]})] == [found["d"]]
    assert three.bm25(["drone"], 9, set()) == [] and three.bm25([], 9) == []


@pytest.mark.parametrize("term", ['"', "NEAR(", "a OR b", "*", "-drone", "title:x", "drone*"])
def test_no_operator_has_power_in_a_term(three: Library, term: str) -> None:
    found = three.postings(term, 9)
    assert found in ([], [ids(three)["g"]])
    assert three.bm25([term], 9) == three.bm25([term], 9)
