"""How far an answer can be relied on: the chance that it is right, from what was seen on the way to it.

A logistic model over a few features. Its coefficients were fitted by `eval/fit_confidence.py` on answers to the
questions of `eval/sets/sample.jsonl` and to their copies without gold papers; figures: docs/design/answering.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rag.nouns import AnswerSentence, Hit
from rag.standing import lead
from rag.understand import asks_number
from rag.words import STOP, stems, words

COEFFICIENTS: Mapping[str, float] = {"bias": 0.0}
REFUSED_BELOW = 0.0  # answers of less confidence are refused


def features(
    question: str, said: Sequence[AnswerSentence], hits: Sequence[Hit], total: int
) -> dict[str, float]:
    """What speaks for or against an answer; every value lies about between 0 and 1.

    `hits` as retrieved, best first, of `total` papers; `said` the sentences that passed their checks.
    """
    asked = stems(question)
    quotes = " ".join(c.quote for s in said for c in s.citations)
    told = stems(" ".join(s.text for s in said)) | stems(quotes)
    answer = [s for s in said if s.support != "quoted"] or list(said)
    grades = [s.support for s in answer]
    best = hits[0] if hits else None
    first = best.paper.key if best else ""
    return {
        "lead": min(lead(hits, total), 0.4) * 2.5,
        "score": best.score if best else 0.0,
        "cover": best.why.text_score if best else 0.0,
        "sentence": best.why.sentence_score if best else 0.0,
        "asked_told": len(asked & told) / len(asked) if asked else 1.0,
        "weak": float("weak" in grades),
        "one_paper": float(len({c.paper for s in said for c in s.citations}) <= 1),
        "first_paper": float(any(c.paper == first for s in said for c in s.citations)),
        "number": float(asks_number(question)),
        "counted": float(_counted(question, told)),
    }


def confidence(seen: Mapping[str, float]) -> float:
    """The chance (0 to 1) that an answer with these features is right."""
    total = COEFFICIENTS["bias"] + sum(COEFFICIENTS.get(name, 0.0) * value for name, value in seen.items())
    return 1 / (1 + math.exp(-total))


def _counted(question: str, told: frozenset[str]) -> bool:
    """Whether the answer or its quotes speak of what "how many X" asks for; true where nothing is counted."""
    said = words(question)
    for at, word in enumerate(said[:-1]):
        if word == "how" and said[at + 1] in ("many", "much"):
            things = [w for w in said[at + 2 : at + 5] if w not in STOP]
            return bool(stems(" ".join(things)) & told) if things else True
    return True
