"""Progress on stderr: bars on a terminal, a line a step elsewhere, nothing with --quiet."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

import click


class Bar:
    """Serves both kinds of work: bytes of a download, and steps of indexing."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self._shown = ""
        self._last = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.done()

    # --- downloads (rag.weights.Progress) ---

    def start(self, file: str, total: int) -> None:
        self._file, self._total, self._have = file, total, 0
        self._line(f"fetching {file}: 0 of {_mb(total)}", force=True)

    def advance(self, n: int) -> None:
        self._have += n
        share = min(1.0, self._have / (self._total or 1))
        bar = "█" * round(20 * share) + "░" * (20 - round(20 * share))
        self._line(f"fetching {self._file} {bar} {_mb(self._have)} of {_mb(self._total)}")

    def done(self) -> None:
        if self._shown and sys.stderr.isatty():
            click.echo("", err=True)
        self._shown = ""

    # --- indexing (rag.indexing.Progress) ---

    def step(self, what: str, done: int, total: int) -> None:
        self._line(f"{what}: {done} of {total}" if total else what, force=done == total)

    def note(self, text: str) -> None:
        """One line that stays."""
        self.done()
        if not self.quiet:
            click.echo(text, err=True)

    def _line(self, text: str, force: bool = False) -> None:
        terminal = sys.stderr.isatty()
        wait = 0.1 if terminal else 5.0
        if self.quiet or text == self._shown or (not force and time.monotonic() - self._last < wait):
            return
        self._last = time.monotonic()
        self._shown = text
        if terminal:
            click.echo(f"\r\x1b[2K{text}", err=True, nl=False)
        else:
            click.echo(text, err=True)


def _mb(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
