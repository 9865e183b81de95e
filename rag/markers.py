"""Markers and sentences of a draft, in every form models write them, whole or half streamed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag.sentences import split
from rag.text import formulas

_NUMBER = r"(?:(?:papers?|sentences?|sources?|refs?|nos?\.?|#|\^)\s*)?\d{1,3}"
_MARKER = re.compile(
    rf"\s*[`*]*[\[【]\s*({_NUMBER}(?:\s*(?:,|;|-|–|—|to|and|&)\s*{_NUMBER})*)\s*[\]】][`*]*", re.IGNORECASE
)
_HALF = re.compile(r"\s*[`*]*[\[【][^\]】]{0,40}$|`+$")
_RANGE = re.compile(r"(\d+)\s*(?:-|–|—|to)\s*(?:[a-z#^.]*\s*)?(\d+)", re.IGNORECASE)
LONGEST_RANGE = 12


@dataclass(frozen=True, slots=True)
class Draft:
    """A sentence as the model wrote it: its text without markers, and the numbers of its markers."""

    text: str
    numbers: tuple[int, ...]


def numbers_in(marker: str) -> list[int]:
    """The numbers of a marker's inside, ranges written out: "1, 3-5" gives 1, 3, 4, 5."""
    out: list[int] = []
    for part in re.split(r"[,;&]|\band\b", marker):
        span = _RANGE.search(part)
        if span and 0 <= int(span[2]) - int(span[1]) < LONGEST_RANGE:
            out += range(int(span[1]), int(span[2]) + 1)
        else:
            out += map(int, re.findall(r"\d+", part))
    return list(dict.fromkeys(out))


def drafts(text: str) -> list[Draft]:
    """The sentences of a draft with their markers; a marker after a full stop belongs to that sentence.

    Brackets inside formulas are no markers, and neither are brackets that name number 0, like the
    interval [0, 1]. Numbers that no evidence has are kept: the caller sees that they do not resolve.
    """
    bare, marks = _without_markers(text)
    spans = split(bare)
    out: list[tuple[str, list[int]]] = [(bare[a:b], []) for a, b in spans]
    for place, numbers in marks:
        owner = max((i for i, (a, _) in enumerate(spans) if a < place), default=0)
        if out:
            out[owner][1].extend(numbers)
    return [Draft(t, tuple(dict.fromkeys(ns))) for t, ns in out if re.search(r"\w", t)]


def _without_markers(text: str) -> tuple[str, list[tuple[int, list[int]]]]:
    """The text without markers, and where in it (offset) each marker stood."""
    maths = formulas(text)
    bare, marks, at = "", [], 0
    for match in _MARKER.finditer(text):
        inside = any(a <= match.start(1) < b for a, b in maths)
        numbers = numbers_in(match[1])
        if inside or 0 in numbers:
            continue
        bare += text[at : match.start()]
        marks.append((len(bare), numbers))
        at = match.end()
    return bare + text[at:], marks


def settled(text: str) -> list[Draft]:
    """The sentences of a half-streamed draft that can no longer change: all but the last."""
    return drafts(_HALF.sub("", text))[:-1]


def tail(text: str) -> str:
    """The sentence that is being written, as far as it can be shown: no markers, no half marker."""
    rest = drafts(_HALF.sub("", text))
    return rest[-1].text if rest else ""
