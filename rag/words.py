"""Words of a question: which carry meaning, and how rare they are."""

from __future__ import annotations

import math
import re
import unicodedata
from functools import cache

import snowballstemmer  # type: ignore[import-untyped]

from rag.text import plain

_WORD = re.compile(r"\w+")

# Function words, and words that are about asking and about papers rather than about any one paper.
STOP = frozenset(
    """a about above abstract abstracts after again against all also am an and any approach are article as at
    author authors be because been before being below between both but by can cannot could describe did do does
    doing done down during each either else ever every few find for from further get give gives given had has
    have having he her here hers him his how however i if in into is it its itself just know let like list look
    made make makes many may me method methods might mine more most much must my name neither no nor not now of
    off often on once one only or other others our ours out over own paper papers per please propose proposed
    proposes rather report reported reports same say says she should show shown shows since so some still study
    such take tell than that the their theirs them then there these they thing things this those though through
    to too under until up upon us use used uses using very via was way ways we were what when where whether
    which while who whom whose why will with within without work works would yet you your""".split()
)


def words(text: str) -> list[str]:
    """Words of a text, folded, in order."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def terms(question: str) -> list[str]:
    """The distinct words of a question that carry meaning; all its words if none does."""
    every = list(dict.fromkeys(words(question)))
    return [w for w in every if w not in STOP] or every


def rarity(holders: int, papers: int) -> float:
    """Inverse document frequency of a word that `holders` of `papers` papers hold (Robertson's, never below 0)."""
    return math.log(1 + (papers - holders + 0.5) / (holders + 0.5))


@cache
def _stemmer() -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer("english")


def stems(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning."""
    return frozenset(
        _stemmer().stemWords([w for w in words(plain(text)) if w not in STOP and not w.isdigit()])
    )
