"""How far an answer can be relied on: the chance that it is right, from what was seen on the way to it.

A logistic model over a few features. Its coefficients were fitted by `eval/fit_confidence.py` on answers to the
questions of `eval/sets/sample.jsonl` and to their copies without gold papers; figures: docs/design/answering.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rag.run import Run
from rag.standing import lead

COEFFICIENTS: Mapping[str, float] = {
    "bias": -2.48,
    "lead": 1.93,
    "willing": 1.81,
    "one_paper": 0.82,
    "unsure": -1.56,
    "gap": 1.61,
}
UNKNOWN, MIDDLING = 0.6, 0.3  # willingness, and gap, of a model that does not tell them, as servers do not


def features(run: Run) -> dict[str, float]:
    """What speaks for or against the answer that a run has come to; every value lies between 0 and 1."""
    papers = {c.paper for s in run.sentences for c in s.citations}
    unsure = not (run.sure or run.search.follow_up or len(run.sides) > 1)
    return {
        "lead": min(lead(run.found, run.total), 0.4) * 2.5,
        "willing": _willing([f.watched for f in run.finishes if f.watched is not None]),
        "one_paper": float(len(run.sides) > 1 or len(papers) <= 1),
        "unsure": float(unsure),
        "gap": min(1.0, max(0.0, MIDDLING if run.gap is None else run.gap)) if unsure else 0.0,
    }


def at_best(run: Run, watched: float) -> float:
    """The most that the confidence can come to, before anything is written; `watched`: the chance of a refusal."""
    return confidence({**features(run), "willing": _willing([watched]), "one_paper": 1.0})


def _willing(chances: Sequence[float]) -> float:
    """How far the model was from refusing: 0 if it was sure to, 1 at one in ten thousand."""
    return min(1.0, -math.log10(max(*chances, 1e-4)) / 4) if chances else UNKNOWN


def confidence(seen: Mapping[str, float]) -> float:
    """The chance (0 to 1) that an answer with these features is right."""
    total = COEFFICIENTS["bias"] + sum(COEFFICIENTS.get(name, 0.0) * value for name, value in seen.items())
    return 1 / (1 + math.exp(-total))
