"""Where a model's text must end: at a stop string, or once it only repeats itself."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Generator, Sequence

from rag.model import Reason

# Chat-template tokens that small models and careless servers spell out as text.
TEMPLATE_TEXTS = ("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<end_of_turn>", "</s>")

REPEATS = 3
SENTENCE_CHARS = 12  # folded; shorter ones ("Yes.", "1.") may come again
TAIL_CHARS = 600  # so periods of up to 200 characters are seen
RUN_CHARS = 60  # a repeated run below this may be a table's rule or a number
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_UNSAID = re.compile(r"(?:\[[\d,\s–-]*\]|[\W_])+")  # markers, layout, punctuation


class LoopGuard:
    """Tells when a text, fed in pieces, has said the same sentence or the same run three times."""

    def __init__(self) -> None:
        self._tail = ""
        self._sentence = ""
        self._said: Counter[str] = Counter()

    def feed(self, piece: str) -> bool:
        """True once the text so far repeats itself."""
        self._tail = (self._tail + piece)[-TAIL_CHARS:]
        *ended, self._sentence = _SENTENCE_END.split(self._sentence + piece)
        folded = [_UNSAID.sub(" ", sentence).strip().casefold() for sentence in ended]
        self._said.update(sentence for sentence in folded if len(sentence) >= SENTENCE_CHARS)
        return any(self._said[sentence] >= REPEATS for sentence in folded) or _is_periodic(self._tail)


def _is_periodic(tail: str) -> bool:
    """Does the text end in three or more equal runs that together make RUN_CHARS?"""
    for period in range(1, len(tail) // REPEATS + 1):
        span = max(REPEATS * period, RUN_CHARS)
        if tail[-1] == tail[-1 - period] and span <= len(tail):
            run = tail[-span:]
            if run[:-period] == run[period:]:
                return True
    return False


class StopFilter:
    """Passes text on up to the first stop string, also where that is split across pieces."""

    def __init__(self, stop: Sequence[str]) -> None:
        stop = sorted(filter(None, stop), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, stop)) or r"(?!)")
        self._begun = frozenset(text[:n] for text in stop for n in range(1, len(text)))
        self._longest = max(map(len, stop), default=1) - 1
        self.held = ""  # may be the beginning of a stop string
        self.stopped = False

    def feed(self, piece: str) -> str:
        """The text that is surely no part of a stop string; the longest possible beginning of one waits."""
        text = self.held + piece
        if match := self._pattern.search(text):
            self.stopped, self.held = True, ""
            return text[: match.start()]
        keep = next((n for n in range(min(len(text), self._longest), 0, -1) if text[-n:] in self._begun), 0)
        cut = len(text) - keep
        self.held = text[cut:]
        return text[:cut]


def clip(pieces: Generator[str, None, Reason], stop: Sequence[str]) -> Generator[str, None, Reason]:
    """The pieces up to a stop string or a loop; returns why they ended, and closes `pieces` in any case."""
    guard, stops = LoopGuard(), StopFilter(stop)
    with contextlib.closing(pieces):
        while True:
            try:
                text = stops.feed(next(pieces))
            except StopIteration as end:
                if end.value == "stop" and stops.held:
                    yield stops.held
                return end.value  # type: ignore[no-any-return]
            if guard.feed(text):
                return "loop"
            if text:
                yield text
            if stops.stopped:
                return "stop"
