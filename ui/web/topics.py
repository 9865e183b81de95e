"""A map of the collection: papers that say alike things lie near each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.errors import PinciteError
from rag.library import Library
from rag.nouns import Paper
from rag.stored import of_papers
from rag.text import plain
from rag.words import terms

MOST = 1_000  # papers drawn; spread over the collection where there are more
FEWEST = 4
TOPICS = 8
NEIGHBOURS = 15  # that t-SNE keeps near each other
SEED = 0

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Point:
    """A paper's place on the map (no unit), and the topic it belongs to."""

    paper: Paper
    x: float
    y: float
    topic: str


def topic_map(library: Library) -> list[Point]:
    """At most MOST papers by the vectors of their abstracts' beginnings (t-SNE), in k-means topics.

    Raises PinciteError for a collection that is too small to map.
    """
    found = _vectors(library)
    if len(found) < FEWEST:
        raise PinciteError(f"A map needs at least {FEWEST} papers with vectors; there are {len(found)}.")
    papers = library.by_id(found)
    order = sorted(found.keys() & papers.keys())
    places, groups = _placed(np.stack([found[i] for i in order]))
    names = _names([papers[i] for i in order], groups)
    return [
        Point(papers[i], float(x), float(y), names[group])
        for i, (x, y), group in zip(order, places, groups, strict=True)
    ]


def _vectors(library: Library) -> dict[int, Vector]:
    """The first window's vector of each paper drawn, by the paper's id."""
    ids = [row[0] for row in library.db.execute("SELECT id FROM papers ORDER BY id")]
    ids = ids[:: -(-len(ids) // MOST)] if ids else []
    first: dict[int, Vector] = {}
    for name, vector in sorted(of_papers(library, ids, "window"), key=lambda one: one[0].first):
        first.setdefault(name.paper_id, vector)
    return first


def _placed(vectors: Vector) -> tuple[Vector, list[int]]:
    """Two coordinates and the number of a topic for each vector; the same every time."""
    from sklearn.cluster import KMeans  # type: ignore[import-untyped]
    from sklearn.decomposition import PCA  # type: ignore[import-untyped]
    from sklearn.manifold import TSNE  # type: ignore[import-untyped]

    many = len(vectors)
    narrow = PCA(min(30, many - 1, vectors.shape[1]), random_state=SEED).fit_transform(vectors)
    perplexity = min(NEIGHBOURS, (many - 1) / 3)
    places = TSNE(2, perplexity=perplexity, init="pca", random_state=SEED).fit_transform(narrow)
    topics = min(TOPICS, max(2, many // 8))
    return places, KMeans(topics, n_init=4, random_state=SEED).fit_predict(narrow).tolist()


def _names(papers: Sequence[Paper], groups: Sequence[int]) -> dict[int, str]:
    """A topic's name: the title words that its papers share and others do not."""
    inside: dict[int, Counter[str]] = defaultdict(Counter)
    everywhere = Counter[str]()
    for paper, group in zip(papers, groups, strict=True):
        words = [w for w in terms(plain(paper.label)) if len(w) > 3]
        inside[group].update(words)
        everywhere.update(words)
    names: dict[int, str] = {}
    for group, counts in sorted(inside.items()):
        best = sorted(counts, key=lambda w: (-(counts[w] ** 2) / everywhere[w], w))[:2]
        name = ", ".join(best) or "other"
        names[group] = f"{name} ({group + 1})" if name in names.values() else name
    return {group: names.get(group, "other") for group in set(groups)}
