"""BibTeX, by bibtexparser: a broken entry is a problem of its own, the others are read."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from bibtexparser.entrypoint import parse_string
from bibtexparser.exceptions import ParserStateException
from bibtexparser.library import Library
from bibtexparser.model import Entry, ParsingFailedBlock, String

from rag.metadata import bibtex_names, year
from rag.nouns import Problem, Record
from rag.readers.record import Found, build
from rag.readers.source import Source

PIECE = 200_000  # characters parsed at a time; a file of 100,000 entries then needs 30 MB, not 1.5 GB
PIECE_LIMIT = 8_000_000  # also where no entry begins
PARTS_LIMIT = 100  # joined by # in one value
MACRO_LIMIT = 2_000  # characters
_BLOCK = re.compile(r"[ \t]*@[ \t]*(\w+)[ \t]*[{(]")
_ENTRY = re.compile(r"^[ \t]*+@[ \t]*+\w++[ \t]*+[{(]\s*+[^\s{}(),=]*+\s*+[,=]", re.M)
_CROSSREF = re.compile(r"\bcrossref[ \t]*=[ \t]*[{\"]?[ \t]*([^\s{}\",]+)", re.I)
_MARK = re.compile(r'(?<!\\)[{}"#]')
_NO_PAPERS = ("proceedings", "comment", "preamble", "string")
_VENUE = (
    "booktitle",
    "journal",
    "journaltitle",
    "eventtitle",
    "series",
    "school",
    "howpublished",
    "publisher",
)
_URL = ("url", "ee", "link", "pdf")
_MEND = "Mend the entry: most often a brace, a quotation mark or a comma is missing"

# Each failure becomes a problem; the parser's own warnings would be printed beside it.
logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)

Fields = dict[str, str]


class _BrokenField(Exception):
    def __init__(self, field: str, why: str) -> None:
        super().__init__(why)
        self.field = field


@dataclass
class _File:
    """What entries further down need from those above."""

    source: Source
    number: int = 0
    macros: Fields = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)  # of each key
    proceedings: Fields = field(default_factory=dict)
    parents: dict[str, Fields] = field(default_factory=dict)  # what entries name by crossref, by folded key


def fits(head: str) -> bool:
    """Whether a line begins an entry."""
    return bool(_ENTRY.search(head))


def read(source: Source) -> Iterator[Record | Problem]:
    """Read the entries of a file; `number` counts those that stand for papers."""
    file = _File(source, parents=_parents(source))
    for offset, library in _libraries(source):
        if isinstance(library, Problem):
            yield library
        else:
            yield from _read_blocks(file, offset, library)


def _parents(source: Source) -> dict[str, Fields]:
    """The entries that others name by crossref: they stand below those, so the file is read twice."""
    wanted = {found[1].casefold() for _, line in source.lines() if (found := _CROSSREF.search(line))}
    parents: dict[str, Fields] = {}
    macros: Fields = {}
    for _, library in _libraries(source) if wanted else ():
        if isinstance(library, Problem):
            continue
        _define(library, macros)
        for entry in library.entries:
            if entry.key.casefold() in wanted:
                with suppress(_BrokenField):
                    parents[entry.key.casefold()] = _inherited(_fields(entry, macros))
    return parents


def _inherited(parent: Fields) -> Fields:
    """What a part takes over from the whole: the whole's title is the part's booktitle (BibLaTeX)."""
    kept = {key: parent[key] for key in (*_VENUE, "year", "date") if parent.get(key)}
    whole = parent.get("booktitle") or parent.get("title") or ""
    return {**kept, "booktitle": whole} if whole else kept


def _libraries(source: Source) -> Iterator[tuple[int, Library | Problem]]:
    """First line and blocks of each piece of the file."""
    for offset, text in _pieces(source):
        try:
            yield offset, parse_string(text, parse_stack=[])
        except ParserStateException as error:
            yield offset, Problem(source.name, f"not valid BibTeX: {error}", _MEND, line=offset)


def _pieces(source: Source) -> Iterator[tuple[int, str]]:
    """First line and text of pieces of the file, cut where a line begins an entry."""
    kept: list[str] = []
    size, first = 0, 1
    for number, line in source.lines():
        if size > PIECE_LIMIT or (size > PIECE and _BLOCK.match(line)):
            yield first, "".join(kept)
            kept, size, first = [], 0, number
        kept.append(line)
        size += len(line)
    yield first, "".join(kept)


def _read_blocks(file: _File, offset: int, library: Library) -> Iterator[Record | Problem]:
    _define(library, file.macros)
    for block in library.blocks:
        line = offset + (block.start_line or 0)
        # Doubled keys and doubled fields are failures to the parser, but nothing is lost by them.
        entry = block.ignore_error_block if isinstance(block, ParsingFailedBlock) else block
        if isinstance(entry, Entry):
            yield from _read_entry(file, line, entry)
        elif isinstance(entry, String):  # stated again, as where files were put together
            _define_one(entry, file.macros)
        elif isinstance(block, ParsingFailedBlock):
            file.number += 1
            yield Problem(
                file.source.name, f"broken entry: {_why(block)}", _MEND, record=file.number, line=line
            )


def _define(library: Library, macros: Fields) -> None:
    """Macros are resolved where they are defined: one cannot unfold into itself later."""
    for string in library.strings:
        _define_one(string, macros)


def _define_one(string: String, macros: Fields) -> None:
    with suppress(ValueError):
        macros[string.key.lower()] = _value(string.value, macros)[:MACRO_LIMIT]


def _why(block: ParsingFailedBlock) -> str:
    reason = str(getattr(block.error, "abort_reason", "") or block.error).strip()
    unclosed = "block start" in reason or "end of file" in reason
    return "it is not closed before the next entry or the file's end" if unclosed else reason


def _read_entry(file: _File, line: int, entry: Entry) -> Iterator[Record | Problem]:
    kind = entry.entry_type.lower()
    name = file.source.name
    file.number += kind not in _NO_PAPERS
    try:
        fields = _fields(entry, file.macros)
    except _BrokenField as error:
        yield Problem(name, f"broken entry: {error}", _MEND, file.number, line, error.field)
        return
    if kind == "proceedings":
        # PMLR's own files state venue, year and volume once, in the entry of the whole volume.
        file.proceedings = {key: fields[key] for key in ("booktitle", "year") if key in fields}
    if kind in _NO_PAPERS:
        return
    known = file.lines.setdefault(entry.key, line)
    if known != line and entry.key:
        cause = f"the key {entry.key} is already that of the entry on line {known}; both were read"
        yield Problem(name, cause, "Give one of them another key", file.number, line, "key")
    inherited = file.proceedings if kind == "inproceedings" else {}
    if "crossref" in fields:
        inherited = file.parents.get(fields["crossref"].casefold(), {})
    yield build(name, file.number, line, _found(entry.key, inherited | fields))


def _fields(entry: Entry, macros: Fields) -> Fields:
    """The fields by name in lower case; of doubled ones the first that holds anything."""
    fields: Fields = {}
    for each in entry.fields:
        try:
            value = _value(each.value, macros)
        except ValueError as error:
            raise _BrokenField(each.key, str(error)) from error
        fields[each.key.lower()] = fields.get(each.key.lower()) or value
    return fields


def _found(key: str, fields: Fields) -> Found:
    linked = [
        f"https://openreview.net/forum?id={fields[k]}" for k in ("openreview", "forum") if fields.get(k)
    ]
    numbered = [f"arXiv:{fields[k]}" for k in ("arxiv", "arxivid") if fields.get(k)]
    pubmed = fields.get("pmid") or (fields.get("eprint", "") if _archive(fields) == "pubmed" else "")
    links = [value for k in _URL if (value := _bare_url(fields.get(k, "")))]
    return Found(
        abstract=fields.get("abstract", ""),
        title=fields.get("title", ""),
        authors=bibtex_names(fields.get("author", "")),
        year=year(fields.get("year")) or year(fields.get("date")),
        venue=next(
            (text for k in _VENUE if (text := _no_address(fields.get(k, "")))),
            "arXiv" if _archive(fields) == "arxiv" else "",
        ),
        url=links[0] if links else "",
        ids=(*linked, *numbered, f"PMID:{pubmed}", fields.get("doi", ""), fields.get("eprint", ""), *links),
        citekey=key,
        note=fields.get("note", ""),
    )


def _no_address(value: str) -> str:
    """A venue's name; what is only an address ("howpublished = {\\url{…}}") names none."""
    return "" if re.match(r"\{*(?:\\url|\\href|https?:)", value) else value


def _archive(fields: Fields) -> str:
    """What the field `eprint` is a number of, folded."""
    return (fields.get("archiveprefix") or fields.get("eprinttype") or "").casefold()


def _bare_url(value: str) -> str:
    """Without \\url{} and TeX's escapes."""
    return re.sub(r"\\([%#&_~])", r"\1", re.sub(r"\\(?:url|href)\{([^{}]*)\}.*", r"\1", value))


def _value(raw: str, macros: Fields) -> str:
    """A field's text: its parts (in braces, in quotation marks, or macros) joined by #.

    Raises `ValueError` where something else follows a part: a comma is missing there.
    """
    parts = []
    at = 0
    while at < len(raw):
        end = _end_of_part(raw, at)
        part = raw[at:end].strip()
        if part[:1] in ("{", '"'):
            parts.append(part[1:-1])
        else:
            parts.append(macros.get(part.lower(), part))
        if len(parts) > PARTS_LIMIT:
            raise ValueError(f"a value of more than {PARTS_LIMIT} parts")
        rest = raw[end:].lstrip()
        if rest and not rest.startswith("#"):
            raise ValueError(f"a comma is missing before {rest[:40]!r}")
        at = len(raw) - len(rest) + 1
    return "".join(parts).strip()


def _end_of_part(raw: str, at: int) -> int:
    opening = raw[at:].lstrip()[:1]
    depth = 0
    for mark in _MARK.finditer(raw, at):
        sign = mark[0]
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0 and opening == "{":
                return mark.end()
        elif sign == '"' and depth == 0 and opening == '"' and raw[at : mark.start()].strip():
            return mark.end()
        elif sign == "#" and depth == 0 and opening not in ("{", '"'):
            return mark.start()
    return len(raw)
