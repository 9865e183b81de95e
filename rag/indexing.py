"""Files into the collection, and the collection into vectors; every step can be killed and goes on."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

from rag.chunks import chunks
from rag.embed import Embedder
from rag.errors import IndexMismatch, InputError, LibraryError
from rag.importing import Counts, Importer, import_stream, unchanged
from rag.library import Library
from rag.nouns import Problem
from rag.readers import read
from rag.settings import Settings
from rag.vectors import VectorStore, discard, name_of
from rag.weights import Progress as Downloads

CHUNKING = "windows+sentences/1"  # raised when chunks.py cuts differently
BATCH = 32  # papers embedded between two commits: what a kill can undo
FEW = 50  # papers up to which the encoder alone is quicker than importing sentence-transformers
SAMPLED = 12  # vectors looked up to see whether the library and the vectors agree


class Progress(Downloads, Protocol):
    """Told how far a run is, and a download on its way; the caller draws it."""

    def step(self, what: str, done: int, total: int) -> None: ...


class Quiet:
    """No progress wanted."""

    def step(self, what: str, done: int, total: int) -> None: ...
    def start(self, file: str, total: int) -> None: ...
    def advance(self, n: int) -> None: ...
    def done(self) -> None: ...


@dataclass
class SourceReport:
    """What one file brought."""

    name: str
    counts: Counts = field(default_factory=Counts)
    unchanged: bool = False
    problems: list[Problem] = field(default_factory=list)


@contextmanager
def writer_lock(folder: Path, waiting: Callable[[str], None], timeout: float = -1) -> Iterator[None]:
    """The one writer of a collection; others wait, and are told who holds the lock."""
    lock = FileLock(folder / "writer.lock")
    holder = folder / "writer.pid"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        waiting(_holder(holder))
        try:
            lock.acquire(timeout=timeout)
        except Timeout:
            raise LibraryError(
                f"The collection is being written by {_holder(holder)}; try again later."
            ) from None
    except OSError as error:
        raise LibraryError(
            f"{folder} cannot be written: {error.strerror}. Check its rights, or choose another --home."
        ) from error
    try:
        holder.write_text(str(os.getpid()))
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _holder(file: Path) -> str:
    try:
        return f"process {int(file.read_text())}"
    except (OSError, ValueError):
        return "another process"


def import_file(
    library: Library,
    path: Path,
    progress: Progress,
    *,
    columns: Mapping[str, str] | None = None,
    called: str = "",
) -> SourceReport:
    """Read one file into the library; one read before without problems, with the same bytes, is left alone.

    `columns` names columns of tables, by field; `called` is a name for a file that has none of its own.
    """
    report = SourceReport(called or path.name)
    digest = file_digest(path) + "".join(
        f" {field}={name}" for field, name in sorted((columns or {}).items())
    )
    source = Path(called) if called else path.absolute()
    if unchanged(library, source, digest):
        report.unchanged = True
        return report
    importer = Importer(library, source)
    progress.step(f"reading {report.name}", 0, 0)
    report.problems = import_stream(importer, read(path, columns, report.name))
    importer.finish("" if report.problems else digest)
    report.counts = importer.counts
    return report


def file_digest(path: Path) -> str:
    """sha256 of a file; raises InputError naming it."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error


def check_settings(library: Library, embedder: Embedder) -> None:
    """Refuse to mix vectors of two embedders (two of one size would give no error, only nonsense)."""
    stored = library.get("embedder")
    if not stored or stored == _signature(embedder):
        return
    name, dimension, *_ = stored.split()
    alike = (name, dimension) == (embedder.name, str(embedder.dimension))
    raise IndexMismatch(
        f"The collection was indexed with {name} ({dimension} numbers a vector), the settings say "
        f"{embedder.name} ({embedder.dimension}{', with other weights or chunks' if alike else ''}). "
        "Run: pincite index --rebuild"
    )


def _signature(embedder: Embedder) -> str:
    return f"{embedder.name} {embedder.dimension} {embedder.fingerprint} {CHUNKING}"


def embed_pending(library: Library, vectors: VectorStore, embedder: Embedder, progress: Progress) -> int:
    """Embed every paper whose vectors are missing or stale; returns how many. Commits as it goes.

    Order matters: names are noted first, vectors are stored next, papers are marked last. A kill at any
    point leaves at worst vectors that the next run stores again or deletes.
    """
    check_settings(library, embedder)
    library.put("embedder", _signature(embedder))
    total, done = library.pending(), 0
    while rows := library.db.execute(
        "SELECT id, content FROM papers WHERE embedded <> content ORDER BY id LIMIT ?", (BATCH,)
    ).fetchall():
        progress.step("embedding", done, total)
        _embed(library, vectors, embedder, rows)
        done += len(rows)
    progress.step("embedding", done, total)
    _sweep(library, vectors)
    return done


def _embed(
    library: Library, vectors: VectorStore, embedder: Embedder, rows: Sequence[tuple[int, str]]
) -> None:
    papers = library.by_id(i for i, _ in rows)
    content = dict(rows)
    parts = [
        chunk
        for paper in papers.values()
        for chunk in chunks(paper, library.sentences(paper), embedder.lengths, embedder.max_tokens)
    ]
    names = [name_of(chunk, content[chunk.paper_id]) for chunk in parts]
    with library.writing() as db:
        db.executemany(
            "INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, ?)",
            [(n, c.paper_id, c.kind, c.first, c.last) for n, c in zip(names, parts, strict=True)],
        )
    vectors.upsert(names, embedder.documents([c.text for c in parts]))
    with library.writing() as db:
        db.executemany(
            "UPDATE papers SET embedded = ? WHERE id = ? AND content = ?", [(c, i, c) for i, c in rows]
        )
        library.raise_generation()


def _sweep(library: Library, vectors: VectorStore) -> None:
    """Delete the vectors of papers that are gone or have another text now."""
    rows = library.db.execute(
        "SELECT c.vector FROM chunks c LEFT JOIN papers p ON p.id = c.paper_id "
        "WHERE p.id IS NULL OR c.vector NOT LIKE p.id || '.' || p.content || '.%'"
    ).fetchall()
    stale = [row[0] for row in rows]
    if not stale:
        return
    vectors.delete(stale)
    with library.writing() as db:
        db.executemany("DELETE FROM chunks WHERE vector = ?", ((name,) for name in stale))
        library.raise_generation()


def disagreement(library: Library, vectors: VectorStore, seed: int = 0) -> str:
    """What is wrong between the library and the vectors, in words; empty if all sampled vectors are found."""
    rows = library.db.execute(
        "SELECT c.vector FROM chunks c JOIN papers p ON p.id = c.paper_id WHERE p.embedded = p.content "
        "AND c.vector LIKE p.id || '.' || p.content || '.%' ORDER BY c.vector"
    ).fetchall()
    names = [row[0] for row in rows]
    sample = random.Random(seed).sample(names, min(SAMPLED, len(names)))
    try:
        lost = vectors.missing(sample)
    except LibraryError as error:
        return f"the vectors cannot be searched ({error})"
    return f"{len(lost)} of {len(sample)} sampled vectors are not found" if lost else ""


def forget_vectors(library: Library, vectors: VectorStore) -> None:
    """Throw all vectors away; the next `embed_pending` makes them anew from the library alone."""
    vectors.clear()
    with library.writing() as db:
        db.execute("DELETE FROM chunks")
        db.execute("UPDATE papers SET embedded = ''")
        db.execute("DELETE FROM meta WHERE key = 'embedder'")
        library.raise_generation()


def bring_up_to_date(
    settings: Settings, library: Library, progress: Progress, *, rebuild: bool = False
) -> int:
    """Embed what is pending, and mend vectors that do not agree with the library; returns papers embedded.

    Loads the embedder and its libraries only if there is something to embed. Raises LibraryError if the
    vectors cannot even be opened, unless they are to be rebuilt.
    """
    from rag.opening import embedder_of, vectors_folder, vectors_of

    if rebuild and not settings.chroma_url:
        discard(vectors_folder(settings))
    vectors = vectors_of(settings)
    wrong = "" if rebuild else disagreement(library, vectors)
    if wrong:
        progress.step(f"mending: {wrong}", 0, 0)
    if rebuild or wrong:
        forget_vectors(library, vectors)
    if not library.pending():
        _sweep(library, vectors)
        return 0
    embedder = embedder_of(settings, progress, for_documents=library.pending() > FEW)
    return embed_pending(library, vectors, embedder, progress)
