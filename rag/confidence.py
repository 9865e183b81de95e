"""How far an answer can be relied on: the chance that it is right, from what was seen on the way to it.

A logistic model over a few features. Its coefficients were fitted by `eval/fit_confidence.py` on answers to the
questions of `eval/sets/sample.jsonl` and to their copies without gold papers; figures: docs/design/answering.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from rag.complete import numbers_told
from rag.run import Run
from rag.standing import lead
from rag.understand import asks_number

COEFFICIENTS: Mapping[str, float] = {
    "bias": -3.03,
    "lead": 1.07,
    "cover": 1.44,
    "one_paper": 0.76,
    "first_paper": 1.20,
}
UNKNOWN = 0.6  # willingness of a model that does not tell it, as servers do not


def features(run: Run) -> dict[str, float]:
    """What speaks for or against the answer that a run has come to; every value lies between 0 and 1."""
    found = run.found[0] if run.found else None
    papers = {c.paper for s in run.sentences for c in s.citations}
    own = [s for s in run.sentences if s.support != "quoted"]
    tried = len(own) + len(run.dropped)
    return {
        "lead": min(lead(run.found, run.total), 0.4) * 2.5,
        "cover": found.why.text_score if found else 0.0,
        "one_paper": float(len(run.sides) > 1 or len(papers) <= 1),
        "first_paper": float(bool(run.hits and run.hits[0].paper.key in papers)),
        "willing": _willing(run),
        "firm": float(any(s.support == "supported" for s in own)),
        "held": len(own) / tried if tried else 0.0,
        "numbered": float(not asks_number(run.question) or numbers_told(run.question, run.sentences)),
    }


def _willing(run: Run) -> float:
    """How far the model was from refusing: 0 if it was as likely as not to, 1 at one in ten thousand."""
    chances = [f.watched for f in run.finishes if f.watched is not None]
    return min(1.0, -math.log10(max(*chances, 1e-4)) / 4) if chances else UNKNOWN


def confidence(seen: Mapping[str, float]) -> float:
    """The chance (0 to 1) that an answer with these features is right."""
    total = COEFFICIENTS["bias"] + sum(COEFFICIENTS.get(name, 0.0) * value for name, value in seen.items())
    return 1 / (1 + math.exp(-total))
