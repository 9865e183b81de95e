"""Which papers the words of a question mean: "the SILVER paper", a title, "the paper on audio editing", "it"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.facets import facets_of
from rag.narrowing import together
from rag.nouns import Filters, Paper, Turn
from rag.records import MOST, Records
from rag.retrieve import Retriever
from rag.standing import depth, lead
from rag.understand import names_in, strong_names

CLEAR = 0.10  # lead from which the best paper is the one that a description means
PRONOUN = re.compile(
    r"(?:it|this|that|this one|that one|he|they|(?:this|that|the|the same) (?:paper|work|article|study|method|one)|"
    r"es|diese[rs]?|(?:dieses|das) paper|diese arbeit|cet article|ce papier|este (?:artículo|trabajo))",
    re.IGNORECASE,
)
_SAID_PAPER = re.compile(
    r"^(?:the|an?|this|that|das|der|die|den|dem|des|le|la|el|l['’])?\s*(?P<before>.*?)[\s-]*\b"
    r"(?:papers?|works?|articles?|study|publication|abstract|arbeit|artikels?|papier|artículo|trabajo)\b\s*"
    r"(?:(?:that\s+is\s+)?(?:called|titled|entitled|named|with\s+the\s+title|namens|mit\s+dem\s+titel|intitulé|titulado)"
    r"\s+)?(?P<after>.*)$",
    re.IGNORECASE,
)
_DESCRIBES = re.compile(
    r"^(?:on|about|of|for|introducing|that|which|who|proposing|presenting|with|behind|describing|where|über|zu|zum|zur|sur|sobre|qui|que)\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Meant:
    """The papers that a question means, how it names them, and whether it calls that a paper or quotes it."""

    papers: Sequence[Paper]
    name: str
    is_paper: bool
    describes: bool = False  # by what the paper is on


class Namer:
    """Finds the papers that are meant, among those that pass the filters."""

    def __init__(
        self, records: Records, retriever: Retriever, filters: Filters, history: Sequence[Turn]
    ) -> None:
        self.records, self.retriever, self.filters, self.history = records, retriever, filters, history
        self.papers = records.within(filters)

    def meant(self, said: str) -> Meant:
        said = said.strip(" ?!.,;:")
        if PRONOUN.fullmatch(said):
            return Meant(self._of_history(), said, False)
        quoted = said[:1] in "“\"„«'‘"
        name = said.strip("“”\"„«»'‘’ ")
        told_paper = None if quoted else _SAID_PAPER.match(name)
        facets = facets_of(name, self.records) if told_paper else None
        within = self.records.within(together(self.filters, facets.filters)) if facets else self.papers
        if facets and told_paper:
            told_paper = _SAID_PAPER.match(facets.rest)
        describes = False
        if told_paper:
            after = told_paper["after"].strip('“”"„«» ')
            describes = bool(_DESCRIBES.match(after))
            name = told_paper["before"] or _DESCRIBES.sub("", after)
        else:
            name = re.sub(r"^(?:the|der|die|das|le|la|el)\s+", "", name, flags=re.IGNORECASE)
        if facets and not name:
            return Meant(within[: len(within) if len(within) <= MOST else 0], said, True)
        keys = {p.key for p in within}
        found = [p for p in self.records.find(name) or self.records.coined(name) if p.key in keys]
        if not found and told_paper and describes:
            found = self._described(name)
        elif not found and told_paper and not quoted:
            found = self._described(name) if name.islower() else []
        return Meant(found, name, quoted or told_paper is not None, describes)

    def _described(self, name: str) -> list[Paper]:
        """The paper that stands out for a description, if one does."""
        total = len(self.papers)
        hits = self.retriever.search((name,), depth(total), self.filters)
        return [hits[0].paper] if hits and hits[0].why.terms and lead(hits, total) >= CLEAR else []

    def _of_history(self) -> list[Paper]:
        """The paper of the last turn that names one."""
        for turn in reversed(self.history):
            for text in (turn.question, turn.answer):
                quoted = re.findall(r"[“\"]([^”\"]{4,})[”\"]", text)
                for name in (*quoted, *names_in(text)):
                    found = [
                        p for p in self.records.find(name) or self.records.coined(name) if p in self.papers
                    ]
                    if len(found) == 1:
                        return found
        return []


def is_name(text: str) -> bool:
    """Whether words are a name rather than a subject: an acronym, or most of them with a capital."""
    words = [w for w in re.findall(r"[^\W\d_][\w-]*", text) if len(w) > 3 or w[0].isupper()]
    return bool(strong_names(text)) or len(words) > 1 and 2 * sum(w[0].isupper() for w in words) > len(words)


def is_person(text: str) -> bool:
    """Whether words look like somebody's name."""
    return all(word[0].isupper() for word in text.split())
