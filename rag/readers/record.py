"""What a file tells of one paper, made into a record, or into the problem that keeps it out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from rag.metadata import arxiv_id, doi, openreview_id, pmid, pmlr_id, venue_year
from rag.nouns import Problem, Record
from rag.text import readable

ABSTRACT_LIMIT = 20_000  # characters; the longest abstract of 100,000 real ones has a quarter of that
FIELD_LIMIT = 1_000  # characters of a venue or an identifier that are looked at
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_NO_ABSTRACT = re.compile(r"\W*(?:n/?a|none|null|nan|tb[ad]|no abstract(?: (?:is )?available)?)?\W*", re.I)
_PMID_NOTE = re.compile(r"\s*PMID\b", re.I)  # so Zotero writes it; other notes may name other articles
_SUMMARY = re.compile(r"summar(?:y|i[sz]ed)|tl;?dr|paraphras|translat", re.I)

_PAGES = (
    ("openreview", "https://openreview.net/forum?id={}"),
    ("arxiv", "https://arxiv.org/abs/{}"),
    ("doi", "https://doi.org/{}"),
    ("pmid", "https://pubmed.ncbi.nlm.nih.gov/{}/"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """The fields of one paper as they stand in a file; `ids` are all texts that may hold an identifier."""

    abstract: str = ""
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    url: str = ""
    ids: tuple[str, ...] = ()
    citekey: str = ""
    heading: str = ""
    note: str = ""


def build(source: str, number: int, line: int | None, found: Found) -> Record | Problem:
    """The record of what was found; a problem where it has no abstract or one that cannot be one."""
    abstract = one_line(found.abstract)
    if len(abstract) < 60 and _NO_ABSTRACT.fullmatch(abstract):
        remedy = "Add the abstract to the file, or leave the paper out"
        return Problem(source, "no abstract", remedy, record=number, line=line, field="abstract")
    if len(abstract) > ABSTRACT_LIMIT:
        cause = f"too long for an abstract (over {ABSTRACT_LIMIT:,} characters)"
        remedy = "Part the abstracts by blank lines, or cut the text down to its abstract"
        return Problem(source, cause, remedy, record=number, line=line, field="abstract")
    title = one_line(found.title)
    venue_as_found = one_line(readable(found.venue[:FIELD_LIMIT]))
    venue, stated = venue_year(venue_as_found)
    texts = [storable(text[:FIELD_LIMIT]) for text in (*found.ids, found.url, found.venue) if text]
    names = {
        "doi": _first(doi, texts),
        "arxiv": _first(arxiv_id, texts),
        "openreview": _first(openreview_id, texts),
        "pmlr": _first(pmlr_id, texts),
        "pmid": _first(pmid, texts) or (pmid(found.note) if _PMID_NOTE.match(found.note) else ""),
    }
    return Record(
        source=source,
        number=number,
        line=line,
        abstract=readable(abstract),
        abstract_found=abstract,
        heading=one_line(found.heading),
        citekey=one_line(found.citekey),
        title=readable(title),
        title_found=title,
        authors=tuple(storable(name) for name in found.authors),
        year=found.year or stated,
        venue=venue,
        venue_as_found=venue_as_found,
        url=one_line(found.url) or _page(names),
        note=one_line(readable(found.note)) if _SUMMARY.search(found.note) else "",
        **names,
    )


def _page(names: Mapping[str, str]) -> str:
    """The address of a paper's page, by its registered names; empty where it has none."""
    return next((page.format(names[kind]) for kind, page in _PAGES if names[kind]), "")


def storable(text: str) -> str:
    """Without zero bytes and lone surrogates, which no database takes."""
    return _UNSTORABLE.sub("", text)


def one_line(text: str) -> str:
    """Storable, with wrapped lines joined."""
    lines = (line.strip() for line in re.split(r"[\r\n]+", storable(text)))
    return " ".join(line for line in lines if line)


def _first(find: Callable[[str], str], texts: Iterable[str]) -> str:
    return next(filter(None, map(find, texts)), "")
