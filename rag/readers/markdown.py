"""Markdown lists of papers: a heading or a list item each, the abstract foldable, labelled, or a paragraph below."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rag.metadata import known_venue, names, year
from rag.nouns import Problem, Record
from rag.readers.plaintext import LONG, Paragraph
from rag.readers.record import Found, build, one_line
from rag.readers.source import Source
from rag.text import readable

BLOCK_LIMIT = 1_000_000  # characters of one paper's block; what follows begins another
_HEADING = re.compile(r"#{1,6}\s+(\S.*)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,4}[.)]|\[\d{1,4}\])\s+(?=\*\*|__|\[[^\]]|<b>|<strong>|<a )(.*)")
_NUMBER = re.compile(r"\A(?:\[\d{1,4}\]|\d{1,4}[.)])\s+")
_TITLE = re.compile(
    r"\A(?:(\*\*|__)(?P<bold>.+?)\1|<(b|strong)>(?P<html>.+?)</\3>|\[(?P<link>(?:[^\[\]]|\[[^\]]*\])+)\]\()"
)
_LABEL = re.compile(
    r"(?:[-*+]\s+)?[*_]{0,3}(?P<name>[A-Za-z][A-Za-z; -]{1,16}?)[*_]{0,3}\s?"
    r"(?::|(?<=[*_])[.—–-]?$)[*_]{0,3}\s*(?P<rest>.*)"
)
_TAG = re.compile(r"(</?(?:details|summary)\b[^<>]*>)", re.I)
_ADDRESS = re.compile(r"https?://[^\s<>()\[\]\"'`]+")
_RULE = re.compile(r"(?:[-*_] ?){3,}|\|?[\s:|-]+\|?")
_MARKED = re.compile(
    r"^[ \t]*+<details|^[ \t]*+(?:[-*+][ \t]++)?(?:\*\*|__|#{1,6}[ \t]++)abstract\b", re.I | re.M
)
_LABELS = {
    "abstract": "abstract",
    "authors": "authors", "author": "authors", "by": "authors",
    "venue": "venue", "conference": "venue", "journal": "venue", "published in": "venue",
    "year": "year", "date": "year", "published": "year",
    "title": "title", "doi": "link", "arxiv": "link", "openreview": "link", "url": "link", "link": "link",
    "links": "link", "paper": "link", "pdf": "link",
    "code": "other", "project": "other", "keywords": "other", "tldr": "other", "tl;dr": "other",
    "tags": "other", "summary": "other", "comments": "other", "note": "other", "github": "other", "dataset": "other",
}  # fmt: skip


@dataclass
class _Block:
    """A heading or list item with what stands below it, up to the next."""

    line: int
    title: str = ""
    heading: bool = False
    lines: list[str] = field(default_factory=list)
    size: int = 0

    def add(self, text: str) -> None:
        self.lines.append(text)
        self.size += len(text) + 1


@dataclass
class _Parts:
    """A block taken apart."""

    labelled: dict[str, list[str]] = field(default_factory=dict)
    folded: list[str] = field(default_factory=list)
    free: list[str] = field(default_factory=list)  # paragraphs
    foldable: bool = False

    def text(self, name: str) -> str:
        return "\n".join(self.labelled.get(name, []))


def fits(head: str) -> bool:
    """Whether a text has foldable or labelled abstracts, or titles as headings or list items."""
    if _MARKED.search(head):
        return True
    blocks = list(_blocks(enumerate(head.split("\n"), 1)))[1:]
    items = [block for block in blocks if not block.heading]
    if len(items) > 1 and any(_ADDRESS.search(block.lines[0]) for block in items):
        return True
    papers = [block for block in blocks if block.heading and len(_long(_parts(block).free)) == 1]
    sections = [block for block in papers if _names_venue(block.title)]
    return len(papers) > 1 and not sections and len(papers) * 2 > len(blocks)


def read(source: Source) -> Iterator[Record | Problem]:
    """Read the papers of a list; `number` counts those with an abstract or an address."""
    marked = bool(_MARKED.search(source.head))
    section = ""
    number = 0
    for block in _blocks(source.lines()):
        parts = _parts(block)
        abstract = _abstract(parts, marked)
        found = _found(block, parts, abstract, section)
        if abstract or parts.foldable or (found.url and not block.heading):
            number += 1
            yield build(source.name, number, block.line, found)
        elif block.heading:
            section = one_line(readable(block.title))


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[_Block]:
    """The blocks of a text; what stands above the first heading or item has no title."""
    block = _Block(1)
    for number, line in lines:
        text = line.strip()
        heading, item = _HEADING.fullmatch(text.rstrip("# \t")), _ITEM.fullmatch(text)
        indented = line.startswith(("  ", "\t"))
        begins = (heading and not _label(heading[1])) or (item and not indented and not _label(text))
        if not begins and block.size <= BLOCK_LIMIT:
            block.add(heading[1] if heading else text)
            continue
        yield block
        block = _Block(number, heading=bool(heading))
        if item and begins:
            titled = _TITLE.match(item[1])
            block.title = titled[titled.lastgroup or 0] if titled else ""
            block.add(item[1][titled.end() :] if titled and titled.lastgroup != "link" else item[1])
        elif heading and begins:
            block.title = _NUMBER.sub("", heading[1])
            block.add(" ".join(_ADDRESS.findall(heading[1])))
        else:
            block.add(text)
    yield block


def _label(text: str) -> tuple[str, str] | None:
    """What a line is a label of, and what stands behind it."""
    match = _LABEL.fullmatch(text)
    bare = re.fullmatch(r"[*_#\s]*abstract[*_:.\s]*", text, re.I)
    if bare:
        return "abstract", ""
    name = _LABELS.get(match["name"].strip().lower()) if match else None
    return (name, match["rest"]) if match and name else None


class _Taker:
    """Takes a block apart, piece by piece."""

    def __init__(self) -> None:
        self.parts = _Parts()
        self._current: list[str] | None = None  # what text belongs to; None: to a free paragraph
        self._in_summary = False
        self._paragraph: list[str] = []

    def take(self, piece: str) -> None:
        """A tag, a line or part of one, or "" for a blank line."""
        tagged = _TAG.fullmatch(piece)
        label = None if tagged or self._in_summary else _label(piece)
        if tagged or label or not piece:
            self.end_paragraph()
        if tagged:
            self._take_tag(piece.lower())
        elif self._in_summary:
            if "abstract" in piece.lower():
                self._current = self.parts.labelled.setdefault("abstract", [])
        elif label:
            self._current = self.parts.labelled.setdefault(label[0], [])
            self._current.append(label[1])
        elif self._current is not None:
            self._take_more(self._current, piece)
        elif piece and not _RULE.fullmatch(piece):
            self._paragraph.append(piece.lstrip("> "))

    def end_paragraph(self) -> None:
        if self._paragraph:
            self.parts.free.append(" ".join(self._paragraph))
            self._paragraph = []

    def _take_tag(self, tag: str) -> None:
        self._in_summary = tag.startswith("<summary")
        if tag.startswith("<details"):
            self.parts.foldable = True
            self._current = self.parts.folded
        elif tag.startswith("</details"):
            self._current = None

    def _take_more(self, current: list[str], piece: str) -> None:
        """An abstract goes on over blank lines, to the next label or tag; other fields end at one."""
        if piece:
            current.append(piece)
        elif current is not self.parts.folded and current is not self.parts.labelled.get("abstract"):
            self._current = None


def _parts(block: _Block) -> _Parts:
    taker = _Taker()
    for line in block.lines:
        for piece in map(str.strip, _TAG.split(line)):
            if piece or not line:
                taker.take(piece)
    taker.end_paragraph()
    return taker.parts


def _abstract(parts: _Parts, marked: bool) -> str:
    """The labelled abstract, else what is folded, else (where the list has neither) the only long paragraph."""
    for text in (parts.text("abstract"), "\n".join(parts.folded)):
        if any(c.isalnum() for c in text):
            return "\n".join(line.lstrip("> ") for line in text.split("\n"))
    long = _long(parts.free)
    return max(long, key=len) if long and not marked else ""


def _long(paragraphs: Sequence[str]) -> list[str]:
    return [text for text in paragraphs if len(text) >= LONG or Paragraph(1, (text,), text).long]


def _names_venue(title: str) -> bool:
    return Paragraph(1, (title,), title).headed


def _found(block: _Block, parts: _Parts, abstract: str, section: str) -> Found:
    outside = [parts.text("link"), *block.lines[:1], *parts.free]
    addresses = [found.rstrip(".,;:") for text in outside for found in _ADDRESS.findall(text)]
    venue = one_line(parts.text("venue")) or known_venue(section)
    return Found(
        abstract=abstract,
        title=one_line(parts.text("title")) or block.title,
        authors=names(readable(parts.text("authors"))),
        year=year(parts.text("year")) or year(parts.text("venue")) or year(section),
        venue=venue,
        url=addresses[0] if addresses else "",
        ids=(*addresses, parts.text("link")),
        heading=section,
    )
