"""Facts that a right answer must contain, taken from an answer and from what it quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from eval.matching import folded, holds, skeleton
from rag.quantities import Quantity, quantities, stands_in
from rag.understand import strong_names
from rag.words import stems

LONGEST = 4  # words of a phrase
_WORD = re.compile(r"\w[\w'-]*")
_FORMS = {
    "percent": ("{}%", "{} %", "{} percent"),
    "times": ("{} times", "{}x", "{}×", "{} ×", "{}-fold"),
    "thousand": ("{} thousand", "{}k"),
    "million": ("{} million", "{}M"),
    "billion": ("{} billion", "{}B"),
}


def facts_of(said: str, quotes: Sequence[str], question: str) -> tuple[tuple[str, ...], ...]:
    """The numbers with their units and the names of an answer that stand in its quotes and not in the question,
    each in its surface forms; where there are none, the longest phrase that it shares with a quote."""
    quoted, asked = " ".join(quotes), quantities(question)
    there = quantities(quoted)
    numbers = [q for q in quantities(said) if stands_in(q, there) and not stands_in(q, asked)]
    names = [
        name
        for name in strong_names(said)
        if not quantities(name)
        and skeleton(name) in skeleton(quoted)
        and skeleton(name) not in skeleton(question)
    ]
    found = [forms_of(q) for q in numbers] + [(name,) for name in names]
    if not found and (phrase := _phrase(said, quotes, question)):
        found = [(phrase,)]
    return tuple(dict.fromkeys(found))


def forms_of(quantity: Quantity) -> tuple[str, ...]:
    """Ways of writing a number with its unit; the way it was found comes first."""
    number = re.match(r"[\d.,]+", quantity.text)
    if number is None:  # a word: "twelve"
        return (quantity.text, quantity.value)
    usual = _FORMS.get(quantity.unit, ("{} " + quantity.unit,) if quantity.unit else ("{}",))
    written = [form.format(n) for form in usual for n in dict.fromkeys((number[0], quantity.value))]
    return tuple(dict.fromkeys([quantity.text, *written]))


def _phrase(said: str, quotes: Sequence[str], question: str) -> str:
    """The longest run of words that the answer has in common with a quote and that tells something new."""
    text, known = folded(said), stems(question)
    best = ""
    for quote in quotes:
        for run in _common_runs(text, folded(quote), known):
            if len(run) > len(best) and holds(folded(quote), run):
                best = run
    return best


def _common_runs(text: str, quote: str, known: frozenset[str]) -> list[str]:
    """The runs of words that two folded texts share, between words that carry a meaning not known before."""
    spans = [m.span() for m in _WORD.finditer(text)]
    words = [text[a:b] for a, b in spans]
    new = [bool(stems(word) - known) for word in words]
    runs = []
    for match in SequenceMatcher(None, words, _WORD.findall(quote), autojunk=False).get_matching_blocks():
        places = [i for i in range(match.a, match.a + match.size) if new[i]]
        if places:
            last = max(i for i in places if i < places[0] + LONGEST)
            runs.append(text[spans[places[0]][0] : spans[last][1]])
    return runs
