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
_VENUE = ("container-title", "booktitle", "conference", "venue", "publication", "journal", "series")
_URL = ("url", "link", "html", "pdf")
_DATES = ("year", "date", "issued", "published")


def fits(head: str) -> bool:
    """Whether a text begins with front matter that has a title or an abstract."""
    return bool(_FITS.match(head))


def read(source: Source) -> Iterator[Record | Problem]:
    """Read the one paper of a page."""
    try:
        value = _loaded(_front_matter(source))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        why = str(getattr(error, "problem", "") or error or "nested too deeply")
        line = mark.line + 2 if mark else 1
        yield Problem(source.name, f"not valid YAML: {' '.join(why.split())}", _MEND, record=1, line=line)
        return
    if not isinstance(value, dict):
        yield Problem(source.name, "the front matter has no fields", _MEND, record=1, line=1)
        return
    yield build(source.name, 1, 1, _found({str(key).lower(): field for key, field in value.items()}))


def _front_matter(source: Source) -> str:
    """What stands between the first two lines of dashes."""
    kept: list[str] = []
    size = 0
    for number, line in source.lines():
        if number > 1 and line.rstrip() in ("---", "..."):
            return "".join(kept)
        size += len(line)
        if size > LIMIT:
            raise ValueError(f"no line of dashes ends it within {LIMIT:,} characters")
        kept += [line] if number > 1 else []
    raise ValueError("no line of dashes ends it")


def _loaded(text: str) -> object:
    """The values as text, lists and mappings. Aliases are refused: a few can stand for millions of values."""
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
