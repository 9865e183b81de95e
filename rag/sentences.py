"""Sentences of an abstract as exact spans: the unit that is shown as evidence and cited.

Own rules, because no splitter within the time allowed kept formulas, labels and abbreviations of scientific
prose apart; docs/design/sentences.md has the measurements.
"""

from __future__ import annotations

import re
from itertools import islice

from rag.latex import formulas

Span = tuple[int, int]

LONGEST = 120  # words; a longer "sentence" is cut, so that evidence stays readable
_SHORTEST = 20  # words before a cut, where there is a choice

_STOP = re.compile(
    r"""(?P<mark>(?<![.!?…])[.!?…]++)
        (?: (?P<close>(?:\[[\d,;\ –-]+\]|[)\]}"'”’»*]|\s["”](?=\s))*)(?=\s)
          | (?P<glued>(?<=[a-z)\]%]{2}[.!?])|(?<=\d[.!?]))(?=[A-Z][a-z]*[\s,]))
    | (?P<wide>[。！？।]+[”’」』）]*)""",
    re.VERBOSE,
)
_NEXT = re.compile(
    r"\s*(?:\(?(?:[ivx]+|[a-z]|\d+)\)\s*)?(?P<open>[(\[{\"'“‘«*•–—-]*)(?P<word>[^\W_]*)(?P<after>\.?)"
)
_CONTINUES = ("", *".,;:!?)]}")  # what no sentence begins with
_WORD = re.compile(r"\S+")
_CLAUSES = (";", ":", ",–—")  # ends of words after which a long sentence is cut, best first
_WINDOW = 60  # characters looked back for the word before a stop
_DOTTED = re.compile(r"(?:^|[^a-z])(?:[a-z]\.)+[a-z]$")  # i.c.v, non-i.i.d, U.S
_ZERO = re.compile(r"(?:^|\W)0$")  # of a decimal that was torn apart: "p<0. 05"
_PLAIN_WORD = re.compile(r"[^\W\d_]{4,}|[^\W\d_]+(?:-[^\W\d_]+)+")

# Abbreviations. The first never end a sentence; the second do before a capital; the third do before a word
# that begins many sentences. Dotted ones (i.c.v) and single letters (J. Biol.) go with the third.
JOINING = frozenset(
    "e.g i.e eg ie cf viz vs v.s w.r.t wrt s.t a.k.a aka dr prof mr mrs z.b d.h c.-à-d".split()
)
CLOSING = frozenset("etc mg hr hrs min sec".split())
ABBREVIATED = frozenset(
    """abbr al approx resp ca incl excl max avg av fig figs tab eq eqs eqn eqns secs app appx thm thms lem prop
    props def defs alg algs cor rem ex ch no nos vol pp p ref refs ms st jr sr dept univ inc ltd corp co jan
    feb mar apr jun jul aug sept sep oct nov dec u.a bzw deg assoc const et proc natl acad sci biol chem subsp
    var ssp spp iid""".split()
)
OPENERS = frozenset(
    """a an the this that these those we our i it its they their he she his her there here in on at by to for
    from with without when while where if although though as after before since because however moreover
    furthermore additionally also finally first second third specifically then thus hence therefore meanwhile
    instead such both each all most many some several few using based given despite unlike recent recently
    existing experiments experimental extensive empirically results code how why what which can does do is are
    nothing no not further more one through over under besides combining methods conclusions
    background""".split()
)
_EXCLAIMED = frozenset(("Yahoo", "Jeopardy"))  # names that are written with a mark


def split(abstract: str) -> list[Span]:
    """Spans of the sentences of readable text, in order.

    `abstract[start:end]` has no white space around it; together the spans cover every other character. No
    formula is split. A sentence of more than `LONGEST` words is cut at its clauses, or else at white space.
    """
    text = masked(abstract)
    ends: list[int] = []
    start = 0
    for stop in _STOP.finditer(text):
        if stop["wide"] or _is_end(text, start, stop):
            start = stop.end()
            ends.append(start)
    whole = _spans(text, [*ends, len(text)])
    return [piece for span in whole for piece in _shorten(text, span)]


def masked(text: str) -> str:
    """`text` with each formula as one word of the same length, ending in a stop where the formula does."""
    pieces, position = [], 0
    for start, end in formulas(text):
        stops = text[start:end].rstrip("$)]\\ ")[-1:] in (".", "?", "!")
        pieces += [text[position:start], "X" * (end - start - 1), "." if stops else "X"]
        position = end
    return "".join([*pieces, text[position:]])


def _is_end(text: str, start: int, stop: re.Match[str]) -> bool:
    """Whether the sentence that began at `start` ends with the mark `stop`."""
    follows = _NEXT.match(text, stop.end())
    if follows is None or (follows["open"] and not follows["word"]):
        return False
    if text[follows.start("open") : follows.end("word") + 1].strip()[:1] in _CONTINUES:
        return False
    window = text[max(start, stop.start() - _WINDOW) : stop.start()]
    before = re.split(r"[\s—–(\[{]", window)[-1]
    if stop["glued"] is not None:
        return _opens(follows) and "/" not in before and "@" not in before
    if stop["mark"] != ".":
        return _ends_with_mark(stop, text[max(start, stop.start() - 300) : stop.start()], before, follows)
    if not before:  # the stop stands apart, or is part of ". . ."
        return not follows["word"].islower() and window.strip()[-1:] not in ("", ".")
    if before.isdigit() and len(before) < 3 and window[: -len(before)].strip()[-1:] in ("", ":", ";", "("):
        return False  # the label of an item: "1. We pretrain"
    if _is_abbreviation(before):
        return _ends_with_abbreviation(before.lower(), stop["close"], follows)
    if follows["word"].islower():
        joins = follows["after"] and follows["word"] in ("i", "e", "cf", "vs")
        return not (joins or stop["close"] or before.isupper()) and _PLAIN_WORD.fullmatch(before) is not None
    return not (_ZERO.search(before) and follows["word"][:1].isdigit())


def _opens(follows: re.Match[str]) -> bool:
    """Whether the next word is a capitalised one that begins many sentences, and no initial."""
    word = follows["word"]
    common = word.lower() in OPENERS or word.endswith("ly")
    return common and not word.islower() and not (len(word) == 1 and follows["after"])


def _ends_with_mark(stop: re.Match[str], sentence: str, before: str, follows: re.Match[str]) -> bool:
    word = follows["word"]
    if stop["mark"][0] in ".…":
        return _opens(follows) or (word[:1].isupper() and word[1:].islower())
    quoted = sentence.count('"') % 2 == 1 and '"' not in stop["close"]
    return not word.islower() and not quoted and (before not in _EXCLAIMED or _opens(follows))


def _is_abbreviation(before: str) -> bool:
    """Whether `before`, the text in front of a full stop, may need that stop itself."""
    if before.isupper() and len(before) > 1 and "." not in before:
        return False  # SOTA, GPT-4; and a formula, which is masked in capitals
    word = before.lower()
    known = word in JOINING or word in CLOSING or word in ABBREVIATED
    return known or _DOTTED.search(word) is not None or (len(word) == 1 and word.isalpha())


def _ends_with_abbreviation(before: str, close: str, follows: re.Match[str]) -> bool:
    if before in JOINING:
        return False
    if before in CLOSING or ")" in close:
        return follows["word"][:1].isupper() and not (len(follows["word"]) == 1 and follows["after"])
    return _opens(follows)


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
