"""Pages with YAML front matter that tell of one paper: PMLR's `_posts`, Jekyll and Hugo sites."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain

import yaml  # type: ignore[import-untyped]

from rag.metadata import bibtex_names, names, year
from rag.nouns import Problem, Record
from rag.readers.record import Found, build
from rag.readers.source import Source

LIMIT = 1_000_000  # characters of a front matter
_FITS = re.compile(r"\A---[ \t]*\n(?:(?!---).*\n)*?(?:title|abstract)[ \t]*:", re.I)
_MEND = "Mend the front matter: most often a value with a colon or a quotation mark needs quotation marks around it"
_UNENDED = "no line of dashes ends it"
_FIELD = re.compile(r"[A-Za-z_][\w -]*:")
_VENUE = ("container-title", "booktitle", "conference", "venue", "publication", "journal", "series")
_URL = ("url", "link", "html", "pdf")
_DATES = ("year", "date", "issued", "published")


def fits(head: str) -> bool:
    """Whether a text begins with front matter that has a title or an abstract."""
    return bool(_FITS.match(head))


def read(source: Source) -> Iterator[Record | Problem]:
    """Read the papers of pages one after another, mostly one; `number` counts them."""
    for number, (first, text, trouble) in enumerate(_front_matters(source), 1):
        try:
            value = _loaded(text, trouble)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            why = str(getattr(error, "problem", "") or error or "nested too deeply")
            line = first + (mark.line + 1 if mark else 0)
            yield Problem(source.name, f"not valid YAML: {' '.join(why.split())}", _MEND, number, line)
            continue
        if not isinstance(value, dict):
            yield Problem(source.name, "the front matter has no fields", _MEND, number, first)
            continue
        found = _found({str(key).lower(): field for key, field in value.items()})
        yield build(source.name, number, first, found)


def _front_matters(source: Source) -> Iterator[tuple[int, str, str]]:
    """First line of each front matter, what stands between its lines of dashes, and why that is not all.

    Below one, the next begins with dashes above the name of a field.
    """
    kept: list[str] | None = None
    first = size = dashes = 0  # the line of the dashes above, outside
    for number, line in source.lines():
        ends = line.rstrip() in ("---", "...")
        if kept is None:
            if dashes == number - 1 and (number == 2 or _FIELD.match(line)):
                kept, first, size = [], number - 1, 0
            dashes = number if ends else 0
        if kept is not None and ends:
            yield first, "".join(kept), "" if size <= LIMIT else f"{_UNENDED} within {LIMIT:,} characters"
            kept, dashes = None, 0
        elif kept is not None:
            size += len(line)
            kept += [line] if size <= LIMIT else []
    if kept is not None:
        yield first, "".join(kept), f"{_UNENDED} within {LIMIT:,} characters" if size > LIMIT else _UNENDED


def _loaded(text: str, trouble: str) -> object:
    """The values as text, lists and mappings. Aliases are refused: a few can stand for millions of values."""
    if trouble:
        raise ValueError(trouble)
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    text = re.sub("[^\t\n -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", " ", text)
    if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=loader)):
        raise ValueError("aliases (*name) are not read")
    return yaml.load(text, Loader=loader)


def _found(fields: Mapping[str, object]) -> Found:
    links = [_text(fields, key) for key in _URL]
    openreview = _text(fields, "openreview")
    pmid = _text(fields, "pmid")
    arxiv = _text(fields, "arxiv") or _text(fields, "eprint")
    return Found(
        abstract=_text(fields, "abstract"),
        title=_text(fields, "title"),
        authors=names(fields.get("author"))
        or names(fields.get("authors"))
        or bibtex_names(_text(fields, "bibtex_author")),
        year=next(filter(None, (year(fields.get(key)) for key in _DATES)), None),
        venue=next(filter(None, (_text(fields, key) for key in _VENUE)), ""),
        url=next((link for link in links if link.startswith(("http://", "https://"))), ""),
        ids=tuple(
            filter(
                None,
                chain(
                    [_text(fields, "doi"), openreview and f"https://openreview.net/forum?id={openreview}"],
                    [arxiv and f"arXiv:{arxiv}", pmid and f"PMID:{pmid}", *links],
                ),
            )
        ),
        citekey=_text(fields, "citekey") or _text(fields, "id"),
        note=_text(fields, "note"),
    )


def _text(fields: Mapping[str, object], key: str) -> str:
    value = fields.get(key)
    return value.strip() if isinstance(value, str) else ""
