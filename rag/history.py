"""Conversations kept on disk: whole answers with their papers, as they were when they were given."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from rag.errors import LibraryError
from rag.nouns import Answer, Filters, Hit

FILE = "history.sqlite"  # in the collection's folder
BUSY_S = 30.0
LONGEST_TITLE = 120  # characters
# VERSIONS[n] takes a file from version n to n + 1. A released entry is never edited.
VERSIONS = (
    """
    CREATE TABLE conversations (
        id TEXT PRIMARY KEY,
        title TEXT NOT NULL,
        changed REAL NOT NULL              -- seconds since 1970
    );
    CREATE TABLE turns (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
        said TEXT NOT NULL,                -- question and answer, casefolded, for searching
        turn TEXT NOT NULL                 -- JSON of Said
    );
    CREATE INDEX turns_conversation ON turns (conversation);
    CREATE INDEX conversations_changed ON conversations (changed);
    """,
)


@dataclass(frozen=True, slots=True)
class Said:
    """One turn: the answer, and what else the page shows of it."""

    answer: Answer
    hits: tuple[Hit, ...] = ()  # the papers looked at
    filters: Filters = Filters()


@dataclass(frozen=True, slots=True)
class Heading:
    """A conversation as a list shows it."""

    id: str
    title: str
    changed: float  # seconds since 1970
    turns: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation with its turns, oldest first, each under its number."""

    id: str
    title: str
    turns: tuple[tuple[int, Said], ...]


class History:
    """The conversations of one collection. Safe for many threads and processes."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _trouble(file, error) from error
        with self._db() as db:
            db.execute("PRAGMA journal_mode = WAL")
            _migrate(db, file)

    @staticmethod
    def new_id() -> str:
        """An id that nobody can guess, fit for an address."""
        return secrets.token_urlsafe(9)

    def add(self, conversation: str, said: Said, *, instead_of: int = 0) -> int:
        """Keep a turn at the end of a conversation, which it may begin; returns its number.

        `instead_of`: the number of a turn that it replaces.
        """
        answer = said.answer
        with self._db() as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute(
                "INSERT INTO conversations VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET changed = excluded.changed",
                (conversation, _title(answer.question), time.time()),
            )
            db.execute("DELETE FROM turns WHERE id = ? AND conversation = ?", (instead_of, conversation))
            text = f"{answer.question}\n{answer.text}".casefold()
            row = db.execute(
                "INSERT INTO turns (conversation, said, turn) VALUES (?, ?, ?)",
                (conversation, text, _said().dump_json(said).decode()),
            )
            db.execute("COMMIT")
            return int(row.lastrowid or 0)

    def get(self, conversation: str) -> Conversation | None:
        with self._db() as db:
            row = db.execute("SELECT title FROM conversations WHERE id = ?", (conversation,)).fetchone()
            if row is None:
                return None
            turns = db.execute(
                "SELECT id, turn FROM turns WHERE conversation = ? ORDER BY id", (conversation,)
            ).fetchall()
        return Conversation(
            conversation, row[0], tuple((n, _said().validate_json(turn)) for n, turn in turns)
        )

    def headings(self, words: str = "", most: int = 100) -> list[Heading]:
        """The conversations, the latest first, whose title or turns hold all the words."""
        clauses, values = ["EXISTS (SELECT 1 FROM turns t WHERE t.conversation = c.id)"], []
        for word in words.casefold().split():
            clauses.append(
                "(instr(lower(c.title), ?) OR EXISTS "
                "(SELECT 1 FROM turns t WHERE t.conversation = c.id AND instr(t.said, ?)))"
            )
            values += [word, word]
        with self._db() as db:
            rows = db.execute(
                "SELECT id, title, changed, (SELECT count(*) FROM turns t WHERE t.conversation = c.id) "
                f"FROM conversations c WHERE {' AND '.join(clauses)} ORDER BY changed DESC, id LIMIT ?",
                (*values, most),
            ).fetchall()
        return [Heading(*row) for row in rows]

    def latest(self, most: int) -> list[Answer]:
        """The answers of the latest turns of all conversations, the newest first."""
        with self._db() as db:
            rows = db.execute("SELECT turn FROM turns ORDER BY id DESC LIMIT ?", (most,)).fetchall()
        return [_said().validate_json(row[0]).answer for row in rows]

    def rename(self, conversation: str, title: str) -> None:
        """Give a conversation another title; an empty one changes nothing."""
        if title.strip():
            with self._db() as db:
                db.execute("UPDATE conversations SET title = ? WHERE id = ?", (_title(title), conversation))

    def delete(self, conversation: str) -> None:
        with self._db() as db:
            db.execute("DELETE FROM conversations WHERE id = ?", (conversation,))

    @contextmanager
    def _db(self) -> Iterator[sqlite3.Connection]:
        try:
            db = sqlite3.connect(self.file, timeout=BUSY_S, isolation_level=None)
            try:
                db.execute("PRAGMA foreign_keys = ON")
                yield db
            finally:
                db.close()
        except sqlite3.DatabaseError as error:
            raise _trouble(self.file, error) from error


def _migrate(db: sqlite3.Connection, file: Path) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > len(VERSIONS):
        raise LibraryError(
            f"{file} was written by a newer Pincite (tables {version}, this program knows {len(VERSIONS)}). "
            "Update Pincite, or move the file away: it holds conversations only."
        )
    if version == len(VERSIONS):
        return
    db.execute("BEGIN EXCLUSIVE")
    version = db.execute("PRAGMA user_version").fetchone()[0]  # another process may have been quicker
    for step in range(version, len(VERSIONS)):
        for statement in filter(str.strip, VERSIONS[step].split(";\n")):
            db.execute(statement)
    db.execute(f"PRAGMA user_version = {len(VERSIONS)}")
    db.execute("COMMIT")


@cache
def _said() -> TypeAdapter[Said]:
    return TypeAdapter(Said)


def _title(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1].rstrip() + "…"


def _trouble(file: Path, error: Exception) -> LibraryError:
    return LibraryError(
        f"The conversations at {file} cannot be read or written: {error}. If the file is damaged, move it away "
        "(it holds conversations only); check that its folder can be written and the disk is not full."
    )
