"""How far a run is, told to whoever wants to know."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Report = Callable[[int, int, float], None]  # done, total, seconds left
T = TypeVar("T")


def silent(done: int, total: int, seconds_left: float) -> None:
    """No progress wanted."""


def counted(items: Iterable[T], many: int, report: Report, before: int = 0) -> Iterator[T]:
    """The `many` items one by one, each reported when the next is wanted; `before` were done by an earlier run."""
    started, total = time.monotonic(), before + many
    for n, item in enumerate(items, 1):
        yield item
        report(before + n, total, (time.monotonic() - started) / n * (many - n))
