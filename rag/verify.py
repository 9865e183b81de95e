"""Whether the papers say what a draft sentence says, and which sentences say it.

The model's markers are a hint; attribution is worked out here. The layers (docs/design/answering.md):
numbers with units stand in the cited sentences, names stand in the cited papers, and the meaning agrees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import snowballstemmer  # type: ignore[import-untyped]

from rag.embed import Embedder, Vectors
from rag.markers import Draft
from rag.nouns import AnswerSentence, Citation, Dropped, Evidence, Grade
from rag.quantities import Quantity, quantities, stands_in
from rag.text import plain
from rag.understand import names_in, strong_names
from rag.words import STOP, words

MOST_CITED = 3  # sentences cited by one answer sentence at the most
HINT = 0.06  # what a marker of the model adds to a sentence's fit
SUPPORTED = (0.72, 0.55)  # (cosine, share of words) either of which makes a sentence supported
WEAK = (0.60, 0.30)  # the same for weak; below both it is unsupported
GAIN = 0.18  # share of an answer sentence's words that a further citation must add
VERBATIM = 15  # letters and digits from which a run counts as a quotation


@dataclass(frozen=True, slots=True)
class Source:
    """An evidence sentence made ready for comparing."""

    evidence: Evidence
    vector: Vectors
    stems: frozenset[str]
    quantities: tuple[Quantity, ...]
    bones: str
    paper_text: str  # label and abstract, folded: where names are looked up


@dataclass(frozen=True, slots=True)
class _Claim:
    """A draft sentence made ready for comparing."""

    text: str
    stems: frozenset[str]
    quantities: tuple[Quantity, ...]
    vector: Vectors


class Verifier:
    """Checks the sentences of one answer against the evidence of its question."""

    def __init__(self, embedder: Embedder, evidence: Sequence[Evidence], question: str) -> None:
        self.embedder = embedder
        self.question = question
        self.asked = bones(question)
        self.asked_quantities = tuple(quantities(question))
        vectors = embedder.documents([_short(e.sentence.text, embedder) for e in evidence])
        self.sources = [_source(e, v) for e, v in zip(evidence, vectors, strict=True)]

    def check(self, draft: Draft) -> AnswerSentence | Dropped:
        """The sentence with the citations that hold and its grade; or why it is not shown."""
        claim = self._claim(draft.text)
        cited = self._attribute(claim, draft.numbers)
        if not cited:
            return Dropped(draft.text, "there is no evidence to check it against")
        reason = self._numbers_fail(claim, cited) or self._names_fail(claim, cited)
        if reason:
            return Dropped(draft.text, reason)
        grade = self._grade(claim, cited)
        if grade == "unsupported":
            return Dropped(draft.text, "no sentence of the papers says this")
        citations = tuple(_citation(s.evidence, grade) for s in cited)
        return AnswerSentence(draft.text, grade, citations)

    def _claim(self, text: str) -> _Claim:
        vector = self.embedder.documents([_short(text, self.embedder)])[0]
        return _Claim(text, stems(text), tuple(quantities(text)), vector)

    def _attribute(self, claim: _Claim, hints: Sequence[int]) -> list[Source]:
        """The sentence that fits best, and further ones as long as each adds words or numbers."""
        if not self.sources:
            return []
        fit = {id(s): self._fit(claim, s) + HINT * (s.evidence.n in hints) for s in self.sources}
        ranked = sorted(self.sources, key=lambda s: -fit[id(s)])
        cited = [ranked[0]]
        while len(cited) < MOST_CITED:
            held = frozenset().union(*(s.stems for s in cited))
            lacking = [q for q in claim.quantities if not any(stands_in(q, s.quantities) for s in cited)]
            best, gain = None, 0.0
            for s in ranked[1:]:
                if s in cited:
                    continue
                new = len(claim.stems & s.stems - held) / (len(claim.stems) or 1)
                new += 0.5 * sum(stands_in(q, s.quantities) for q in lacking)
                new += HINT * (s.evidence.n in hints)
                if (
                    new > gain
                    and s.evidence.paper.key in {c.evidence.paper.key for c in cited}
                    or new > gain + GAIN
                ):
                    best, gain = s, new
            if best is None or gain < GAIN:
                break
            cited.append(best)
        return sorted(cited, key=lambda s: s.evidence.n)

    def _fit(self, claim: _Claim, source: Source) -> float:
        shared = len(claim.stems & source.stems) / (len(claim.stems) or 1)
        numbers = sum(stands_in(q, source.quantities) for q in claim.quantities) / (
            len(claim.quantities) or 1
        )
        return 0.5 * float(claim.vector @ source.vector) + 0.4 * shared + 0.2 * numbers

    def _numbers_fail(self, claim: _Claim, cited: Sequence[Source]) -> str:
        there = [q for s in cited for q in s.quantities]
        for q in claim.quantities:
            if not stands_in(q, there) and not stands_in(q, self.asked_quantities):
                return f"the number {q.text} is not in the cited sentences"
        return ""

    def _names_fail(self, claim: _Claim, cited: Sequence[Source]) -> str:
        text = " ".join(s.paper_text for s in cited)
        for name in names_in(claim.text):
            strong = bool(strong_names(name))
            known = bones(name) in text or (bones(name) in self.asked and (not strong or denies(claim.text)))
            if not known:
                return f"the name {name} is not in the cited papers"
        return ""

    def _grade(self, claim: _Claim, cited: Sequence[Source]) -> Grade:
        skeleton = bones(claim.text)
        if len(skeleton) >= VERBATIM and any(skeleton in s.bones for s in cited):
            return "quoted"
        cosine = max(float(claim.vector @ s.vector) for s in cited)
        held = frozenset().union(*(s.stems for s in cited)) | stems(
            " ".join(s.evidence.paper.label for s in cited)
        )
        shared = len(claim.stems & held) / (len(claim.stems) or 1)
        if cosine >= SUPPORTED[0] or shared >= SUPPORTED[1]:
            return "supported"
        return "weak" if cosine >= WEAK[0] or shared >= WEAK[1] else "unsupported"


_DENIALS = frozenset(
    "no not none never without neither nor cannot isn't doesn't don't free instead unlike rather".split()
)


def denies(text: str) -> bool:
    """Whether a sentence says that something is not so."""
    return bool(_DENIALS & set(text.casefold().replace("’", "'").replace("-", " ").split()))


def bones(text: str) -> str:
    """Letters and digits, folded."""
    return "".join(c for c in plain(text).casefold() if c.isalnum())


@cache
def _stemmer() -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer("english")


def stems(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning."""
    return frozenset(
        _stemmer().stemWords([w for w in words(plain(text)) if w not in STOP and not w.isdigit()])
    )


def _source(e: Evidence, vector: Vectors) -> Source:
    text = e.sentence.text
    paper = bones(e.paper.label + " " + e.paper.abstract)
    return Source(e, vector, stems(text), tuple(quantities(text)), bones(text), paper)


def _short(text: str, embedder: Embedder) -> str:
    """The text, or its beginning that fits the embedder: for comparing, the beginning of a very long
    sentence stands for it."""
    while embedder.lengths([text])[0] > embedder.max_tokens:
        text = text[: len(text) * 9 // 10]
    return text


def _citation(e: Evidence, grade: Grade) -> Citation:
    s = e.sentence
    return Citation(e.n, e.paper.key, e.paper.label, s.text, s.start, s.end, grade)
