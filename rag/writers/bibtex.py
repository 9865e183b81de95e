"""BibTeX, by bibtexparser: text as LaTeX wants it, as long as reading it gives the paper's own text back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bibtexparser.entrypoint import write_string
from bibtexparser.library import Library
from bibtexparser.model import Entry, Field
from bibtexparser.writer import BibtexFormat

from rag.latex import formulas
from rag.metadata import bibtex_names
from rag.nouns import Paper
from rag.text import readable
from rag.writers.parts import Keys, arxiv, kind, links, parted

_TYPES = {"conference": "inproceedings", "journal": "article", "other": "misc"}
_VENUES = {"conference": "booktitle", "journal": "journal", "other": "howpublished"}
_SPECIAL = re.compile(r"[\\{}$&%#_^~]")
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "$": r"\textdollar{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}
_PROTECTED = re.compile(r"(?<![\\\w{-])\w[\w-]*[A-Z][\w-]*(?![\w{}-])")  # styles would write Bert for BERT
_BRACE = re.compile(r"[{}]")
_FORMAT = BibtexFormat()  # type: ignore[no-untyped-call]
_FORMAT.indent = "  "


def write(papers: Iterable[Paper]) -> Iterator[str]:
    """The entries, an empty line between two."""
    keys = Keys()
    for n, paper in enumerate(papers):
        fields = [Field(name, "{" + value + "}") for name, value in _fields(paper).items() if value]
        entry = Entry(_TYPES[kind(paper)], keys.of(paper), fields)
        yield ("\n" if n else "") + write_string(Library([entry]), unparse_stack=[], bibtex_format=_FORMAT)


def _fields(paper: Paper) -> dict[str, str]:
    number = arxiv(paper)
    fields = {
        "title": latex(paper.title, protect=True),
        "author": " and ".join(map(_name, paper.authors)),
        _VENUES[kind(paper)]: latex(paper.venue_as_found),
        "year": str(paper.year or ""),
        "doi": paper.doi,
        "pmid": paper.pmid,
        "url": _address(paper.url),
        "eprint": number,
        "archiveprefix": "arXiv" if number else "",
        "abstract": latex(paper.abstract),
        "note": latex(paper.note),
    }
    return fields | dict(zip(("ee", "link"), links(paper), strict=False))


def latex(text: str, *, protect: bool = False) -> str:
    """Readable text as the value of a BibTeX field: braces match, TeX's special characters are escaped.

    Where an escape would not be read back (`rag.text.readable`) as the same text, fewer are used. With
    `protect`, words with inner capitals are put into braces.
    """
    pieces = _pieces(text)
    escaped = "".join(piece if formula else _escaped(piece) for piece, formula in pieces)
    bare = "".join(piece if formula else _matching(piece) for piece, formula in pieces)
    protected = "".join(p if f else _PROTECTED.sub(r"{\g<0>}", _escaped(p)) for p, f in pieces)
    ways = [protected, escaped, bare, text] if protect else [escaped, bare, text]
    same = (text, "".join(piece for piece, _ in pieces))
    valid = [way for way in dict.fromkeys(ways) if _matched(way)]
    return next((way for way in valid if way in same or readable(way) in same), valid[0])


def _pieces(text: str) -> list[tuple[str, bool]]:
    """The text cut into formulas (True) and what stands between them; the braces of each formula match."""
    pieces, end = [], 0
    for start, stop in formulas(text):
        pieces += [(text[end:start], False), (_matching(text[start:stop]), True)]
        end = stop
    return [*pieces, (text[end:], False)]


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda m: _LATEX.get(m[0], "\\" + m[0]), text)


def _matching(text: str) -> str:
    """With unmatched braces as macros; BibTeX counts `\\{` as a brace too."""
    if _matched(text):
        return text
    if text.startswith(("$", "\\")):
        return re.sub(r"\\?([{}]) ?", lambda m: r"\lbrace " if m[1] == "{" else r"\rbrace ", text)
    return re.sub(r"[{}]", lambda m: _LATEX[m[0]], text)


def _matched(text: str) -> bool:
    depth = 0
    for brace in _BRACE.findall(text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0 and not text.endswith("\\")


def _name(name: str) -> str:
    """A name that BibTeX takes apart rightly; in braces where it would make two of it, or of a group a person."""
    given, family = parted(name)
    if given or " " not in name:
        way = ", ".join(filter(None, (latex(family), latex(given))))
        if bibtex_names(f"{way} and {way}") == (name, name):
            return way
    return "{" + latex(name) + "}"


def _address(url: str) -> str:
    """An address as it is, with the braces and backslashes that none should hold as `%` codes."""
    return re.sub(r"[{}\\]", lambda m: f"%{ord(m[0]):02X}", url)
