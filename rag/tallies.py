"""Answers from the library's records about many papers: how many, which, from where, from when, by whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from rag.about import Asked
from rag.evidence import name_of
from rag.facets import Facets
from rag.meant import Namer, is_person
from rag.narrowing import together
from rag.nouns import Paper
from rag.people import folded, same_person
from rag.records import counted, spread
from rag.sets import MOST
from rag.telling import SHOWN, Reply, joined, number, quoted_name, tallied, venue_and_year, whence
from rag.text import plain
from rag.words import STOP

PINNED = 3  # papers cited for a figure about many
COMMON = 6  # words that are named as common in titles


class Tallies:
    """Tells what a collection holds, within filters."""

    def __init__(self, namer: Namer, out: Reply) -> None:
        self.records, self.filters, self.papers, self.out = namer.records, namer.filters, namer.papers, out

    def tell(self, asked: Asked) -> bool:
        """Add what is asked; False if the question names somebody who need not be an author."""
        if asked.author:
            return self._by(asked)
        for topic in asked.topics:
            getattr(self, f"_{topic}")(asked)
        return True

    def _by(self, asked: Asked) -> bool:
        people = self.records.authors_named(asked.author)
        if not people and not is_person(asked.author):
            return False
        mine = [p for p in self.papers if any(same_person(a, asked.author) for a in p.authors)]
        self._some(
            mine,
            f"by {people[0] if len(people) == 1 else asked.author}",
            yes_no=asked.yes_no,
            only_count=asked.detail == "how many",
        )
        return True

    def _chosen(self, asked: Asked) -> Sequence[Paper]:
        return (
            self.records.within(together(self.filters, asked.facets.filters)) if asked.facets else self.papers
        )

    def _count(self, asked: Asked) -> None:
        facets = asked.facets
        if not facets:
            self.out.say(f"This collection holds {len(self.papers)} papers.", spread(self.papers, PINNED))
            return
        papers = self._chosen(asked)
        self._some(papers, f"{whence(facets.filters)}{_each(papers, facets)}", yes_no=False, only_count=True)

    def _list(self, asked: Asked) -> None:
        where = whence(asked.facets.filters) if asked.facets else "in this collection"
        self._some(self._chosen(asked), where, yes_no=asked.yes_no, only_count=False)

    def _some(self, papers: Sequence[Paper], where: str, *, yes_no: bool, only_count: bool) -> None:
        """How many papers there are of a kind, and, unless only their number is asked for, which."""
        total = len(self.papers)
        if not papers:
            self.out.say(
                f"{'No, none' if yes_no else 'None (0)'} of the {total} papers is {where}.",
                spread(self.papers, PINNED),
            )
            return
        few = papers[:MOST] if not only_count and not (yes_no and len(papers) > SHOWN) else ()
        count = f"{number(len(papers))} of {total} papers {'is' if len(papers) == 1 else 'are'} {where}"
        opening = f"Yes, {count[0].lower()}{count[1:]}" if yes_no else count
        self.out.say(opening + (":" if few else "."), few[:PINNED] or spread(papers, PINNED))
        for paper in few:
            self.out.say(name_of(paper), [paper])
        if few and len(papers) > len(few):
            self.out.say(f"and {len(papers) - len(few)} more.", papers[len(few) : len(few) + 1])

    def _overview(self, asked: Asked) -> None:
        parts = [f"This collection holds {len(self.papers)} papers"]
        tally = Counter(venue_and_year(p) for p in self.papers if venue_and_year(p))
        if tally:
            parts.append(f": {tallied(tally)}")
        self.out.say("".join(parts) + ".", spread(self.papers, PINNED))
        common = self._common_words()
        if common:
            self.out.say(
                f"Words that return in their titles: {tallied(common)}.", spread(self.papers, PINNED)
            )
        shown = sorted(spread(self.papers, 3 * PINNED), key=lambda p: len(p.label))[:PINNED]
        if shown:
            self.out.say(f"Among them are {joined([quoted_name(p) for p in shown])}.", shown)

    def _common_words(self) -> Counter[str]:
        words = Counter(
            w for p in self.papers for w in set(folded(plain(p.title))) if w not in STOP and len(w) > 3
        )
        return Counter(dict(counted(Counter({w: n for w, n in words.items() if n > 1}))[:6]))

    def _venues(self, asked: Asked) -> None:
        self._tallied(Counter(p.venue for p in self.papers if p.venue), "venue", "venues")

    def _years(self, asked: Asked) -> None:
        self._tallied(Counter(p.year for p in self.papers if p.year), "year", "years")

    def _tallied(self, tally: Counter[Any], one: str, many: str) -> None:
        known = sum(tally.values())
        if not tally:
            self.out.lack(f"The records of these papers name no {one}.")
            return
        rest = len(self.papers) - known
        unknown = f"; {rest} name none" if rest else ""
        count = f"{number(len(tally)).lower()} {one if len(tally) == 1 else many}"
        known_of = [p for p in self.papers if getattr(p, one)]
        self.out.say(f"The papers are from {count}: {tallied(tally)}{unknown}.", spread(known_of, PINNED))

    def _authors(self, asked: Asked) -> None:
        papers = self._chosen(asked)
        tally = Counter(name for p in papers for name in p.authors)
        if not tally:
            self.out.lack("The records of these papers name no authors.")
            return
        most = [(name, n) for name, n in counted(tally) if n > 1][:SHOWN]
        first = [name for name, _ in most] or [p.authors[0] for p in papers if p.authors]
        pinned = [p for p in papers if set(first) & set(p.authors)][:PINNED]
        self.out.say(f"The {len(papers)} papers have {len(tally)} authors.", pinned)
        if most:
            self.out.say(
                f"With more than one paper: {', '.join(f'{name} ({n})' for name, n in most)}.", pinned
            )
        else:
            self.out.say("Each of them has one paper.", pinned)

    def _files(self, asked: Asked) -> None:
        tally = Counter(name for p in self._chosen(asked) for name in p.sources)
        self.out.say(
            f"The papers are from {number(len(tally)).lower()} file{'s' * (len(tally) > 1)}: {tallied(tally)}.",
            spread(self.papers, PINNED),
        )

    def _newest(self, asked: Asked) -> None:
        self._at_end(asked, max, "newest")

    def _oldest(self, asked: Asked) -> None:
        self._at_end(asked, min, "oldest")

    def _at_end(self, asked: Asked, end: Callable[[list[int]], int], word: str) -> None:
        papers = self._chosen(asked)
        years = [p.year for p in papers if p.year]
        if not years:
            self.out.lack("The records of these papers name no year.")
            return
        year = end(years)
        found = [p for p in papers if p.year == year]
        names = [quoted_name(p) for p in found[:SHOWN]]
        if len(found) == len(papers) > 1:
            self.out.say(
                f"All {len(papers)} papers are from {year}; the records give no closer date.", found[:PINNED]
            )
        elif len(found) == 1:
            self.out.say(f"The {word} paper is {names[0]}, from {year}.", found)
        elif len(found) <= SHOWN:
            self.out.say(f"The {word} {len(found)} papers are from {year}: {joined(names)}.", found)
        else:
            example = f"for example {joined(names[:PINNED])}"
            self.out.say(f"The {word} {len(found)} papers are from {year}, {example}.", found[:PINNED])

    def _sentences(self, asked: Asked) -> None:
        self.out.say(f"The abstracts of the {len(self.papers)} papers have {self.records.library.size()[1]} sentences.",
                  spread(self.papers, PINNED))  # fmt: skip


def _each(papers: Sequence[Paper], facets: Facets) -> str:
    """The parts of a count where several venues or years are asked for: ": ICML (2) and ICLR (0)"."""
    if len(facets.venues) > 1:
        return f": {tallied({v: sum(p.venue == v for p in papers) for v in facets.venues})}"
    if len(facets.years) > 1:
        return f": {tallied({y: sum(p.year == y for p in papers) for y in facets.years})}"
    return ""
