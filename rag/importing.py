"""Records into the library: each finds its paper or becomes one; nothing stored before is lost."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rag.identity import EDITED, SHARED, belongs, edited, exact_names, likeness, resemblance, text_names
from rag.keeping import absorb, apart, name_anew, refresh, store, verdicts_on
from rag.library import Library
from rag.nouns import Problem, Record
from rag.serial import record_json, to_record
from rag.text import printable

BATCH = 1000  # records a transaction: what a kill can undo
COMMON = 50  # papers from which a shared name is no sign that they are one
_CACHE = "PRAGMA cache_size = -32768"  # KiB; names are stored at random places


@dataclass
class Counts:
    """What one reading of a source did to the collection."""

    records: int = 0
    added: int = 0
    changed: int = 0
    joined: int = 0  # records that were recognised as a paper of another file
    gone: int = 0  # papers that an earlier version of the file held; kept
    merged: int = 0  # papers that turned out to be one with another


class Told(NamedTuple):
    """A record of the library."""

    id: int
    paper_id: int
    digest: str
    record: Record
    fading: bool  # of the file that is being read, and not met again so far


class Importer:
    """Reads one source into the library. `finish()` marks it as read to its end."""

    def __init__(self, library: Library, path: Path) -> None:
        self.library = library
        self.counts = Counts()
        name_anew(library)
        library.db.execute(_CACHE)
        with library.writing() as db:
            db.execute("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'reading'")
            db.execute(
                "INSERT INTO sources (path, name) VALUES (?, ?) ON CONFLICT (path) DO NOTHING",
                (printable(str(path)), printable(path.name)),
            )
            self.source: int = db.execute(
                "SELECT id FROM sources WHERE path = ?", (printable(str(path)),)
            ).fetchone()[0]
        self.reading = int(library.get("reading"))

    def add(self, records: Iterable[Record]) -> None:
        """Store some records in one transaction."""
        with self.library.writing() as db:
            before = (self.counts.added, self.counts.changed, self.counts.joined)
            for record in records:
                self._add(db, record)
            if before != (self.counts.added, self.counts.changed, self.counts.joined):
                self.library.raise_generation()

    def finish(self, digest: str) -> None:
        """The source was read to its end: remember its sum, count what it no longer holds."""
        with self.library.writing() as db:
            db.execute("UPDATE sources SET digest = ? WHERE id = ?", (digest, self.source))
            self.counts.gone = db.execute(
                "SELECT count(DISTINCT paper_id) FROM records WHERE source_id = ? AND seen < ?",
                (self.source, self.reading),
            ).fetchone()[0]

    def _add(self, db: sqlite3.Connection, record: Record) -> None:
        self.counts.records += 1
        text, told = record_json(record)
        digest = sha(told)
        known = db.execute(
            "SELECT id FROM records WHERE digest = ? AND source_id = ?", (digest, self.source)
        ).fetchone()
        if known:
            db.execute("UPDATE records SET seen = ? WHERE id = ?", (self.reading, known[0]))
            return
        row = (self.source, digest, text, self.reading)
        papers = self._papers_of(db, record, digest)
        if not papers:
            store(db, record, row)
            self.counts.added += 1
            return
        paper_id = min(papers)
        for other in papers.keys() - {paper_id}:
            absorb(db, paper_id, other)
            self.counts.merged += 1
        place = self._retire(db, record, digest, [t for told in papers.values() for t in told])
        self.counts.joined += place is None
        db.execute(
            "INSERT INTO records (id, paper_id, source_id, digest, record, seen) VALUES (?, ?, ?, ?, ?, ?)",
            (place, paper_id, *row),
        )
        self.counts.changed += refresh(db, paper_id)

    def _papers_of(self, db: sqlite3.Connection, record: Record, digest: str) -> dict[int, list[Told]]:
        """The papers that a record tells of, with their records: several, if it shows that they are one."""
        groups = self._candidates(db, record)
        verdicts = verdicts_on(db, digest)
        for told in self._records(db, "digest", [other for other, same in verdicts.items() if same]):
            groups.setdefault(told.paper_id, self._records(db, "paper_id", [told.paper_id]))
        said = [g for g, told in groups.items() if any(verdicts.get(t.digest) for t in told)]
        open_to = {
            g: told for g, told in groups.items() if not any(verdicts.get(t.digest) is False for t in told)
        }
        found = belongs(record, {g: [t.record for t in told] for g, told in open_to.items()})
        chosen: list[int] = []
        for group in [*said, *found] or self._edited(db, record, open_to):
            if not any(apart(db, group, other) for other in chosen):
                chosen.append(group)
        return {g: groups[g] if g in groups else self._records(db, "paper_id", [g]) for g in chosen}

    def _candidates(self, db: sqlite3.Connection, record: Record) -> dict[int, list[Told]]:
        """Papers that share an identifier, a title or much of a sketch with a record, with their records.

        Names that very many papers have tell nothing.
        """
        found = {paper_id for _, paper_id in _holders(db, exact_names(record))}
        by_text = text_names(record)
        shared: dict[int, int] = {}
        for _, paper_id in _holders(db, by_text):
            shared[paper_id] = shared.get(paper_id, 0) + 1
        found |= {paper_id for paper_id, n in shared.items() if n >= min(SHARED, len(by_text))}
        groups: dict[int, list[Told]] = {}
        for told in self._records(db, "paper_id", sorted(found)):
            groups.setdefault(told.paper_id, []).append(told)
        return groups

    def _records(self, db: sqlite3.Connection, column: str, values: list[int] | list[str]) -> list[Told]:
        if not values:
            return []
        rows = db.execute(
            "SELECT id, paper_id, digest, record, source_id = ? AND seen < ? FROM records "
            f"WHERE {column} IN ({','.join('?' * len(values))}) ORDER BY id",
            (self.source, self.reading, *values),
        ).fetchall()
        return [
            Told(i, paper, digest, to_record(text), bool(fading)) for i, paper, digest, text, fading in rows
        ]

    def _edited(self, db: sqlite3.Connection, record: Record, groups: dict[int, list[Told]]) -> list[int]:
        """The paper of which this file told otherwise when it was last read: by its text, or its citation key."""
        near = [
            (resemblance(record.abstract, t.record.abstract), -group)
            for group, told in groups.items()
            for t in told
            if t.fading and not t.record.title and not record.title
        ]
        if near and max(near)[0] >= EDITED:
            return [-max(near)[1]]
        if not record.citekey:
            return []
        row = db.execute(
            "SELECT paper_id, record FROM records WHERE source_id = ? AND seen < ? "
            "AND json_extract(record, '$.citekey') = ?",
            (self.source, self.reading, record.citekey),
        ).fetchone()
        return [row[0]] if row and edited(record, to_record(row[1])) else []

    def _retire(self, db: sqlite3.Connection, record: Record, digest: str, told: list[Told]) -> int | None:
        """Drop this source's earlier version of a record just read anew; its place among the paper's records.

        What was said of the earlier version holds for the new one.
        """
        fading = [t for t in told if t.fading]
        if not fading:
            return None
        old = max(fading, key=lambda t: (_same_place(record, t.record), likeness(record, t.record), -t.id))
        db.execute("DELETE FROM records WHERE id = ?", (old.id,))
        for other, same in db.execute(
            "SELECT other, same FROM verdicts WHERE one = ?", (old.digest,)
        ).fetchall():
            pairs = [(digest, other, same), (other, digest, same)]
            db.executemany("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)", pairs)
        return old.id


def _same_place(record: Record, earlier: Record) -> bool:
    if record.citekey or earlier.citekey:
        return record.citekey == earlier.citekey
    return record.number == earlier.number


@lru_cache(maxsize=64)
def _holders_of(count: int) -> str:
    one = f"SELECT * FROM (SELECT name, paper_id FROM names WHERE name = ? LIMIT {COMMON})"
    return " UNION ALL ".join([one] * count)


def _holders(db: sqlite3.Connection, names: list[int]) -> list[tuple[int, int]]:
    """(name, paper) for each paper that has one of the names; without names that `COMMON` papers have."""
    rows = db.execute(_holders_of(len(names)), names).fetchall() if names else []
    if len(rows) < COMMON:
        return rows
    counts: dict[int, int] = {}
    for name, _ in rows:
        counts[name] = counts.get(name, 0) + 1
    return [row for row in rows if counts[row[0]] < COMMON]


def unchanged(library: Library, path: Path, digest: str) -> bool:
    """Whether a source was read to its end before, with these very bytes."""
    row = library.db.execute("SELECT digest FROM sources WHERE path = ?", (printable(str(path)),)).fetchone()
    return row is not None and row[0] == digest


def import_stream(importer: Importer, stream: Iterable[Record | Problem]) -> list[Problem]:
    """Store all records of a reader in batches; give back its problems."""
    problems: list[Problem] = []
    batch: list[Record] = []
    for item in stream:
        if isinstance(item, Problem):
            problems.append(item)
            continue
        batch.append(item)
        if len(batch) == BATCH:
            importer.add(batch)
            batch = []
    importer.add(batch)
    return problems


def sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
