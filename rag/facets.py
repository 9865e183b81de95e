"""Venues, years and authors that a question names to say *which papers* it is about.

A name is taken only in such a role ("in ICML 2024 papers", "papers from 2023", "by Smith et al."): the year of
"Brenier's 1991 result" or of "ImageNet 2012" restricts nothing. English, and the main German, French and Spanish forms.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from rag.metadata import known_venue
from rag.nouns import Filters
from rag.records import Records
from rag.words import STOP

THINGS = (
    r"(?:papers?|works?|abstracts?|articles?|stud(?:y|ies)|submissions?|publications?|proceedings|contributions?|"
    r"arbeit(?:en)?|papieren?|papiere?|artikeln?|aufs(?:atz|ätzen?)|beitr(?:ag|ägen?)|veröffentlichung(?:en)?|"
    r"travaux|articulos?|artículos?|papiers?|trabajos?|publicaci(?:ón|ones)|public?ations?)"
)
# A private character stands for each name found, so that roles are told by patterns over short texts.
LONGEST = 4_000  # characters of a question that is looked through: names must not outnumber the characters
_VENUE, _YEAR, _PERSON, _QUOTE = 0xE000, 0xE800, 0xF000, 0xF800
_V, _Y, _P = "[\ue000-\ue7ff]", "[\ue800-\uefff]", "[\uf000-\uf7ff]"
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_AND = r"\s*(?:,|/|&|\b(?:and|or|und|oder|et|ou|y|o)\b)+\s*(?:(?:from|in|at|the|von|bei|de)\s+)*"
_VS, _YS = rf"{_V}(?:{_AND}{_V})*", rf"{_Y}(?:{_AND}{_Y})*"
_THE = r"(?:(?:the|den|der|dem|die|das|les?|la|los|las|el|l['’]|years?|jahre?|année|año|conference|konferenz)\s*)*"
_IN = (
    rf"\b(?:in|at|from|of|among|within|between|bei|beim|von|vom|aus|auf|unter|zu|im|am|dans|chez|parmi|de|du|des|à|en|"
    rf"del|entre|para)\s+{_THE}"
)
_PUBLISHED = (
    r"(?:published|presented|appeared|appearing|accepted|released|written|erschienen|veröffentlicht(?:en)?|"
    r"publiée?s?|parus?|presentad[oa]s?|publicad[oa]s?)"
)
_WHEN = (
    r"(?:(?:that|which)\s+)?(?:(?:were|are|was|is|appeared|came out)\s+)?"
    rf"(?:{_PUBLISHED}\s+)?\b(?P<op>in|of|from|since|after|before|until|up to|between|aus|von|seit|nach|vor|bis|"
    r"zwischen|de|en|depuis|après|avant|entre|desde|del|después de|antes de|hasta)\s+"
    rf"{_THE}(?P<years>{_Y}(?:(?:{_AND}|\s*(?:-|–|to|until|bis|à|a|hasta)\s*){_Y})*)"
)
_OP = {word: op for op, some in {
    ">=": "since seit depuis desde", ">": "after nach après después", "<": "before vor avant antes",
    "<=": "until up bis hasta"}.items() for word in some.split()}  # fmt: skip
_CUES = tuple(
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        # "what does ICML 2024 have on audio", "summarise what ICML has on audio"
        (rf"\bwhat\s+(?:does|do|did)\s+{_THE}{_VS}\s+(?:have|hold|say|offer|publish|contain)(?:\s+to\s+say)?"
         r"(?P<on>\s+(?:on|about))", r"which papers are\g<on>"),
        (rf"\bwhat\s+{_THE}{_VS}\s+(?:has|have|had|holds?|says?|said|offers?|published)(?:\s+to\s+say)?"
         r"(?P<on>\s+(?:on|about))", r"the papers\g<on>"),
        (rf"\b(?P<what>was|que|qué|qu['’]est-ce que)\s+(?:hat|haben|dit|dice|tiene)\s+{_THE}{_VS}"
         r"(?P<on>\s+(?:zu|über|sur|sobre))", r"\g<what>\g<on>"),
        (rf"\b(?:among|of)\s+{_THE}{_VS}\s+{THINGS}\s*,?\s+which\b"
         r"(?!\s+(?:methods?|approach|models?|algorithms?|techniques?|systems?|data|ones?)\b)", "which papers"),
        (rf"{_IN}{_VS}\s+{THINGS}\s*,?\s+how many\s+(?!{THINGS}|of\b)(?=\w+\s)", "how many papers "),
        (rf"{_IN}{_VS}\s+{THINGS}(?=\s*,)\s*,?", ""),  # "among the ICML papers, which ..."
        (rf"{_VS}(?:['’]s)?[\s-]+(?=(?:{THINGS}|ones?)\b)", ""),
        (rf"(?:{_PUBLISHED}\s+)?{_IN}{_VS}(?:\s+(?:conference|proceedings))?", ""),
        (rf"(?<!\d ){_YS}\s+(?={THINGS}\b)", ""),
        (rf"(?P<keep>\b{THINGS})\s+{_WHEN}", r"\g<keep>"),
        (rf"\b{_PUBLISHED}\s+{_WHEN}", ""),
        (rf"(?P<keep>\b(?:anything|something|everything|there|those|ones|etwas|alles|algo|tout)\s+){_WHEN}",
         r"\g<keep>"),
        (rf"^\W*{_IN}{_YS}\s*,?(?=.*\b{THINGS}\b)", ""),
        (rf"(?P<keep>\b{THINGS}\s+)(?:(?:that|which)\s+(?:were|are|was)\s+)?(?:(?:co-?)?(?:written|authored|published)"
         rf"\s+)?(?:by|from|of|von|par|de|por|d['’])\s*{_P}(?:{_AND}{_P})*", r"\g<keep>"),
        (rf"(?:\b(?:(?:co-?)?(?:written|authored|published)\s+)?(?:by|von|par|por)\s+)?{_P}(?:{_AND}{_P})*"
         rf"(?:['’]s?)?\s+(?={THINGS}\b)", ""),
        (rf"\b(?:(?:co-?)?(?:written|authored|published)\s+)?(?:by|von|par|por)\s+{_P}(?:{_AND}{_P})*", ""),
    )
)  # fmt: skip
_YEAR_NUMBER = re.compile(r"(?<![\w.,:/-])(?:19[5-9]\d|20[0-4]\d)(?![\w%]|[.,]\d)")
_ATTACHED = re.compile(r"(?:\s+|[-'’]|\s['’])?((?:19[5-9]|20[0-4])\d)(?!\w)|(?:-|['’]|\s['’]|)(\d\d)(?!\w)")
_QUOTED = re.compile(r"“[^”]+”|\"[^\"]+\"|«[^»]+»|„[^“”]+[“”]")
_AMBIGUOUS = frozenset(
    "log alt chi rss www uai colt acl arxiv".split()
)  # words or too short, in small letters
_LONG_VENUE = (
    r"(?:[A-Z][\w-]+ ){0,3}(?:Conference|Journal|Transactions|Symposium) (?:on|of)"
    r"(?: (?:and|of|on|in|for|[A-Z][\w-]+))+"
    r"|Neural Information Processing Systems"
)
_SHORT_VENUE = r"(?<![\w-])[A-Za-z]{3,11}(?![A-Za-z])"
_NAME = r"[^\W\d_][\w'’.-]*"
_WRITTEN = (
    rf"(?:{THINGS}|(?:any|some|every)thing|written|authored|published|etwas|alles|algo|écrits?|escrit[oa]s?)"
)
_SOMEBODY = r"(?:(?:somebody|someone|an author|a person|people)\s+(?:called|named)\s+)?"
_BY = re.compile(
    rf"(?P<sure>\b{_WRITTEN}\s+)?\b(?P<by>by|from|of|von|par|por|de|d['’])\s*{_SOMEBODY}"
    rf"(?P<name>{_NAME}(?:\s+{_NAME}){{0,4}})",
    re.IGNORECASE,
)
_OWNER = re.compile(
    rf"(?P<name>{_NAME}(?:\s+{_NAME}){{0,2}}?)(?:['’]s?|\s+et\.?\s+al\.?(?:['’]s?)?)\s+(?={THINGS}\b)"
)
_OTHERS = re.compile(
    r"\s*(?:,?\s*et\.?\s+al\b\.?|(?:and|und|et|y)\s+(?:colleagues|others|co-?authors|kolleg\w+|collègues|colegas)\b)",
    re.IGNORECASE,
)
_NAMES = re.compile(rf"{_NAME}(?:\s+{_NAME}){{0,4}}")
_MORE = re.compile(rf"\s*(?:,|and|or|und|oder|et|ou|y|o|&)\s+(?={_NAME})", re.IGNORECASE)
_BETWEEN = frozenset("between zwischen entre".split())
_AGAINST = re.compile(r"\b(?:than|over|against|versus|vs|compared?|outperforms?|beats?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Facets:
    """What a question restricts itself to; `rest` is the question without the words that only say so."""

    rest: str
    venues: tuple[str, ...] = ()
    years: tuple[int, ...] = ()
    authors: tuple[str, ...] = ()
    known: bool = True  # the library holds papers of each of them

    def __bool__(self) -> bool:
        return bool(self.venues or self.years or self.authors)

    @property
    def filters(self) -> Filters:
        return Filters(venues=self.venues, years=self.years, authors=self.authors)


def facets_of(question: str, records: Records, *, loose: bool = False) -> Facets:
    """The facets that a question names in a restricting role; `loose`: in any role."""
    if len(question) > LONGEST:
        return Facets(question)
    reading = _Reading(records, _PRIVATE.sub("", " ".join(question.split())))
    reading.read()
    for cue, instead in _CUES:
        while found := cue.search(reading.text):
            reading.take(found[0], found.groupdict())
            reading.text = reading.text[: found.start()] + found.expand(instead) + reading.text[found.end() :]
    if loose:
        reading.take(reading.text, {})
        reading.text = re.sub(f"{_V}|{_Y}|{_P}", " ", reading.text)
    return reading.facets()


@dataclass
class _Reading:
    """A question in which private characters stand for names, and what was taken of them."""

    records: Records
    text: str
    said: dict[str, str] = field(default_factory=dict)  # the character -> the words as typed
    meant: dict[str, tuple[str, int]] = field(default_factory=dict)  # -> venue or person, and year (0: none)
    venues: list[str] = field(default_factory=list)
    years: list[int] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)

    def read(self) -> None:
        """Put a character for every quotation, venue, year and author of the question."""
        for found in reversed(list(_QUOTED.finditer(self.text))):
            self._mark(found.start(), found.end(), _QUOTE, "", 0)
        for start, end, venue in reversed(list(_venues_in(self.text, self.records))):
            attached = _ATTACHED.match(self.text, end)
            number = (attached[1] or f"20{attached[2]}") if attached else "0"
            self._mark(start, attached.end() if attached else end, _VENUE, venue, int(number))
        for found in reversed(list(_YEAR_NUMBER.finditer(self.text))):
            self._mark(found.start(), found.end(), _YEAR, "", int(found[0]))
        self._read_people()

    def _read_people(self) -> None:
        for found in reversed(list(_OWNER.finditer(self.text))):
            words = found["name"].split()
            for n in range(len(words)):
                name = " ".join(words[n:])
                if self.records.authors_named(name):
                    start = found.end("name") - len(name)
                    self._mark(start, found.end("name"), _PERSON, name, 0)
                    break
        place = 0
        while found_by := _BY.search(self.text, place):
            place = found_by.start("name")
            more: re.Match[str] | None = found_by
            while more:
                end = self._read_person(place, bool(found_by["sure"]), found_by["by"].casefold() == "by")
                more = _MORE.match(self.text, end) if end else None
                place = more.end() if more else place + 1

    def _read_person(self, start: int, sure: bool, by: bool) -> int:
        """Mark the name that begins here, if it is an author's; where it ends then, or 0."""
        found = _NAMES.match(self.text, start)
        words = found[0].split() if found else []
        for n in range(len(words), 0, -1):
            name = " ".join(words[:n]).rstrip(".,'’")
            others = _OTHERS.match(self.text, start + len(name))
            capitals = all(w[0].isupper() for w in (words[0], words[n - 1]))
            if not sure and not (capitals and (others or n > 1) and not _AGAINST.search(self.text)):
                continue
            if n == 1 and name.islower() and (name in STOP or len(name) < 3):
                continue
            if self.records.authors_named(name):
                return self._person(start, name, others)
        name = " ".join(itertools.takewhile(lambda w: w[0].isupper(), words)).rstrip(".,'’")
        if sure and by and name:  # an author that the library does not hold
            return self._person(start, name, _OTHERS.match(self.text, start + len(name)))
        return 0

    def _person(self, start: int, name: str, others: re.Match[str] | None) -> int:
        self._mark(start, others.end() if others else start + len(name), _PERSON, name, 0)
        return start + 1

    def _mark(self, start: int, end: int, first: int, name: str, year: int) -> None:
        sign = chr(first + len(self.said))
        self.said[sign] = self.text[start:end]
        self.meant[sign] = (name, year)
        self.text = f"{self.text[:start]}{sign}{self.text[end:]}"

    def take(self, span: str, groups: Mapping[str, str | None]) -> None:
        """Note what the characters of a span stand for."""
        years = [self.meant[c][1] for c in span if re.match(_Y, c)]
        self.years += self._range(years, (groups.get("op") or "").casefold(), groups.get("years") or "")
        for sign in span:
            name, year = self.meant.get(sign, ("", 0))
            if re.match(_V, sign):
                self.venues.append(name)
                self.years += [year] if year else []
            elif re.match(_P, sign):
                people = self.records.authors_named(name)
                self.authors.append(people[0] if len(people) == 1 else name)

    def _range(self, years: list[int], op: str, said: str) -> list[int]:
        """The years meant by "since 2020" or "between 2020 and 2022": those that the library holds, if any."""
        how = _OP.get(op.partition(" ")[0], "")
        if len(years) == 2 and (op in _BETWEEN or re.search(r"[-–]|\b(?:to|until|bis|à|a|hasta)\b", said)):
            first, last = min(years), max(years)
        elif how and years:
            first = {">=": years[0], ">": years[0] + 1}.get(how, 0)
            last = {"<": years[0] - 1, "<=": years[0]}.get(how, 9999)
        else:
            return years
        return sorted(y for y in self.records.years if first <= y <= last) or [first or last]

    def facets(self) -> Facets:
        text = self.text
        for sign in reversed(self.said):
            text = text.replace(sign, self.said[sign])
        text = re.sub(r"\s+([?.!,;:])", r"\1", " ".join(text.split()))
        venues, years = tuple(dict.fromkeys(self.venues)), tuple(dict.fromkeys(self.years))
        authors = tuple(dict.fromkeys(self.authors))
        known = (
            all(v in self.records.venues for v in venues)
            and all(y in self.records.years for y in years)
            and all(self.records.authors_named(a) for a in authors)
        )
        return Facets(text.lstrip(" ,;:"), venues, years, authors, known)


def _venues_in(text: str, records: Records) -> Iterator[tuple[int, int, str]]:
    """Places of venues: the library's by their names, others by their usual short names."""
    end = 0
    for found in _candidates(records).finditer(text):
        venue = _venue(found[0], records)
        if venue and found.start() >= end:
            end = found.end()
            yield found.start(), end, venue


@lru_cache(maxsize=4)
def _candidates(records: Records) -> re.Pattern[str]:
    own = sorted(records.venues, key=len, reverse=True)
    names = [rf"(?i:(?<!\w){re.escape(v)}(?![^\W\d]))" for v in own]
    return re.compile("|".join([_LONG_VENUE, *names, _SHORT_VENUE]))


def _venue(said: str, records: Records) -> str:
    """The venue that words name: as the library writes it, or by its usual short name, or ""."""
    own = {v.casefold(): v for v in records.venues}.get(said.casefold())
    short = own or known_venue(said)
    doubtful = said.casefold() in _AMBIGUOUS and said not in (short, said.upper())
    return "" if doubtful else short
