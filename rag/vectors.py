"""Vectors in Chroma: a cache of the library that can be thrown away and filled again.

Two Chroma collections, `windows` (whole abstracts, or long windows of them) and `sentences`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

from rag.embed import Vectors
from rag.errors import LibraryError
from rag.stored import KINDS, Kind, VectorName, parse
from rag.vector_files import VectorFiles

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

T = TypeVar("T")

FILTER_MOST = 2000  # papers named in one filter: SQLite inside Chroma bounds the variables of a statement
WAITS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.6)  # seconds before opening or reading that failed is tried again
_OPENING = threading.Lock()  # Chroma hands a new client its parts through a table of the whole process
# Chroma's defaults (M 16, ef 100) lose a quarter of the true neighbours on 20,000 vectors.
HNSW = {"space": "cosine", "max_neighbors": 32, "ef_construction": 200, "ef_search": 300}


class VectorStore:
    """Opened on a folder (embedded Chroma) or on the URL of a Chroma server. Safe to share between threads.

    Embedded Chroma does not see what another process wrote: `refresh(generation)` reopens it, unless that is the
    generation it was opened for. Files that a kill left unfinished, or that Chroma cannot open, are not used:
    `damaged` says why, and until `clear()` nothing is found. Whatever else goes wrong is raised as LibraryError.
    """

    def __init__(
        self, folder: Path, url: str = "", prefix: str = "default", generation: int | None = None
    ) -> None:
        self.folder = folder
        self.url = url
        self.prefix = prefix
        self.damaged = ""
        self._files = VectorFiles(folder)
        self._lock = threading.RLock()
        self._generation = generation
        self._close: Callable[[], None] = lambda: None
        self._stale = True  # to be opened before the next look
        self._read(lambda: None, None)

    @contextmanager
    def _chroma(self) -> Iterator[None]:
        """One use of Chroma: no other thread reopens it meanwhile, and its errors are told."""
        with self._lock:
            try:
                yield
            except LibraryError:
                raise
            except Exception as error:  # noqa: BLE001 - Chroma raises bare exceptions, even from Rust
                remedy = "Is the Chroma server running?" if self.url else "Run: pincite index --rebuild"
                where = self.url or self.folder
                told = f"The vectors at {where} cannot be used: {_cause(error)}. {remedy}"
                raise LibraryError(told) from error

    def _read(self, look: Callable[[], T], nothing: T) -> T:
        """One look; `nothing` if the store is damaged. If it fails, again on a store opened anew: another
        process has replaced it."""
        with self._chroma():
            for wait in WAITS:
                try:
                    return self._look(look, nothing)
                except LibraryError:
                    raise
                except Exception:  # noqa: BLE001 - as in `_chroma`
                    time.sleep(wait)
                    self._stale = True
            return self._look(look, nothing)

    def _look(self, look: Callable[[], T], nothing: T) -> T:
        if self._stale:
            self.close()
            self._open()
        return nothing if self.damaged else look()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One change of what Chroma holds."""
        with self._chroma():
            self._look(lambda: None, None)
            if self.damaged:
                raise LibraryError(
                    f"The vectors at {self.folder} {self.damaged}. Run: pincite index --rebuild"
                )
            with nullcontext() if self.url else self._files.touching():
                yield

    def _open(self) -> None:
        logging.getLogger("chromadb").setLevel(logging.ERROR)
        self.damaged = ""
        if self.url:
            self._connect(lambda: (_server(self.url), lambda: None))
        else:
            with self._files.alone():
                self.damaged = self._open_folder()
        self._stale = False

    def _open_folder(self) -> str:
        """Open and load the files; what is wrong with them, if they cannot be used."""
        if not self._files.whole():
            return "were left unfinished"
        try:
            with self._files.touching():
                self._connect(lambda: _embedded(self.folder))
                for collection in self.collections.values():
                    collection.get(limit=1, include=["embeddings"])  # loads the index
        except Exception as error:  # noqa: BLE001 - as in `_chroma`
            self.close()
            return f"cannot be opened ({_cause(error)})"
        return ""

    def _connect(self, client: Callable[[], tuple[ClientAPI, Callable[[], None]]]) -> None:
        self.client, self._close = client()
        self.collections = {
            kind: self.client.get_or_create_collection(
                self._collection(kind), embedding_function=None, configuration=cast(Any, {"hnsw": HNSW})
            )
            for kind in KINDS
        }

    def _collection(self, kind: Kind) -> str:
        return f"{self.prefix}-{kind}s"

    def close(self) -> None:
        """Give files and threads back; the store cannot be used afterwards."""
        with self._lock:
            self._close()
            self._close = lambda: None

    def refresh(self, generation: int) -> None:
        """See to it that the next look sees what the library now has."""
        with self._lock:
            self._stale |= generation != self._generation and not self.url
            self._generation = generation

    def upsert(self, names: Sequence[str], vectors: Vectors) -> None:
        """Store vectors under their names; a name that exists gets the new vector."""
        with self._writing():
            for kind, places in _by_kind(names).items():
                for page in _pages(places, self.client.get_max_batch_size()):
                    self.collections[kind].upsert(
                        ids=[names[i] for i in page],
                        embeddings=[vectors[i] for i in page],
                        metadatas=[{"paper": parse(names[i]).paper_id} for i in page],
                    )

    def delete(self, names: Sequence[str]) -> None:
        with self._writing():
            for kind, places in _by_kind(names).items():
                for page in _pages(places, self.client.get_max_batch_size()):
                    self.collections[kind].delete(ids=[names[i] for i in page])

    def clear(self) -> None:
        """Throw all vectors of this collection away.

        Embedded, the whole folder goes: whatever was damaged in it goes too, and a process that still reads it
        keeps its old vectors until it reopens.
        """
        with self._chroma():
            if self.url:
                for collection in self.client.list_collections():
                    if collection.name in map(self._collection, KINDS):
                        self.client.delete_collection(collection.name)
                self._open()
                return
            self.close()
            with self._files.alone():
                self._files.discard()
                self._open()
            if self.damaged:
                raise LibraryError(
                    f"The vectors at {self.folder} {self.damaged}. Check the folder's rights, and the room on the disk."
                )

    def count(self, kind: Kind) -> int:
        return self._read(lambda: int(self.collections[kind].count()), 0)

    def nearest(
        self, vector: Vectors, kind: Kind, most: int, papers: set[int] | None = None
    ) -> list[tuple[VectorName, float]]:
        """The nearest vectors with their cosine (0 to 1), best first; of some papers only, if given."""
        if papers is None or 0 < len(papers) <= FILTER_MOST:
            where = None if papers is None else {"paper": {"$in": sorted(papers)}}
            return self._query(vector, kind, most, where)
        wanted = most if papers else 0
        hits: list[tuple[VectorName, float]] = []
        asked = most
        while len(hits) < wanted and asked < self.count(kind):
            asked *= 4
            hits = [hit for hit in self._query(vector, kind, asked) if hit[0].paper_id in papers]
        return hits[:wanted]

    def _query(
        self, vector: Vectors, kind: Kind, most: int, where: dict[str, Any] | None = None
    ) -> list[tuple[VectorName, float]]:
        count = self.count(kind)
        if not count:
            return []
        found = self._read(
            lambda: self.collections[kind].query(
                query_embeddings=cast(Any, [vector]),
                n_results=min(most, count),
                where=where,
                include=["distances"],
            ),
            None,
        )
        if found is None:
            return []
        distances = found["distances"] or [[]]
        return [
            (parse(name), min(1.0, max(0.0, 1.0 - distance)))
            for name, distance in zip(found["ids"][0], distances[0], strict=True)
        ]

    def missing(self, stored: Mapping[str, Vectors]) -> list[str]:
        """Which names cannot be *found* by a search for their own vector (counting proves nothing)."""
        lost = []
        for name, vector in stored.items():
            hits = self.nearest(vector, parse(name).kind, 5)
            if not any(str(hit) == name or cosine > 0.9999 for hit, cosine in hits):
                lost.append(name)
        return lost


def _cause(error: BaseException) -> BaseException:
    """What went wrong first: Chroma's clean-up after a failed opening fails too, and hides it."""
    while isinstance(error, AttributeError) and error.__context__:
        error = error.__context__
    return error


def _embedded(folder: Path) -> tuple[ClientAPI, Callable[[], None]]:
    """A client of its own on a folder, and what closes it.

    Not `PersistentClient`: that shares its caches with every other client of the process on this folder.
    """
    from chromadb.api.client import Client
    from chromadb.config import Settings, System

    folder.mkdir(parents=True, exist_ok=True)
    with _OPENING:
        system = System(
            Settings(anonymized_telemetry=False, is_persistent=True, persist_directory=str(folder))
        )
        system.start()
        return Client.from_system(system), system.stop


def _server(url: str) -> ClientAPI:
    import chromadb
    from chromadb.config import Settings

    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 8000)
    settings = Settings(anonymized_telemetry=False)
    return chromadb.HttpClient(parts.hostname or "", port, ssl=parts.scheme == "https", settings=settings)


def _by_kind(names: Sequence[str]) -> dict[Kind, list[int]]:
    places: dict[Kind, list[int]] = {}
    for i, name in enumerate(names):
        places.setdefault(parse(name).kind, []).append(i)
    return places


def _pages(places: list[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(places), size):
        yield places[start : start + size]
