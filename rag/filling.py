"""Chroma kept equal to the library: filled from its vectors, swept of stale ones, checked by searching.

Vectors are numbered as they are stored, and Chroma is filled in that order; the library remembers up to which
number. Filling again is harmless: a kill costs at most a page of it or, while Chroma's files were being written,
all of it, but never an embedding.
"""

from __future__ import annotations

from collections.abc import Callable

from rag import stored
from rag.errors import LibraryError
from rag.library import Library
from rag.vectors import VectorStore

PAGE = 1000  # vectors handed to Chroma between two notes of how far it is
SAMPLED = 12  # vectors looked up to see whether the library and Chroma agree

Step = Callable[[str, int, int], None]


def fill(library: Library, vectors: VectorStore, step: Step) -> int:
    """Take from Chroma what is stale and give it what it lacks; returns how many vectors it was given.

    A store that is damaged, or that the library has not filled, is emptied first.
    """
    if vectors.damaged or not _filled(library, vectors) and _held(vectors):
        empty(library, vectors)
    _sweep(library, vectors)
    return top_up(library, vectors, step)


def top_up(library: Library, vectors: VectorStore, step: Step) -> int:
    """Give Chroma the vectors stored since it was last given some; returns how many."""
    done, total = 0, lacking(library, vectors)
    while done < total:
        if total > PAGE:
            step("filling the vector index", done, total)
        last, names, page = stored.after(library, _filled(library, vectors), PAGE)
        vectors.upsert(names, page)
        with library.writing():
            library.put(_key(vectors), str(last))
            library.raise_generation()
        done += len(names)
    return done


def lacking(library: Library, vectors: VectorStore) -> int:
    """How many vectors of the library Chroma has not been given."""
    return stored.number_after(library, _filled(library, vectors))


def empty(library: Library, vectors: VectorStore) -> None:
    """Throw away what Chroma holds; `fill` gives it all again."""
    with library.writing():
        library.put(_key(vectors), "0")
    vectors.clear()


def disagreement(library: Library, vectors: VectorStore, seed: int = 0) -> str:
    """What is wrong between the library and Chroma, in words; empty if all sampled vectors are found.

    What Chroma has not been given yet is no disagreement.
    """
    last = _filled(library, vectors)
    if vectors.damaged or not last:
        return vectors.damaged and f"the vectors {vectors.damaged}"
    sample = stored.sample(library, last, SAMPLED, seed)
    try:
        lost = vectors.missing(sample)
        if lost:
            return f"{len(lost)} of {len(sample)} sampled vectors are not found"
        (least, most), held = stored.count(library, last), _held(vectors)
    except LibraryError as error:
        return f"the vectors cannot be searched ({error})"
    return "" if least <= held <= most else f"Chroma holds {held} vectors, the library {least}"


def _sweep(library: Library, vectors: VectorStore) -> None:
    """Delete the vectors of papers that are gone or have another text now."""
    names = stored.stale(library)
    if not names:
        return
    vectors.delete(names)
    with library.writing() as db:
        stored.forget(db, names)
        library.raise_generation()


def _held(vectors: VectorStore) -> int:
    return sum(vectors.count(kind) for kind in stored.KINDS)


def _filled(library: Library, vectors: VectorStore) -> int:
    """The number of the last vector that Chroma was given."""
    return int(library.get(_key(vectors), "0"))


def _key(vectors: VectorStore) -> str:
    """A folder and each server are filled by themselves."""
    return f"filled {vectors.url}".strip()
