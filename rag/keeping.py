"""Papers as the library keeps them: stored, worked out anew from their records, joined, removed; and verdicts."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rag.identity import NAMES, key_for, merged, names, regrouped
from rag.library import Library
from rag.nouns import Paper, Record
from rag.sentences import Span, split
from rag.serial import paper_json, to_record
from rag.text import plain, printable

_RECORD = "INSERT INTO records (paper_id, source_id, digest, record, seen) VALUES (?, ?, ?, ?, ?)"
_COLUMNS = ("paper", "venue", "year", "search_title", "search_text", "content")
_NEW = f"INSERT INTO papers (key, {', '.join(_COLUMNS)}) VALUES ({', '.join('?' * 7)})"
_ANEW = f"UPDATE papers SET {', '.join(f'{name} = ?' for name in _COLUMNS)} WHERE id = ?"


# --- storing ---


def store(db: sqlite3.Connection, record: Record, row: tuple[int, str, str, int]) -> int:
    """A paper of one record, and the record (source, digest, JSON, reading); the paper's id."""
    key = _free_key(db, record)
    paper = merged([record], key=key)
    spans = split(paper.abstract)
    paper_id = int(db.execute(_NEW, (key, *_values(paper, spans))).lastrowid or 0)
    db.execute(_RECORD, (paper_id, *row))
    _keep_names(db, paper_id, [record])
    _add_sentences(db, paper_id, spans)
    return paper_id


def refresh(db: sqlite3.Connection, paper_id: int) -> bool:
    """Work out a paper anew from its records; True if anything a reader sees has changed."""
    key, old = db.execute("SELECT key, paper FROM papers WHERE id = ?", (paper_id,)).fetchone()
    records = [record for _, record in records_of(db, paper_id)]
    if not records:
        db.execute("DELETE FROM papers WHERE id = ?", (paper_id,))
        return True
    db.execute("DELETE FROM names WHERE paper_id = ?", (paper_id,))
    _keep_names(db, paper_id, records)
    paper = merged(records, key=key, paper_id=paper_id)
    if json.loads(paper_json(paper)) == json.loads(old):
        return False
    spans = split(paper.abstract)
    db.execute(_ANEW, (*_values(paper, spans), paper_id))
    keep_sentences(db, paper_id, spans)
    return True


def absorb(db: sqlite3.Connection, paper_id: int, other: int) -> None:
    """All records of another paper into this one, which is to be refreshed; the other is gone."""
    db.execute("UPDATE records SET paper_id = ? WHERE paper_id = ?", (paper_id, other))
    db.execute("DELETE FROM papers WHERE id = ?", (other,))


def detach(db: sqlite3.Connection, paper_id: int, record_ids: Sequence[int]) -> str:
    """Some of a paper's records as a paper of their own; its key. Both are refreshed."""
    (text,) = db.execute("SELECT record FROM records WHERE id = ?", (record_ids[0],)).fetchone()
    key = _free_key(db, to_record(text))
    cursor = db.execute("INSERT INTO papers (key, paper, content) VALUES (?, '{}', '')", (key,))
    other = int(cursor.lastrowid or 0)
    db.executemany("UPDATE records SET paper_id = ? WHERE id = ?", [(other, i) for i in record_ids])
    refresh(db, paper_id)
    refresh(db, other)
    return key


def records_of(db: sqlite3.Connection, paper_id: int) -> list[tuple[int, Record]]:
    """A paper's records in the order they came, by their row numbers."""
    rows = db.execute("SELECT id, record FROM records WHERE paper_id = ? ORDER BY id", (paper_id,)).fetchall()
    return [(i, to_record(text)) for i, text in rows]


def name_anew(library: Library) -> None:
    """Store the names of this program's version of `rag.identity`, where they are of another."""
    if library.get("names") == NAMES:
        return
    with library.writing() as db:
        db.execute("DELETE FROM names")
        for (paper_id,) in db.execute("SELECT id FROM papers ORDER BY id").fetchall():
            _keep_names(db, paper_id, [record for _, record in records_of(db, paper_id)])
        library.put("names", NAMES)


def _values(paper: Paper, spans: list[Span]) -> tuple[Any, ...]:
    texts = (searchable(paper.title), searchable(paper.abstract))
    return (paper_json(paper), paper.venue, paper.year, *texts, content_of(paper, spans))


def _free_key(db: sqlite3.Connection, record: Record) -> str:
    base = key = key_for(record)
    n = 1
    while db.execute("SELECT 1 FROM papers WHERE key = ?", (key,)).fetchone():
        n += 1
        key = f"{base}-{n}"
    return key


def _keep_names(db: sqlite3.Connection, paper_id: int, records: Iterable[Record]) -> None:
    every = dict.fromkeys(name for record in records for name in names(record))
    db.executemany("INSERT INTO names VALUES (?, ?)", [(name, paper_id) for name in every])


def content_of(paper: Paper, spans: list[Span]) -> str:
    """The hash of what is embedded: the words, and where they are cut."""
    text = f"{paper.title}\n{paper.abstract}\n{spans}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def keep_sentences(db: sqlite3.Connection, paper_id: int, spans: list[Span]) -> None:
    """Store a paper's sentences in the place of those it had."""
    db.execute("DELETE FROM sentences WHERE paper_id = ?", (paper_id,))
    _add_sentences(db, paper_id, spans)


def _add_sentences(db: sqlite3.Connection, paper_id: int, spans: list[Span]) -> None:
    db.executemany(
        "INSERT INTO sentences VALUES (?, ?, ?, ?)", [(paper_id, n, a, b) for n, (a, b) in enumerate(spans)]
    )


def searchable(text: str) -> str:
    """Text as full text sees it: formulas as Unicode, and ², ₂ and ℓ as the letters that people type."""
    text = plain(text)
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


# --- removing ---


def remove(library: Library, name: str) -> tuple[int, int]:
    """Forget a paper (by key) or a source (by file name or path): papers removed, papers kept by others.

    What only the source held together falls apart again. Vectors of removed papers go with the next
    `embed_pending`.
    """
    with library.writing() as db:
        row = db.execute("SELECT id FROM papers WHERE key = ?", (printable(name),)).fetchone()
        if row:
            db.execute("DELETE FROM papers WHERE id = ?", row)
            library.raise_generation()
            return 1, 0
        found = _sources(db, name)
        removed = kept = 0
        for (source,) in found:
            touched = db.execute(
                "SELECT DISTINCT paper_id FROM records WHERE source_id = ?", (source,)
            ).fetchall()
            db.execute("DELETE FROM sources WHERE id = ?", (source,))
            for (paper_id,) in touched:
                alive = not refresh(db, paper_id) or _exists(db, paper_id)
                removed, kept = removed + (not alive), kept + alive
                if alive:
                    _fall_apart(db, paper_id)
        if found:
            library.raise_generation()
        return removed, kept


def _sources(db: sqlite3.Connection, name: str) -> list[tuple[int]]:
    """The file at this path; else all files of this name."""
    paths = [printable(path) for path in (name, os.path.abspath(name), str(Path(name).resolve()))]
    at = db.execute("SELECT id FROM sources WHERE path IN (?, ?, ?)", paths).fetchall()
    return at or db.execute("SELECT id FROM sources WHERE name = ?", (printable(name),)).fetchall()


def _exists(db: sqlite3.Connection, paper_id: int) -> bool:
    return db.execute("SELECT 1 FROM papers WHERE id = ?", (paper_id,)).fetchone() is not None


def _fall_apart(db: sqlite3.Connection, paper_id: int) -> None:
    """Part a paper whose records no longer belong together, now that others are gone."""
    rows = dict(records_of(db, paper_id))
    if len(rows) < 2:
        return
    numbers = {id(record): i for i, record in rows.items()}
    digests = dict(db.execute("SELECT id, digest FROM records WHERE paper_id = ?", (paper_id,)).fetchall())

    def joined(a: Record, b: Record) -> bool:
        return verdicts_on(db, digests[numbers[id(a)]]).get(digests[numbers[id(b)]], False)

    for group in regrouped(list(rows.values()), joined)[1:]:
        detach(db, paper_id, [numbers[id(record)] for record in group])


# --- what a person says of two papers ---


def verdicts_on(db: sqlite3.Connection, digest: str) -> dict[str, bool]:
    """Digests of records of which it was said that they are one paper with this one (True) or not (False)."""
    rows = db.execute("SELECT other, same FROM verdicts WHERE one = ?", (digest,)).fetchall()
    return {other: bool(same) for other, same in rows}


def apart(db: sqlite3.Connection, paper_id: int, other: int) -> bool:
    """Whether it was said that two papers are not one."""
    row = db.execute(
        "SELECT 1 FROM records a JOIN verdicts v ON v.one = a.digest JOIN records b ON b.digest = v.other "
        "WHERE a.paper_id = ? AND b.paper_id = ? AND NOT v.same",
        (paper_id, other),
    ).fetchone()
    return row is not None
