"""What several forms need of a paper: unique citation keys, names in two parts, the kind of publication."""

from __future__ import annotations

import re
from typing import Literal

from rag.metadata import arxiv_id, known_venue, openreview_id, pmlr_id
from rag.nouns import Paper

Kind = Literal["conference", "journal", "other"]

_NO_KEY = re.compile(
    r"[\s{}()\[\],=\"'#%\\~@|<>]+"
)  # what BibTeX, or a reader of it, takes for something else
_PARTICLES = re.compile(r"(?:van|von|der|den|de|del|della|da|di|du|dos|la|le|ter|ten|bin|al|el|zu|zur)", re.I)
_SUFFIX = re.compile(r"(?:jr|sr)\.?|i{2,3}|iv", re.I)
_GROUP = re.compile(
    r"\b(?:team|group|collaboration|consortium|committee|project|university|institute|inc\.?|ltd\.?|labs?)$",
    re.I,
)
_JOURNALS = ("JMLR", "TMLR", "TACL", "TPAMI", "IJCV", "arXiv")
_MEETING = re.compile(
    r"\b(?:proceedings|conference|workshops?|symposium|congress|meeting|poster|spotlight|oral)\b", re.I
)


class Keys:
    """Citation keys that are valid and unique in one file: the user's own where there was one."""

    def __init__(self) -> None:
        self._taken: set[str] = set()  # folded: BibTeX takes keys that differ in case alone for a mistake

    def of(self, paper: Paper) -> str:
        bases = list(filter(None, map(_valid, (paper.citekey, paper.key)))) or ["paper"]
        key = next((key for key in bases if key.casefold() not in self._taken), "")
        n = 2
        while not key or key.casefold() in self._taken:
            key, n = f"{bases[0]}-{n}", n + 1
        self._taken.add(key.casefold())
        return key


def _valid(key: str) -> str:
    return _NO_KEY.sub("-", key).strip("-") if _NO_KEY.search(key) else key


def parted(name: str) -> tuple[str, str]:
    """Given names and family name: ("Bob", "van der Berg"). One word, and a group's name, are all family."""
    words = name.split()
    if len(words) < 2 or "," in name or _GROUP.search(name):
        return "", name
    start = len(words) - 1
    if start > 1 and _SUFFIX.fullmatch(words[start]):
        start -= 1
    while start > 1 and _PARTICLES.fullmatch(words[start - 1]) and words[start - 1].islower():
        start -= 1
    return " ".join(words[:start]), " ".join(words[start:])


def kind(paper: Paper) -> Kind:
    """Where a paper was published, as far as its venue tells."""
    venue = paper.venue_as_found
    if not venue:
        return "other"
    short = known_venue(venue)
    return "conference" if _MEETING.search(venue) or (short and short not in _JOURNALS) else "journal"


def links(paper: Paper) -> list[str]:
    """Addresses of the identifiers that nothing else of a paper states: OpenReview's and PMLR's."""
    found = []
    if paper.openreview and openreview_id(paper.url) != paper.openreview:
        found.append(f"https://openreview.net/forum?id={paper.openreview}")
    if paper.pmlr and pmlr_id(paper.url) != paper.pmlr:
        found.append(f"https://proceedings.mlr.press/{paper.pmlr}.html")
    return found


def arxiv(paper: Paper) -> str:
    """The arXiv number where the paper's address does not state it."""
    return "" if arxiv_id(paper.url) == paper.arxiv else paper.arxiv
