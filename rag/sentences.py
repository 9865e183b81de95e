"""Sentences of an abstract as exact spans: the unit that is shown as evidence and cited.

The library nupunkt finds the ends; here are the words it is given, a mask for what it must not look into, and
what it gets wrong. docs/design/sentences.md has the measurements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from rag.latex import formulas

if TYPE_CHECKING:
    from nupunkt import PunktSentenceTokenizer

Span = tuple[int, int]

SPLITTER = "nupunkt/1"  # raised when sentences come out differently: what is stored is then split again

LONGEST = 120  # words; a longer "sentence" is cut, so that evidence stays readable
_SHORTEST = 20  # words before a cut, where there is a choice

# Abbreviations end a sentence only before a word of OPENERS; the first few never, the last few before any
# capital. Dots inside don't count (e.g. is eg); other dotted ones and single letters need no entry.
JOINING = frozenset("cf eg ie viz vs".split())
ABBREVIATED = frozenset(
    """wrt aka dr prof mr mrs abbr acc al approx resp ca incl excl max avg av fig figs tab eq eqs eqn eqns sec secs
    app appx thm thms lem prop props def defs alg algs cor rem ex ch esp no nos vol pp ref refs prob st jr sr dept
    univ inc ltd corp co jan feb mar apr jun jul aug sept sep oct nov dec bzw deg assoc const et proc natl acad sci
    biol chem subsp var ssp spp iid""".split()
)
CLOSING = frozenset("etc mg hr hrs min".split())
# Words that are capitalised mostly because they begin a sentence.
OPENERS = frozenset(
    """a an the this that these those we our i it its they their he she there here in on at by to for from with
    within without when while where whereas if although though as after before since because during under over
    through despite unlike given based using compared however moreover furthermore additionally also then thus
    hence therefore consequently subsequently meanwhile instead but and nevertheless overall finally first second
    third next further specifically particularly notably importantly interestingly surprisingly remarkably
    essentially intuitively similarly typically recently recent previously unfortunately empirically theoretically
    experimentally extensive experiments experimental results conclusion conclusions background methods code data
    such both each all most many some several one two how why what which existing previous nothing no not
    combining""".split()
)

_FORMULA_STOPS = (".", "?", "!")
_MASKED = (
    re.compile(  # MRS. and ST. are no abbreviations; in what has no space the library takes quadratic time
        r"[A-Z]{2,}(?=\.)|\S{500,}(?=\S)"
    )
)
_UNSEEN = re.compile(  # ends that the library does not look for: in other scripts, and without a space
    r"[.?!。！？।](?:(?<=[。！？।])[。！？।]*[”’」』）]*"
    r"|(?:(?<=[a-z)\]%]{2}[.?!])|(?<=\d[.?!]))(?=[A-Z][a-z]*[\s,]))"
)
_CONTINUING = re.compile(r"[\"'”’]|\s*[.,;:!?)\]}]")  # what no sentence begins with
_NEXT = re.compile(  # the next word if it is no initial; without a label: (ii) We; — we
    r"\s*(?:\(?(?:[ivx]+|[a-z])\)\s*(?=[A-Z]))?[(\[—–]?\s*((?![A-Z]\.)[^\W_]*|)"
)
# What may stand before a stop, as far as the window shows it:
_LABEL = re.compile(r"(?:.*[:;]\s+|.*\(|\s*)\d{1,2}\.\)?", re.DOTALL)  # two steps: 1. We align
_DOTTED = re.compile(  # a single letter, non-i.c.v., the torn number of p<0. 05
    r"(?:.*[\s(\[<>=])?(?:[^\W\d_]|0)\.|(?:.*[^\w.])?(?:[^\W\d_]\.){2,}", re.DOTALL
)
_PLAIN_WORD = re.compile(r"(?:.*[\s(])?(?:[^\W\d_]+-)*[^\W\d_]{4,}(?<![A-Z])[.…]", re.DOTALL)

_WORD = re.compile(r"(?:.*[\s(])?(?:[^\W\d_]+-)*[^\W\d_]{4,}(?<![A-Z])[.…]", re.DOTALL)
_WORD = re.compile(r"\S+")
_CLAUSES = (";", ":", ",–—")  # ends of words after which a long sentence is cut, best first
_WINDOW = 60  # characters looked back for the word before a stop


def split(abstract: str) -> list[Span]:
    """Spans of the sentences of readable text, in order.

    `abstract[start:end]` has no white space around it; together the spans cover every other character. No
    formula is split. A sentence of more than `LONGEST` words is cut at its clauses, or else at white space.
    """
    text = masked(abstract)
    spans = _spans(text, list(_ends(text)))
    return [piece for span in spans for piece in _shorten(text, span)]


def masked(text: str) -> str:
    """`text` with each formula as one word of the same length, ending in a stop where the formula does."""
    pieces, position = [], 0
    for start, end in formulas(text):
        stops = text[start:end].rstrip("$)]\\ ").endswith(_FORMULA_STOPS)
        pieces += [text[position:start], "X" * (end - start - 1), "." if stops else "X"]
        position = end
    return "".join([*pieces, text[position:]])


@lru_cache(maxsize=1)
def _tokenizer() -> PunktSentenceTokenizer:
    """nupunkt with our words and no model: its own takes "tasks", "cancer" and "code" for abbreviations."""
    from nupunkt import PunktParameters, PunktSentenceTokenizer
    from nupunkt.core.constants import ORTHO_MID_LC

    words = PunktParameters()
    words.update_abbrev_types({*JOINING, *ABBREVIATED, *CLOSING})
    often = PunktSentenceTokenizer.BREAK_RATE_MIN_COUNT
    words.update_abbrev_break_rates({word: (often, 0) for word in JOINING})
    words.update_abbrev_break_rates({word: (often, often) for word in CLOSING})
    for word in OPENERS:
        words.add_ortho_context(word, ORTHO_MID_LC)
    tokenizer = PunktSentenceTokenizer(words)
    tokenizer.BREAK_RATE_LOW = 0.0
    return tokenizer


def _ends(text: str) -> Iterator[int]:
    """Where the sentences of masked text end, in order; the last is the end of the text."""
    shown = _MASKED.sub(lambda found: "X" * len(found[0]), text).replace("Yahoo!", "YahooX")
    ends = {end for _, end in _tokenizer().span_tokenize(shown)}
    last = 0
    for end in sorted(ends.union(_unseen(text))):
        if not _goes_on(text[max(last, end - _WINDOW) : end], text[end : end + _WINDOW]):
            last = end
            yield last
    yield len(text)


def _unseen(text: str) -> Iterator[int]:
    """Ends that only `_UNSEEN` finds."""
    for stop in _UNSEEN.finditer(text):
        word = text[max(0, stop.end() - _WINDOW) : stop.end() - 1].split()[-1:]
        if not word or word[0].lstrip("([").lower() not in ABBREVIATED:
            yield stop.end()


def _goes_on(before: str, after: str) -> bool:
    """Whether the sentence that `before` closes goes on, although the library ends it there."""
    if _CONTINUING.match(after) or _LABEL.fullmatch(before):
        return True
    following = _NEXT.match(after)
    word = following[1] if following else ""
    if _DOTTED.fullmatch(before):
        return word.islower() or word.lower() not in OPENERS
    return word.islower() and not _PLAIN_WORD.fullmatch(before)


def _spans(text: str, ends: list[int]) -> list[Span]:
    """The stretches between `ends`, without the white space around them; empty ones are left out."""
    spans, position = [], 0
    for end in ends:
        piece = text[position:end]
        inner = piece.strip()
        if inner:
            first = position + piece.index(inner[0])
            spans.append((first, first + len(inner)))
        position = end
    return spans


def _shorten(text: str, span: Span) -> list[Span]:
    """`span` in pieces of at most `LONGEST` words, cut after a clause where one ends, else at white space."""
    start, end = span
    pieces = []
    while end - start >= 2 * LONGEST:
        words = list(islice(_WORD.finditer(text, start, end), LONGEST + 1))
        if len(words) <= LONGEST:
            break
        cut = _last_of_clause(words)
        pieces.append((start, words[cut].end()))
        start = words[cut + 1].start()
    return [*pieces, (start, end)]


def _last_of_clause(words: list[re.Match[str]]) -> int:
    """Index of the word after which to cut; the last but one where no clause ends."""
    for marks in _CLAUSES:
        for index in range(LONGEST - 1, _SHORTEST, -1):
            if words[index][0][-1] in marks:
                return index
    return LONGEST - 1
