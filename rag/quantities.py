"""Numbers of a text with sign and unit, comparable across the ways of writing them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rag.text import plain

_WORDS = {
    w: str(n)
    for n, w in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
}
# "one" and "two" are mostly no figures ("one of", "the two"), and neither is a list's "1)".
_NO_FIGURE = {"zero", "one", "two"}
_UNITS = {
    "%": "percent", "percent": "percent", "percentage": "percent", "pp": "percent",
    "x": "times", "×": "times", "times": "times", "fold": "times", "-fold": "times",
    "ms": "ms", "millisecond": "ms", "milliseconds": "ms",
    "s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s",
    "min": "min", "mins": "min", "minute": "min", "minutes": "min",
    "h": "h", "hour": "h", "hours": "h", "day": "d", "days": "d",
    "hz": "hz", "khz": "khz", "kb": "kb", "mb": "mb", "gb": "gb", "tb": "tb", "db": "db",
    "k": "thousand", "thousand": "thousand", "m": "million", "million": "million",
    "b": "billion", "bn": "billion", "billion": "billion", "trillion": "trillion",
}  # fmt: skip
_FIGURE = re.compile(
    r"(?<![\w.])(?P<sign>[-−+]?)(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<gap>[\s~-]?)(?P<unit>%|×|[A-Za-z]+)?"
)
_NAME_BEFORE = re.compile(r"[A-Za-z][-−]$")
_WORD = re.compile(
    r"\b(" + "|".join(sorted(_WORDS.keys() - _NO_FIGURE, key=len, reverse=True)) + r")\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number: its value as a plain decimal, sign, unit ("" where none is known), and how it is written."""

    value: str
    negative: bool
    unit: str
    text: str


def quantities(text: str) -> list[Quantity]:
    """All numbers of a text, in figures and words; those inside names ("GPT-4", "k-NN2") are part of the name."""
    text = plain(text).replace("\\", " ")
    out = []
    for m in _FIGURE.finditer(text):
        # A hyphen after a letter joins a name ("GPT-4"); after a digit it is a range ("3-5").
        if _NAME_BEFORE.search(text[: m.start("number")]):
            continue
        unit = _UNITS.get((m["unit"] or "").casefold(), "")
        written = m["number"] + (m["gap"] + m["unit"] if unit and m["unit"] else "")
        out.append(Quantity(_plain(m["number"]), m["sign"] in ("-", "−"), unit, written))
    out += [Quantity(_WORDS[m[1].casefold()], False, "", m[1]) for m in _WORD.finditer(text)]
    return out


def stands_in(quantity: Quantity, others: Iterable[Quantity]) -> bool:
    """Whether one of the others is the same number, with a unit and sign that do not contradict."""
    return any(
        quantity.value == o.value
        and quantity.negative == o.negative
        and (not quantity.unit or not o.unit or quantity.unit == o.unit)
        for o in others
    )


def _plain(number: str) -> str:
    """Without thousands' commas and idle zeros: "1,200.50" is 1200.5."""
    number = number.replace(",", "")
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return number.lstrip("0") or "0"
