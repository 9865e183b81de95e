"""Sentences told from the library's records, each pinned to what its papers say first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag.narrowing import told
from rag.nouns import AnswerSentence, Citation, Evidence, Filters, Paper
from rag.records import Records
from rag.text import plain

SHORTEST = 20  # letters and digits of a sentence that is quoted for a paper
SHOWN = 12  # values of a tally that are named
_NUMBERS = "No One Two Three Four Five Six Seven Eight Nine Ten".split()


@dataclass
class Reply:
    """What the records answer; without sentences `refusal` says what they do not hold."""

    records: Records
    sentences: list[AnswerSentence] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    refusal: str = ""
    missing: str = ""  # the part of the question that the records cannot answer

    def say(self, text: str, papers: Sequence[Paper]) -> None:
        """Add a sentence, with a citation of each of the papers."""
        self.sentences.append(AnswerSentence(text, "supported", tuple(map(self._pin, papers))))

    def lack(self, text: str) -> None:
        """Say what the records do not hold; shown if nothing else is said."""
        self.refusal = f"{self.refusal} {text}".strip()

    def _pin(self, paper: Paper) -> Citation:
        known = next((e for e in self.evidence if e.paper.key == paper.key), None)
        if known is None:
            whole = self.records.library.paper(paper.key) or paper
            sentences = self.records.library.sentences(whole)
            first = next((s for s in sentences if sum(map(str.isalnum, s.text)) >= SHORTEST), sentences[0])
            known = Evidence(len(self.evidence) + 1, whole, first)
            self.evidence.append(known)
        s = known.sentence
        return Citation(known.n, paper.key, paper.label, s.text, s.start, s.end, "supported")


def quoted_name(paper: Paper) -> str:
    """A paper's title, or its label, in quotation marks."""
    return f"“{plain(paper.label)}”"


def number(n: int) -> str:
    """A number at the head of a sentence: "Two (2)", "38"."""
    return f"{_NUMBERS[n]} ({n})" if 0 < n < len(_NUMBERS) else str(n)


def joined(values: Sequence[str]) -> str:
    """ "A", "A and B", "A, B and C"."""
    return " and ".join(filter(None, [", ".join(values[:-1]), values[-1]]))


def tallied(tally: Mapping[Any, int]) -> str:
    """Values with their counts, "ICLR (19) and ICML (18)": years in order, others by their counts."""
    pairs = sorted(tally.items(), key=lambda pair: pair if isinstance(pair[0], int) else (-pair[1], pair[0]))
    shown = [f"{value} ({n})" for value, n in pairs[:SHOWN]]
    return joined(shown) + (f", and {len(pairs) - SHOWN} more" if len(pairs) > SHOWN else "")


def whence(filters: Filters) -> str:
    """Filters as the end of "... papers are": "from ICML 2024", "by Ada Roe"."""
    words = told(filters)
    return words if words.startswith("by ") else f"from {words}"


def venue_and_year(paper: Paper) -> str:
    return " ".join(filter(None, [paper.venue, str(paper.year or "")]))
