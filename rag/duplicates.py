"""Pairs of papers that may be one, what a person says of them, and how a paper came out of its records."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.errors import InputError
from rag.identity import EDITED, SAME, YEARS, identified, same_people, skeleton, title_name, version
from rag.identity import resemblance as alike
from rag.importing import COMMON
from rag.keeping import absorb, apart, detach, name_anew, records_of, refresh, verdicts_on
from rag.library import Library
from rag.nouns import Paper, Record

_TEXT = 3  # hashes that the sketches of two abstracts share before they are compared
_PAIRS = """
    WITH few AS (
        SELECT name FROM names WHERE name & 3 = ? GROUP BY name HAVING count(*) BETWEEN 2 AND ?
    )
    SELECT a.paper_id, b.paper_id FROM few JOIN names a USING (name) JOIN names b USING (name)
    WHERE a.paper_id < b.paper_id GROUP BY 1, 2 HAVING count(*) >= ?
"""
_FIELDS = ("title", "authors", "year", "venue", "url")


@dataclass(frozen=True, slots=True)
class Doubt:
    """Two papers that may be one, and why that is doubtful."""

    one: Paper
    other: Paper
    why: str


@dataclass(frozen=True, slots=True)
class Told:
    """A record of a paper: why it is taken for that paper, and which of the paper's fields are its."""

    record: Record
    version: str
    why: str  # empty for the first record
    gave: tuple[str, ...]


def doubts(library: Library) -> Iterator[Doubt]:
    """Pairs of papers that may be one and of which nobody has said so or otherwise, in the order they came."""
    name_anew(library)
    db = library.db
    pairs = {
        (one, other)
        for kind, least in ((0, 1), (1, _TEXT))
        for one, other in db.execute(_PAIRS, (kind, COMMON, least))
    }
    for _, group in itertools.groupby(sorted(pairs), key=lambda pair: pair[0]):
        found = list(group)
        papers = library.by_id({number for pair in found for number in pair})
        for one, other in found:
            why = _doubt(papers[one], papers[other])
            if why and not apart(db, one, other):
                yield Doubt(papers[one], papers[other], why)


def _doubt(a: Paper, b: Paper) -> str:
    """Why two papers may be one after all, and what speaks against it; "" where nothing speaks for it."""
    if title_name(a.title) and title_name(a.title) == title_name(b.title):
        if not same_people(a.authors, b.authors):
            return f"same title, other first author: {a.authors[0]}, {b.authors[0]}"
        if a.year and b.year and abs(a.year - b.year) > YEARS:
            return f"same title, {abs(a.year - b.year)} years apart: {a.year}, {b.year}"
        return "same title, other abstracts; one names no authors"
    share = alike(a.abstract, b.abstract)
    if a.title and b.title and skeleton(a.title) != skeleton(b.title):
        return f"{_percent(share)}, other titles" if share >= SAME else ""
    return f"{_percent(share)}, no title to tell" if share >= EDITED else ""


def _percent(share: float) -> str:
    return "same abstract" if share == 1 else f"abstracts {share:.0%} alike"


def merge(library: Library, key: str, other: str) -> None:
    """Make two papers one, under the first key, and remember it. Raises InputError for an unknown key."""
    with library.writing() as db:
        keep, gone = _numbers(library, key, other)
        _say(db, _digests(db, keep), _digests(db, gone), same=True)
        absorb(db, keep, gone)
        refresh(db, keep)
        library.raise_generation()


def keep_apart(library: Library, key: str, other: str) -> None:
    """Remember that two papers are two. Raises InputError for an unknown key."""
    with library.writing() as db:
        one, two = _numbers(library, key, other)
        _say(db, _digests(db, one), _digests(db, two), same=False)


def take_out(library: Library, key: str, numbers: Sequence[int]) -> str:
    """Make some of a paper's records (from 1, as `explain` has them) a paper of their own, and remember it.

    Returns its key. Raises InputError for an unknown key, a number that is no record's, or all of them.
    """
    with library.writing() as db:
        (paper,) = _numbers(library, key)
        rows = [number for number, _ in records_of(db, paper)]
        if len(rows) < 2:
            raise InputError(f"{key} was made of one record; there is nothing to split.")
        wrong = [n for n in numbers if not 1 <= n <= len(rows)]
        if wrong or len(set(numbers)) == len(rows):
            told = f"no record {wrong[0]}" if wrong else "to be left a record"
            raise InputError(
                f"{key} has {told}: give some of 1 to {len(rows)}. See: pincite papers show {key}"
            )
        out = [rows[n - 1] for n in sorted(set(numbers))]
        digests = dict(db.execute("SELECT id, digest FROM records WHERE paper_id = ?", (paper,)).fetchall())
        rest = {digests[i] for i in rows if i not in out}
        if rest & {digests[i] for i in out}:
            raise InputError(f"Records of {key} that say exactly the same cannot be two papers.")
        _say(db, [digests[i] for i in out], sorted(rest), same=False)
        new = detach(db, paper, out)
        library.raise_generation()
        return new


def explain(library: Library, key: str) -> list[Told]:
    """The records that tell of a paper, in the order they came; none for an unknown key."""
    paper = library.paper(key)
    if paper is None:
        return []
    db = library.db
    records = [record for _, record in records_of(db, paper.id)]
    digests = _digests(db, paper.id)
    left = [name for name in (*_FIELDS, "abstract") if getattr(paper, name)]
    told = []
    for n, record in enumerate(records):
        gave = tuple(name for name in left if getattr(record, name) == getattr(paper, name))
        left = [name for name in left if name not in gave]
        said = verdicts_on(db, digests[n])
        why = "you said so" if any(said.get(d) for d in digests[:n]) else _why(record, records[:n])
        told.append(Told(record, version(record), why if n else "", gave))
    return told


def _why(record: Record, earlier: Sequence[Record]) -> str:
    sure = next(filter(None, (identified(record, r) for r in earlier)), "")
    share = max((alike(record.abstract, r.abstract) for r in earlier), default=0.0)
    return sure or (_percent(share) if share >= SAME else "a later record shows that they are one")


def _numbers(library: Library, *keys: str) -> list[int]:
    papers = [library.paper(key) for key in keys]
    for key, paper in zip(keys, papers, strict=True):
        if paper is None:
            raise InputError(
                f"There is no paper {key!r} in this collection. `pincite papers` lists the keys."
            )
    numbers = [paper.id for paper in papers if paper]
    if len(set(numbers)) < len(keys):
        raise InputError(f"{keys[0]} is one paper already; name two.")
    return numbers


def _digests(db: sqlite3.Connection, paper_id: int) -> list[str]:
    rows = db.execute("SELECT digest FROM records WHERE paper_id = ? ORDER BY id", (paper_id,)).fetchall()
    return [row[0] for row in rows]


def _say(db: sqlite3.Connection, one: Sequence[str], other: Sequence[str], *, same: bool) -> None:
    pairs = [(a, b, same) for a in one for b in other]
    both = pairs + [(b, a, same) for a, b, _ in pairs]
    db.executemany("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)", both)
