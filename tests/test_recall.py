"""How many of the true neighbours Chroma finds, on 20,000 chunks of real abstracts. Run: pytest -m slow"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from process import EMBEDDER, home_with

from rag.embed import Embedder, Vectors, open_embedder
from rag.nouns import Record
from rag.readers import read
from rag.sentences import split
from rag.vectors import VectorName, VectorStore

CORPORA = Path(__file__).parents[2] / "shared" / "corpora"
CHUNKS, QUESTIONS, DEPTH = 20_000, 200, 10
PART = 500  # texts embedded at a time


def sentences(most: int) -> list[str]:
    """Distinct sentences of real abstracts."""
    records = (one for file in sorted(CORPORA.glob("*2024.jsonl.gz")) for one in read(file))
    abstracts = (one.abstract for one in records if isinstance(one, Record))
    return list(islice(dict.fromkeys(text[a:b] for text in abstracts for a, b in split(text)), most))


def embedded(embedder: Embedder, texts: list[str]) -> Vectors:
    fitting = [
        text if n <= embedder.max_tokens else text[:400]
        for text, n in zip(texts, embedder.lengths(texts), strict=True)
    ]
    return np.concatenate([embedder.documents(fitting[i : i + PART]) for i in range(0, len(fitting), PART)])


@pytest.mark.slow
@pytest.mark.shared
def test_nearly_all_true_neighbours_are_found(tmp_path: Path) -> None:
    if not CORPORA.is_dir():
        pytest.skip(f"needs {CORPORA}")
    folder = home_with(tmp_path / "home", EMBEDDER) / "models" / EMBEDDER
    texts = sentences(CHUNKS + QUESTIONS)
    assert len(texts) == CHUNKS + QUESTIONS
    vectors = embedded(open_embedder(folder, EMBEDDER, for_documents=True), texts)
    stored, questions = vectors[:CHUNKS], vectors[CHUNKS:]
    store = VectorStore(tmp_path / "vectors")
    store.upsert([str(VectorName(n, "c", "sentence", 0)) for n in range(CHUNKS)], stored)
    found = 0
    for question in questions:
        exact = np.argsort(-(stored @ question))[:DEPTH]
        hits = store.nearest(question, "sentence", DEPTH)
        found += len({hit.paper_id for hit, _ in hits} & set(exact.tolist()))
    recall = found / (QUESTIONS * DEPTH)
    assert recall >= 0.99, f"recall@{DEPTH} is {recall:.4f}"
