"""How long answers took, and how many tokens they were: median and 95th percentile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

SECONDS = ("evidence_s", "first_token_s", "total_s")
TOKENS = ("prompt_tokens", "output_tokens")


@dataclass(frozen=True, slots=True)
class Spread:
    """Of the rows that have a value; percentiles are interpolated between neighbours (numpy's default)."""

    median: float
    p95: float
    n: int


def timings(rows: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    """One value of each row's `timing`; rows without it (failed, or no model ran) are left out."""
    values = [(row.get("timing") or {}).get(name) for row in rows]
    return [float(value) for value in values if value is not None]


def spreads(rows: Sequence[Mapping[str, Any]]) -> dict[str, Spread]:
    """Seconds and tokens by name. Tokens count only where a model ran."""
    ran = [row for row in rows if (row.get("timing") or {}).get("first_token_s") is not None]
    values = {name: timings(rows, name) for name in SECONDS}
    values |= {name: timings(ran, name) for name in TOKENS}
    return {name: _spread(found) for name, found in values.items() if found}


def _spread(values: Sequence[float]) -> Spread:
    median, p95 = np.percentile(values, [50, 95])
    return Spread(float(median), float(p95), len(values))
