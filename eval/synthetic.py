"""Made-up collections of any size: our own words at random, and vectors at random around some topics.

They go in by the ordinary way (importer, chunks, vector store); only the embedder is replaced, which would
take hours. Nothing can be learned from them but how long a search takes.
"""

from __future__ import annotations

import itertools
import random
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from rag.embed import Embedder, Vectors
from rag.importing import BATCH, Importer
from rag.indexing import Progress, embed_pending
from rag.library import Library
from rag.nouns import Record
from rag.vectors import VectorStore

SYLLABLES = (
    "ba",
    "dor",
    "fi",
    "gu",
    "kel",
    "lom",
    "mi",
    "nar",
    "pos",
    "ra",
    "sti",
    "tur",
    "ve",
    "wok",
    "zan",
)
VOCABULARY = 3000  # made-up words, beside those of the questions
SENTENCES, WORDS = 3, (10, 22)  # of an abstract; of a sentence
TOPICS, SPREAD = 200, 0.8  # centres of the vectors; how far a text lies from its centre


class ScatteredEmbedder(Embedder):
    """A unit vector for each text: the centre of a topic and noise, both drawn from the text's checksum."""

    name, fingerprint, max_tokens = "scattered", "scattered-1", 512

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.centres = np.random.default_rng(0).standard_normal((TOPICS, dimension)).astype(np.float32)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 2 for text in texts]

    def _encode(self, texts: Sequence[str]) -> Vectors:
        sums = [zlib.crc32(text.encode()) for text in texts]
        noise = [np.random.default_rng(s).standard_normal(self.dimension, dtype=np.float32) for s in sums]
        out = self.centres[[s % TOPICS for s in sums]] + SPREAD * np.asarray(noise)
        return np.asarray(out / np.linalg.norm(out, axis=1, keepdims=True), dtype=np.float32)


def records(n: int, known: Sequence[str] = ()) -> Iterator[Record]:
    """`n` made-up papers, always the same; among their words are the known ones, rarer the later they stand."""
    rng = random.Random(0)
    made = itertools.product(SYLLABLES, repeat=3)
    words = [*known, *("".join(parts) for parts in itertools.islice(made, VOCABULARY))]
    weights = list(itertools.accumulate(1 / (rank + 20) for rank in range(len(words))))
    for number in range(1, n + 1):
        said = [rng.choices(words, cum_weights=weights, k=rng.randint(*WORDS)) for _ in range(SENTENCES)]
        abstract = " ".join(f"{' '.join(sentence).capitalize()}." for sentence in said)
        title = " ".join(rng.choices(words, cum_weights=weights, k=6)).title()
        yield Record("synthetic", number, abstract, abstract, title=f"{title} {number}", citekey=f"s{number}")


def build(
    folder: Path, n: int, dimension: int, known: Sequence[str], progress: Progress
) -> tuple[Library, VectorStore]:
    """A collection of `n` made-up papers in a folder, with vectors of a dimension."""
    library = Library(folder)
    importer = Importer(library, folder / "synthetic")
    made = records(n, known)
    while batch := list(itertools.islice(made, BATCH)):
        importer.add(batch)
        progress.step("making papers", importer.counts.records, n)
    importer.finish("synthetic")
    vectors = VectorStore(folder / "vectors")
    embed_pending(library, vectors, ScatteredEmbedder(dimension), progress)
    return library, vectors
