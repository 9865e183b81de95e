"""Questions about many papers ("which papers ...", "how many ..."): decided over the whole collection.

A paper belongs if its score is nearer to the best one's than to the background's: scores of different questions
lie at different heights. Measured in docs/design/answering.md. No model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from rag.nouns import AnswerSentence, Citation, Evidence, Hit

Kind = Literal["list", "count", "other"]

_THINGS = r"(?:papers|works|abstracts|articles|studies|submissions|publications)"
_COUNT = re.compile(rf"\b(?:how many(?: of (?:the|these|those|my))?\s+(?:\w+\s+){{0,2}}{_THINGS}|(?:count|number of)"
                    rf"(?: all| the| of)*\s+(?:\w+\s+){{0,2}}{_THINGS})\b", re.IGNORECASE)  # fmt: skip
_LIST = re.compile(
    rf"\b(?:(?:which|what)(?: of)?(?: the| these| those| my)?(?: other)? {_THINGS}|"
    rf"(?:list|give me|show me|show|name|find)(?: me)?(?: all| every| the)*(?: (?:\w|-)+){{0,6}} {_THINGS}|"
    rf"(?:list|give me|show me) (?:all|every|everything)|what (?:work|works|research|literature) (?:is|are|exists?)|"
    rf"(?:are there|is there) (?:any |other )?(?:papers|works?|research|literature))\b",
    re.IGNORECASE,
)
MOST = 40  # papers that a set question can name
FLOOR = 0.50  # score below which no paper is about a question
BACKGROUND = slice(15, 20)  # ranks whose mean score stands for the papers that are not about the question
SHARE = 0.5  # of the way from the background to the best score: where membership begins
LINE_WORDS = 90  # words that quoting sentences may add to a list, over all its lines


def kind_of(question: str) -> Kind:
    """What kind of set a question asks for; "other" for questions about what papers say."""
    if _COUNT.search(question):
        return "count"
    return "list" if _LIST.search(question) else "other"


def members(hits: Sequence[Hit]) -> list[Hit]:
    """The hits (best first) that stand out: nearer to the best score than to the background's."""
    if not hits or hits[0].score < FLOOR:
        return []
    rest = [h.score for h in hits[BACKGROUND]] or [h.score for h in hits[-1:]]
    background = sum(rest) / len(rest) if len(hits) > 1 else 0.0
    edge = max(FLOOR, background + SHARE * (hits[0].score - background))
    return [h for h in hits[:MOST] if h.score >= edge]


def sentences_of(evidence: Sequence[Evidence], total: int) -> list[AnswerSentence]:
    """The answer in words: the count first, then each paper by name, every one pinned to its sentence."""
    citations = [_citation(e) for e in evidence]
    count = len(evidence)
    opening = f"{_number(count)} of {total} papers {'is' if count == 1 else 'are'} about this"
    room = LINE_WORDS // max(1, sum(not e.paper.title for e in evidence))
    named = [
        AnswerSentence(_line(e, room), "supported", (c,)) for e, c in zip(evidence, citations, strict=True)
    ]
    return [AnswerSentence(opening + (":" if named else "."), "supported", tuple(citations)), *named]


def _line(e: Evidence, room: int) -> str:
    """A paper in a list: its title; a paper without one also by the beginning of its sentence."""
    if e.paper.title:
        return e.paper.title
    said = e.sentence.text.split()
    return f"{e.paper.label}: {' '.join(said[:room])}{' …' if len(said) > room else ''}"


def _citation(e: Evidence) -> Citation:
    s = e.sentence
    return Citation(e.n, e.paper.key, e.paper.label, s.text, s.start, s.end, "supported")


def _number(n: int) -> str:
    words = "No One Two Three Four Five Six Seven Eight Nine Ten".split()
    return f"{words[n]} ({n})" if 0 < n < len(words) else str(n)
