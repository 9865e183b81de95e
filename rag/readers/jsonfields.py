"""What an object of a JSON file tells of a paper, by the names that common exports give their fields.

OpenReview (both versions), Semantic Scholar, CSL-JSON and Crossref, icml.cc and iclr.cc, paperlists, BEIR.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rag.metadata import known_venue, names, venue_year, year
from rag.readers.record import Found

Fields = Mapping[str, object]

_ABSTRACT = ("abstract", "abstracttext", "paperabstract", "abstractnote", "summary", "text")
_TITLE = ("title", "papertitle", "name")
_AUTHORS = ("authors", "author", "authornames", "speakersauthors", "creators")
_YEAR = (
    "year",
    "publicationyear",
    "pubyear",
    "date",
    "published",
    "publicationdate",
    "issued",
    "pdate",
    "starttime",
)
_VENUE = (
    "venueasfound",
    "venue",
    "conference",
    "journal",
    "booktitle",
    "containertitle",
    "eventtitle",
    "publicationvenue",
    "venueid",
)
_PLACE = ("invitation", "invitations", "domain", "sourceurl", "virtualsiteurl", "site")  # names its venue
_URL = ("url", "link", "paperurl", "pdf", "pdfurl", "site", "virtualsiteurl")
_KEY = ("citekey", "citationkey", "bibkey", "key", "id")
_IDS = ("doi", "doiurl", "arxivurl", "abs", "site", "link", "pdf", "pdfurl", "paperurl", "id")
_OPENREVIEW = ("openreview", "openreviewid", "forum")
_ARXIV = ("arxivid", "arxiv", "eprint")
_PMID = ("pmid", "pubmedid", "pubmed")
_NESTED = ("content", "metadata", "externalids", "custom")  # OpenReview, BEIR, Semantic Scholar, CSL
_INSIDE = ("value", "name", "text", "title", "url")  # where an object stands for a string
_SITE = re.compile(r"//(?:www\.)?\w+\.cc\b", re.I)  # iclr.cc
_BIBTEX = re.compile(r"\b(booktitle|journal|year)\s*=\s*[{\"]?\s*([^{}\"]{1,300})", re.I)


def is_paper(value: object) -> bool:
    """Whether a value is an object with an abstract, be it an empty one."""
    return isinstance(value, dict) and not _flat(value).keys().isdisjoint(_ABSTRACT[:4])


def rows(value: object) -> list[dict[str, object]]:
    """The papers of an object that holds all titles, all abstracts, as pandas writes a table; none of another."""
    if not isinstance(value, dict):
        return []
    columns = {
        key: list(column.values()) if isinstance(column, dict) else column
        for key, column in value.items()
        if isinstance(column, dict | list)
    }
    named = [
        column for key, column in columns.items() if re.sub(r"[\W_]", "", key.lower()) in _ABSTRACT + _TITLE
    ]
    if len(named) < 2 or len(named[0]) < 2 or len(set(map(len, named))) > 1:
        return []
    whole = {key: column for key, column in columns.items() if len(column) == len(named[0])}
    return [dict(zip(whole, row, strict=True)) for row in zip(*whole.values(), strict=True)]


def found(value: Mapping[str, object]) -> Found:
    """The fields of a paper's object."""
    fields = _flat(value)
    linked = [f"https://openreview.net/forum?id={_text(fields, (k,))}" for k in _OPENREVIEW if fields.get(k)]
    linked += [f"https://proceedings.mlr.press/{_text(fields, (k,))}" for k in ("pmlr",) if fields.get(k)]
    numbered = [f"arXiv:{_text(fields, (k,))}" for k in _ARXIV if fields.get(k)]
    numbered += [f"PMID:{_text(fields, (k,))}" for k in _PMID if fields.get(k)]
    # OpenReview's and Semantic Scholar's objects carry a ready-made entry.
    entry = {name.lower(): text for name, text in _BIBTEX.findall(_text(fields, ("bibtex",)))}
    venue = _text(fields, _VENUE) or entry.get("booktitle") or entry.get("journal") or _place(fields)
    return Found(
        abstract=_text(fields, _ABSTRACT),
        title=_text(fields, _TITLE),
        authors=next(filter(None, (names(fields.get(key)) for key in _AUTHORS)), ()),
        year=next(filter(None, (year(fields.get(key)) for key in _YEAR)), year(entry.get("year"))),
        venue=venue or _text(fields, ("source",)),
        url=next((u for k in _URL if (u := _text(fields, (k,))).startswith(("http://", "https://"))), ""),
        ids=(*linked, *numbered, *(_text(fields, (key,)) for key in _IDS)),
        citekey=_text(fields, _KEY),
        note=_text(fields, ("note",)),
    )


def _place(fields: Fields) -> str:
    """Venue and year that a site's address or a submission form's name states: "ICML 2024"."""
    for key in _PLACE:
        text = _SITE.sub(lambda m: m[0].upper(), _text(fields, (key,)))
        if known_venue(text) and known_venue(text) != "arXiv":
            short, stated = venue_year(text)
            return f"{short} {stated or ''}".strip()
    return ""


def _flat(value: Mapping[str, object]) -> Fields:
    """Fields by folded name, those of nested objects among them; of equal names the outer wins."""
    fields: dict[str, object] = {}
    for key, field in value.items():
        name = re.sub(r"[\W_]", "", key.lower())
        if name in _NESTED and isinstance(field, dict):
            fields = {**_flat(field), **fields}
        elif field or name not in fields:
            fields[name] = field
    return fields


def _text(fields: Fields, keys: tuple[str, ...]) -> str:
    """The first of the fields that holds any text."""
    return next(filter(None, (_string(fields.get(key)) for key in keys)), "")


def _string(value: object) -> str:
    """Strings and numbers as text, lists joined, objects by their value; "" for anything else."""
    if isinstance(value, dict):
        return next(filter(None, (_string(value.get(key)) for key in _INSIDE)), "")
    if isinstance(value, list):
        return " ".join(filter(None, map(_string, value)))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).strip()
