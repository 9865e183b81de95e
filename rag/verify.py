"""Whether the papers say what a draft sentence says, and which sentences say it.

The model's markers are a hint; attribution is worked out here. The layers (docs/design/answering.md):
numbers with units stand in the cited sentences and with their own words, names stand in the cited papers, and the
meaning agrees.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Sized
from dataclasses import dataclass

from rag.binding import misbound, used_twice
from rag.embed import Embedder, Vectors
from rag.markers import Draft
from rag.nouns import AnswerSentence, Citation, Dropped, Evidence, Grade
from rag.opposites import opposite
from rag.quantities import Quantity, quantities, stands_in
from rag.text import plain
from rag.understand import names_in, strong_names
from rag.words import STOP, stems, words

MOST_CITED = 3  # sentences cited by one answer sentence at the most
HINT = 0.06  # what a marker of the model adds to a sentence's fit
SUPPORTED, WEAK = 0.50, 0.30  # agreement in meaning (0 to 1) from which a sentence has the grade
FAR, NEAR = 0.55, 0.85  # cosines of a sentence with one that says something else, and the same
GAIN = 0.2  # share of what a sentence claims that a further citation must add
OTHER_PAPER = 0.15  # a further citation from another paper must add that much more
THIN, ALIKE = 2, 0.58  # new words up to which a claim must be near in meaning, and how near (0 to 1)
VERBATIM = 15  # letters and digits from which a run counts as a quotation


@dataclass(frozen=True, slots=True)
class Source:
    """An evidence sentence made ready for comparing."""

    evidence: Evidence
    vector: Vectors
    stems: frozenset[str]
    quantities: tuple[Quantity, ...]
    bones: str
    paper_text: str  # label, abstract, venue, authors, folded: where names are looked up


@dataclass(frozen=True, slots=True)
class _Claim:
    """A draft sentence made ready for comparing."""

    text: str
    stems: frozenset[str]
    fresh: frozenset[str]  # those that are not just the question's: what the sentence claims
    quantities: tuple[Quantity, ...]
    vector: Vectors
    hints: Sequence[int]  # the model's markers


class Verifier:
    """Checks the sentences of one answer against the evidence of its question."""

    def __init__(
        self, embedder: Embedder, evidence: Sequence[Evidence], question: str, told: str = ""
    ) -> None:
        """`told`: the earlier turns, whose numbers a follow-up may repeat."""
        self.embedder = embedder
        self.question = question
        self.asked = bones(question)
        self.asked_stems = stems(question)
        self.asked_quantities = tuple(quantities(f"{question} {told}"))
        vectors = embedder.documents([_short(e.sentence.text, embedder) for e in evidence])
        self.sources = [_source(e, v) for e, v in zip(evidence, vectors, strict=True)]
        self.against: list[Evidence] = []  # sentences that say otherwise than a draft

    def check(self, draft: Draft) -> AnswerSentence | Dropped:
        """The sentence with the citations that hold and its grade; or why it is not shown."""
        claim = self._claim(draft)
        cited = self._attribute(claim)
        if not cited:
            return Dropped(draft.text, "there is no evidence to check it against")
        reason = (
            self._says_nothing(claim)
            or self._numbers_fail(claim, cited)
            or self._numbers_misbound(claim, cited)
            or self._names_fail(claim, cited)
            or self._exclusive_fails(claim, cited)
            or self._contradicted(claim, cited)
        )
        if reason:
            return Dropped(draft.text, reason)
        grade = self._grade(claim, cited)
        if grade == "unsupported":
            return Dropped(draft.text, "no sentence of the papers says this")
        citations = tuple(_citation(s.evidence, grade) for s in cited)
        return AnswerSentence(draft.text, grade, citations)

    def _claim(self, draft: Draft) -> _Claim:
        text = draft.text
        vector = self.embedder.documents([_short(text, self.embedder)])[0]
        said = stems(text)
        return _Claim(text, said, said - self.asked_stems, tuple(quantities(text)), vector, draft.numbers)

    def _attribute(self, claim: _Claim) -> list[Source]:
        """The sentence that fits best, and further ones as long as each adds words, numbers or names."""
        if not self.sources:
            return []
        ranked = sorted(self.sources, key=lambda s: -self._fit(claim, s))
        cited = [ranked[0]]
        while len(cited) < MOST_CITED:
            rest = [s for s in ranked if s not in cited]
            gains = [(self._gain(claim, s, cited), s) for s in rest]
            best = max(gains, key=lambda pair: pair[0], default=(0.0, ranked[0]))
            if best[0] < GAIN:
                break
            cited.append(best[1])
        return sorted(cited, key=lambda s: s.evidence.n)

    def _fit(self, claim: _Claim, source: Source) -> float:
        """How well one sentence supports a claim; what the claim adds to the question counts most."""
        numbers = _share(sum(stands_in(q, source.quantities) for q in claim.quantities), claim.quantities)
        return (
            0.5 * float(claim.vector @ source.vector)
            + 0.3 * _share(len(claim.fresh & source.stems), claim.fresh)
            + 0.1 * _share(len(claim.stems & source.stems), claim.stems)
            + 0.2 * numbers
            + HINT * (source.evidence.n in claim.hints)
        )

    def _gain(self, claim: _Claim, source: Source, cited: Sequence[Source]) -> float:
        """What a further citation adds: words, numbers and names that the others lack."""
        held = frozenset().union(*(s.stems for s in cited))
        lacking = [q for q in claim.quantities if not any(stands_in(q, s.quantities) for s in cited)]
        texts = " ".join(s.paper_text for s in cited)
        names = [n for n in strong_names(claim.text) if bones(n) not in texts]
        same = source.evidence.paper.key in {c.evidence.paper.key for c in cited}
        return (
            _share(len(claim.fresh & source.stems - held), claim.fresh)
            + 0.5 * sum(stands_in(q, source.quantities) for q in lacking)
            + 0.5 * sum(bones(n) in source.paper_text for n in names)
            + HINT * (source.evidence.n in claim.hints)
            - (0.0 if same else OTHER_PAPER)
        )

    def _says_nothing(self, claim: _Claim) -> str:
        """A sentence that only gives the question back is no answer; a yes, a no and a number are."""
        contradicts = denies(claim.text) and not denies(self.question)
        if claim.fresh - _VAGUE or claim.quantities or _ANSWERS.match(claim.text) or contradicts:
            return ""
        return "it only repeats the question"

    def _numbers_fail(self, claim: _Claim, cited: Sequence[Source]) -> str:
        there = [q for s in cited for q in s.quantities]
        for q in claim.quantities:
            if not stands_in(q, there) and not stands_in(q, self.asked_quantities):
                return f"the number {q.text} is not in the cited sentences"
        return self._strange_number(claim, cited)

    def _numbers_misbound(self, claim: _Claim, cited: Sequence[Source]) -> str:
        """A number said of what the cited sentence gives another number for; the reader is shown that sentence."""
        holders = [s for s in cited if any(stands_in(q, s.quantities) for q in claim.quantities)]
        if any(bones(claim.text) in s.bones for s in holders):
            return ""
        number = used_twice(claim.text, [s.evidence.sentence.text for s in holders])
        for source in holders:
            number = number or misbound(claim.text, source.evidence.sentence.text, self.question)
            if number:
                self.against.append(source.evidence)
                return f"the number {number.text} belongs to something else in the cited sentence"
        return ""

    def _strange_number(self, claim: _Claim, cited: Sequence[Source]) -> str:
        """A number of one paper said of another paper's method: "A halves it by 500x" where 500x is B's."""
        asked = names_in(self.question) if is_english(self.question) else []
        for clause in _CLAUSES.split(claim.text):
            first = next(iter(strong_names(clause)), "")
            subjects = [first, *(name for name in asked if bones(name) in bones(clause))]
            for q in quantities(clause):
                holders = [s for s in cited if stands_in(q, s.quantities)]
                for subject in filter(None, subjects if holders else ()):
                    if not any(_stands(subject, s.paper_text) for s in holders):
                        return f"the number {q.text} is not {subject}'s"
        return ""

    def _names_fail(self, claim: _Claim, cited: Sequence[Source]) -> str:
        text = " ".join(s.paper_text for s in cited)
        # Languages that write nouns with a capital, or none, have only the strong names.
        for name in (
            names_in(claim.text) if is_english(f"{self.question} {claim.text}") else strong_names(claim.text)
        ):
            asked = self.asked if denies(claim.text) else ""
            if not _stands(name, text) and not (asked and _stands(name, asked)):
                return f"the name {name} is not in the cited papers"
        return ""

    def _exclusive_fails(self, claim: _Claim, cited: Sequence[Source]) -> str:
        """ "The only cause" where no cited sentence says so; a question may have put it into the model's mouth."""
        if not _THE_ONLY.search(claim.text) or any(_ONLY.search(s.evidence.sentence.text) for s in cited):
            return ""
        self.against.append(cited[0].evidence)
        return "the cited sentences do not say that it is the only one"

    def _contradicted(self, claim: _Claim, cited: Sequence[Source]) -> str:
        """A sentence of a cited paper that says the opposite; it is kept, the reader is shown it instead."""
        papers = {s.evidence.paper.key for s in cited}
        for source in self.sources:
            e = source.evidence
            if e.paper.key in papers and opposite(claim.text, e.sentence.text):
                self.against.append(e)
                return "the papers say the opposite"
        return ""

    def _grade(self, claim: _Claim, cited: Sequence[Source]) -> Grade:
        skeleton = bones(claim.text)
        if len(skeleton) >= VERBATIM and any(skeleton in s.bones for s in cited):
            return "quoted"
        cosine = max(float(claim.vector @ s.vector) for s in cited)
        held = frozenset().union(*(s.stems for s in cited)) | stems(
            " ".join(s.evidence.paper.label for s in cited)
        )
        near = min(1.0, max(0.0, (cosine - FAR) / (NEAR - FAR)))
        if len(claim.fresh) <= THIN and not claim.quantities and near < ALIKE and claim.stems != claim.fresh:
            return (
                "unsupported"  # a word or two set into the question's own: that they stand there says nothing
            )
        agreement = 0.5 * near + 0.5 * (_share(len(claim.fresh & held), claim.fresh) if claim.fresh else near)
        if agreement >= SUPPORTED:
            return "supported"
        return "weak" if agreement >= WEAK else "unsupported"


def _stands(name: str, text: str) -> bool:
    """Whether a name stands in a folded text: whole, in the singular, or every capitalised part of a compound
    ("German-to-English", "QE-assisted", "DRE-infinity" for DRE-∞)."""
    parts = [part for part in re.split(r"[-/+]", name) if any(c.isupper() or c.isdigit() for c in part)]
    if any(part.isdigit() for part in parts):
        parts = []  # GPT-4 is not any GPT and any 4
    whole = {bones(name), bones(name).removesuffix("s")}  # MACs, MAC; Gaussians, Gaussian
    return any(form in text for form in whole) or (
        len(name) > len(max(parts, default=name)) and all(bones(part) in text for part in parts)
    )


def is_english(text: str) -> bool:
    """Whether a fifth of the words are English function words."""
    said = words(text)
    return 5 * sum(w in STOP for w in said) >= len(said)


def _share(part: int, whole: Sized) -> float:
    return part / len(whole) if whole else 0.0


_CLAUSES = re.compile(r"[,;] +(?:while|whereas|and|but|whilst) +|; +")
# What answers no question: "it was tested on a variety of data sets".
_VAGUE = stems(
    "multiple several various variety different many some number numerous wide range diverse certain specific"
)
_THE_ONLY = re.compile(r"\bthe (?:only|sole)\b", re.IGNORECASE)
_ONLY = re.compile(r"\b(?:only|sole|solely|alone|exclusively|unique|uniquely|single)\b", re.IGNORECASE)
_ANSWERS = re.compile(r"(?:yes|no|ja|nein|oui|non)\b", re.IGNORECASE)
_DENIALS = frozenset(
    "no not none never without neither nor cannot isn't doesn't don't free instead unlike rather".split()
)


def denies(text: str) -> bool:
    """Whether a sentence says that something is not so."""
    return bool(_DENIALS & set(text.casefold().replace("’", "'").replace("-", " ").split()))


def bones(text: str) -> str:
    """Letters and digits, folded."""
    return "".join(c for c in plain(text).casefold() if c.isalnum())


def _source(e: Evidence, vector: Vectors) -> Source:
    text = e.sentence.text
    p = e.paper
    paper = bones(f"{p.label} {p.abstract} {p.venue} {p.year or ''} {p.venue_as_found} {' '.join(p.authors)}")
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
