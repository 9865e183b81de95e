"""Which words of a sentence a number belongs to: "1.7 times against dense layers, 13 times against sparse ones".

A claim may not take the number of one clause for the words of another, nor use one number twice. Rules on words; where
a sentence leaves open what belongs together ("3%, 4% and 5% on A, B and C, respectively"), nothing is held against it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag.pairing import mispaired
from rag.quantities import Quantity, quantities, stands_in
from rag.text import plain
from rag.understand import strong_names
from rag.words import stems, words

_BREAK = re.compile(
    r"[,;:(][ ]|[()]|\b(?:and|or|while|whilst|whereas|but|versus|vs\.?|against|instead of|rather than)\b(?=\s)"
)
_RELATION = re.compile(
    r"\b(?:on|in|for|over|with|without|than|to|at|of|from|by|under|compared|relative|when)\b"
)
_OPEN = re.compile(r"\brespectively\b|\bresp\.", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clause:
    """The numbers of one clause, and the words that are said of no other clause's numbers."""

    numbers: tuple[Quantity, ...]
    words: frozenset[str]


def misbound(claim: str, source: str, question: str = "") -> Quantity | None:
    """A number of the claim that the source gives for something else, and not for what the claim says; or None.

    `question`: its numbers are nobody's, and its words count as the claim's where the claim has one number.
    """
    asked = quantities(question)
    mine = [c for c in _spans(claim) if any(not stands_in(q, asked) for q in c.numbers)]
    if not _OPEN.search(claim):
        number = mispaired([(c.numbers, c.words) for c in mine], source)
        if number:
            return number
    theirs = clauses(source)
    if len(theirs) < 2 or _OPEN.search(source):
        return None
    for part in mine:
        said = part.words | (_content(question) if len(mine) == 1 else frozenset())
        for number in part.numbers:
            holders = [c for c in theirs if stands_in(number, c.numbers)]
            if not holders or any(c.words & said for c in holders) or stands_in(number, asked):
                continue
            rest = [c for c in theirs if c not in holders and not _shared(c.numbers, part.numbers)]
            if any(c.words & part.words for c in rest):
                return number
    return None


def used_twice(claim: str, sources: Sequence[str]) -> Quantity | None:
    """A number that stands in more clauses of the claim than in those of all its sources together; or None.

    Small whole numbers without a unit are passed over: they are mostly parts of names ("SE(3)").
    """
    mine = _spans(claim)
    there = [c for source in sources for c in _spans(source)]
    for number in (q for c in mine for q in c.numbers if q.unit or len(q.value) > 1):
        found = sum(stands_in(number, c.numbers) for c in there)
        if 0 < found < sum(stands_in(number, c.numbers) for c in mine):
            return number
    return None


def clauses(text: str) -> list[Clause]:
    """The clauses with numbers, each with the words that only it holds; none where what belongs together is open."""
    spans = _spans(text)
    if any(not c.words for c in spans):
        return []
    if len(spans) > 1:
        # What stands before the first number is said of all; where numbers follow what they belong to, all but as
        # many words as the other clauses have.
        before, after = _around_first(text)
        trailing = all(_trails(part) for part in _parts(text)[1:] if quantities(part))
        near = before[-max(len(c.words) for c in spans[1:]) :] if trailing else []
        spans[0] = Clause(spans[0].numbers, frozenset(near) | (spans[0].words - set(before)) | after)
        if not trailing:
            spans = [Clause(c.numbers, c.words - tail) for c, tail in zip(spans, _tails(text), strict=True)]
    return [Clause(c.numbers, c.words.difference(*(o.words for o in spans if o is not c))) for c in spans]


def _spans(text: str) -> list[Clause]:
    """Clauses with numbers; those without belong to the number before them, or to the first."""
    grouped: list[str] = []
    waiting = ""
    for part in _parts(text):
        if quantities(part):
            grouped.append(f"{waiting} {part}")
            waiting = ""
        elif grouped:
            grouped[-1] += f" {part}"
        else:
            waiting += f" {part}"
    return [Clause(tuple(quantities(g)), _content(g)) for g in grouped]


def _parts(text: str) -> list[str]:
    return [part for part in _BREAK.split(plain(text)) if part.strip()]


def _around_first(text: str) -> tuple[list[str], frozenset[str]]:
    """Content words before the first number in order, and those of its own clause behind it."""
    parts = _parts(text)
    at = next(n for n, part in enumerate(parts) if quantities(part))
    before, behind = _halves(parts[at])
    opening = " ".join([*parts[:at], before])
    return [stem for word in words(opening) for stem in _content(word)], _content(behind)


def _tails(text: str) -> list[frozenset[str]]:
    """For each clause the words that are said of the one before it too ("1.1 TER and 1.4 BLEU over the baseline")."""
    behind = [_halves(part)[1] for part in _parts(text) if quantities(part)]
    out = [frozenset[str]()]
    for before, own in pairwise(behind):
        cut = _RELATION.search(own)
        out.append(_content(own[cut.start() :]) if cut and not _RELATION.search(before) else frozenset())
    return out


def _halves(part: str) -> tuple[str, str]:
    """What of a clause stands before its first number, and what behind."""
    figure = min((q.text for q in quantities(part)), key=part.find)
    before, _, behind = part.partition(figure)
    return before, behind


def _trails(part: str) -> bool:
    """Whether a clause ends with its number ("DeepNet 36.1")."""
    last = quantities(part)[-1].text
    return bool(_content(part)) and not _content(part[part.rfind(last) + len(last) :])


def _shared(some: Sequence[Quantity], others: Sequence[Quantity]) -> bool:
    return any(stands_in(q, others) for q in some)


def _content(text: str) -> frozenset[str]:
    """Stems and names, without numbers and their units."""
    text = plain(text)
    for q in quantities(text):
        text = text.replace(q.text, " ")
    names = {"".join(c for c in name.casefold() if c.isalnum()) for name in strong_names(text)}
    return stems(text) | names
