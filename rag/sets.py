"""Questions about many papers ("which papers ...", "how many ..."): decided over the whole collection.

A paper belongs if its score is nearer to the best one's than to the background's: scores of different questions
lie at different heights. Measured in docs/design/answering.md. No model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from rag.evidence import name_of
from rag.nouns import AnswerSentence, Citation, Evidence, Hit
from rag.standing import background, lead

Kind = Literal["list", "count", "which", "other"]

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
# Whether there is something on a subject, and what: the subject may well be absent.
_SOME = re.compile(
    rf"^\W*what do(?:es)? (?:you|we|(?:the|this|your|my) (?:collection|library)|(?:the|these) {_THINGS})"
    r" (?:have|hold|offer|contain) (?:on|about)\b"
    r"|^\W*(?:(?:is|are) there |do (?:you|we) have |got )?(?:any|some|every)thing(?: (?:in )?here| else)? "
    r"(?:on|about)\b"
    rf"|^\W*(?:please )?(?:summari[sz]e|sum up|(?:give me )?an? (?:summary|overview) of) (?:what|everything|all|the)"
    rf"(?: there is| (?:you|we) have)?(?: {_THINGS}| work| research| literature)? (?:on|about)\b"
    rf"|\bwhat (?:is common to|do) (?:all |the |these |those )+(?:(?:\w|-)+ ){{0,4}}{_THINGS}(?: have in common)?\W*$",
    re.IGNORECASE,
)
_PAPER = r"(?:paper|work|abstract|article|study|submission|publication)"
_METHOD = r"(?:method|approach|model|algorithm|technique|system|framework)"
_WHICH = re.compile(
    rf"^\W*(?:(?:and|so|ok|hi|hello|please)\W+)?(?:which of (?:these|the papers)\b|"
    rf"(?:which|what) (?:(?:\w+ )?{_PAPER}|{_METHOD})\b(?! (?:does|do|did|was used|is used|are used|can|to|of|in)\b)|"
    rf"(?:is|was|are) there (?:an?|any|some) (?:\w+ ){{0,2}}(?:{_PAPER}|{_METHOD}|piece)\b|"
    r"who (?!(?:wrote|are|is|were|was|authored|published|did|else)\b)\w+(?:s|ed|t)\b)"
    rf"|\b(?:looking for|find me|need|remember) (?:the|a) {_PAPER}\b|\bwhich paper\b|\bthere(?:'s| is| was) one\b"
    r"|\b(?:which one|what(?:'s| is) its name|name)\?\W*$",
    re.IGNORECASE,
)
_ALTERNATIVES = re.compile(
    r", ?(?:an? )?\w+ or (?:an? )?\w+\W*$", re.IGNORECASE
)  # "..., people or a chatbot?"
MOST = 40  # papers that a set question can name
FLOOR = 0.50  # score below which no paper is about a question
LEAD = 0.07  # of the best score above the background, below which no paper is about a question
LEAD_OF_SOME = 0.13  # the same where the question is whether there is anything at all on a subject
LEAD_OF_ONE = 0.10  # the same for the one paper of a which-question
SHARE = 0.5  # of the way from the background to the best score: where membership begins
LINE_WORDS = 36  # of the sentence that is quoted beside one paper
LIST_WORDS = 90  # of all sentences that are quoted in a list


def kind_of(question: str) -> Kind:
    """What kind of set a question asks for; "other" for questions about what papers say."""
    if _COUNT.search(question):
        return "count"
    if _LIST.search(question) or _SOME.search(question):
        return "list"
    return "which" if _WHICH.search(question) and not _ALTERNATIVES.search(question) else "other"


def members(hits: Sequence[Hit], total: int, question: str = "") -> list[Hit]:
    """The hits (best first) that stand out: nearer to the best score than to the background's."""
    least = LEAD_OF_SOME if _SOME.search(question) else LEAD
    if not hits or hits[0].score < FLOOR or lead(hits, total) < least:
        return []
    behind = background(hits, total)
    edge = max(FLOOR, behind + SHARE * (hits[0].score - behind))
    return [h for h in hits[:MOST] if h.score >= edge]


def sentences_of(evidence: Sequence[Evidence], total: int) -> list[AnswerSentence]:
    """The answer in words: the count first, then each paper by name, every one pinned to its sentence."""
    citations = [_citation(e) for e in evidence]
    count = len(evidence)
    opening = f"{_number(count)} of {total} papers {'is' if count == 1 else 'are'} about this"
    # Titles speak for themselves; a paper without one is also told by its sentence.
    room = LIST_WORDS // max(1, sum(not e.paper.title for e in evidence))
    named = [
        AnswerSentence(_line(e, 0 if e.paper.title else room), "supported", (c,))
        for e, c in zip(evidence, citations, strict=True)
    ]
    return [AnswerSentence(opening + (":" if named else "."), "supported", tuple(citations)), *named]


def paper_named(hits: Sequence[Hit], evidence: Sequence[Evidence], total: int) -> list[AnswerSentence]:
    """The answer to "which paper ...?": the best paper by name and what it says; nothing if none stands out."""
    if not evidence or lead(hits, total) < LEAD_OF_ONE:
        return []
    best = evidence[0]
    return [AnswerSentence(_line(best, LINE_WORDS), "supported", (_citation(best),))]


def _line(e: Evidence, room: int) -> str:
    """A paper by its name and what it says, at most `room` words of it; without room by its name alone."""
    said = e.sentence.text.split()
    if not room:
        return name_of(e.paper)
    return f"{name_of(e.paper)}: {' '.join(said[:room])}{' …' if len(said) > room else ''}"


def _citation(e: Evidence) -> Citation:
    s = e.sentence
    return Citation(e.n, e.paper.key, e.paper.label, s.text, s.start, s.end, "supported")


def _number(n: int) -> str:
    words = "No One Two Three Four Five Six Seven Eight Nine Ten".split()
    return f"{words[n]} ({n})" if 0 < n < len(words) else str(n)
