"""Records into the library: each finds its paper or becomes one; nothing stored before is lost."""

from __future__ import annotations

import hashlib
import sqlite3
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from rag.identity import edited, key_for, likeness, merged, names, same_paper
from rag.library import Library, from_json, paper_json, to_json, to_paper
from rag.nouns import Paper, Problem, Record
from rag.sentences import Span, split
from rag.text import plain

BATCH = 200  # records a transaction: what a kill can undo
COMMON = 50  # papers from which a shared name is no sign that they are one


@dataclass
class Counts:
    """What one reading of a source did to the collection."""

    records: int = 0
    added: int = 0
    changed: int = 0
    joined: int = 0  # records that were recognised as a paper of another file
    gone: int = 0  # papers that an earlier version of the file held; kept


class Importer:
    """Reads one source into the library. `finish()` marks it as read to its end."""

    def __init__(self, library: Library, path: Path) -> None:
        self.library = library
        self.counts = Counts()
        with library.writing() as db:
            db.execute("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'reading'")
            db.execute(
                "INSERT INTO sources (path, name) VALUES (?, ?) ON CONFLICT (path) DO NOTHING",
                (str(path), path.name),
            )
            self.source: int = db.execute("SELECT id FROM sources WHERE path = ?", (str(path),)).fetchone()[0]
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
        # Where a record stands is no part of what it says: a line added above changes nothing.
        text = to_json(record)
        digest = _sha(to_json(replace(record, number=0, line=None)))
        known = db.execute(
            "SELECT id FROM records WHERE source_id = ? AND digest = ?", (self.source, digest)
        ).fetchone()
        if known:
            db.execute("UPDATE records SET seen = ? WHERE id = ?", (self.reading, known[0]))
            return
        paper = self._find(db, record)
        place = None
        if paper is None:
            paper_id = self._new(db, record)
            self.counts.added += 1
        else:
            paper_id = paper.id
            place = self._retire(db, paper_id)
            self.counts.joined += place is None
        db.execute(
            "INSERT INTO records (id, paper_id, source_id, digest, record, seen) VALUES (?, ?, ?, ?, ?, ?)",
            (place, paper_id, self.source, digest, text, self.reading),
        )
        changed = refresh(db, paper_id)
        self.counts.changed += changed and paper is not None

    def _find(self, db: sqlite3.Connection, record: Record) -> Paper | None:
        """The paper a record tells of, if the library holds it: of several, the most alike."""
        found = self._namesakes(db, record)
        rows = db.execute(
            "SELECT p.id, p.key, p.paper, EXISTS(SELECT 1 FROM records r WHERE r.paper_id = p.id "
            "AND r.source_id = ? AND r.seen < ?) "
            f"FROM papers p WHERE p.id IN ({','.join('?' * len(found))}) ORDER BY p.id",
            (self.source, self.reading, *found),
        ).fetchall()
        papers = [(to_paper(*row[:3]), bool(row[3])) for row in rows]
        same = [paper for paper, unseen in papers if same_paper(record, paper, same_source=unseen)]
        return (
            max(same, key=lambda paper: likeness(record, paper)) if same else self._same_citekey(db, record)
        )

    def _namesakes(self, db: sqlite3.Connection, record: Record) -> list[int]:
        """Papers that share a name with a record; names that very many papers have tell nothing."""
        found: dict[int, None] = {}
        for name in names(record):
            rows = db.execute("SELECT paper_id FROM names WHERE name = ? LIMIT ?", (name, COMMON)).fetchall()
            if len(rows) < COMMON:
                found |= dict.fromkeys(row[0] for row in rows)
        return list(found)

    def _same_citekey(self, db: sqlite3.Connection, record: Record) -> Paper | None:
        """The paper that this source named by the same citation key when it was last read, if it is an edit."""
        if not record.citekey:
            return None
        row = db.execute(
            "SELECT p.id, p.key, p.paper FROM records r JOIN papers p ON p.id = r.paper_id "
            "WHERE r.source_id = ? AND r.seen < ? AND json_extract(r.record, '$.citekey') = ?",
            (self.source, self.reading, record.citekey),
        ).fetchone()
        paper = None if row is None else to_paper(*row)
        return paper if paper and edited(record, paper) else None

    def _retire(self, db: sqlite3.Connection, paper_id: int) -> int | None:
        """Drop this source's earlier version of a record just read anew; its place among the paper's records."""
        rows = db.execute(
            "DELETE FROM records WHERE paper_id = ? AND source_id = ? AND seen < ? RETURNING id",
            (paper_id, self.source, self.reading),
        ).fetchall()
        return min(row[0] for row in rows) if rows else None

    def _new(self, db: sqlite3.Connection, record: Record) -> int:
        base = key = key_for(record)
        n = 1
        while db.execute("SELECT 1 FROM papers WHERE key = ?", (key,)).fetchone():
            n += 1
            key = f"{base}-{n}"
        cursor = db.execute("INSERT INTO papers (key, paper, content) VALUES (?, '{}', '')", (key,))
        return int(cursor.lastrowid or 0)


def refresh(db: sqlite3.Connection, paper_id: int) -> bool:
    """Work out a paper anew from its records; True if anything a reader sees has changed."""
    key, old = db.execute("SELECT key, paper FROM papers WHERE id = ?", (paper_id,)).fetchone()
    rows = db.execute("SELECT record FROM records WHERE paper_id = ? ORDER BY id", (paper_id,)).fetchall()
    if not rows:
        db.execute("DELETE FROM papers WHERE id = ?", (paper_id,))
        return True
    records: list[Record] = [from_json(Record, row[0]) for row in rows]
    paper = merged(records, key=key, paper_id=paper_id)
    text = paper_json(paper)
    if text == old:
        return False
    spans = split(paper.abstract)
    db.execute(
        "UPDATE papers SET paper = ?, venue = ?, year = ?, search_title = ?, search_text = ?, content = ? "
        "WHERE id = ?",
        (
            text,
            paper.venue,
            paper.year,
            searchable(paper.title),
            searchable(paper.abstract),
            content_of(paper, spans),
            paper_id,
        ),
    )
    db.execute("DELETE FROM names WHERE paper_id = ?", (paper_id,))
    told: list[Record | Paper] = [*records, paper]
    every = dict.fromkeys(name for one in told for name in names(one))
    db.executemany("INSERT INTO names VALUES (?, ?)", ((name, paper_id) for name in every))
    keep_sentences(db, paper_id, spans)
    return True


def content_of(paper: Paper, spans: list[Span]) -> str:
    """The hash of what is embedded: the words, and where they are cut."""
    return _sha(f"{paper.title}\n{paper.abstract}\n{spans}")[:16]


def keep_sentences(db: sqlite3.Connection, paper_id: int, spans: list[Span]) -> None:
    """Store a paper's sentences in the place of those it had."""
    db.execute("DELETE FROM sentences WHERE paper_id = ?", (paper_id,))
    db.executemany(
        "INSERT INTO sentences VALUES (?, ?, ?, ?)", ((paper_id, n, a, b) for n, (a, b) in enumerate(spans))
    )


def remove(library: Library, name: str) -> tuple[int, int]:
    """Forget a paper (by key) or a source (by file name or path): papers removed, papers kept by others.

    Vectors of removed papers go with the next `embed_pending`.
    """
    with library.writing() as db:
        row = db.execute("SELECT id FROM papers WHERE key = ?", (name,)).fetchone()
        if row:
            db.execute("DELETE FROM papers WHERE id = ?", row)
            library.raise_generation()
            return 1, 0
        found = db.execute(
            "SELECT id FROM sources WHERE path = ? OR path = ? OR name = ?",
            (name, str(Path(name).resolve()), name),
        ).fetchall()
        removed = kept = 0
        for (source,) in found:
            touched = db.execute(
                "SELECT DISTINCT paper_id FROM records WHERE source_id = ?", (source,)
            ).fetchall()
            db.execute("DELETE FROM sources WHERE id = ?", (source,))
            for (paper_id,) in touched:
                refresh(db, paper_id)
                alive = db.execute("SELECT 1 FROM papers WHERE id = ?", (paper_id,)).fetchone()
                removed, kept = removed + (not alive), kept + bool(alive)
        if found:
            library.raise_generation()
        return removed, kept


def searchable(text: str) -> str:
    """Text as full text sees it: formulas as Unicode, and ², ₂ and ℓ as the letters that people type."""
    return unicodedata.normalize("NFKC", plain(text))


def explain(library: Library, key: str) -> list[Record]:
    """All records that tell of a paper, in the order they came."""
    rows = library.db.execute(
        "SELECT r.record FROM records r JOIN papers p ON p.id = r.paper_id WHERE p.key = ? ORDER BY r.id",
        (key,),
    )
    return [from_json(Record, row[0]) for row in rows]


def unchanged(library: Library, path: Path, digest: str) -> bool:
    """Whether a source was read to its end before, with these very bytes."""
    row = library.db.execute("SELECT digest FROM sources WHERE path = ?", (str(path),)).fetchone()
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


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
