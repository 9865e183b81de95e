"""The vectors themselves, in the library: what Chroma is filled from, as often as need be.

A vector's name is `PAPER.CONTENT.KINDFIRST.PART`: it says which paper and which version of its text it stands for,
so a stale vector is recognised by its name alone.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rag.embed import Vectors
from rag.library import Library
from rag.nouns import Chunk

Kind = Literal["window", "sentence"]
KINDS: tuple[Kind, Kind] = ("window", "sentence")

# Half precision: half the size, and cosines move by less than 0.0002 (docs/design/storage.md).
NUMBERS = np.dtype("<f2")
_FRESH = "c.vector LIKE p.id || '.' || p.content || '.%'"


@dataclass(frozen=True, slots=True)
class VectorName:
    """A vector's name, taken apart."""

    paper_id: int
    content: str
    kind: Kind
    first: int
    part: int = 0

    def __str__(self) -> str:
        return f"{self.paper_id}.{self.content}.{self.kind[0]}{self.first}.{self.part}"


def name_of(chunk: Chunk, content: str) -> str:
    return str(VectorName(chunk.paper_id, content, chunk.kind, chunk.first, chunk.part))


def parse(name: str) -> VectorName:
    paper, content, tail, part = name.split(".")
    kind: Kind = "window" if tail[0] == "w" else "sentence"
    return VectorName(int(paper), content, kind, int(tail[1:]), int(part))


def keep(db: sqlite3.Connection, names: Sequence[str], vectors: Vectors) -> None:
    """Store vectors (n, dimension) under their names; one stored again counts as new."""
    rows = zip(names, vectors.astype(NUMBERS), strict=True)
    db.executemany(
        "INSERT OR REPLACE INTO chunks (vector, paper_id, numbers) VALUES (?, ?, ?)",
        ((name, parse(name).paper_id, row.tobytes()) for name, row in rows),
    )


def any_stored(library: Library) -> bool:
    return library.db.execute("SELECT 1 FROM chunks LIMIT 1").fetchone() is not None


def of_papers(library: Library, ids: Iterable[int], kind: str = "") -> list[tuple[VectorName, Vectors]]:
    """The vectors of some papers' present texts, of one kind if given."""
    fresh = library.contents(ids)
    rows = library.db.execute(
        f"SELECT vector, numbers FROM chunks WHERE paper_id IN ({','.join('?' * len(fresh))})", tuple(fresh)
    )
    named = [(parse(name), numbers) for name, numbers in rows]
    return [
        (name, _vector(numbers))
        for name, numbers in named
        if fresh[name.paper_id] == name.content and kind in ("", name.kind)
    ]


def after(library: Library, last: int, most: int) -> tuple[int, list[str], Vectors]:
    """The next vectors in the order they were stored: the last one's number, names, vectors (n, dimension)."""
    rows = library.db.execute(
        "SELECT id, vector, numbers FROM chunks WHERE id > ? ORDER BY id LIMIT ?", (last, most)
    ).fetchall()
    vectors = [_vector(row[2]) for row in rows]
    names = [row[1] for row in rows]
    return (rows[-1][0] if rows else last), names, np.stack(vectors) if rows else np.zeros((0, 0), np.float32)


def number_after(library: Library, last: int) -> int:
    """How many vectors were stored after the one of that number."""
    count: int = library.db.execute("SELECT count(*) FROM chunks WHERE id > ?", (last,)).fetchone()[0]
    return count


def stale(library: Library) -> list[str]:
    """Names of vectors whose papers are gone or have another text now."""
    rows = library.db.execute(
        f"SELECT c.vector FROM chunks c LEFT JOIN papers p ON p.id = c.paper_id "
        f"WHERE p.id IS NULL OR NOT {_FRESH}"
    )
    return [row[0] for row in rows]


def forget(db: sqlite3.Connection, names: Sequence[str]) -> None:
    pairs = ((parse(name).paper_id, name) for name in names)
    db.executemany("DELETE FROM chunks WHERE paper_id = ? AND vector = ?", pairs)


def count(library: Library, last: int) -> tuple[int, int]:
    """Vectors of present texts up to that number, and all vectors of any number."""
    fresh = library.db.execute(
        f"SELECT count(*) FROM chunks c JOIN papers p ON p.id = c.paper_id WHERE c.id <= ? AND {_FRESH}",
        (last,),
    ).fetchone()[0]
    return fresh, number_after(library, 0)


def sample(library: Library, last: int, most: int, seed: int) -> dict[str, Vectors]:
    """Some vectors of present texts up to that number, by name."""
    places = random.Random(seed).sample(range(1, last + 1), min(most, last))
    found = {}
    for place in places:
        row = library.db.execute(
            "SELECT c.vector, c.numbers FROM chunks c JOIN papers p ON p.id = c.paper_id "
            f"WHERE c.id BETWEEN ? AND ? AND {_FRESH} ORDER BY c.id LIMIT 1",
            (place, last),
        ).fetchone()
        if row:
            found[row[0]] = _vector(row[1])
    return found


def _vector(numbers: bytes) -> Vectors:
    return np.frombuffer(numbers, NUMBERS).astype(np.float32)
