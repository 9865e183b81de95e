"""How far the best papers stand out from the rest: scores of different questions lie at different heights.

Measured in docs/design/answering.md: with the answer's paper in the collection the best score leads the background
by 0.10 or more for nearly all questions that share words with it, without it by less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rag.nouns import Hit

RANK, WIDTH = 15, 5  # the background is the mean score of ranks 16 to 20 ...
DENSE = 300  # ... of up to so many papers; in a denser collection it begins further down
DEEPEST = 100  # rank
FEWEST = 10  # papers below which there is no background to stand out from


def depth(total: int) -> int:
    """How many hits are needed to see the background of a collection of `total` papers."""
    return _first(total) + WIDTH


def background(hits: Sequence[Hit], total: int) -> float:
    """The mean score of papers that a question is not about; 0 if there are too few papers to tell."""
    if len(hits) < FEWEST:
        return 0.0
    rest = hits[_first(total) : _first(total) + WIDTH] or hits[-WIDTH:]
    return sum(h.score for h in rest) / len(rest)


def lead(hits: Sequence[Hit], total: int) -> float:
    """How far the best score lies above the background; 1 if there are too few papers to tell."""
    if len(hits) < FEWEST:
        return 1.0 if hits else 0.0
    return hits[0].score - background(hits, total)


def _first(total: int) -> int:
    return min(DEEPEST, round(RANK * math.sqrt(max(1.0, total / DENSE))))
