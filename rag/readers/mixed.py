"""Files of several formats, as `cat a.ris b.bib` makes them: each line is given to the format it belongs to.

Only what begins a record on a line of its own tells formats apart, so that a BibTeX entry quoted in a Markdown
list or in a cell of a table parts nothing. The lines of one format are read together, wherever they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise, takewhile

from rag.nouns import Problem
from rag.readers import table
from rag.readers.plaintext import LONG, paragraphs
from rag.readers.source import HEAD, Source

TEXT = "text"  # what belongs to no format that marks its records
TABLE = "table"
PAGE = "page"  # front matter
KINDS = 50  # tables with other columns that are told apart in one file
LOOKED_AT = 10_000  # characters of a line that are looked at

_BEGINS = re.compile(
    r"(?P<BibTeX>[ \t]{0,3}@[ \t]*[A-Za-z]++[ \t]*[{(]\s*(?:[^\s{}(),=]*\s*[,=]|$))"
    r"|(?P<RIS>TY  - ?[A-Z]|[ \t]*(?i:TY)[ \t]{1,3}- ?[A-Za-z]{3,12}\s*$)"
    r"|(?P<nbib>PMID- ?\d)"
    r"|(?P<WoS>FN (?:Clarivate|Thomson|ISI\b)|PT [A-Z]\s*$)"
    r"|(?P<enw>%0 [A-Z][a-z])"
    r"|(?P<PubMed>(?:<\?xml[^>]*>\s*)?<(?:PubmedArticle(?:Set)?|PubmedBookArticle)[\s>])"
    r"|(?P<Atom>(?:<\?xml[^>]*>\s*)?<feed[\s>])"
    r"|(?P<page>---[ \t]*\n[a-z_]+:)"
    r"|(?P<JSON>\{\s*(?:\"|$)|\[\s*(?:\{|$))"
)
_GLUED = re.compile(  # a file without a line end at its end, and the next one
    r"(?:[}\]>]|^ER  - ?)"
    r"(?=TY  - [A-Z]|PMID- \d|%0 [A-Z][a-z]|FN Clarivate|PT [A-Z]\s*$|<\?xml|<feed\b|<PubmedArticleSet\b|"
    r"@[A-Za-z]+\{[^\s{}(),=]+,\s*$)"
)
_BRACE = re.compile(r"(?<!\\)[{}]")
_RIS_END = re.compile(r"ER  -|[ \t]*(?i:ER)[ \t]{1,3}-\s*$")
# Lines that stay with a format though its record is over; lines of other kinds are text.
_STAYS: dict[str, re.Pattern[str]] = {
    "RIS": re.compile(r"[ \t]*[A-Za-z][A-Za-z0-9][ \t]{1,3}-"),
    "WoS": re.compile(r"(?:[A-Z][A-Z0-9] \S|EF\s*$|ER\s*$|\s)"),
    "nbib": re.compile(r"[A-Z]{2,4} {0,2}-|\s"),
    "enw": re.compile(r"%|\s"),
    "BibTeX": re.compile(r"\s*(?:[%@})\],]|[A-Za-z_-]+\s*=)"),
    PAGE: re.compile(r"---\s*$"),
    "JSON": re.compile(r"\s*[{}\[\]\",\d-]"),
    "PubMed": re.compile(r"\s*<"),
    "Atom": re.compile(r"\s*<"),
}
_CLOSED: dict[str, re.Pattern[str]] = {
    "RIS": _RIS_END,
    "WoS": re.compile(r"E[RF]\s*$"),
    "JSON": re.compile(r".*[}\]]\s*$", re.S),
    "PubMed": re.compile(r".*</(?:PubmedArticleSet|PubmedArticle|PubmedBookArticle)>\s*$", re.S),
    "Atom": re.compile(r".*</feed>\s*$", re.S),
}
_FENCE = re.compile(r"\s*(?:```|~~~)")
_FOLDED = re.compile(r"<(/?)(?:details|pre|code|summary)\b", re.I)
_MARK = re.compile(r"\s*(?:[-#*<|_\[]|\d+[.)]|\\\\|(?:paper )?title\s?:|authors?\s?:|abstract\s?:)", re.I)
_PROSE = re.compile(r"\w\s+\w+[.!?]?\s*$")
_HEADER = re.compile(  # what programs write above their exports
    r"\b(?:bibtex|jabref|mendeley|zotero|endnote|export(?:ed)?|generated|created|provider|database|encoding)\b",
    re.I,
)


_ROOTS = {"PubMed": re.compile(r"<(?:Pubmed|MedlineCitation)"), "Atom": re.compile(r"<feed[\s>]")}


def xml_roots(head: str) -> list[tuple[str, re.Match[str]]]:
    """Where the kinds of XML that are read begin in a text, each once."""
    return [(kind, found) for kind, root in _ROOTS.items() if (found := root.search(head))]


class _Teller:
    """Tells line by line which format each belongs to."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._closed = False  # no record is open, as far as the format shows it
        self._depth = 0  # of braces in BibTeX; lines of dashes of front matter
        self._quoted = False  # inside a cell of a table
        self._fenced = False  # inside code in Markdown
        self._folded = 0
        self._blank = True  # the line above is blank
        self._tables: dict[str, str] = {}  # kind by the line that names its columns

    def tell(self, line: str, following: str) -> str:
        """The format of a line, before the one that follows; empty for one that belongs to none."""
        begins_page = line.startswith("---") and (self._blank or self._between() or self.kind == PAGE)
        kind = self._told(line + following if begins_page else line)
        self._follow(line)
        return kind

    def _told(self, line: str) -> str:
        if not line.strip():
            return self.kind
        if self.kind == TABLE and not self._tables:  # the file's first, under any names
            self._tables |= {} if line.lower().startswith("sep=") else {line: TABLE}
            return self.kind
        begun = None if self._shielded() else _BEGINS.match(line)
        if begun:
            self._enter(str(begun.lastgroup))
        elif self._between() and self._names_columns(line):
            known = line in self._tables
            if not known and len(self._tables) < KINDS:
                self._tables[line] = f"{TABLE} {len(self._tables)}"
            self._enter(self._tables.get(line, TEXT))
            return "" if known else self.kind
        elif line.startswith(("<?xml", "<!DOCTYPE")) and self.kind not in ("PubMed", "Atom"):
            return ""
        elif self._is_no_row(line):
            self._enter(TEXT)
        elif self.kind in _STAYS and self._between() and not _STAYS[self.kind].match(line):
            self._enter(TEXT)
        return self.kind

    def _enter(self, kind: str) -> None:
        if kind != self.kind:
            self._folded, self._fenced, self._quoted = 0, False, False
        self.kind, self._closed, self._depth = kind, False, 0

    def _shielded(self) -> bool:
        in_page = self.kind == PAGE and not self._closed and self._depth > 0
        return self._quoted or self._fenced or self._folded > 0 or in_page

    def _between(self) -> bool:
        """Whether something else may begin here."""
        if self.kind == TEXT:
            return self._blank and not self._shielded()
        if self.kind.startswith(TABLE):
            return not self._quoted
        return self._blank if self.kind in ("nbib", "enw") else self._closed

    def _is_no_row(self, line: str) -> bool:
        """Whether a line below a table is none of its rows but text: marked, or prose below a blank line."""
        if not self.kind.startswith(TABLE) or self._quoted or '"' in line:
            return False
        header = next((line for line, kind in self._tables.items() if kind == self.kind), "")
        sign = max(",;\t|", key=header.count)
        parted = sign in header and re.search(rf"{re.escape(sign)}(?! )", line.rstrip())
        return not parted and (bool(_MARK.match(line)) or (self._blank and bool(_PROSE.search(line))))

    @staticmethod
    def _names_columns(line: str) -> bool:
        return "abstract" in line.lower() and not line.startswith("|") and table.fits(line)

    def _follow(self, line: str) -> None:
        self._blank = not line.strip()
        if self._blank:
            return
        if self.kind.startswith(TABLE):
            self._quoted ^= line.count('"') % 2 == 1
        elif self.kind == TEXT:
            self._fenced ^= bool(_FENCE.match(line))
            folds = [-1 if found[1] else 1 for found in _FOLDED.finditer(line)]
            self._folded = max(0, self._folded + sum(folds))
        elif self.kind == "BibTeX":
            self._depth += sum(1 if mark == "{" else -1 for mark in _BRACE.findall(line))
            self._depth = max(0, self._depth)
            # An entry in parentheses may end at none of its braces.
            self._closed |= self._depth == 0 and line.rstrip().endswith(("}", ")"))
        elif self.kind == PAGE:
            self._depth += line.rstrip() in ("---", "...")
            self._closed = self._depth > 1
        elif self.kind in _CLOSED:
            self._closed = bool(_CLOSED[self.kind].match(line))


class Part(Source):
    """The lines of one format in a file, with their numbers."""

    def __init__(self, whole: Source, first: str, kind: str, head: str) -> None:
        self.__dict__.update(whole.__dict__)
        self.whole, self.first, self.kind, self.head = whole, first, kind, head

    def lines(self, limit: int = 0) -> Iterator[tuple[int, str]]:
        """Number and text of each line; blank lines stand for those of other formats."""
        for number, pieces in _by_format(self.whole.lines(limit), self.first):
            yield number, "".join(text for kind, text in pieces if kind == self.kind) or "\n"

    def chunks(self) -> Iterator[str]:
        """The text, line by line."""
        for _, line in self.lines():
            yield line


def parts(source: Source, first: str) -> list[Source]:
    """The formats of a file, each with its own lines; the file itself where it has one format. `first` begins it."""
    heads: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    for _, pieces in _by_format(source.lines(LOOKED_AT), first):
        for kind, text in pieces:
            if kind in heads or text.strip():
                kept = heads.setdefault(kind, [])
                sizes[kind] = sizes.get(kind, 0) + len(text)
                if sizes[kind] <= HEAD:
                    kept.append(text)
    if len(heads) < 2 or heads.keys() <= {TEXT, ""}:
        source.kind = max(heads, default="")
        return [source]
    return [Part(source, first, kind, "".join(lines).lstrip("\n")) for kind, lines in heads.items() if kind]


def _by_format(lines: Iterator[tuple[int, str]], first: str) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Number of each line, and its text with the format; glued lines are parted into two texts."""
    teller = _Teller(first)
    for (number, line), (_, following) in pairwise(chain(lines, [(0, "")])):
        glued = _GLUED.search(line[:LOOKED_AT])
        texts = (line[: glued.end()] + "\n", line[glued.end() :]) if glued else (line,)
        yield number, [(teller.tell(text[:LOOKED_AT], following[:LOOKED_AT]), text) for text in texts]


def unread(part: Source) -> Problem | None:
    """The problem that text stands beside other formats, if that may be papers."""
    lines = [
        paragraph.line
        for paragraph in paragraphs(part.lines())
        if not paragraph.short and not _HEADER.search(paragraph.text[:300])
    ]
    return _told(part.name, lines, "beside records of another format")


def above(part: Source) -> Problem | None:
    """The problem that abstracts stand above the first heading, item or label of a list that has such."""
    free = takewhile(lambda line: not _MARK.match(line[1]), enumerate(part.head.split("\n"), 1))
    lines = [paragraph.line for paragraph in paragraphs(free) if len(paragraph.text) >= LONG]
    return _told(part.name, lines, "above the first title")


def _told(name: str, lines: list[int], where: str) -> Problem | None:
    if not lines:
        return None
    what = "a paragraph of text" if len(lines) == 1 else f"{len(lines):,} paragraphs of text"
    remedy = "If papers are among it, put them into a file of their own"
    return Problem(name, f"{what} {where}, not read", remedy, line=lines[0])
