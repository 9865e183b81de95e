"""Whether one sentence says the opposite of another: the same things, the other direction, or their absence."""

from __future__ import annotations

import re

from rag.text import plain
from rag.words import stems, words

# Directions by their axis; a word on one side contradicts every word on the other.
AXES: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("more greater larger higher bigger most", "less fewer lower smaller least"),
        ("faster quicker fastest", "slower slowest"),
        (
            "better best superior outperform outperforms outperformed beat beats exceed exceeds surpass surpasses "
            "improves improve improved improving improvement improvements",
            "worse worst inferior underperform underperforms degrades degrade degraded hurts harms worsens behind lags",
        ),
        (
            "increase increases increased increasing raises grows",
            "decrease decreases decreased reduces shrinks",
        ),
        ("cheaper", "costlier pricier"),
        ("easier simpler", "harder"),
        ("stronger", "weaker"),
        ("always", "never"),
    )
)
SHARED = 3  # content words that both sentences hold, below which they speak of different things
SHARE = 0.5  # of the shorter one's content words
REACH = 4  # words by which a negation reaches the direction behind it ("not able to outperform")
# Words that may stand between a negation and what it denies ("does not use any form of ...").
_LIGHT = frozenset(
    "use uses using need needs require requires requiring rely relies relying access to on any a an the form of kind "
    "involve involving for".split()
)
# "Higher accuracy" and "lower error" are better.
_BETTER = re.compile(
    r"\b(?:(?:more|greater|higher|larger) (?:\w+ ){0,2}?(?:quality|accuracy|performance|fidelity|scores?)"
    r"|(?:less|lower|smaller) (?:\w+ ){0,2}?(?:errors?|loss|losses|perplexity))\b",
    re.IGNORECASE,
)
_WORSE = re.compile(
    r"\b(?:(?:less|lower|smaller) (?:\w+ ){0,2}?(?:quality|accuracy|performance|fidelity|scores?)"
    r"|(?:more|greater|higher|larger) (?:\w+ ){0,2}?(?:errors?|loss|losses|perplexity))\b",
    re.IGNORECASE,
)
_ROOT = 5  # letters of a word from which a prefix turns it into its opposite
_PREFIXES = ("non", "in", "im", "un", "ir")
_FREE = re.compile(r"\b(\w{4,})[- ]free\b", re.IGNORECASE)
_TUNED = {"tune": "train", "finetun": "train", "train": "train", "tuning": "train"}  # one thing in two words
_CLAUSES = re.compile(r"[,;:] +(?:while|whereas|but|although|and) +|; +")
_NOT = frozenset(
    "not never no cannot neither nor hardly without don doesn didn isn aren unable fails failed".split()
)
_DIRECTIONS = stems(" ".join(word for axis in AXES for side in axis for word in side))


def opposite(claim: str, source: str) -> bool:
    """Whether a source, or a clause of it, says of the claim's subject the opposite of what the claim says.

    Rules on words: both share their content, on some axis of AXES each names another side (a negation before a
    word turns it round), and on none the same one.
    """
    return any(_against(claim, part) for part in {source, *_CLAUSES.split(source)})


def _against(claim: str, source: str) -> bool:
    content, around = (stems(text) - _DIRECTIONS for text in (claim, source))
    shared = content & around
    if len(shared) < SHARED or len(shared) < SHARE * min(len(content), len(around)):
        return False
    said, there = _sides(claim), _sides(source)
    return bool(said & {(axis, not side) for axis, side in there}) and not said & there


def negated(claim: str, source: str) -> bool:
    """Whether one says "consistent" where the other says "inconsistent", and neither says both.

    For premises ("Why is it so consistent?") only: "paired" and "unpaired" data are two things that may both be.
    """
    mine, theirs = words(plain(claim).replace("-", "")), words(plain(source).replace("-", ""))
    content, around = stems(claim), stems(source)
    if _NOT & {*mine, *theirs} or len(content & around) < SHARED:
        return False
    roots = [_root(word) for word in mine], [_root(word) for word in theirs]
    return any(
        one in some and prefix + one in others and prefix + one not in some and one not in others
        for some, others in (roots, roots[::-1])
        for one in some
        if len(one) >= _ROOT
        for prefix in _PREFIXES
    )


def _root(word: str) -> str:
    """The beginning that "consistent" and "consistency" share."""
    return re.sub(r"(?:nt|ncy|nce|nces|ncies|ty|ties|s)$", "", word)


def denied(claim: str, source: str) -> bool:
    """Whether a source says that what the claim takes for granted is not there ("without any fine-tuning").

    Two neighbouring content words of the claim must follow a negation of the source, with nothing but light words
    between, and the claim must not deny them itself.
    """
    if _NOT & set(words(claim)):
        return False
    if _without(claim, source):
        return True
    pairs = _pairs(words(plain(claim)))
    said = words(plain(source))
    for at, word in enumerate(said):
        if word in _NOT:
            behind = at + 1
            while behind < len(said) and said[behind] in _LIGHT:
                behind += 1
            if pairs & _pairs(said[behind : behind + 2]):
                return True
    return False


def _without(claim: str, source: str) -> bool:
    """Whether a source is "training-free" of what the claim says it does."""
    free = {_act(m[1]) for m in _FREE.finditer(plain(source))}
    return bool(free & {_act(word) for word in words(plain(claim).replace("-", ""))}) and not _FREE.search(
        plain(claim)
    )


def _act(word: str) -> str:
    stem = next(iter(stems(word)), word)
    return _TUNED.get(stem, stem)


def _pairs(said: list[str]) -> set[tuple[str, str]]:
    """Neighbouring stems of content words."""
    found = [stem for word in said for stem in stems(word)]
    return set(zip(found, found[1:], strict=False))


def _sides(text: str) -> set[tuple[int, bool]]:
    """The axes that a text takes a side on, and which: the first or the other."""
    said = words(_WORSE.sub("worse", _BETTER.sub("better", text)))
    found = set()
    for i, word in enumerate(said):
        negated = bool(_NOT & set(said[max(0, i - REACH) : i]))
        for axis, (one, other) in enumerate(AXES):
            if word in one or word in other:
                found.add((axis, (word in one) != negated))
    return found
