"""Questions about many papers ("which papers ...", "how many ..."): decided over the whole collection.

A paper belongs if its score is nearer to the best one's than to the background's: scores of different questions
lie at different heights. Measured in docs/design/answering.md. No model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from rag.coined import called
from rag.evidence import name_of
from rag.languages import Language, said
from rag.nouns import AnswerSentence, Citation, Evidence, Hit
from rag.standing import background, lead
from rag.words import terms, words

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
_METHOD = r"(?:method|approach|model|algorithm|technique|system|framework|sampler|estimator|solver|heuristic)"
_WHICH = re.compile(
    rf"^\W*(?:(?:and|so|ok|hi|hello|please)\W+)?(?:which (?:one )?of (?:these|the papers)\b|"
    rf"(?:which|what) (?:(?:\w+ )?{_PAPER}|{_METHOD})\b(?! (?:does|do|did|was used|is used|are used|can|to|of|in)\b)|"
    rf"(?:is|was|are) there (?:an?|any|some) (?:\w+ ){{0,2}}(?:{_PAPER}|{_METHOD}|piece)\b|"
    r"who (?!(?:wrote|are|is|were|was|authored|published|did|else|funded|financed|sponsored|paid|supervised|"
    r"reviewed|annotated|labell?ed|rated|judged|marked|evaluated)\b)\w+(?:s|ed|t)\b)"
    rf"|\b(?:looking for|find me|need|remember) (?:the|a) {_PAPER}\b|\bwhich paper\b|\bthere(?:'s| is| was) one\b"
    r"|\b(?:which one|what(?:'s| is) its name|name)\?\W*$",
    re.IGNORECASE,
)
# Words by which a question says that papers are about something.
_SAYING = frozenset(
    """address addresses anything bring brings care collection come comes concern concerned concerns consider considers
    contain contains cover covers deal dealing deals discuss discusses everything exist exists experiment experiments
    focus focuses idea ideas involve involves involving kind kinds matter matters mention mentions number part play
    plays relate related relevant report role something sort submission submissions talk talks topic topics touch
    touches type types""".split()
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
# The same where the question comes down to a word or two: for papers that hold them all, and for others.
TOPIC_WORDS, HOLDING, LACKING = 2, 0.25, 0.8
CANDIDATES = 400  # papers looked at: more than so many members are not counted
LINE_WORDS = 36  # of the sentence that is quoted beside one paper
LIST_WORDS = 104  # of a list whose papers have no titles, names and quotes together
FEW = 6  # words of a quote below which it says nothing


def kind_of(question: str) -> Kind:
    """What kind of set a question asks for; "other" for questions about what papers say."""
    if _COUNT.search(question):
        return "count"
    if _LIST.search(question) or _SOME.search(question):
        return "list"
    return "which" if _WHICH.search(question) and not _ALTERNATIVES.search(question) else "other"


def members(hits: Sequence[Hit], total: int, question: str = "") -> list[Hit]:
    """The hits (best first) that stand out: nearer to the best score than to the background's.

    Where the question comes down to a word or two, a paper that holds them needs less, another one more.
    """
    least = LEAD_OF_SOME if _SOME.search(question) else LEAD
    if not hits or hits[0].score < FLOOR or lead(hits, total) < least:
        return []
    behind = background(hits, total)
    holding = _holders(hits, question)

    def edge(share: float) -> float:
        return behind + share * (hits[0].score - behind)

    needed = max(FLOOR, edge(LACKING if holding else SHARE))
    return [h for h in hits if h.score >= (edge(HOLDING) if h.paper.key in holding else needed)]


def _holders(hits: Sequence[Hit], question: str) -> set[str]:
    """Keys of the papers that hold the one or two words that a question is about (either, if "or" joins them)."""
    topic = [term for term in terms(question) if term not in _SAYING]
    if not 0 < len(topic) <= TOPIC_WORDS:
        return set()
    asked = words(question)
    between = asked[asked.index(topic[0]) : asked.index(topic[-1])]
    enough = any if "or" in between else all
    return {h.paper.key for h in hits if enough(term in h.why.terms for term in topic)}


def sentences_of(
    evidence: Sequence[Evidence],
    count: int,
    total: int,
    holders: Callable[[str], int],
    language: Language = "en",
) -> list[AnswerSentence]:
    """The answer in words: the count first, then each paper by name, every one pinned to its sentence.

    `count` of the `total` papers belong; the evidence is of the first MOST of them. `holders` tells how many papers of
    the collection hold a word.
    """
    citations = [_citation(e) for e in evidence]
    opening = said("one" if count == 1 else "many", language, number=_number(count), count=count, total=total)
    opening += said("first", language, first=len(evidence)) if count > len(evidence) else ""
    # Titles speak for themselves; a paper without one is also told by its sentence.
    names = [_named(e, holders) for e in evidence]
    left = LIST_WORDS - len(" ".join([opening, *names]).split())
    room = left // max(1, sum(not e.paper.title for e in evidence))
    lines = [
        AnswerSentence(name if e.paper.title or room < FEW else _line(e, room, holders), "supported", (c,))
        for name, e, c in zip(names, evidence, citations, strict=True)
    ]
    return [AnswerSentence(opening + (":" if lines else "."), "supported", tuple(citations)), *lines]


def paper_named(
    hits: Sequence[Hit], evidence: Sequence[Evidence], total: int, holders: Callable[[str], int]
) -> list[AnswerSentence]:
    """The answer to "which paper ...?": the best paper by name and what it says; nothing if none stands out."""
    if not evidence or lead(hits, total) < LEAD_OF_ONE:
        return []
    best = evidence[0]
    return [AnswerSentence(_line(best, LINE_WORDS, holders), "supported", (_citation(best),))]


def _line(e: Evidence, room: int, holders: Callable[[str], int]) -> str:
    """A paper by its names and what it says, at most `room` words of it."""
    said = e.sentence.text.split()
    quote = f": {' '.join(said[:room])}{' …' if len(said) > room else ''}"
    return f"{_named(e, holders, quote)}{quote}"


def _named(e: Evidence, holders: Callable[[str], int], beside: str = "") -> str:
    """A paper's title or label, with the name it coins where neither that nor what stands beside it says so."""
    name = name_of(e.paper)
    other = called(e.paper, f"{name} {beside}", holders)
    return f"{name} ({other})" if other else name


def _citation(e: Evidence) -> Citation:
    s = e.sentence
    return Citation(e.n, e.paper.key, e.paper.label, s.text, s.start, s.end, "supported")


def _number(n: int) -> str:
    words = "No One Two Three Four Five Six Seven Eight Nine Ten".split()
    return f"{words[n]} ({n})" if 0 < n < len(words) else str(n)
