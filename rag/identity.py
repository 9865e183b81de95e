"""When two records tell of the same paper, and what the paper is when several records tell of it."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar
from zlib import crc32

from rag.labels import label
from rag.nouns import Paper, Record
from rag.text import plain

NAMES = "names/3"  # raised when names come out differently: what is stored is then named anew
SKETCH = 10  # hashes a sketch
SHARED = 2  # of them that two texts must share to be compared; fewer where a sketch has fewer
SAME = 0.75  # Jaccard of word 3-shingles from which two abstracts are one
EDITED = 0.5  # the same for a new version of a record in the same file, and for papers of one title
SHORT = 12  # letters of a title below which it does not tell papers apart ("Editorial")
YEARS = 2  # a preprint and its publication are a year or two apart; a namesake usually is not that near
_WORD = re.compile(r"\w+")
_NO_LETTERS = re.compile(r"[\W_]+")
_VERSION = re.compile(r"arxiv\W.*?\d(v\d+)\b", re.I)
_SERIES = ("", "arXiv", "PMLR")  # where a paper is stored; a conference or journal tells more
_KINDS = {
    "doi": "DOI",
    "arxiv": "arXiv id",
    "openreview": "OpenReview id",
    "pmlr": "PMLR id",
    "pmid": "PubMed id",
}
_EXACT, _TEXT, _UNTITLED = range(3)  # kinds of names, in the lowest two bits of each

Group = TypeVar("Group", bound=Hashable)


# --- what is compared ---


def _folded(text: str) -> str:
    text = plain(text)
    return text.lower() if text.isascii() else unicodedata.normalize("NFKD", text).casefold()


@lru_cache(maxsize=4096)
def skeleton(text: str) -> str:
    """Letters and digits only, folded: equal for texts that differ in layout, accents or markup."""
    return _NO_LETTERS.sub("", _folded(text))


@lru_cache(maxsize=64)
def shingles(text: str) -> frozenset[str]:
    """Runs of three words (or the whole of a shorter text), folded."""
    words = _WORD.findall(_folded(text))
    return frozenset(map(" ".join, zip(words, words[1:], words[2:], strict=False))) or frozenset(
        [" ".join(words)]
    )


@lru_cache(maxsize=64)
def sketch(text: str) -> tuple[int, ...]:
    """The smallest hashes of a text's shingles (bottom-k MinHash, Broder 1997)."""
    return tuple(sorted({crc32(s.encode("utf-8", "surrogatepass")) for s in shingles(text)})[:SKETCH])


def resemblance(a: str, b: str) -> float:
    """Jaccard similarity of two texts' shingles, 0 to 1."""
    one, two = shingles(a), shingles(b)
    return len(one & two) / len(one | two)


def ids(record: Record | Paper) -> list[str]:
    """Names that belong to one paper alone: registered identifiers."""
    pairs = (
        ("doi", record.doi.casefold()),
        ("arxiv", record.arxiv),
        ("openreview", record.openreview),
        ("pmlr", record.pmlr),
        ("pmid", record.pmid),
    )
    return [f"{kind}:{value}" for kind, value in pairs if value]


def title_name(title: str) -> str:
    """A name for a title; empty for titles too short to tell papers apart ("Introduction")."""
    bones = skeleton(title)
    return f"title:{bones}" if len(bones) >= SHORT else ""


# --- names: where to look for a record's paper ---


def exact_names(record: Record) -> list[int]:
    """The record's identifiers and title as numbers of 64 bits."""
    found = [*ids(record), title_name(record.title)]
    return [_number(name, _EXACT) for name in found if name]


def text_names(record: Record) -> list[int]:
    """The sketch of the abstract under which the papers it may join are to be found.

    A titled record joins by its text only papers without a title, so that only those are looked for.
    """
    kind = _UNTITLED if title_name(record.title) else _TEXT
    return [h << 2 | kind for h in sketch(record.abstract)]


def names(record: Record) -> list[int]:
    """Everything a paper is to be found by because a record tells of it."""
    kinds = (_TEXT,) if title_name(record.title) else (_TEXT, _UNTITLED)
    smallest = sketch(record.abstract)
    return [*dict.fromkeys(exact_names(record)), *(h << 2 | kind for kind in kinds for h in smallest)]


def _number(name: str, kind: int) -> int:
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True) & ~3 | kind


# --- one paper or two ---


def same_people(a: Sequence[str], b: Sequence[str]) -> bool:
    """True unless both name a first author and their surnames differ; "Wei Wang" is "Wang Wei"."""
    if not a or not b:
        return True
    one, two = ([skeleton(part) for part in people[0].split()] for people in (a, b))
    return one[-1:] == two[-1:] or sorted(one) == sorted(two)


def identified(a: Record, b: Record) -> str:
    """Why two records are surely of one paper, in words; "" if that is not sure.

    An identifier; or the title, years that agree, and the first author. Where one record names no people, both
    must give the same year or have abstracts that are alike.
    """
    shared = set(ids(a)) & set(ids(b))
    if shared:
        return "same " + ", ".join(
            word for kind, word in _KINDS.items() if any(s.startswith(kind) for s in shared)
        )
    title = title_name(a.title)
    if not title or title != title_name(b.title):
        return ""
    if a.year and b.year and abs(a.year - b.year) > YEARS or not same_people(a.authors, b.authors):
        return ""
    if a.authors and b.authors:
        return "same title and first author"
    if a.year and a.year == b.year:
        return "same title and year"
    return "same title, abstracts alike" if resemblance(a.abstract, b.abstract) >= EDITED else ""


def belongs(record: Record, groups: Mapping[Group, Sequence[Record]]) -> list[Group]:
    """Of groups of records that are a paper each, those that are one paper with this record; the closest first.

    First those that `identified` names. Then, by the text alone, those whose abstract is the same, as long as no
    two titles meet so.
    """
    close = sorted(groups, key=lambda g: max(likeness(record, r) for r in groups[g]), reverse=True)
    sure = [g for g in close if any(identified(record, r) for r in groups[g])]
    titles = _titles([record, *(r for g in sure for r in groups[g])])
    for group in close:
        theirs = _titles(groups[group])
        parted = titles and theirs and not (titles == theirs and len(max(titles)) < SHORT)
        if (
            group not in sure
            and not parted
            and any(resemblance(record.abstract, r.abstract) >= SAME for r in groups[group])
        ):
            sure.append(group)
            titles |= theirs
    return sure


def regrouped(records: Sequence[Record], joined: Callable[[Record, Record], bool]) -> list[list[Record]]:
    """Records as the papers they would have become had they been read in this order; `joined` are one anyway."""
    groups: dict[int, list[Record]] = {}
    for n, record in enumerate(records):
        mine = belongs(record, groups)
        mine += [g for g in groups if g not in mine and any(joined(record, r) for r in groups[g])]
        first = min(mine, default=n)
        groups[first] = [r for g in sorted(mine) for r in groups.pop(g)] + [record]
    return [groups[g] for g in sorted(groups)]


def edited(record: Record, earlier: Record) -> bool:
    """Whether a record is a new version of one with its citation key: title or text is kept."""
    same_title = title_name(record.title) == title_name(earlier.title)
    return same_title or resemblance(record.abstract, earlier.abstract) >= EDITED


def likeness(record: Record, other: Record) -> tuple[bool, bool, float]:
    """How alike two records are: larger is better."""
    return (
        bool(set(ids(record)) & set(ids(other))),
        bool(record.title) and skeleton(record.title) == skeleton(other.title),
        resemblance(record.abstract, other.abstract),
    )


def _titles(records: Iterable[Record]) -> set[str]:
    return {skeleton(r.title) for r in records if r.title}


# --- one paper of many records ---


def merged(records: Sequence[Record], *, key: str, paper_id: int = 0) -> Paper:
    """One paper of all its records: of each field the richest value, earlier records first.

    Authors' own abstracts win over summaries (records with a note), then the longer text. A conference or
    journal wins over arXiv, and brings its year.
    """
    best = max(records, key=lambda r: (not r.note, len(r.abstract)))
    placed = max(records, key=lambda r: (r.venue not in _SERIES, bool(r.venue)))
    titled = _first(records, "title")
    first = records[0]
    return Paper(
        id=paper_id,
        key=key,
        label=titled or label(first.abstract, first.heading, first.number),
        abstract=best.abstract,
        title=titled,
        authors=max((r.authors for r in records), key=lambda people: (len(people), sum(map(len, people)))),
        year=placed.year or _first(records, "year"),
        venue=placed.venue,
        venue_as_found=placed.venue_as_found or _first(records, "venue_as_found"),
        note=best.note,
        sources=tuple(dict.fromkeys(r.source for r in records)),
        **{name: _first(records, name) for name in _PLAIN_FIELDS},
    )


_PLAIN_FIELDS = ("url", "doi", "arxiv", "openreview", "pmlr", "pmid", "citekey")


def _first(records: Iterable[Record], name: str) -> Any:
    values = [getattr(r, name) for r in records]
    return next((v for v in values if v), values[0])


def version(record: Record) -> str:
    """The version of a preprint that a record tells of, where its link says so: "arXiv v2"."""
    found = _VERSION.search(record.url)
    return f"arXiv {found[1].lower()}" if found else ""


def key_for(record: Record) -> str:
    """A readable key: the user's own, else surname, year and title word, else file heading and ordinal."""
    if re.fullmatch(r"[\w:.+-]{1,80}", record.citekey):
        return record.citekey
    if record.authors and record.title:
        word = next((w for w in _WORD.findall(record.title.casefold()) if len(w) > 3), "")
        return _ascii(record.authors[0].split()[-1]) + str(record.year or "") + _ascii(word) or "paper"
    stem = _ascii(record.heading or record.source.split(".")[0]).removesuffix("papers")[:24] or "paper"
    return f"{stem}-{record.number}"


def _ascii(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in folded if c.isascii() and c.isalnum())
