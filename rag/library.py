"""The library: one SQLite file that is the truth about a collection. Vectors are derived from it."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

from rag.errors import LibraryError
from rag.nouns import Filters, Paper, Sentence
from rag.passing import passing
from rag.people import any_person
from rag.schema import migrate
from rag.serial import to_paper

PAGE = 500  # values bound in one statement; SQLite's own limit is far higher
FILE = "library.sqlite"  # in the collection's folder
BUSY_S = 30.0  # waited for another process that writes
ORDERS = {
    "added": "id DESC",
    "title": "json_extract(paper, '$.label') COLLATE NOCASE",
    "venue": "venue = '', venue COLLATE NOCASE, year DESC",
    "year": "year DESC",
}


def _told(method: Callable[..., Any]) -> Any:
    """A cursor's method, with LibraryError where the file is damaged, locked, full or read-only."""

    @wraps(method)
    def call(cursor: sqlite3.Cursor, *args: Any) -> Any:
        try:
            return method(cursor, *args)
        except sqlite3.DatabaseError as error:
            if type(error) not in (sqlite3.DatabaseError, sqlite3.OperationalError):
                raise  # a fault of the program, not of the file
            raise _trouble(cursor.connection.file, error) from error  # type: ignore[attr-defined]

    return call


class _Cursor(sqlite3.Cursor):
    execute = _told(sqlite3.Cursor.execute)
    executemany = _told(sqlite3.Cursor.executemany)
    fetchone = _told(sqlite3.Cursor.fetchone)
    fetchall = _told(sqlite3.Cursor.fetchall)
    __next__ = _told(sqlite3.Cursor.__next__)


class _Connection(sqlite3.Connection):
    file: Path

    def execute(self, *args: Any) -> Any:
        return self.cursor(_Cursor).execute(*args)

    def executemany(self, *args: Any) -> Any:
        return self.cursor(_Cursor).executemany(*args)


class Library:
    """Opens (and creates) the library of a collection; one connection a thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / FILE
        self._local = threading.local()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            migrate(self.db)
        except (sqlite3.DatabaseError, OSError) as error:
            raise _trouble(self.file, error) from error

    @property
    def db(self) -> sqlite3.Connection:
        connection: _Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self.file, timeout=BUSY_S, isolation_level=None, factory=_Connection)
            connection.file = self.file
            _use_wal(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.create_function("any_person", 2, any_person, deterministic=True)
            self._local.connection = connection
        return connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is stored or nothing."""
        db = self.db
        try:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise

    def close(self) -> None:
        if getattr(self._local, "connection", None) is not None:
            self._local.connection.close()
            self._local.connection = None

    # --- facts about the collection ---

    def get(self, name: str, default: str = "") -> str:
        row = self.db.execute("SELECT value FROM meta WHERE key = ?", (name,)).fetchone()
        return default if row is None else str(row[0])

    def put(self, name: str, value: str) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def generation(self) -> int:
        """Rises whenever papers or vectors change, in whichever process."""
        return int(self.get("generation", "0"))

    def raise_generation(self) -> None:
        """Call inside `writing()`, with the change it announces."""
        self.db.execute("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'generation'")

    def size(self) -> tuple[int, int]:
        """Papers and sentences."""
        papers = self.db.execute("SELECT count(*) FROM papers").fetchone()[0]
        sentences = self.db.execute("SELECT count(*) FROM sentences").fetchone()[0]
        return papers, sentences

    def pending(self) -> int:
        """Papers whose vectors are not stored yet."""
        count: int = self.db.execute("SELECT count(*) FROM papers WHERE embedded <> content").fetchone()[0]
        return count

    # --- papers and sentences ---

    def paper(self, key: str) -> Paper | None:
        row = self.db.execute("SELECT id, key, paper FROM papers WHERE key = ?", (key,)).fetchone()
        return None if row is None else to_paper(*row)

    def papers(self) -> Iterator[Paper]:
        """All papers in the order they came."""
        for row in self.db.execute("SELECT id, key, paper FROM papers ORDER BY id"):
            yield to_paper(*row)

    def by_id(self, ids: Iterable[int]) -> dict[int, Paper]:
        rows = self._in("SELECT id, key, paper FROM papers WHERE id IN ({})", ids)
        return {row[0]: to_paper(*row) for row in rows}

    def sentences(self, paper: Paper) -> tuple[Sentence, ...]:
        rows = self.db.execute(
            "SELECT ordinal, start, stop FROM sentences WHERE paper_id = ? ORDER BY ordinal", (paper.id,)
        )
        return tuple(Sentence(paper.key, n, a, b, paper.abstract[a:b]) for n, a, b in rows)

    def contents(self, ids: Iterable[int]) -> dict[int, str]:
        """The content hash of each paper that exists: vectors with another hash are stale."""
        return dict(self._in("SELECT id, content FROM papers WHERE id IN ({})", ids))

    def allowed(self, filters: Filters) -> set[int] | None:
        """Ids of the papers that pass the filters; None when there are no filters."""
        clauses, values = passing(filters)
        if not clauses:
            return None
        rows = self.db.execute(f"SELECT id FROM papers WHERE {' AND '.join(clauses)}", values)
        return {row[0] for row in rows}

    # --- what a table of the papers shows ---

    def counts(self) -> list[tuple[str, int | None, int]]:
        """How many papers each venue has in each year; "" and None: not known."""
        return self.db.execute(
            "SELECT venue, year, count(*) FROM papers GROUP BY 1, 2 ORDER BY 1, 2"
        ).fetchall()

    def files(self) -> list[tuple[str, int]]:
        """The files that were read, and how many papers each tells of."""
        return self.db.execute(
            "SELECT s.name, count(DISTINCT r.paper_id) FROM sources s LEFT JOIN records r ON r.source_id = s.id "
            "GROUP BY s.id ORDER BY s.name"
        ).fetchall()

    def listed(
        self,
        words: str = "",
        filters: Filters | None = None,
        order: str = "added",
        start: int = 0,
        most: int = 50,
    ) -> tuple[list[Paper], int]:
        """A page of the papers with all words in title, authors or abstract; and how many. `order`: of ORDERS."""
        clauses, values = passing(filters or Filters())
        for word in words.replace("\0", " ").split():
            clauses.append(
                "(id IN (SELECT rowid FROM fulltext WHERE fulltext MATCH ?)"
                " OR instr(lower(json_extract(paper, '$.authors')), ?))"
            )
            values += [_quoted(word) + "*", word.lower()]
        where = f"WHERE {' AND '.join(clauses)}" if clauses else ""
        total = self.db.execute(f"SELECT count(*) FROM papers {where}", values).fetchone()[0]
        rows = self.db.execute(
            f"SELECT id, key, paper FROM papers {where} ORDER BY {ORDERS[order]}, id LIMIT ? OFFSET ?",
            (*values, most, start),
        )
        return [to_paper(*row) for row in rows], total

    # --- full text ---

    def postings(self, term: str, most: int) -> list[int]:
        """Ids of the papers that hold a term (stemmed), at most `most`."""
        rows = self.db.execute(
            "SELECT rowid FROM fulltext WHERE fulltext MATCH ? LIMIT ?", (_quoted(term), most)
        )
        return [row[0] for row in rows]

    def bm25(
        self, terms: Sequence[str], most: int, allowed: set[int] | None = None
    ) -> list[tuple[int, float]]:
        """The best papers for any of the terms with their BM25 score, larger is better."""
        if not terms:
            return []
        query = " OR ".join(map(_quoted, terms))
        only = [] if allowed is None else [json.dumps(sorted(allowed))]
        where = "AND rowid IN (SELECT value FROM json_each(?))" if only else ""
        rows = self.db.execute(
            f"SELECT rowid, bm25(fulltext) FROM fulltext WHERE fulltext MATCH ? {where} ORDER BY 2 LIMIT ?",
            (query, *only, most),
        )
        return [(i, -score) for i, score in rows]

    def _in(self, statement: str, values: Iterable[Any]) -> Iterator[Any]:
        every = list(values)
        for start in range(0, len(every), PAGE):
            page = every[start : start + PAGE]
            yield from self.db.execute(statement.format(",".join("?" * len(page))), page)


def _trouble(file: Path, error: Exception) -> LibraryError:
    return LibraryError(
        f"The collection at {file} cannot be read or written: {error}. If the file is damaged, move it away "
        "and index your files again; check that its folder can be written and the disk is not full."
    )


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging; SQLite itself does not wait for another process that does the same."""
    end = time.monotonic() + BUSY_S
    while True:
        try:
            connection.cursor().execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        time.sleep(0.01)


def _quoted(term: str) -> str:
    """A term as an FTS5 string: no operator in it has power."""
    return '"' + term.replace('"', '""') + '"'
