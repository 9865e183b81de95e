"""Readers: from files as people have them to records and problems. Content decides, not the file's name."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rag.errors import InputError
from rag.nouns import Problem, Record
from rag.readers import (
    atom,
    bibtex,
    frontmatter,
    jsonlines,
    labelled,
    markdown,
    mixed,
    packed,
    plaintext,
    pubmed,
    table,
    tagged,
)
from rag.readers.foreign import foreign
from rag.readers.source import LINE_LIMIT, Source, Unreadable, first_bytes
from rag.text import printable

__all__ = ["FORMATS", "read", "sources"]


class Format(NamedTuple):
    """A format of text: whether a file's beginning fits it, and its reader."""

    name: str
    fits: Callable[[str], bool]
    read: Callable[[Source], Iterator[Record | Problem]]


# The first that fits is taken; plain text fits almost anything and comes last.
FORMATS = (
    Format("CSV and TSV", table.fits, table.read),
    Format("JSON Lines", jsonlines.fits_lines, jsonlines.read_lines),
    Format("JSON", jsonlines.fits, jsonlines.read),
    Format("Markdown with front matter", frontmatter.fits, frontmatter.read),
    Format("BibTeX", bibtex.fits, bibtex.read),
    Format("RIS", tagged.fits_ris, tagged.read_ris),
    Format("PubMed's nbib", tagged.fits_nbib, tagged.read_nbib),
    Format("Web of Science's plain text", tagged.fits_wos, tagged.read_wos),
    Format("EndNote's enw", tagged.fits_enw, tagged.read_enw),
    Format("PubMed XML", pubmed.fits, pubmed.read),
    Format("arXiv Atom", atom.fits, atom.read),
    Format("Markdown lists", markdown.fits, markdown.read),
    Format("plain text with labelled fields", labelled.fits, labelled.read),
    Format("plain text lists of abstracts", plaintext.fits, plaintext.read),
)


def read(path: Path, columns: Mapping[str, str] | None = None, name: str = "") -> Iterator[Record | Problem]:
    """Read one file: each paper as a record, whatever cannot be read as a problem.

    `columns` names the columns of tables, by field (`table.FIELDS`); `name` is shown instead of the file's own.
    Raises only `InputError`, where the file is missing or must not be opened.
    """
    name = name or printable(path.name)
    try:
        beginning = first_bytes(path)
        if packed.is_zip(beginning):
            yield from _read_members(path, columns, name)
        elif beginning.startswith(b"%PDF"):
            from rag.readers import pdf

            yield from pdf.read(path, name)
        else:
            yield from _read_text(Source(path, columns, name))
    except Unreadable as error:
        yield Problem(name, error.cause, error.remedy)


def _read_members(path: Path, columns: Mapping[str, str] | None, name: str) -> Iterator[Record | Problem]:
    any_there = False
    for member in packed.members(path, name):
        any_there = True
        if isinstance(member, Problem):
            yield member
        elif packed.is_zip(first_bytes(member[1])):
            yield Problem(member[0], "an archive inside an archive, which is not read", "Unpack it first")
        else:
            yield from read(member[1], columns, member[0])
    if not any_there:
        yield Problem(name, "no file in the archive", "Make it again")


def _read_text(source: Source) -> Iterator[Record | Problem]:
    any_read = False
    for item in _read_parts(source):
        any_read = True
        yield item
    if not any_read:
        cause = "no paper in it" if source.head.strip() else "nothing but white space"
        yield Problem(source.name, cause, f"Give a file with abstracts; {_what_is_read()}")
    yield from _doubts(source)


def _read_parts(source: Source) -> Iterator[Record | Problem]:
    """Read each format of a file; numbers go on from one to the next."""
    before = most = 0
    parts = _parts(source)
    for part in parts:
        try:
            for item in _read_part(part):
                item = _counted_on(item, before)
                most = max(most, _number(item))
                yield item
        except Unreadable as error:
            if len(parts) == 1:
                raise
            first = next((number for number, line in part.lines() if line.strip()), None)
            yield Problem(source.name, error.cause, error.remedy, line=first)
        before = most


def _parts(source: Source) -> list[Source]:
    """The formats of a file, without the remarks that programs and people put beside their records."""
    parts = mixed.parts(source, _first_kind(source))
    if len(parts) == 1:
        return parts
    telling = [part for part in parts if not (_is_loose_text(part) and mixed.unread(part) is None)]
    return telling if len(telling) > 1 else [source]


def _first_kind(source: Source) -> str:
    """What a file begins with, for `mixed.parts`."""
    head = source.head
    if table.fits(head, source.columns):
        return mixed.TABLE
    if head.lstrip().startswith(("{", "[")) and (jsonlines.fits(head) or jsonlines.fits_lines(head)):
        return "JSON"
    if frontmatter.fits(head):
        return mixed.PAGE
    if head.lstrip().startswith("<"):
        fitting = [(match.start(), kind) for kind, match in mixed.xml_roots(head)]
        return min(fitting)[1] if fitting else mixed.TEXT
    return mixed.TEXT


def _is_loose_text(part: Source) -> bool:
    """Whether a part of a file is text in which nothing marks papers: beside records it may be a remark."""
    marked = (frontmatter.fits, markdown.fits, labelled.fits)
    return (
        isinstance(part, mixed.Part)
        and part.kind == mixed.TEXT
        and not any(fits(part.head) for fits in marked)
    )


def _read_part(part: Source) -> Iterator[Record | Problem]:
    if _is_loose_text(part):
        problem = mixed.unread(part)
        yield from [problem] if problem else []
        return
    reader = _reader(part)
    if reader in (markdown.read, labelled.read) and (problem := mixed.above(part)):
        yield problem
    yield from reader(part)


def _number(item: Record | Problem) -> int:
    return item.number if isinstance(item, Record) else item.record or 0


def _counted_on(item: Record | Problem, before: int) -> Record | Problem:
    if not before or not _number(item):
        return item
    if isinstance(item, Record):
        return replace(item, number=item.number + before)
    return replace(item, record=_number(item) + before)


def _reader(source: Source) -> Callable[[Source], Iterator[Record | Problem]]:
    *marked, last = FORMATS
    if source.columns and table.fits(source.head, source.columns):
        return table.read
    if source.kind == mixed.TEXT and markdown.fits(source.head):
        return markdown.read  # records of other formats are quoted in it
    fitting = next((known for known in marked if known.fits(source.head)), None)
    if fitting:
        return fitting.read
    if table.looks_like_one(source.head):
        return table.read
    head = source.head.strip()
    if other := foreign(head):
        raise Unreadable(f"this is {other.name}, which is not read", other.remedy)
    if head and not last.fits(source.head):
        raise Unreadable(
            "nothing in it looks like an abstract", f"Give a file with abstracts; {_what_is_read()}"
        )
    return last.read


def _what_is_read() -> str:
    names = ", ".join(known.name for known in FORMATS)
    return f"Pincite reads {names}, each also compressed with gzip or in a ZIP archive, and PDF"


def _doubts(source: Source) -> Iterator[Problem]:
    """What may have been read wrongly, or not to its end."""
    if source.damage:
        cause = f"the gzip file is damaged: {source.damage}; what stands before the damage was read"
        yield Problem(source.name, cause, "Fetch or compress it again")
    if source.cut is not None:
        cause = f"the line is longer than {LINE_LIMIT:,} characters; its rest was not read"
        yield Problem(source.name, cause, "Put each paper on a line of its own", line=source.cut)
    remedy = "Look whether accented letters are right; if not, save the file as UTF-8"
    if source.guessed:
        yield Problem(source.name, f"the encoding was guessed to be {source.encoding}", remedy)
    if source.misread is not None:
        cause = "bytes that are not UTF-8 were read as cp1252, which is a guess"
        yield Problem(source.name, cause, remedy, line=source.misread)


def sources(paths: Sequence[Path]) -> list[Path]:
    """The files that paths, folders and globs stand for: sorted, each once; hidden ones only if named.

    Raises `InputError` naming a path that stands for no file.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        try:
            files = _expanded(path)
        except OSError as error:
            raise InputError(
                f"Cannot look into {path}: {error.strerror}. Check the path and rights."
            ) from error
        if not files:
            what = "holds no files" if path.is_dir() else "does not exist"
            raise InputError(f"{path} {what}. Name a file, a folder or a pattern such as papers/*.txt.")
        found |= {file.resolve(): file for file in reversed(files)}
    return sorted(found.values())


def _expanded(path: Path) -> list[Path]:
    if path.is_dir():
        return _inside(path)
    if path.exists():
        return [path]
    matches = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]
    return [file for match in matches for file in (_inside(match) if match.is_dir() else [match])]


def _inside(folder: Path) -> list[Path]:
    files = []
    for here, folders, names in os.walk(folder, onerror=_fail):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files += [Path(here, name) for name in sorted(names) if not name.startswith(".")]
    return [file for file in files if file.is_file()]


def _fail(error: OSError) -> None:
    raise error
