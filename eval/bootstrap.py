"""Totals of shares over questions, and how far chance alone can move them (percentile bootstrap).

What is drawn anew, with replacement, is the question: its sentences and citations come along together. The
seed is fixed, so the same rows always give the same interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.metrics import Share

RESAMPLES, BLOCK, SEED = 2000, 100, 0
LEVEL = 0.95

Figures = Mapping[str, Share]  # of one question, by name; what does not apply is left out
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure, or a difference of two, with its interval at the level asked for; `n` questions have it."""

    value: float
    low: float
    high: float
    n: int


def names_of(rows: Sequence[Figures]) -> list[str]:
    """Every figure that applies to any row, in order of appearance."""
    return list(dict.fromkeys(name for row in rows for name in row))


def totals(rows: Sequence[Figures], level: float = LEVEL) -> dict[str, Interval]:
    """Each figure over all rows: sum of hits over sum of what they are out of."""
    found = {}
    names = names_of(rows)
    if not names:
        return {}
    (samples,) = _resampled([rows], names)
    for column, name in enumerate(names):
        shares = [row[name] for row in rows if name in row]
        value = sum(s.hits for s in shares) / sum(s.of for s in shares)
        found[name] = _interval(value, samples[:, column], len(shares), level)
    return found


def differences(a: Sequence[Figures], b: Sequence[Figures], level: float = LEVEL) -> dict[str, Interval]:
    """B minus A of each figure that both have; `a[i]` and `b[i]` are the same question."""
    names = names_of([*a, *b])
    if not names:
        return {}
    first, second = _resampled([a, b], names)
    found = {}
    for column, name in enumerate(names):
        pair = [[row[name] for row in rows if name in row] for rows in (a, b)]
        if all(pair):
            before, after = (sum(s.hits for s in shares) / sum(s.of for s in shares) for shares in pair)
            n = sum(name in one or name in other for one, other in zip(a, b, strict=True))
            found[name] = _interval(after - before, second[:, column] - first[:, column], n, level)
    return found


def _resampled(runs: Sequence[Sequence[Figures]], names: Sequence[str]) -> list[Floats]:
    """(RESAMPLES, figures) ratios of each run, all runs drawn alike; NaN where nothing is to divide."""
    n = len(runs[0])
    rng = np.random.default_rng(SEED)
    tables = [_table(rows, names) for rows in runs]
    drawn: list[list[Floats]] = [[] for _ in runs]
    for _ in range(RESAMPLES // BLOCK):
        counts = rng.multinomial(n, np.full(n, 1 / n), size=BLOCK)
        for out, (hits, of) in zip(drawn, tables, strict=True):
            with np.errstate(invalid="ignore"):
                out.append((counts @ hits) / (counts @ of))
    return [np.concatenate(blocks) for blocks in drawn]


def _table(rows: Sequence[Figures], names: Sequence[str]) -> tuple[Floats, Floats]:
    """Two (rows, figures) arrays: hits, and what they are out of (0 where a figure does not apply)."""
    shares = [[row.get(name) for name in names] for row in rows]
    hits = [[s.hits if s else 0.0 for s in row] for row in shares]
    of = [[s.of if s else 0.0 for s in row] for row in shares]
    return np.asarray(hits, dtype=np.float64), np.asarray(of, dtype=np.float64)


def _interval(value: float, samples: Floats, n: int, level: float) -> Interval:
    tail = (1 - level) / 2
    low, high = np.nanquantile(samples, [tail, 1 - tail])
    return Interval(value, float(low), float(high), n)
