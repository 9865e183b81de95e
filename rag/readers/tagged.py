"""A tag a line: RIS in all its dialects, Web of Science's plain text, PubMed's nbib, EndNote's enw; by rispy.

Each record's lines are parsed alone: a broken record costs only itself, and a file may be of any length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from rispy import RisParser, WokParser  # type: ignore[import-untyped]
from rispy.config import LIST_TYPE_TAGS, TAG_KEY_MAPPING  # type: ignore[import-untyped]

from rag.metadata import indexed_names, year
from rag.nouns import Problem, Record
from rag.readers.record import Found, build
from rag.readers.source import Source

RECORD_LIMIT = 2_000_000  # characters; 7,000 authors need a tenth of it
NOTE_LIMIT = 200  # characters of a remark; longer notes are what readers wrote about the paper
_PMID_TAGS = (
    ("scopus", "custom2"),
    ("embase", "custom5"),
    ("medline", "accession_number"),
    ("pubmed", "accession_number"),
)
_END = "ER  - "  # ends a record in each parser, also where the file has nothing that does

Values = Mapping[str, object]


class _Ris(RisParser):  # type: ignore[misc]
    """RIS, also without the blank behind the dash; repeated abstracts are parts of one."""

    DEFAULT_MAPPING: ClassVar[dict[str, str]] = {**TAG_KEY_MAPPING, "CT": "CT", "L3": "L3"}
    DEFAULT_DELIMITER_MAPPING: ClassVar[dict[str, str]] = {}
    DEFAULT_LIST_TAGS: ClassVar[list[str]] = [*LIST_TYPE_TAGS, "AB", "N2"]
    TAG: ClassVar[re.Pattern[str]] = re.compile(r"(?P<tag>[A-Z][A-Z0-9])  -(?P<text>.*)")

    LOOSE: ClassVar[re.Pattern[str]] = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9])[ \t]{1,3}-(?=\s|$)(.*)")

    @classmethod
    def usual(cls, lines: list[str]) -> list[str]:
        """The lines of a record, its tags in capitals with two blanks behind if the first one's are not so."""
        if cls.TAG.match(lines[0]):
            return lines
        found = ((line, cls.LOOSE.fullmatch(line)) for line in lines)
        return [
            f"{tag[1].upper()}  -{tag[2]}" if tag and tag[1].upper() in cls.DEFAULT_MAPPING else line
            for line, tag in found
        ]

    def parse_line(self, line: str) -> tuple[str | None, str]:
        """Tag and text of a line; no tag where it goes on with the line above."""
        tagged = self.TAG.match(line)
        return (tagged["tag"], tagged["text"].strip()) if tagged else (None, line.strip())


class _Nbib(_Ris):
    START_TAG = "PMID"
    DEFAULT_LIST_TAGS: ClassVar[list[str]] = ["AB", "OAB", "FAU", "AU", "CN", "AID", "LID"]
    DEFAULT_MAPPING: ClassVar[dict[str, str]] = {
        tag: tag for tag in "PMID TI BTI TT AB OAB FAU AU CN DP DEP JT TA AID LID ER".split()
    }
    TAG = re.compile(r"(?P<tag>[A-Z]{2,4}) {0,2}-(?P<text> .*|$)")


class _Enw(_Ris):
    START_TAG = "%0"
    DEFAULT_LIST_TAGS: ClassVar[list[str]] = ["%A", "%X", "%U"]
    DEFAULT_MAPPING: ClassVar[dict[str, str]] = {
        tag: tag for tag in "%0 %A %B %D %F %J %R %S %T %U %X %8 ER".split()
    }
    TAG = re.compile(r"(?P<tag>%\S|ER(?=  - $))(?P<text> .*|$)")


@dataclass(frozen=True, slots=True)
class _Dialect:
    """`first` begins a record; `last` closes one, where the dialect has such a line."""

    first: re.Pattern[str]
    last: re.Pattern[str] | None
    stray: re.Pattern[str]  # a line that must not stand outside a record
    parser: type[RisParser]
    found: Callable[[Values], Found]
    usual: Callable[[list[str]], list[str]] = list


def fits_ris(head: str) -> bool:
    """Whether a line begins a RIS record."""
    return bool(_RIS.first.search(head))


def fits_wos(head: str) -> bool:
    """Whether lines begin and fill a record of Web of Science's plain text."""
    return bool(_WOS.first.search(head) and re.search(r"^(?:TI|SO|AU) \S", head, re.M))


def fits_nbib(head: str) -> bool:
    """Whether a line begins a PubMed record."""
    return bool(_NBIB.first.search(head))


def fits_enw(head: str) -> bool:
    """Whether lines begin an EndNote record and give it a title."""
    return bool(_ENW.first.search(head) and re.search(r"^%T \S", head, re.M))


def read_ris(source: Source) -> Iterator[Record | Problem]:
    """Read RIS; `number` counts the records."""
    return _read(source, _RIS)


def read_wos(source: Source) -> Iterator[Record | Problem]:
    """Read Web of Science's plain text; `number` counts the records."""
    return _read(source, _WOS)


def read_nbib(source: Source) -> Iterator[Record | Problem]:
    """Read PubMed's nbib; `number` counts the records."""
    return _read(source, _NBIB)


def read_enw(source: Source) -> Iterator[Record | Problem]:
    """Read EndNote's enw; `number` counts the records."""
    return _read(source, _ENW)


def _read(source: Source, dialect: _Dialect) -> Iterator[Record | Problem]:
    number = 0
    parser = dialect.parser(skip_unknown_tags=True)
    for first, lines, closed in _records(source, dialect):
        if not dialect.first.match(lines[0]):
            cause = "lines that belong to no record: the line that begins it is missing"
            yield Problem(source.name, cause, "Export the file again, or mend it there", line=first)
            continue
        number += 1
        if sum(map(len, lines)) > RECORD_LIMIT:
            cause = f"a record of more than {RECORD_LIMIT:,} characters, or one that is not closed"
            yield Problem(source.name, cause, "Mend or delete it", record=number, line=first)
            continue
        values = parser.parse_lines(iter([*dialect.usual(lines), _END]))
        yield build(source.name, number, first, dialect.found(values[0] if values else {}))
        if not closed:
            cause = "the file ends inside this record, which may be cut; what is there was read"
            yield Problem(source.name, cause, "Export the file again", record=number, line=first)


def _records(source: Source, dialect: _Dialect) -> Iterator[tuple[int, list[str], bool]]:
    """First line and lines of each record, and whether the file does not break off in it.

    Of a record over the limit only so much is held as shows it.
    """
    kept: list[str] = []
    first = size = 0
    for number, line in source.lines():
        text = line.rstrip()
        begins = bool(dialect.first.match(text))
        if kept and (begins or (dialect.last and dialect.last.match(text))):
            yield first, kept, True
            kept, size = [], 0
        if begins or (not kept and dialect.stray.match(text)):
            first = number
        elif not kept:
            continue
        if size <= RECORD_LIMIT:
            kept.append(text)
            size += len(text)
    if kept:
        yield first, kept, dialect.last is None


def _ris(values: Values) -> Found:
    label = _text(values, "id")
    return Found(
        abstract=_text(values, "abstract", "notes_abstract"),
        title=_text(values, "title", "primary_title", "short_title", "CT"),
        authors=indexed_names(_all(values, "authors", "first_authors", "secondary_authors")),
        year=year(_text(values, "year", "publication_year", "date")),
        venue=_text(
            values,
            "secondary_title",
            "alternate_title3",
            "journal_name",
            "alternate_title2",
            "alternate_title1",
            "tertiary_title",
            "publisher",
        ),
        url=_link(_all(values, "urls")),
        ids=(
            _text(values, "doi"),
            _text(values, "type_of_work"),
            *_all(values, "urls"),
            *_all(values, "file_attachments2"),
            _text(values, "L3"),
            _text(values, "note"),
            _pmid(values),
        ),
        citekey="" if label.isdigit() else label,
        note=next((note for note in _all(values, "notes") if len(note) < NOTE_LIMIT), ""),
    )


def _pmid(values: Values) -> str:
    """PubMed's number, which each database puts elsewhere and under no name."""
    database = _text(values, "name_of_database").casefold()
    tag = next((tag for name, tag in _PMID_TAGS if name in database), "")
    return f"PMID:{_text(values, tag)}" if tag else ""


def _wos(values: Values) -> Found:
    return Found(
        abstract=_text(values, "abstract"),
        title=_text(values, "document_title"),
        authors=indexed_names(_all(values, "author_full_name", "authors", "group_authors")),
        year=year(_text(values, "publication_year", "early_access_date")),
        venue=_text(values, "conference_title", "publication_name"),
        ids=(_text(values, "doi"), f"PMID:{_text(values, 'pubmed_id')}"),
    )


def _nbib(values: Values) -> Found:
    pmid = _text(values, "PMID")
    return Found(
        abstract=_text(values, "AB", "OAB"),
        title=_text(values, "TI", "BTI", "TT"),
        authors=indexed_names([*_all(values, "FAU", "AU"), *_all(values, "CN")]),
        year=year(_text(values, "DP", "DEP")),
        venue=_text(values, "JT", "TA"),
        url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid.isdigit() else "",
        ids=(f"PMID:{pmid}", *_all(values, "LID"), *_all(values, "AID")),
    )


def _enw(values: Values) -> Found:
    label = _text(values, "%F")
    return Found(
        abstract=_text(values, "%X"),
        title=_text(values, "%T"),
        authors=indexed_names(_all(values, "%A")),
        year=year(_text(values, "%D", "%8")),
        venue=_text(values, "%J", "%B", "%S"),
        url=_link(_all(values, "%U")),
        ids=(_text(values, "%R"), *_all(values, "%U")),
        citekey="" if label.isdigit() else label,
    )


def _all(values: Values, *tags: str) -> list[str]:
    """The texts of the first of the tags that has any."""
    for tag in tags:
        value = values.get(tag)
        texts = value if isinstance(value, list) else [value]
        if found := [text for text in texts if isinstance(text, str) and text]:
            return found
    return []


def _text(values: Values, *tags: str) -> str:
    return " ".join(_all(values, *tags))


def _link(urls: list[str]) -> str:
    return next((url for url in urls if url.startswith(("http://", "https://"))), "")


_RIS = _Dialect(
    first=re.compile(r"^TY  - ?[A-Z]|^[ \t]*(?i:TY)[ \t]{1,3}- ?[A-Za-z]{3,12}[ \t]*$", re.M),
    last=re.compile(r"ER  -|[ \t]*(?i:ER)[ \t]{1,3}-\s*$"),
    stray=re.compile(r"(?!ER)[A-Z][A-Z0-9]  - ?\S"),
    parser=_Ris,
    found=_ris,
    usual=_Ris.usual,
)
_WOS = _Dialect(
    first=re.compile(r"^PT [A-Z]$", re.M),
    last=re.compile(r"ER\s*$"),
    stray=re.compile(r"(?!FN|VR|EF)[A-Z][A-Z0-9] \S"),
    parser=WokParser,
    found=_wos,
)
_NBIB = _Dialect(
    first=re.compile(r"^PMID- ?\d", re.M),
    last=None,
    stray=re.compile(r"[A-Z]{2,4} {0,2}- \S"),
    parser=_Nbib,
    found=_nbib,
)
_ENW = _Dialect(
    first=re.compile(r"^%0 [A-Z][a-z]", re.M),
    last=None,
    stray=re.compile(r"%[A-Z0-9@!?] \S"),
    parser=_Enw,
    found=_enw,
)
