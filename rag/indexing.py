"""Files into the collection, and the collection into vectors; every step can be killed and goes on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

from rag import stored
from rag.chunks import chunks
from rag.embed import Embedder
from rag.errors import IndexMismatch, InputError, LibraryError
from rag.filling import disagreement, empty, fill, lacking, top_up
from rag.importing import Counts, Importer, import_stream, unchanged
from rag.library import Library
from rag.nouns import Problem
from rag.readers import read
from rag.resplit import resplit
from rag.settings import Settings
from rag.text import printable
from rag.vectors import VectorStore
from rag.weights import Progress as Downloads

CHUNKING = "windows+sentences/1"  # raised when chunks.py cuts differently
BATCH = 32  # papers embedded between two commits: what a kill can undo
FEW = 50  # papers up to which the encoder alone is quicker than importing sentence-transformers


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
    with lock_if_free(folder, waiting, timeout) as holder:
        if holder:
            raise LibraryError(f"The collection is being written by {holder}; try again later.")
        yield


@contextmanager
def lock_if_free(
    folder: Path, waiting: Callable[[str], None] = lambda _: None, timeout: float = 0
) -> Iterator[str]:
    """The writer's lock, or, where another process holds it for longer than `timeout`, who that is."""
    lock = FileLock(folder / "writer.lock")
    name = folder / "writer.pid"
    if not _acquired(lock, name, waiting, timeout):
        yield _holder(name)
        return
    try:
        name.write_text(str(os.getpid()))
        yield ""
    finally:
        name.unlink(missing_ok=True)
        lock.release()


def writer_of(folder: Path) -> str:
    """Who is writing to a collection now; empty if nobody is."""
    try:
        with FileLock(folder / "writer.lock").acquire(timeout=0):
            return ""
    except Timeout:
        return _holder(folder / "writer.pid")


def _acquired(lock: FileLock, name: Path, waiting: Callable[[str], None], timeout: float) -> bool:
    try:
        name.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        waiting(_holder(name))
        try:
            lock.acquire(timeout=timeout)
        except Timeout:
            return False
    except OSError as error:
        raise LibraryError(
            f"{name.parent} cannot be written: {error.strerror}. Check its rights, or choose another --home."
        ) from error
    return True


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
    report = SourceReport(called or printable(path.name))
    digest = file_digest(path) + "".join(
        f" {field}={name}" for field, name in sorted((columns or {}).items())
    )
    source = Path(called or os.path.abspath(path))
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
    known = library.get("embedder")
    if not known or known == _signature(embedder):
        return
    name, dimension, *_ = known.split()
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

    Vectors and the mark that a paper is embedded are stored in the library in one transaction; then Chroma is
    given them. A kill at any point loses only the batch that was being embedded.
    """
    check_settings(library, embedder)
    library.put("embedder", _signature(embedder))
    fill(library, vectors, progress.step)
    total, done = library.pending(), 0
    while rows := library.db.execute(
        "SELECT id, content FROM papers WHERE embedded <> content ORDER BY id LIMIT ?", (BATCH,)
    ).fetchall():
        progress.step("embedding", done, total)
        _embed(library, embedder, rows)
        top_up(library, vectors, progress.step)
        done += len(rows)
    progress.step("embedding", done, total)
    return done


def _embed(library: Library, embedder: Embedder, rows: Sequence[tuple[int, str]]) -> None:
    papers = library.by_id(i for i, _ in rows)
    content = dict(rows)
    parts = [
        chunk
        for paper in papers.values()
        for chunk in chunks(paper, library.sentences(paper), embedder.lengths, embedder.max_tokens)
    ]
    names = [stored.name_of(chunk, content[chunk.paper_id]) for chunk in parts]
    vectors = embedder.documents([c.text for c in parts])
    with library.writing() as db:
        stored.keep(db, names, vectors)
        db.executemany(
            "UPDATE papers SET embedded = ? WHERE id = ? AND content = ?", [(c, i, c) for i, c in rows]
        )


def forget_vectors(library: Library) -> None:
    """Forget the vectors of another embedder; the next `embed_pending` makes all anew, from the library alone."""
    with library.writing() as db:
        db.execute("DELETE FROM chunks")
        db.execute("UPDATE papers SET embedded = ''")
        db.execute("DELETE FROM meta WHERE key = 'embedder' OR key LIKE 'filled%'")
        library.raise_generation()


def bring_up_to_date(
    settings: Settings, library: Library, progress: Progress, *, rebuild: bool = False
) -> int:
    """Give Chroma all vectors of the library, and embed what has none; returns papers embedded.

    A Chroma that does not agree, or is to be rebuilt, is filled anew from the library's vectors; only the vectors of
    another embedder are made anew, and only on `rebuild`. Opens the embedder only if there is need to.
    """
    from rag.opening import embedder_of, vectors_of

    resplit(library, progress.step)
    with closing(vectors_of(settings)) as vectors:
        wrong = "" if rebuild else disagreement(library, vectors)
        if wrong:
            progress.step(f"mending: {wrong}", 0, 0)
        known = library.get("embedder")
        if rebuild and known and known != _signature(embedder_of(settings, progress)):
            forget_vectors(library)
        if rebuild or wrong:
            empty(library, vectors)
        fill(library, vectors, progress.step)
        if not library.pending():
            return 0
        embedder = embedder_of(settings, progress, for_documents=library.pending() > FEW)
        return embed_pending(library, vectors, embedder, progress)


def mend(library: Library, vectors: VectorStore, progress: Progress) -> None:
    """Give Chroma what a killed run left out of it, unless a process that writes will do so. For readers."""
    if not vectors.damaged and not lacking(library, vectors):
        return
    with lock_if_free(library.folder) as holder:
        if not holder:
            fill(library, vectors, progress.step)
