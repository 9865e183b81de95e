"""A search narrowed to the venues, years and authors that a question or the caller names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from rag.facets import THINGS, facets_of
from rag.library import Library
from rag.nouns import Filters
from rag.records import records_of
from rag.sets import kind_of
from rag.understand import Search

T = TypeVar("T")
_PAPERS = re.compile(rf"\b(?=\w+s\b){THINGS}\b", re.IGNORECASE)


class Narrowed(NamedTuple):
    """A question without the words that only say which papers are meant, and the filters they became."""

    question: str
    search: Search
    filters: Filters


def narrow(question: str, search: Search, given: Filters, library: Library) -> Narrowed:
    """Filters found in the question, beside those that are given; what is searched for says so.

    A venue, year or author that the library does not hold is a filter only where papers are asked for: "which
    NeurIPS papers ..." then finds none rather than papers from elsewhere.
    """
    typed = " ".join(question.split())
    facets = facets_of(question, records_of(library))
    asks_papers = kind_of(facets.rest) != "other" or _PAPERS.search(typed)
    if not facets or not (facets.known or asks_papers) or not any(map(str.isalnum, facets.rest)):
        filters, rest = given, typed
    else:
        filters, rest = together(given, facets.filters), facets.rest
    if not told(filters):
        return Narrowed(question, search, filters)
    forms = tuple(form.replace(typed, rest) for form in search.forms)
    shown = search.text.replace(typed, rest)
    return Narrowed(rest, Search(f"{shown} (only: {told(filters)})", forms, search.follow_up), filters)


def together(given: Filters, asked: Filters) -> Filters:
    """Filters that a paper must pass twice: as given by the caller, and as the question asks."""
    return replace(
        given,
        venues=_both(given.venues, asked.venues, "\0"),
        years=_both(given.years, asked.years, 0),
        authors=_both(given.authors, asked.authors, "\0"),
    )


def _both(given: tuple[T, ...], asked: tuple[T, ...], nothing: T) -> tuple[T, ...]:
    if not given or not asked:
        return given or asked
    return tuple(one for one in asked if one in given) or (nothing,)


def told(filters: Filters) -> str:
    """The filters in words: "ICML or ICLR 2024, by Ada Roe"; empty if there are none."""
    where = " or ".join("no venue" if v == "\0" else v for v in filters.venues)
    when = " or ".join(_runs(filters.years))
    people = " or ".join("nobody" if a == "\0" else a for a in filters.authors)
    return ", ".join(filter(None, [f"{where} {when}".strip(), people and f"by {people}"]))


def _runs(years: Sequence[int]) -> list[str]:
    """Years with neighbours joined: [2020, 2021, 2022, 2024] -> "2020–2022", "2024"."""
    runs: list[list[int]] = []
    for year in sorted(years):
        if runs and year == runs[-1][-1] + 1:
            runs[-1].append(year)
        else:
            runs.append([year])
    return ["no year" if not r[0] else str(r[0]) if len(r) == 1 else f"{r[0]}–{r[-1]}" for r in runs]
