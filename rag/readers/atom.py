"""arXiv's Atom feeds. Its replies to a wrong or fruitless question are feeds too, and are told as problems."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.metadata import known_venue, names, year
from rag.nouns import Problem, Record
from rag.readers.elements import Element, elements, text_of
from rag.readers.record import Found, build
from rag.readers.source import Source

_FITS = re.compile(r"<feed\b[^>]{0,2000}\bxmlns\s*=\s*[\"']http://www\.w3\.org/2005/Atom[\"']")
_TOTAL = re.compile(r"<opensearch:totalResults[^>]{0,200}>\s*(\d+)\s*<")
_ERROR = re.compile(r"arxiv\.org/api/errors")
_ACCEPTED = re.compile(
    r"\b(?:accepted|to appear|published|presented|proceedings|camera|oral|poster|spotlight)\b", re.I
)


def fits(head: str) -> bool:
    """Whether a text is an Atom feed."""
    return head.lstrip().startswith("<") and bool(_FITS.search(head))


def read(source: Source) -> Iterator[Record | Problem]:
    """Read the entries; `number` counts them."""
    nothing = True
    for item in elements(source, "entry"):
        nothing = False
        if isinstance(item, Problem):
            yield item
            continue
        number, line, entry = item
        if _ERROR.search(entry.findtext("id") or ""):
            cause = f"arXiv answered with an error: {_text(entry, 'summary') or 'no reason given'}"
            yield Problem(
                source.name,
                cause,
                "Mend the question to arXiv, and fetch the feed again",
                record=number,
                line=line,
            )
        else:
            yield build(source.name, number, line, _found(entry))
    if nothing:
        yield _empty(source)


def _empty(source: Source) -> Problem:
    total = _TOTAL.search(source.head)
    if total and int(total[1]):
        cause = f"the feed says that {int(total[1]):,} papers match, but holds none of them"
        return Problem(
            source.name, cause, "Fetch this page of the feed again, or start it at a smaller number"
        )
    cause = "arXiv found no paper: the feed is empty"
    return Problem(source.name, cause, "Mend the question to arXiv, and fetch the feed again")


def _found(entry: Element) -> Found:
    links = [link.get("href") or "" for link in entry.iterfind("link")]
    identifier = _text(entry, "id")
    posted = year(_text(entry, "published")) or year(_text(entry, "updated"))
    venue = _venue(entry)
    stated = year(venue)
    return Found(
        abstract=_text(entry, "summary") or _text(entry, "content"),
        title=_text(entry, "title"),
        authors=tuple(
            name for person in entry.iterfind("author/name") for name in names({"literal": text_of(person)})
        ),
        # A number of pages may look like a year; a paper appears soon after it is posted.
        year=stated if stated and posted and -1 <= stated - posted <= 5 else posted,
        venue=venue,
        url=next((link for link in (identifier, *links) if link.startswith(("http://", "https://"))), ""),
        ids=(identifier, _text(entry, "doi"), *links),
    )


def _venue(entry: Element) -> str:
    """Where it was published, by its journal reference or else a comment that names a known venue."""
    comment = _text(entry, "comment")
    accepted = comment if _ACCEPTED.search(comment) and known_venue(comment) not in ("", "arXiv") else ""
    return _text(entry, "journal_ref") or accepted or "arXiv"


def _text(entry: Element, path: str) -> str:
    return " ".join(text_of(entry.find(path)).split())
