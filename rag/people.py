"""Whether a name that a reader types means an author."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_SUFFIXES = frozenset("jr sr ii iii iv".split())


@lru_cache(maxsize=100_000)
def folded(text: str) -> tuple[str, ...]:
    """Words of a text without case and accents: "Ørsted-Müller, J." -> ("orsted", "muller", "j")."""
    spread = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return tuple(re.findall(r"\w+", "".join(c for c in spread if not unicodedata.combining(c))))


_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})


def same_person(author: str, asked: str) -> bool:
    """Whether `asked` is an author's last name, full name in either order, or initials and last name."""
    whole = tuple(w for w in folded(author) if w not in _SUFFIXES)
    last, comma, first = asked.partition(",")
    name = tuple(w for w in folded(f"{first} {last}" if comma else asked) if w not in _SUFFIXES)
    if not name or not whole:
        return False
    if whole[-len(name) :] == name or sorted(whole) == sorted(name):
        return True
    given = whole[:-1]
    return whole[-1] == name[-1] and all(_fits(part, given) for part in name[:-1])


def _fits(part: str, given: Sequence[str]) -> bool:
    """Whether a first name, or initials written together, is among an author's."""
    if part in given or (len(part) == 1 and any(g[0] == part for g in given)):
        return True
    return len(part) == len(given) > 1 and all(g[0] == c for g, c in zip(given, part, strict=True))


def any_person(author: str, asked: str) -> bool:
    """The same for a JSON list of names: the form that SQLite can call."""
    return any(same_person(author, name) for name in json.loads(asked))
