"""Vectors in Chroma: a cache of the library that can be thrown away and rebuilt.

Two Chroma collections, `windows` (whole abstracts, or long windows of them) and `sentences`. A vector's
name is `PAPER.CONTENT.KINDFIRST.PART`: it says which paper and which version of its text it stands for, so a
stale vector is recognised by its name alone.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlsplit

import numpy as np

from rag.embed import Vectors
from rag.errors import LibraryError
from rag.nouns import Chunk

Kind = Literal["window", "sentence"]
KINDS: tuple[Kind, Kind] = ("window", "sentence")

# Chroma's defaults (M 16, ef 100) lose a quarter of the true neighbours on 20,000 vectors.
FILTER_MOST = 2000  # papers named in one filter: SQLite inside Chroma bounds the variables of a statement
HNSW = {"space": "cosine", "max_neighbors": 32, "ef_construction": 200, "ef_search": 300}


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


class VectorStore:
    """Opened on a folder (embedded Chroma) or on the URL of a Chroma server.

    Embedded Chroma does not see what another process wrote: `refresh(generation)` reopens it.
    """

    def __init__(self, folder: Path, url: str = "", prefix: str = "default") -> None:
        self.folder = folder
        self.url = url
        self.prefix = prefix
        self._lock = threading.RLock()
        self._generation: int | None = None
        self._open()

    def _open(self) -> None:
        import chromadb
        from chromadb.api.shared_system_client import SharedSystemClient
        from chromadb.config import Settings

        logging.getLogger("chromadb").setLevel(logging.ERROR)
        settings = Settings(anonymized_telemetry=False)
        try:
            if self.url:
                parts = urlsplit(self.url)
                port = parts.port or (443 if parts.scheme == "https" else 8000)
                self.client = chromadb.HttpClient(
                    parts.hostname or "", port, ssl=parts.scheme == "https", settings=settings
                )
            else:
                SharedSystemClient.clear_system_cache()
                self.folder.mkdir(parents=True, exist_ok=True)
                self.client = chromadb.PersistentClient(str(self.folder), settings=settings)
            self.collections = {
                kind: self.client.get_or_create_collection(
                    f"{self.prefix}-{kind}s", embedding_function=None, configuration=cast(Any, {"hnsw": HNSW})
                )
                for kind in KINDS
            }
        except Exception as error:  # noqa: BLE001 - Chroma raises bare exceptions, even from Rust
            where = self.url or str(self.folder)
            raise LibraryError(
                f"The vector store at {where} cannot be opened: {error}. "
                + ("Is the Chroma server running?" if self.url else "Run: pincite index --rebuild")
            ) from error

    def refresh(self, generation: int) -> None:
        """Reopen if the library has moved on since the last call."""
        with self._lock:
            if self._generation not in (None, generation) and not self.url:
                self._open()
            self._generation = generation

    def upsert(self, names: Sequence[str], vectors: Vectors) -> None:
        """Store vectors under their names; a name that exists gets the new vector."""
        with self._lock:
            for kind, places in _by_kind(names).items():
                for page in _pages(places, self.client.get_max_batch_size()):
                    self.collections[kind].upsert(
                        ids=[names[i] for i in page],
                        embeddings=[vectors[i] for i in page],
                        metadatas=[{"paper": parse(names[i]).paper_id} for i in page],
                    )

    def delete(self, names: Sequence[str]) -> None:
        with self._lock:
            for kind, places in _by_kind(names).items():
                for page in _pages(places, self.client.get_max_batch_size()):
                    self.collections[kind].delete(ids=[names[i] for i in page])

    def clear(self) -> None:
        """Throw all vectors of this collection away."""
        with self._lock:
            for kind in KINDS:
                self.client.delete_collection(f"{self.prefix}-{kind}s")
            self._open()

    def count(self, kind: Kind) -> int:
        return int(self.collections[kind].count())

    def nearest(
        self, vector: Vectors, kind: Kind, most: int, papers: set[int] | None = None
    ) -> list[tuple[VectorName, float]]:
        """The nearest vectors with their cosine, best first; of some papers only, if given."""
        if papers is None or 0 < len(papers) <= FILTER_MOST:
            where = None if papers is None else {"paper": {"$in": sorted(papers)}}
            return self._query(vector, kind, most, where)
        wanted = most if papers else 0
        hits: list[tuple[VectorName, float]] = []
        asked = most
        while len(hits) < wanted and asked < 4 * self.count(kind):
            asked *= 2
            hits = [hit for hit in self._query(vector, kind, asked) if hit[0].paper_id in papers]
        return hits[:wanted]

    def _query(
        self, vector: Vectors, kind: Kind, most: int, where: dict[str, Any] | None = None
    ) -> list[tuple[VectorName, float]]:
        with self._lock:
            count = self.count(kind)
            if not count:
                return []
            found = self.collections[kind].query(
                query_embeddings=cast(Any, [vector]),
                n_results=min(most, count),
                where=where,
                include=["distances"],
            )
        distances = found["distances"] or [[]]
        return [(parse(n), 1.0 - d) for n, d in zip(found["ids"][0], distances[0], strict=True)]

    def fetch(self, names: Sequence[str]) -> dict[str, Vectors]:
        """The stored vectors of some names; names that are not there are left out."""
        out: dict[str, Vectors] = {}
        with self._lock:
            for kind, places in _by_kind(names).items():
                for page in _pages(places, self.client.get_max_batch_size()):
                    found = self.collections[kind].get(ids=[names[i] for i in page], include=["embeddings"])
                    rows = found["embeddings"]
                    if rows is not None:
                        out |= {
                            n: np.asarray(v, dtype=np.float32)
                            for n, v in zip(found["ids"], rows, strict=True)
                        }
        return out

    def missing(self, names: Sequence[str]) -> list[str]:
        """Which of the names cannot be *found* by a search for their own vector (counting proves nothing)."""
        stored = self.fetch(names)
        lost = [n for n in names if n not in stored]
        for name, vector in stored.items():
            hits = self.nearest(vector, parse(name).kind, 5)
            if not any(str(hit) == name or cosine > 0.9999 for hit, cosine in hits):
                lost.append(name)
        return lost


def _by_kind(names: Sequence[str]) -> dict[Kind, list[int]]:
    places: dict[Kind, list[int]] = {}
    for i, name in enumerate(names):
        places.setdefault(parse(name).kind, []).append(i)
    return places


def _pages(places: list[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(places), size):
        yield places[start : start + size]
