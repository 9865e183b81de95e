"""What the library's records say of its papers, and which paper a reader means by a name."""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any

from rag.identity import skeleton
from rag.library import Library
from rag.nouns import Filters, Paper
from rag.people import folded, same_person
from rag.serial import to_paper
from rag.text import plain
from rag.understand import strong_names
from rag.words import STOP, rarity

MOST = 5  # papers that one name can mean
NAMED = 0.7  # share of a name's rarity that a title must hold
LIKE = 0.8  # likeness of two words from which one is the other mistyped
LONG = 12  # letters from which a run of a title is a name of the paper
HOLDERS = 3  # papers that may hold a coined word which names one of them


class Records:
    """The papers of a collection without their abstracts, at one generation of the library."""

    def __init__(self, library: Library) -> None:
        self.library = library

    @cached_property
    def papers(self) -> tuple[Paper, ...]:
        rows = self.library.db.execute(
            "SELECT id, key, json_set(paper, '$.abstract', '') FROM papers ORDER BY id"
        )
        return tuple(to_paper(*row) for row in rows)

    @cached_property
    def venues(self) -> frozenset[str]:
        rows = self.library.db.execute("SELECT DISTINCT venue FROM papers WHERE venue <> ''")
        return frozenset(row[0] for row in rows)

    @cached_property
    def years(self) -> frozenset[int]:
        rows = self.library.db.execute("SELECT DISTINCT year FROM papers WHERE year IS NOT NULL")
        return frozenset(row[0] for row in rows)

    @cached_property
    def authors(self) -> Counter[str]:
        return Counter(name for p in self.papers for name in p.authors)

    @cached_property
    def _people(self) -> dict[str, set[str]]:
        """Each word of the authors' names -> the names that hold it."""
        people: dict[str, set[str]] = defaultdict(set)
        for name in self.authors:
            for word in folded(name):
                people[word].add(name)
        return people

    def authors_named(self, asked: str) -> list[str]:
        """The authors whom a name may mean."""
        words = folded(asked)
        held = [name for word in words[-1:] + words[:1] for name in self._people.get(word, ())]
        return sorted({name for name in held if same_person(name, asked)})

    @cached_property
    def _holders(self) -> dict[str, set[int]]:
        """Title word -> places of the papers whose title (or label) holds it."""
        held: dict[str, set[int]] = defaultdict(set)
        for place, paper in enumerate(self.papers):
            for word in folded(plain(paper.label)):
                held[word].add(place)
        return held

    @cached_property
    def _names(self) -> dict[str, list[int]]:
        """Skeleton of a key, a title, a title's head or a coined word in it -> places."""
        named: dict[str, list[int]] = defaultdict(list)
        for place, paper in enumerate(self.papers):
            head = plain(paper.title).partition(":")
            heads = [head[0]] if head[1] and len(head[0].split()) <= 3 else []
            for name in {*map(skeleton, (paper.key, paper.label, *heads, *strong_names(plain(paper.title))))}:
                named[name].append(place)
        return named

    def within(self, filters: Filters) -> tuple[Paper, ...]:
        """The papers that pass the filters."""
        allowed = self.library.allowed(filters)
        return self.papers if allowed is None else tuple(p for p in self.papers if p.id in allowed)

    def find(self, asked: str) -> list[Paper]:
        """The papers meant by a title, a part of it, a mistyped one, an acronym, a label or a key.

        Several only if the name fits them equally well; none if it is rather a description.
        """
        bones = skeleton(asked)
        if not bones:
            return []
        return self._at(self._names.get(bones, ())) or self._by_run(bones) or self._by_words(asked)

    def coined(self, asked: str) -> list[Paper]:
        """The papers whose abstracts coin a name ("SRigL"): of its few holders those that repeat it most."""
        if not strong_names(asked) or len(asked.split()) > 1:
            return []
        holders = self.library.by_id(self.library.postings(plain(asked), HOLDERS + 1))
        told = {i: skeleton(p.abstract).count(skeleton(asked)) for i, p in holders.items()}
        most = max(told.values(), default=0)
        if not most or len(holders) > HOLDERS:
            return []
        return [p for p in self.papers if told.get(p.id) == most]

    def is_whole(self, asked: str, paper: Paper) -> bool:
        """Whether a name is most of a paper's title, or a name of its own, and not just a word or two of it."""
        title = [w for w in folded(plain(paper.label)) if w not in STOP]
        said = folded(plain(asked))
        shared = sum(bool(difflib.get_close_matches(w, said, 1, LIKE)) for w in title)
        return 2 * shared > len(title) or len(asked.split()) == 1

    def _at(self, places: Iterable[int]) -> list[Paper]:
        return [self.papers[place] for place in sorted(set(places))][:MOST]

    def _by_run(self, bones: str) -> list[Paper]:
        """Papers whose title holds all of the name in one run, or the other way round."""
        if len(bones) < LONG:
            return []
        named = self._names.items()
        found = [
            places for name, places in named if bones in name or (len(name) >= 2 * LONG and name in bones)
        ]
        return self._at(place for places in found for place in places)

    def _by_words(self, asked: str) -> list[Paper]:
        wanted = [w for w in dict.fromkeys(folded(plain(asked))) if w not in STOP]
        score: dict[int, float] = defaultdict(float)
        total = 0.0
        for word in wanted:
            held = self._holders.get(word) or self._mistyped(word)
            weight = rarity(len(held), len(self.papers))
            total += weight
            for place in held:
                score[place] += weight
        best = max(score.values(), default=0.0)
        if not total or best < NAMED * total:
            return []
        found = [place for place, got in score.items() if got > best - 0.05 * total]
        return self._at(found) if len(found) <= MOST else []

    def _mistyped(self, word: str) -> set[int]:
        if len(word) < 4:
            return set()
        near = [w for w in self._holders if w[0] == word[0] and abs(len(w) - len(word)) <= 2]
        return set().union(*(self._holders[w] for w in difflib.get_close_matches(word, near, 3, LIKE)))


@lru_cache(maxsize=4)
def _records(library: Library, generation: int) -> Records:
    return Records(library)


def records_of(library: Library) -> Records:
    """The records as they are now; read anew only when the library has changed."""
    return _records(library, library.generation())


def counted(values: Counter[Any]) -> list[tuple[Any, int]]:
    """Values with their counts, the most frequent first, equals in order."""
    return sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))


def spread(papers: Sequence[Paper], most: int) -> list[Paper]:
    """At most `most` papers from all over a list."""
    step = max(1, len(papers) // most)
    return list(papers[::step][:most])
