"""Numbers and what they belong to in parallel series: "3% and 5% on A and B, respectively", "3x/2x ... dense/sparse".

The n-th number belongs to the n-th item. Only series of equal length that the sentence sets against each other
("respectively", or both with slashes) are read so; all else is left to `rag.binding`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.quantities import Quantity, quantities, stands_in
from rag.text import plain
from rag.words import stems, words

_RESPECTIVELY = re.compile(r"\brespectively\b|\bresp\.", re.IGNORECASE)
_SLASHED = re.compile(r"[^\s/,;()]+(?:\s?/\s?[^\s/,;()]+)+")
_JOIN = re.compile(r"(,?\s(?:and|or)\s|,\s)")


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers, and for each the words that only its item has."""

    numbers: tuple[Quantity, ...]
    items: tuple[frozenset[str], ...]


def series(source: str) -> Iterator[Series]:
    """Series of numbers with the series of items that they are set against."""
    text = plain(source)
    told = bool(_RESPECTIVELY.search(text))
    slashed = [[part.strip() for part in m[0].split("/")] for m in _SLASHED.finditer(text)]
    for figures in slashed:
        for items in slashed:
            found = [q for part in figures for q in quantities(part)]
            if len(figures) == len(found) == len(items) and (told or all(q.unit for q in found)):
                yield from _paired(found, items)
    if told:
        yield from _joined(_JOIN.split(_RESPECTIVELY.sub("", text)))


def mispaired(clauses: Sequence[tuple[Sequence[Quantity], frozenset[str]]], source: str) -> Quantity | None:
    """A number of a claim's clauses (numbers, words) that the source gives to another item of its series; or None."""
    for one in series(source):
        for numbers, said in clauses:
            for number in numbers:
                mine = [n for n, there in enumerate(one.numbers) if stands_in(number, [there])]
                meant = [n for n, item in enumerate(one.items) if item & said]
                if len(mine) == 1 and meant and mine[0] not in meant:
                    return number
    return None


def _joined(pieces: Sequence[str]) -> Iterator[Series]:
    """From parts with what joins them between: runs of numbers, each with the equally long run of items that ends
    where it begins or begins where it ends."""
    parts, joins = pieces[::2], [join.strip(", ") for join in pieces[1::2]]
    counts = [len(quantities(part)) for part in parts]
    for run in re.finditer("x{2,}", "".join("x" if count == 1 else "-" for count in counts)):
        start, size = run.start(), run.end() - run.start()
        found = [quantities(part)[0] for part in parts[start : run.end()]]
        before = [*parts[max(0, start - size + 1) : start], parts[start].partition(found[0].text)[0]]
        behind = [parts[run.end() - 1].partition(found[-1].text)[2], *parts[run.end() : run.end() + size - 1]]
        last = run.end() + size - 2  # of the items behind
        told = [
            items
            for items, join in ((before, start - 1), (behind, last - 1))
            if len(items) == size and 0 <= join < len(joins) and joins[join]
        ]
        if len(told) == 1:
            yield from _paired(found, told[0])


def _paired(found: Sequence[Quantity], items: Sequence[str]) -> Iterator[Series]:
    """The series, if every item has words of its own. Where the first begins and the last ends is not known: of them
    the content word beside their neighbour counts."""
    if any(map(quantities, items)):
        return
    told = [[stem for word in words(item) if (stem := stems(word))] for item in items]
    if all(told):
        each = [told[0][-1], *(frozenset().union(*one) for one in told[1:-1]), told[-1][0]]
        own = tuple(w.difference(*(o for o in each if o is not w)) for w in each)
        if all(own):
            yield Series(tuple(found), own)
