"""When two records tell of the same paper, and what the paper is when several records tell of it."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from rag.labels import label
from rag.nouns import Paper, Record
from rag.text import plain

SKETCH = 8  # hashes a sketch: two abstracts that share 80 % of their shingles all but surely share one
SAME = 0.75  # Jaccard of word 3-shingles from which two abstracts are one
EDITED = 0.5  # the same for a new version of a record in the same file
_WORD = re.compile(r"\w+")


def skeleton(text: str) -> str:
    """Letters and digits only, folded: equal for texts that differ in layout, accents or markup."""
    folded = unicodedata.normalize("NFKD", plain(text)).casefold()
    return "".join(c for c in folded if c.isalnum())


def shingles(text: str) -> frozenset[str]:
    """Runs of three words (or the whole of a shorter text), folded."""
    words = _WORD.findall(unicodedata.normalize("NFKD", plain(text)).casefold())
    return frozenset(" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2)))


def sketch(text: str) -> list[str]:
    """The smallest hashes of a text's shingles (bottom-k MinHash, Broder 1997)."""
    return sorted(hashlib.blake2b(s.encode(), digest_size=6).hexdigest() for s in shingles(text))[:SKETCH]


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
    )
    return [f"{kind}:{value}" for kind, value in pairs if value]


def title_name(title: str) -> str:
    """A name for a title; empty for titles too short to tell papers apart ("Introduction")."""
    bones = skeleton(title)
    return f"title:{bones}" if len(bones) >= 12 else ""


def names(record: Record | Paper) -> list[str]:
    """Everything a paper can be looked up by."""
    found = [*ids(record), title_name(record.title)]
    found.append("text:" + hashlib.blake2b(skeleton(record.abstract).encode(), digest_size=12).hexdigest())
    found += [f"sketch:{h}" for h in sketch(record.abstract)]
    return [n for n in dict.fromkeys(found) if n]


def same_people(a: Sequence[str], b: Sequence[str]) -> bool:
    """True unless both name a first author and their surnames differ."""
    if not a or not b:
        return True
    one, two = (skeleton(people[0].split()[-1]) for people in (a, b))
    return one == two


def same_paper(record: Record, paper: Paper, same_source: bool) -> bool:
    """Whether a record tells of a paper: identifiers, then title and people, then the abstract.

    Text alone never joins papers whose titles differ.
    """
    if set(ids(record)) & set(ids(paper)):
        return True
    mine, theirs = title_name(record.title), title_name(paper.title)
    if mine and theirs:
        return mine == theirs and same_people(record.authors, paper.authors) and _years_agree(record, paper)
    if record.title and paper.title and skeleton(record.title) != skeleton(paper.title):
        return False
    threshold = EDITED if same_source and not record.title and not paper.title else SAME
    return resemblance(record.abstract, paper.abstract) >= threshold


def edited(record: Record, paper: Paper) -> bool:
    """Whether a record is a new version of the paper that had its citation key: title or text is kept."""
    same_title = title_name(record.title) == title_name(paper.title)
    return same_title or resemblance(record.abstract, paper.abstract) >= EDITED


def likeness(record: Record, paper: Paper) -> tuple[bool, bool, float]:
    """How well a record fits a paper that it may tell of: larger is better."""
    return (
        bool(set(ids(record)) & set(ids(paper))),
        title_name(record.title) == title_name(paper.title),
        resemblance(record.abstract, paper.abstract),
    )


def _years_agree(record: Record, paper: Paper) -> bool:
    """A preprint and its publication are a year or two apart; a namesake usually is not that near."""
    return record.year is None or paper.year is None or abs(record.year - paper.year) <= 2


def merged(records: Sequence[Record], *, key: str, paper_id: int = 0) -> Paper:
    """One paper of all its records: of each field the richest value, earlier records first.

    Authors' own abstracts win over summaries (records with a note), then the longer text.
    """
    best = max(records, key=lambda r: (not r.note, len(r.abstract)))
    titled = _first(records, "title")
    first = records[0]
    return Paper(
        id=paper_id,
        key=key,
        label=titled or label(first.abstract, first.heading, first.number),
        abstract=best.abstract,
        title=titled,
        authors=max((r.authors for r in records), key=len),
        note=best.note,
        sources=tuple(dict.fromkeys(r.source for r in records)),
        **{name: _first(records, name) for name in _PLAIN_FIELDS},
    )


_PLAIN_FIELDS = ("year", "venue", "venue_as_found", "url", "doi", "arxiv", "openreview", "pmlr", "citekey")


def _first(records: Iterable[Record], name: str) -> Any:
    values = [getattr(r, name) for r in records]
    return next((v for v in values if v), values[0])


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
