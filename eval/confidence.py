"""Whether confidence tells right answers from wrong ones: risk against coverage, and calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

BINS = 5  # sets have about a hundred questions; more bins would hold a handful each
SURE = ("quoted", "supported")
OWN, BY_GRADES = "the answer's own confidence", "share of sentences graded quoted or supported"


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer that was given: how sure the program was, and whether it was right."""

    confidence: float  # 0 to 1
    right: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """Risk (share of wrong answers) when only answers of at least some confidence are shown."""

    coverage: tuple[float, ...]  # share of all questions that is answered then, rising
    risk: tuple[float, ...]
    area: float  # mean risk over 1, 2, … answers shown, surest first; lower is better
    by_chance: float  # the same, were the order of the answers drawn by lot
    best: float  # the same, if every right answer came before every wrong one


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of about the same confidence, and how many of them were right (Wilson interval, 95 %)."""

    confidence: float  # mean
    right: float  # share
    low: float
    high: float
    n: int


def confidences(rows: Sequence[Mapping[str, Any]]) -> tuple[str, list[float | None]]:
    """How sure each row is, and by what: OWN if any row says so itself, else BY_GRADES.

    The two are never mixed, as they are different scales; None for a row that has none.
    """
    own = [row.get("confidence") for row in rows]
    if any(value is not None for value in own):
        return OWN, own
    return BY_GRADES, [_sure_share(row) for row in rows]


def _sure_share(row: Mapping[str, Any]) -> float | None:
    grades = [sentence.get("support") for sentence in row.get("sentences") or ()]
    return sum(grade in SURE for grade in grades) / len(grades) if grades else None


def risk_coverage(outcomes: Sequence[Outcome], asked: int) -> Curve | None:
    """The curve over the answers given to `asked` questions; None without answers.

    Answers of the same confidence are shown together: a point for each different confidence. Within such
    answers the area takes the expected order.
    """
    if not outcomes:
        return None
    ordered = sorted(outcomes, key=lambda one: -one.confidence)
    wrong = np.cumsum([not one.right for one in ordered])
    ends = [
        i for i, one in enumerate(ordered, 1) if i == len(ordered) or ordered[i].confidence < one.confidence
    ]
    shown = np.arange(1, len(ordered) + 1)
    expected = np.interp(shown, [0, *ends], [0, *(wrong[i - 1] for i in ends)])
    total = int(wrong[-1])
    return Curve(
        coverage=tuple(i / asked for i in ends),
        risk=tuple(float(wrong[i - 1]) / i for i in ends),
        area=float(np.mean(expected / shown)),
        by_chance=total / len(ordered),
        best=float(np.mean(np.maximum(0, shown - (len(ordered) - total)) / shown)),
    )


def calibration(outcomes: Sequence[Outcome], bins: int = BINS) -> list[Bin]:
    """Answers in bins of equal width from 0 to 1; a bin holds its lower edge, and the last one holds 1."""
    from scipy.stats import binomtest  # type: ignore[import-untyped]

    found: dict[int, list[Outcome]] = {}
    for one in outcomes:
        found.setdefault(min(bins - 1, int(one.confidence * bins)), []).append(one)
    result = []
    for _, members in sorted(found.items()):
        right, n = sum(one.right for one in members), len(members)
        interval = binomtest(right, n).proportion_ci(method="wilson")
        mean = sum(one.confidence for one in members) / n
        result.append(Bin(mean, right / n, float(interval.low), float(interval.high), n))
    return result


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """The distance of confidence and share of right answers, averaged over all answers (ECE)."""
    total = sum(one.n for one in bins)
    return sum(one.n * abs(one.confidence - one.right) for one in bins) / total if total else None
