"""How far an answer can be relied on: the chance that it is right, from what was seen on the way to it.

A logistic model over a few features. Its coefficients were fitted by `eval/fit_confidence.py` on answers to the
questions of `eval/sets/sample.jsonl` and to their copies without gold papers; figures: docs/design/answering.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rag.nouns import AnswerSentence, Hit
from rag.standing import lead

COEFFICIENTS: Mapping[str, float] = {
    "bias": -3.03,
    "lead": 1.07,
    "cover": 1.44,
    "one_paper": 0.76,
    "first_paper": 1.20,
}
# In ten-fold cross-validation 14 of 49 wrong answers lay below, and 1 of 49 right ones.
REFUSED_BELOW = 0.2


def features(
    said: Sequence[AnswerSentence], hits: Sequence[Hit], total: int, beside: bool = False
) -> dict[str, float]:
    """What speaks for or against an answer; every value lies between 0 and 1.

    `hits` as retrieved, best first, of `total` papers; `said` the sentences that passed their checks;
    `beside` whether the question sets several papers beside each other.
    """
    best = hits[0] if hits else None
    papers = {c.paper for s in said for c in s.citations}
    return {
        "lead": min(lead(hits, total), 0.4) * 2.5,
        "cover": best.why.text_score if best else 0.0,
        "one_paper": float(beside or len(papers) <= 1),
        "first_paper": float(bool(best and best.paper.key in papers)),
    }


def confidence(seen: Mapping[str, float]) -> float:
    """The chance (0 to 1) that an answer with these features is right."""
    total = COEFFICIENTS["bias"] + sum(COEFFICIENTS.get(name, 0.0) * value for name, value in seen.items())
    return 1 / (1 + math.exp(-total))
