"""Plain text whose fields are labelled, a line each: `Title: …`, `Authors: …`, `Abstract: …`; arXiv's e-mails too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.metadata import names, year
from rag.nouns import Problem, Record
from rag.readers.record import Found, build
from rag.readers.source import Source

FIELD_LIMIT = 1_000_000  # characters of one field that are held
_LABEL = re.compile(
    r"\s{0,3}(?:[-*]\s)?(?P<name>paper title|title|authors?|abstract|venue|conference|journal|published in|year|date|"
    r"url|link|doi|arxiv|pmid|pdf|keywords|key ?words|tags|comments?|subjects?|code|"
    r"categories|report-no|journal-ref|(?:msc|acm)-class)\s?:(?:\s+(?P<text>.*)|)",
    re.I,
)
_ALIKE = {
    "paper title": "title",
    "author": "authors",
    "conference": "venue",
    "journal": "venue",
    "published in": "venue",
    "journal-ref": "venue",
    "date": "year",
    "url": "link",
    "pdf": "link",
}
_LISTED = re.compile(
    r"\\\\(?: \( ?(?P<link>https?://\S+) .*)?"
)  # parts the papers of arXiv's e-mails, and abstracts
_RULE = re.compile(r"(?:[-=_*~#] ?){3,}")


def fits(head: str) -> bool:
    """Whether lines begin with the labels of a title and of an abstract."""
    found = {match["name"].lower() for line in head.split("\n") if (match := _LABEL.match(line))}
    listed = bool(re.search(r"^\\\\\narXiv:", head, re.M))
    return ("abstract" in found or listed) and not found.isdisjoint({"title", "paper title"})


def read(source: Source) -> Iterator[Record | Problem]:
    """Read the papers of a text; a label that the paper has already begins the next. `number` counts papers."""
    fields: dict[str, list[str]] = {}
    current: list[str] = []  # what stands above the first label is no paper
    first, number, size = 1, 0, 0
    for line, text in _labelled(source.lines()):
        label = _LABEL.fullmatch(text.rstrip("\n"))
        name = _ALIKE.get(label["name"].lower(), label["name"].lower()) if label else ""
        if name and name in fields and name != "link":
            number += 1
            yield build(source.name, number, first, _found(fields))
            fields = {}
        if label and name:
            first = first if fields else line
            current = fields.setdefault(name, [])
            text, size = label["text"] or "", 0
        size += len(text)
        if size <= FIELD_LIMIT and not _RULE.fullmatch(text.strip()):
            current.append(text.strip())
    if fields:
        yield build(source.name, number + 1, first, _found(fields))


def _labelled(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines as they are, but for arXiv's e-mails: what `\\\\` parts there has no label but this sign."""
    inside = False  # a paper's header
    for number, line in lines:
        text = line.rstrip()
        if text.startswith("arXiv:"):
            inside = True
            line = text.replace(":", ": ", 1)
        elif (mark := _LISTED.fullmatch(text)) and (inside or mark["link"]):
            line = f"URL: {mark['link']}" if mark["link"] else "Abstract:"
            inside = False
        yield number, line


def _found(fields: dict[str, list[str]]) -> Found:
    def text(name: str) -> str:
        return "\n".join(filter(None, fields.get(name, [])))

    links = text("link").split()
    return Found(
        abstract=text("abstract"),
        title=text("title"),
        authors=names(text("authors").replace("\n", " ")),
        year=year(text("year")) or year(text("venue")),
        venue=text("venue"),
        url=next((link for link in links if link.startswith(("http://", "https://"))), ""),
        ids=(text("doi"), f"arXiv:{text('arxiv')}" if text("arxiv") else "", f"PMID:{text('pmid')}", *links),
    )
