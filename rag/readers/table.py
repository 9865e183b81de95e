"""Tables: CSV and TSV as spreadsheets, Zotero, Scopus and Embase write them, by the names of their columns."""

from __future__ import annotations

import ast
import csv
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

from rag.metadata import indexed_names, names, year
from rag.nouns import Problem, Record
from rag.readers.record import Found, build, storable
from rag.readers.source import Source, Unreadable

REREAD_LIMIT = 100  # rows without a closing quotation mark, behind each of which lines are read again
LIST_LIMIT = 20_000  # characters of a list in a cell
NAME_LIMIT = 60  # characters of a column's name
SAMPLE = 20  # rows that show whether a text is a table
_DELIMITERS = ",;\t|"
_COLUMNS = {
    "abstract": "abstract abstractnote abstracttext paperabstract notesabstract ab summary text",
    "title": "title papertitle articletitle documenttitle primarytitle ti name",
    "authors": "authorfullnames authors author authornames firstauthors creators au",
    "year": "year publicationyear pubyear date publicationdate published py",
    "venue": "venueasfound venue conference conferencename publicationtitle sourcetitle journal journaltitle "
    "booktitle containertitle secondarytitle journalname so alternatetitle3 source",
    "url": "url link paperurl pdf pdfurl",
    "doi": "doi doilink di openurllink",
    "arxiv": "arxiv arxivid eprint",
    "openreview": "openreview openreviewid forum",
    "pmlr": "pmlr",
    "pmid": "pmid pubmedid medlinepmid",
    "citekey": "citekey citationkey bibkey key id",
    "note": "note",
}
FIELDS = tuple(_COLUMNS)
_NAMES = {field: tuple(listed.split()) for field, listed in _COLUMNS.items()}
_KNOWN = {name for listed in _NAMES.values() for name in listed}
_ISSUE = re.compile(r"(.{3,200}?) \(((?:19|20)\d\d)\) \S*\d.*")
_INDEXED = re.compile(r"(?:[^,.;]{2,60} (?:[A-Z]\.-?){1,4}(?:,\s*|\s*$))+")
_SEPARATOR = re.compile(r"sep=(.)\n", re.I)  # the first line that Excel writes for itself
_BLANK = re.compile(r"\A(?:[ \t]*+\n)++")  # lines above the names; not the empty name of a first column
_MAP = "name it: pincite index --map abstract=COLUMN"

Columns = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Layout:
    """`places` holds the index of each field's columns, the better first."""

    delimiter: str
    header: tuple[str, ...]
    places: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    cells: list[str]
    trouble: str = ""


def fits(head: str, columns: Columns | None = None) -> bool:
    """Whether a text begins with the names of columns, those of `columns` among them."""
    layout = _layout(head, columns or {})
    known = sum(_folded(name) in _KNOWN for name in layout.header) if layout else 0
    return layout is not None and (bool(layout.places.get("abstract")) or known > 1)


def looks_like_one(head: str) -> bool:
    """Whether a text has rows of equally many cells, though under no name that is known, or no names at all."""
    layout = _layout(head, {})
    if layout:
        return _regular(head, layout.delimiter)
    return any(
        _regular(head, delimiter) and (delimiter == "\t" or f'"{delimiter}"' in head) for delimiter in ",;\t"
    )


def read(source: Source) -> Iterator[Record | Problem]:
    """Read the rows below the names of the columns; `number` counts the rows that hold anything."""
    layout = _layout(source.head, source.columns)
    if layout is None:
        cause = "a table whose first line does not name its columns"
        raise Unreadable(cause, "Write the names of the columns above it, such as Title and Abstract")
    if not layout.places.get("abstract"):
        there = ", ".join(repr(name) for name in layout.header[:12])
        raise Unreadable(
            f"a table without a column of abstracts (its columns: {there})", f"If one holds them, {_MAP}"
        )
    yield from _unmapped(source, layout)
    number = -1  # the names of the columns are no row
    for row in _rows(source, layout.delimiter):
        blank = not any(cell.strip(_rule_of(layout)) for cell in row.cells)
        if blank and not row.trouble:
            continue
        number += 1
        if number:
            yield from _read_row(source.name, number, row, layout)


def _unmapped(source: Source, layout: _Layout) -> Iterator[Problem]:
    for field, column in source.columns.items():
        if _folded(column) not in map(_folded, layout.header):
            yield Problem(
                source.name,
                f"there is no column {column!r}",
                f"Name one of its columns: {', '.join(layout.header[:12])}",
                field=field,
            )


def _rule_of(layout: _Layout) -> str | None:
    """What the line below the names of a Markdown table is made of (`|---|:---:|`); None: white space alone."""
    return " :-" if layout.delimiter == "|" else None


def _read_row(name: str, number: int, row: _Row, layout: _Layout) -> Iterator[Record | Problem]:
    width = len(layout.header)
    surplus = sum(bool(cell.strip()) for cell in row.cells[width:])
    cause = row.trouble
    if surplus:
        cause = f"the row has {len(row.cells)} cells, but there are {width} columns"
    if cause:
        remedy = "Put cells with delimiters, quotation marks or line ends into quotation marks, and double those inside"
        yield Problem(name, cause, remedy, record=number, line=row.line)
    if not surplus and row.cells:
        yield build(name, number, row.line, _found(row.cells, layout))


def _found(cells: Sequence[str], layout: _Layout) -> Found:
    def first(field: str) -> str:
        there = (cells[i].strip() for i in layout.places.get(field, ()) if i < len(cells))
        return next(filter(None, there), "")

    marked = (
        ("arxiv", "arXiv:"),
        ("openreview", "https://openreview.net/forum?id="),
        ("pmlr", "https://proceedings.mlr.press/"),
        ("pmid", "PMID:"),
    )
    ids = [prefix + first(field) for field, prefix in marked if first(field)]
    return Found(
        abstract=first("abstract"),
        title=first("title"),
        authors=_people(first("authors")),
        year=year(first("year")),
        venue=_journal(first("venue")),
        url=address if (address := first("url")).startswith(("http://", "https://")) else "",
        ids=(_doi(first("doi")), *ids),
        citekey=first("citekey"),
        note=first("note"),
    )


def _doi(cell: str) -> str:
    """A DOI, also as the parameter of a library's link."""
    return unquote(cell.partition("id=doi:")[2].partition("&")[0]) or cell


def _people(cell: str) -> tuple[str, ...]:
    """Names of a cell, also as "Roe A., Poe B.C." and as a list of a program (`['Roe, Ann', 'Poe, Bob']`)."""
    if _INDEXED.fullmatch(cell):
        return indexed_names(cell.split(","))
    if cell[:1] == "[" and len(cell) <= LIST_LIMIT:
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return names(ast.literal_eval(cell))
    return names(cell)


def _journal(cell: str) -> str:
    """Without volume, pages and a second date: "Marsh Letters (2014) 3:3 (152-160). Date ..."."""
    issue = _ISSUE.match(cell)
    return f"{issue[1]} ({issue[2]})" if issue else cell


def _layout(head: str, columns: Columns) -> _Layout | None:
    """The delimiter under which the first line holds the most known names, and where each field stands."""
    if head.lstrip()[:1] in ("{", "[", "<", "@"):
        return None
    stated = _SEPARATOR.match(head)
    text = head[stated.end() :] if stated else head
    best: _Layout | None = None
    most = (-1, 0)
    for delimiter in stated[1] if stated else _DELIMITERS:
        header = _header(text, delimiter)
        folded = [_folded(name) for name in header]
        known = sum(name in _KNOWN for name in folded)
        asked = {field: _folded(column) for field, column in columns.items()}
        known += 100 * sum(name in folded for name in asked.values())
        if header and (len(header) > 1 or known >= 100) and (known, len(header)) > most:
            most = (known, len(header))
            places = {field: _places(folded, field, asked.get(field, "")) for field in FIELDS}
            best = _Layout(delimiter, header, places)
    return best


def _header(text: str, delimiter: str) -> tuple[str, ...]:
    """The names of the columns; none where a cell is too long for a name or most are empty."""
    try:
        cells = next(csv.reader(_BLANK.sub("", text).splitlines(keepends=True), delimiter=delimiter), [])
    except csv.Error:
        return ()
    header = tuple(" ".join(storable(cell).split()) for cell in cells) or ("",)
    filled = sum(map(bool, header))
    fine = all(len(name) <= NAME_LIMIT and not name.endswith((".", "{", "[")) for name in header)
    edges = 2 * (delimiter == "|" and not header[0])  # a line of a Markdown table begins and ends with one
    return header if fine and filled * 2 > len(header) - edges else ()


def _places(folded: Sequence[str], field: str, asked: str) -> tuple[int, ...]:
    wanted = [asked] if asked and asked in folded else _NAMES[field]
    return tuple(folded.index(name) for name in wanted if name in folded)


def _regular(head: str, delimiter: str) -> bool:
    """Whether the first rows have equally many cells, a long text among them: three or more, quoted, or tabbed."""
    lines = (head.rpartition("\n")[0] or head).splitlines(keepends=True)
    rows = []
    with suppress(csv.Error):
        for row in islice(csv.reader(lines, delimiter=delimiter, strict=True), SAMPLE):
            rows += [row] if row else []
    widths = {len(row) for row in rows}
    long = any(len(cell) > NAME_LIMIT for row in rows for cell in row)
    quoted = any(f'{delimiter}"' in line for line in lines)
    tabbed = delimiter == "\t" and all(
        len(row) > 1 and row[0].strip() for row in rows
    )  # prose has none inside
    return (
        len(rows) > 1
        and long
        and len(widths) == 1
        and (quoted or tabbed or (len(rows) > 2 and widths.pop() > 2))
    )


def _folded(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


class _Lines:
    """Lines with their numbers; the latest can be put back."""

    def __init__(self, lines: Iterable[tuple[int, str]]) -> None:
        self._lines = iter(lines)
        self._waiting: deque[tuple[int, str]] = deque()
        self.taken: list[tuple[int, str]] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._waiting.popleft() if self._waiting else next(self._lines)
        self.taken.append(line)
        return line[1].replace("\0", "")

    def put_back_but_first(self) -> None:
        self._waiting.extendleft(reversed(self.taken[1:]))


def _rows(source: Source, delimiter: str) -> Iterator[_Row]:
    """The rows of a table, a row in memory at a time.

    A row whose quotation mark is not closed ends with its first line; what stands below is read again.
    """
    lines = _Lines(source.lines())
    reread = 0
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        lines.taken = []
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            number, text = lines.taken[0]
            reread += len(lines.taken) > 1
            if reread > REREAD_LIMIT:
                cause = f"more than {REREAD_LIMIT} rows with a quotation mark that is not closed"
                raise Unreadable(cause, "Export the table again, with quotation marks doubled") from error
            if len(lines.taken) > 1:
                lines.put_back_but_first()
            yield _sloppy(number, text, delimiter, len(lines.taken) > 1)
            rows = csv.reader(lines, delimiter=delimiter, strict=True)
            continue
        if lines.taken[0][1].lower().startswith("sep=") and lines.taken[0][0] == 1:
            continue
        yield _Row(lines.taken[0][0], cells)


def _sloppy(line: int, text: str, delimiter: str, unclosed: bool) -> _Row:
    """A row that breaks the rules of quoting, as far as it can be made out."""
    try:
        cells = next(csv.reader([text.replace("\0", "")], delimiter=delimiter), [])
    except csv.Error:
        return _Row(line, [], f"a cell is longer than {csv.field_size_limit():,} characters")
    return _Row(
        line, cells, "a quotation mark is not closed; the row was taken to end with its line" * unclosed
    )
