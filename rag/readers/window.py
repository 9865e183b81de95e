"""A text read as it is needed, for formats whose lines may be as long as the file."""

from __future__ import annotations

import re

from rag.readers.source import Source

BEHIND = 200  # characters that are kept behind the place of reading


class Window:
    """The part of a source's text around the place of reading, `text[at]`, which stands on `line`."""

    def __init__(self, source: Source) -> None:
        self._pieces = source.chunks()
        self.text = ""
        self.at = 0
        self.line = 1

    def more(self) -> bool:
        """Read on, and forget what lies behind: then `at` is another number. False at the text's end."""
        piece = next(self._pieces, "")
        if piece:
            kept = max(0, self.at - BEHIND)
            self.text = self.text[kept:] + piece
            self.at -= kept
        return bool(piece)

    def move(self, at: int) -> None:
        """Go on to a later place."""
        self.line += self.text.count("\n", self.at, at)
        self.at = at

    def skip(self, gap: re.Pattern[str]) -> str:
        """Go behind a gap; the character there, empty at the text's end."""
        while True:
            found = gap.match(self.text, self.at)
            self.move(found.end() if found else self.at)
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def find(self, pattern: re.Pattern[str], limit: int | None = None) -> re.Match[str] | None:
        """The next match behind `at`, if it lies within `limit` characters; without a limit, `at` moves along.

        A match is at most `BEHIND` characters long.
        """
        while True:
            found = pattern.search(self.text, self.at)
            if found or (limit is not None and len(self.text) - self.at > limit):
                return found
            if limit is None:
                self.move(max(self.at, len(self.text) - BEHIND))
            if not self.more():
                return None
