"""Whether a name that a reader types means an author."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_SUFFIXES = frozenset("jr sr ii iii iv".split())
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})
_WORD = re.compile(r"\w+")


def folded(text: str) -> tuple[str, ...]:
    """Words of a text without case and accents: "Ørsted-Müller, J." -> ("orsted", "muller", "j")."""
    if not text.isascii():
        spread = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
        text = "".join(c for c in spread if not unicodedata.combining(c))
    return tuple(_WORD.findall(text.casefold()))


def same_person(author: str, asked: str) -> bool:
    """Whether `asked` is an author's last name, full name in either order, or initials and last name."""
    name = _name(asked)
    words = folded(author)
    if not name or name[-1] not in words:
        return False
    whole = tuple(w for w in words if w not in _SUFFIXES)
    if whole[-len(name) :] == name or sorted(whole) == sorted(name):
        return True
    return bool(whole) and whole[-1] == name[-1] and all(_fits(part, whole[:-1]) for part in name[:-1])


@lru_cache(maxsize=256)
def _name(asked: str) -> tuple[str, ...]:
    """Words of a name as it is asked for, the last name last."""
    last, comma, first = asked.partition(",")
    return tuple(w for w in folded(f"{first} {last}" if comma else asked) if w not in _SUFFIXES)


def _fits(part: str, given: Sequence[str]) -> bool:
    """Whether a first name, or initials written together, is among an author's."""
    if part in given or (len(part) == 1 and any(g[0] == part for g in given)):
        return True
    return len(part) == len(given) > 1 and all(g[0] == c for g, c in zip(given, part, strict=True))


def any_person(author: str, asked: str) -> bool:
    """The same for a JSON list of names: the form that SQLite can call."""
    return any(same_person(author, name) for name in _names(asked))


@lru_cache(maxsize=64)
def _names(asked: str) -> tuple[str, ...]:
    return tuple(json.loads(asked))
