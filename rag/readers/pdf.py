"""PDF, by pypdfium2: title and abstract of a paper, by the layout of its first pages."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pypdfium2.raw as raw  # type: ignore[import-untyped]

from rag.metadata import known_venue, names, year
from rag.nouns import Problem, Record
from rag.readers.record import Found, build

PAGES = 3  # a title page may stand before the abstract
CHARACTERS = 40_000  # of a page that are looked at
LONGEST = 6_000  # characters from which no more lines are taken for the abstract
TITLE_LIMIT = 300
_ABSTRACT = re.compile(
    r"(?:(?i:abstract|summary)|(?:(?i:abstract)\s?[.:—–-]+|ABSTRACT)\s*(?P<text>\S.*))[.:—–-]*"
)
_END = re.compile(
    r"(?:(?:\d{1,2}|[ivx]{1,4})[.)]?\s{0,3})?(?:introduction|motivation)\b.{0,3}|"
    r"(?:key\s?words(?: and phrases)?|index terms|ccs concepts|categories and subject descriptors|general terms|"
    r"acm reference format|jel (?:codes?|classification)|contents)\b.*|"
    r"(?-i:1\.?\s{1,3}[A-Z].{2,60}[^.,;])|\*?\s?(?:equal contribution|corresponding author|proceedings of the)\b.*",
    re.I,
)
_STAMP = re.compile(r"arXiv:\S+v?\d*(?:\s*\[[\w.-]+\])?.*")
_PLACE = re.compile(
    r"(?:proceedings of|published as a|conference on|under review as|accepted (?:at|to|by)|journal of)", re.I
)
_SOFT_HYPHENS = (0x2, 0xAD, 0xFFFE, 0)  # PDFium's marks where a word is parted at a line's end
_NO_TITLE = re.compile(
    r"(?:microsoft (?:word|powerpoint)\b.*|untitled.*|.*\.(?:docx?|tex|dvi|pdf|indd)|\W*|title)", re.I
)


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    size: float  # of its letters, in points


def read(path: Path, name: str) -> Iterator[Record | Problem]:
    """Read the one paper of a PDF."""
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as error:
        locked = "password" in str(error).lower()
        cause = "the PDF is locked by a password" if locked else "the PDF is damaged, or none"
        yield Problem(name, cause, "Save it without a password" if locked else "Fetch it again")
        return
    try:
        lines = [line for number in range(min(PAGES, len(document))) for line in _lines(document, number)]
        metadata = document.get_metadata_dict()
    finally:
        document.close()
    if not lines:
        remedy = "Recognise its text first (OCR), or give the abstract as text"
        yield Problem(name, "a PDF without text, such as a scan", remedy)
        return
    yield build(name, 1, None, _found(lines, metadata))


def _lines(document: pdfium.PdfDocument, number: int) -> list[_Line]:
    """The lines of a page, in the order in which the page states them; none of a page that cannot be read."""
    try:
        page = document[number].get_textpage()
        count = min(page.count_chars(), CHARACTERS)
    except pdfium.PdfiumError:
        return []
    lines: list[_Line] = []
    letters: list[str] = []
    size = 0.0
    for at in range(count + 1):
        code = raw.FPDFText_GetUnicode(page, at) if at < count else ord("\n")
        if code in (10, 13):
            text = " ".join("".join(letters).split())
            lines += [_Line(text, size)] if text else []
            letters, size = [], 0.0
        elif code not in _SOFT_HYPHENS and code <= sys.maxunicode:
            letters.append(chr(code))
            size = max(size, _size(page, at)) if chr(code).isalpha() else size
    return lines


def _size(page: pdfium.PdfTextPage, at: int) -> float:
    """The height of a letter's font on the page, in points to a tenth; 0.0 of a letter without a place."""
    box = raw.FS_RECTF()
    found = raw.FPDFText_GetLooseCharBox(page, at, box)
    return round(float(box.top - box.bottom), 1) if found else 0.0


def _found(lines: Sequence[_Line], metadata: Mapping[str, str]) -> Found:
    stamps = [line.text for line in lines if _STAMP.match(line.text)]
    lines = [line for line in lines if not _STAMP.match(line.text)]
    start, opening = _abstract_start(lines)
    above = lines[:start]
    title = _title(above)
    stated = metadata.get("Title", "")
    if not title:
        title = "" if _NO_TITLE.fullmatch(stated) else stated
    place = next((p for line in lines if _PLACE.search(line.text) and (p := known_venue(line.text))), "")
    placed = next((line.text for line in lines if place and known_venue(line.text) == place), "")
    return Found(
        abstract=_abstract(lines[start + 1 :], opening) if start < len(lines) else "",
        title=title,
        authors=names(metadata.get("Author", "")),
        year=year(placed),
        venue=placed,
        ids=(*stamps, *(line.text for line in lines if "doi" in line.text.lower())),
    )


def _abstract_start(lines: Sequence[_Line]) -> tuple[int, str]:
    """The line that the word "Abstract" begins, and what stands behind it; the end if there is none."""
    for n, line in enumerate(lines):
        if headed := _ABSTRACT.fullmatch(_unspaced(line.text)):
            return n, headed["text"] or ""
    return len(lines), ""


def _unspaced(text: str) -> str:
    """Letters of a heading that are set apart (`A B S T R A C T`) put together."""
    return re.sub(r"\A(?:\w ){7}\w(?!\w)", lambda m: m[0].replace(" ", ""), text)


def _abstract(lines: Sequence[_Line], opening: str) -> str:
    """Lines up to the heading of what follows."""
    kept = [opening] if opening else []
    for line in lines:
        if _END.fullmatch(_unspaced(line.text)) or sum(map(len, kept)) > LONGEST:
            break
        kept.append(line.text)
    return " ".join(kept)


def _title(above: Sequence[_Line]) -> str:
    """The lines in the largest letters above the abstract, if they stand together."""
    largest = max((line.size for line in above if len(line.text) > 3), default=0.0)
    sizes = {line.size for line in above}
    if len(sizes) < 2:
        return ""
    first = next(n for n, line in enumerate(above) if line.size == largest and len(line.text) > 3)
    lines = takewhile(lambda line: line.size > 0.97 * largest, above[first:])
    title = " ".join(line.text for line in lines)
    return title if len(title) <= TITLE_LIMIT else ""
