"""A map of the collection: papers that say alike things lie near each other."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.errors import PinciteError
from rag.library import Library
from rag.nouns import Paper
from rag.stored import of_papers
from rag.text import plain
from rag.words import terms

MOST = 10_000  # papers drawn; spread over the collection where there are more
LANDMARKS = 1_500  # of them placed by t-SNE, which takes long; the others go between their nearest landmarks
FEWEST = 4
TOPICS = 8
NEIGHBOURS = 15  # that t-SNE keeps near each other
BETWEEN = 3  # landmarks that place one of the others
READ = 500  # papers whose vectors are read at once
SEED = 0

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Point:
    """A paper's place on the map, both coordinates 0 to 1, and the topic it belongs to."""

    key: str
    title: str
    venue: str
    year: int | None
    x: float
    y: float
    topic: str


class Mapped:
    """The latest map, kept until the collection changes; one is made at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: tuple[Path, int] | None = None
        self._points: list[Point] = []

    def points(self, library: Library) -> tuple[tuple[Path, int], list[Point]]:
        """What the map is of, for comparing, and its points; raises PinciteError as `topic_map` does."""
        with self._lock:
            now = (library.file, library.generation())
            if now != self._of:
                self._points = topic_map(library)
                self._of = now
            return now, self._points


def topic_map(library: Library) -> list[Point]:
    """At most MOST papers by the vectors of their abstracts' beginnings (t-SNE), in k-means topics.

    Raises PinciteError for a collection that is too small to map.
    """
    ids, vectors = _vectors(library)
    if len(ids) < FEWEST:
        raise PinciteError(
            f"A map needs at least {FEWEST} papers with vectors; there are {len(ids)}. Add files, or wait until "
            "they are indexed, and open the map again."
        )
    papers = library.by_id(ids)
    kept = [n for n, one in enumerate(ids) if one in papers]
    places, groups = _placed(vectors[kept])
    found = [papers[ids[n]] for n in kept]
    names = _names(found, groups)
    return [
        Point(p.key, plain(p.label), p.venue, p.year, float(x), float(y), names[group])
        for p, (x, y), group in zip(found, places, groups, strict=True)
    ]


def _vectors(library: Library) -> tuple[list[int], Vector]:
    """The papers drawn, by id, and the vector of each one's first window (n, dimension)."""
    ids = [row[0] for row in library.db.execute("SELECT id FROM papers ORDER BY id")]
    ids = ids[:: -(-len(ids) // MOST)] if ids else []
    first: dict[int, Vector] = {}
    for start in range(0, len(ids), READ):
        found = of_papers(library, ids[start : start + READ], "window")
        for name, vector in sorted(found, key=lambda one: one[0].first):
            first.setdefault(name.paper_id, vector)
    order = sorted(first)
    return order, np.stack([first[i] for i in order]) if order else np.zeros((0, 0), np.float32)


def _placed(vectors: Vector) -> tuple[Vector, list[int]]:
    """Two coordinates from 0 to 1 and the number of a topic for each vector; the same every time."""
    from sklearn.cluster import KMeans  # type: ignore[import-untyped]
    from sklearn.decomposition import PCA  # type: ignore[import-untyped]
    from sklearn.manifold import TSNE  # type: ignore[import-untyped]
    from sklearn.neighbors import KNeighborsRegressor  # type: ignore[import-untyped]
    from sklearn.preprocessing import minmax_scale  # type: ignore[import-untyped]

    many = len(vectors)
    narrow = PCA(min(30, many - 1, vectors.shape[1]), random_state=SEED).fit_transform(vectors)
    landmarks = narrow[:: -(-many // LANDMARKS)]
    perplexity = min(NEIGHBOURS, (len(landmarks) - 1) / 3)
    places = TSNE(2, perplexity=perplexity, init="pca", random_state=SEED).fit_transform(landmarks)
    if len(landmarks) < many:
        between = KNeighborsRegressor(BETWEEN, weights="distance")
        places = between.fit(landmarks, places).predict(narrow)
    topics = min(TOPICS, max(2, many // 8))
    groups = KMeans(topics, n_init=4, random_state=SEED).fit_predict(narrow).tolist()
    return minmax_scale(places), groups


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
