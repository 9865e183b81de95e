"""Whether one sentence says the opposite of another: the same things, the other direction."""

from __future__ import annotations

import re

from rag.words import stems, words

# Directions by their axis; a word on one side contradicts every word on the other.
AXES: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("more greater larger higher bigger most", "less fewer lower smaller least"),
        ("faster quicker fastest", "slower slowest"),
        ("better best superior", "worse worst inferior"),
        (
            "increase increases increased increasing raises grows",
            "decrease decreases decreased reduces shrinks",
        ),
        ("improves improve improved improving", "degrades degrade degraded hurts harms worsens"),
        ("outperforms outperform outperformed beats exceeds surpasses", "underperforms underperform trails"),
        ("cheaper", "costlier pricier"),
        ("easier simpler", "harder"),
        ("stronger", "weaker"),
        ("always", "never"),
    )
)
SHARED = 3  # content words that both sentences hold, below which they speak of different things
SHARE = 0.5  # of the shorter one's content words
_NEGATION = re.compile(r"\b(?:not|never|no|cannot|neither|nor|hardly)\b|n['’]t\b", re.IGNORECASE)
_DIRECTIONS = stems(" ".join(word for axis in AXES for side in axis for word in side))


def opposite(claim: str, source: str) -> bool:
    """Whether a source says of the claim's subject the opposite of what the claim says.

    Rules on words: both share their content, neither is negated, on some axis each names another side, and on none
    the same one.
    """
    if bool(_NEGATION.search(claim)) or bool(_NEGATION.search(source)):
        return False
    said, there = set(words(claim)), set(words(source))
    content, around = (stems(text) - _DIRECTIONS for text in (claim, source))
    shared = content & around
    if len(shared) < SHARED or len(shared) < SHARE * min(len(content), len(around)):
        return False
    agree = any((said & side and there & side) for axis in AXES for side in axis)
    against = any((said & one and there & other) or (said & other and there & one) for one, other in AXES)
    return against and not agree
