"""Lists of abstracts as people keep them: paragraphs, with or without a heading and titles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap

from rag.metadata import known_venue, names, year
from rag.nouns import Problem, Record
from rag.readers.record import Found, build, one_line
from rag.readers.source import Source

SHORT = 40  # characters, and
FEW = 6  # words that an abstract has at the least
SAMPLE = 200  # paragraphs that show how a list is laid out
HEADING_LIMIT = 100
TITLE_LIMIT = 250  # characters that a title has at the most
LONG = 200  # characters from which a line is no wrapped line
SPAN = 4_000  # characters from which a paragraph is several abstracts if each of its lines ends a sentence
PARAGRAPH_LIMIT = 1_000_000  # characters held while the end of a paragraph is looked for

_NUMBERED = re.compile(r"\A(?:\[\d{1,4}\]|\d{1,4}[.)]|[-*•]|#{1,6})\s+(?=\S)")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\b\w{1,40}\b")  # a CJK sign counts as a word
_STOP = re.compile(r"[.!?。！？][\"'”’)\]*$]*$")
_SENTENCES = re.compile(r"\w{4}\.\s[A-Z]")
_NO_TITLE_END = re.compile(r"[.;:,。][\"'”’)\]]*$")
_LABEL = re.compile(r"#* ?\**abstract\** ?[:.]?\**", re.I)  # stands over an abstract, says nothing
_RULE = re.compile(r"[-=_*~#]{3,}|(?:[-_*] ){2,}[-_*]")  # a line that parts papers, or underlines one's title
_NAME = r"[A-ZÀ-Þ][\w.’'-]*"
_NO_NAME = r"(?!(?:The|With|And|For|In|On|Of|From|By|An?)\b)"
_PERSON = rf"{_NO_NAME}{_NAME}(?: (?:{_NAME}|v[ao]n|de[rn]?|d[aei]|la|le|al)){{1,4}}"
_PEOPLE = re.compile(rf"{_PERSON}(?:(?:,? and |,? & |[,;] ?){_PERSON}){{0,100}}\.?")
_ROW = re.compile(r"\|.*\|")
_LIST_WORDS = re.compile(
    r"\b(?:all|accepted|selected|list of|papers?|abstracts?|orals?|posters?|spotlights?|proceedings|"
    r"bibliography|reading list|collection|library)\b",
    re.I,
)
_ONE_WORD = re.compile(r"\S+(?:[ '’-]*\d{2,4})?")  # and a year
_ACRONYM = re.compile(r"[A-Za-z]*[A-Z][a-z]*[A-Z]\w*(?:[ '’-]*\d{2,4})?")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines between blank lines, and their joined text without a leading "1." or "#"."""

    line: int
    lines: tuple[str, ...]
    text: str

    @property
    def short(self) -> bool:
        return len(self.text) < SHORT or len(_WORD.findall(self.text[:1000])) < FEW

    @property
    def long(self) -> bool:
        """Surely no title."""
        return len(self.text) > TITLE_LIMIT or (self.text.endswith((".", "。")) and not self.short)

    @property
    def titled(self) -> bool:
        """Whether it may be a title."""
        if len(self.lines) > 3 or len(self.text) > TITLE_LIMIT:
            return False
        return not _NO_TITLE_END.search(self.text) and not _SENTENCES.search(self.text)

    @property
    def listed(self) -> bool:
        """Whether its lines are titles, one each: none ends a sentence, and each begins like a title."""
        return (
            len(self.lines) > 1
            and not _STOP.search(self.text)
            and not _SENTENCES.search(self.text)
            and all(len(line) <= TITLE_LIMIT and line[:1].isupper() for line in self.lines)
        )

    @property
    def headed(self) -> bool:
        """Whether it names a venue and nothing else ("ICML 2024 Papers")."""
        if len(self.lines) > 1 or len(self.text) > HEADING_LIMIT:
            return False
        rest = _LIST_WORDS.sub("", self.text).strip(" :")
        return not rest or bool(_ONE_WORD.fullmatch(rest) and known_venue(rest))


def fits(head: str) -> bool:
    """Whether a text holds a paragraph that may be an abstract."""
    return any(not paragraph.short and not paragraph.listed for paragraph in _sample(head))


def read(source: Source) -> Iterator[Record | Problem]:
    """Read the abstracts of a list; `number` counts the abstracts."""
    sample = _sample(source.head)[:SAMPLE]
    topped = _topped(sample)
    sample = list(_without_tops(sample)) if topped else sample
    titles = _has_titles(sample)
    heading = _first_heading(sample, titles)
    named = _authors_below(sample)
    title: Paragraph | None = None
    number = 0
    listed = paragraphs(source.lines())
    for paragraph, following in _with_next(_without_tops(listed) if topped else listed):
        if paragraph.headed or (heading and paragraph.line == sample[0].line):
            heading = paragraph.text.rstrip(" :")
            continue
        role = _role(paragraph, following, titles)
        if role == "title":
            title = paragraph
        elif role == "abstract":
            number += 1
            found = _found(heading, title, paragraph.text, named)
            yield build(source.name, number, (title or paragraph).line, found)
            title = None
        else:
            title = None
            yield Problem(
                source.name, role, "Put it together with its abstract, or delete it", line=paragraph.line
            )


def _role(paragraph: Paragraph, following: Paragraph | None, titles: bool | None) -> str:
    """ "title", "abstract", or the reason why a paragraph is neither."""
    leads = paragraph.titled and following is not None and following.long and not following.headed
    if leads and (titles is not False or not paragraph.short):
        return "title"
    if titles and paragraph.titled and not paragraph.long:
        return "a title without an abstract"
    if all(map(_ROW.fullmatch, paragraph.lines)):
        return "a table, not an abstract"
    if paragraph.listed:
        return "titles without abstracts"
    return "too short for an abstract" if paragraph.short else "abstract"


def _topped(sample: Sequence[Paragraph]) -> bool:
    """Whether most paragraphs of several lines begin with a title, on a line of its own."""
    several = [paragraph for paragraph in sample if len(paragraph.lines) > 1]
    return len(several) > 1 and sum(map(_has_top, several)) > 0.8 * len(several)


def _has_top(paragraph: Paragraph) -> bool:
    """Whether the first line is no wrapped one: the next word, a capital one, would have fitted on it."""
    top, *rest = paragraph.lines
    word = rest[0].split(" ", 1)[0]
    fitted = len(top) + len(word) < max(map(len, rest))
    abstract = _paragraph(paragraph.line + 1, rest)
    return (
        fitted
        and word[:1].isupper()
        and _paragraph(0, [top]).titled
        and abstract.long
        and len(rest[0]) > len(top)
    )


def _without_tops(paragraphs: Iterable[Paragraph]) -> Iterator[Paragraph]:
    """The title of each paragraph that has one as a paragraph of its own."""
    for paragraph in paragraphs:
        if len(paragraph.lines) > 1 and _has_top(paragraph):
            yield _paragraph(paragraph.line, paragraph.lines[:1])
            yield _paragraph(paragraph.line + 1, paragraph.lines[1:])
        else:
            yield paragraph


def _has_titles(sample: Sequence[Paragraph]) -> bool | None:
    """Whether titles stand before most of the abstracts; None where nothing tells.

    The first paragraph tells nothing: it may be a heading as well as a title.
    """
    long = [i for i, paragraph in enumerate(sample) if paragraph.long and i > (not sample[0].headed)]
    before = [sample[i - 1].titled and not sample[i - 1].headed for i in long if i]
    return sum(before) > len(before) / 2 if before else None


def _first_heading(sample: Sequence[Paragraph], titles: bool | None) -> str:
    """The first paragraph's text if it is the list's heading and not the first paper's title."""
    if len(sample) < 2:
        return ""
    first, *others = sample
    if not (first.titled or first.headed) or len(first.lines) > 1:
        return ""
    above_title = len(others) > 1 and others[0].titled and not others[0].long and others[1].long
    says_so = titles is None and first.text.lower().endswith(("papers", "abstracts", "list", "bibliography"))
    return first.text if first.headed or above_title or titles is False or says_so else ""


def _found(heading: str, title: Paragraph | None, abstract: str, named: bool) -> Found:
    rest = " ".join(_LIST_WORDS.sub("", heading).split())
    venue = rest if known_venue(rest) or _ACRONYM.fullmatch(rest) else ""
    authors: tuple[str, ...] = ()
    if title and named and len(title.lines) > 1 and _PEOPLE.fullmatch(title.lines[-1]):
        authors, title = names(title.lines[-1]), _paragraph(title.line, title.lines[:-1])
    titled = title.text if title else ""
    return Found(
        abstract=abstract, title=titled, authors=authors, year=year(heading), venue=venue, heading=heading
    )


def _authors_below(sample: Sequence[Paragraph]) -> bool:
    """Whether the titles of a list have authors below them: all end with names, one or more with several."""
    last = [paragraph.lines[-1] for paragraph in sample if len(paragraph.lines) > 1 and paragraph.titled]
    several = [line for line in last if "," in line or " and " in line or "&" in line]
    return bool(several) and all(map(_PEOPLE.fullmatch, last))


def _sample(head: str) -> list[Paragraph]:
    return list(paragraphs(enumerate(head.split("\n"), 1)))


def _with_next(paragraphs: Iterator[Paragraph]) -> Iterator[tuple[Paragraph, Paragraph | None]]:
    current = next(paragraphs, None)
    while current:
        following = next(paragraphs, None)
        yield current, following
        current = following


def paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[Paragraph]:
    """The paragraphs of numbered lines."""
    kept: list[str] = []
    first = size = 0
    for number, line in lines:
        text = line.strip()
        text = "" if _LABEL.fullmatch(text[:20]) or _RULE.fullmatch(text[:200]) else text
        if kept and (not text or size > PARAGRAPH_LIMIT):
            yield from _parted(first, kept)
            kept, size = [], 0
        if text:
            first = first if kept else number
            kept.append(text)
            size += len(text)
    if kept:
        yield from _parted(first, kept)


def _parted(first: int, lines: list[str]) -> Iterator[Paragraph]:
    """One paragraph, or one a line where no line is a wrapped one."""
    top = _paragraph(first, lines[:1])
    if len(lines) > 1 and top.headed:
        yield top
        first, lines = first + 1, lines[1:]
    sentences = sum(map(len, lines)) > SPAN and all(map(_ends_sentence, lines))
    if sentences or all(starmap(_stands_alone, zip(lines, [*lines[1:], ""], strict=True))):
        yield from (_paragraph(first + i, [line]) for i, line in enumerate(lines))
    else:
        yield _paragraph(first, lines)


def _stands_alone(line: str, after: str) -> bool:
    """Whether a line is a whole abstract, or the title of one that is the next line."""
    if len(line) >= LONG:
        return _ends_sentence(line)
    return len(after) >= LONG and _ends_sentence(after) and not _NO_TITLE_END.search(line)


def _ends_sentence(line: str) -> bool:
    return bool(_STOP.search(line[-20:]))


def _paragraph(first: int, lines: Sequence[str]) -> Paragraph:
    # A hyphen at a line's end stays, and takes no space behind it.
    joined = re.sub(r"(?<=\w-)\n(?!and\b|or\b)", "", "\n".join(lines))
    return Paragraph(first, tuple(lines), one_line(_NUMBERED.sub("", joined)))
