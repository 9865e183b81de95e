"""An indexer as a process of its own: `python indexer.py FOLDER [PAPERS] [--slow]`.

Prints a line for every step, so that a test knows when to kill it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from fakes import HashEmbedder
from shelf import numbered, put, record

from rag.embed import Vectors
from rag.indexing import Quiet, embed_pending, writer_lock
from rag.library import Library
from rag.vectors import VectorStore


class Aloud(Quiet):
    def step(self, what: str, done: int, total: int) -> None:
        print(what, done, total, flush=True)


class Slow(HashEmbedder):
    """Leaves time to be killed in."""

    def _encode(self, texts: Sequence[str]) -> Vectors:
        time.sleep(0.2)
        return super()._encode(texts)


def run(folder: Path, papers: int, slow: bool) -> None:
    with writer_lock(folder, lambda who: print("waiting for", who, flush=True)):
        print("holding", flush=True)
        library = Library(folder)
        if papers:
            put(library, [record(numbered(n), n) for n in range(papers)])
        embed_pending(library, VectorStore(folder / "vectors"), Slow() if slow else HashEmbedder(), Aloud())
    print("done", flush=True)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[2:] if word.isdigit()]
    run(Path(sys.argv[1]), sum(numbers), "--slow" in sys.argv)
