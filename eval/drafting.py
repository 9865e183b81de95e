"""Drafts of questions over a collection: the program picks the quotes, a model words the questions.

What a model writes is checked by rules against the quote it was given; a draft that fails is dropped. All
drafts are answerable, and unreviewed: a person decides whether they are good questions.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import prompts
from eval.facts import facts_of
from eval.matching import skeleton
from eval.questions import SHORTEST, Question, faults_of
from rag.evidence import name_of
from rag.examples import subject
from rag.library import Library
from rag.model import Message, Model
from rag.nouns import Paper
from rag.prompting import inline, prefix_of
from rag.quantities import quantities, stands_in
from rag.text import plain
from rag.understand import strong_names
from rag.words import stems

KINDS = ("lookup", "numeric", "which")
WANTED = {
    "lookup": "a question about what is said; it names {}",
    "numeric": "a question about a number; it names {}",
    "which": 'a question that begins with "Which method" and does not name {}',
}
LONGEST = 320  # characters of a quote
ROUNDS = 3  # quotes of one paper at the most
TOKENS = 120  # of a draft
WORDS = (4, 35)  # of a question
REFERENCE_WORDS = 40
NAMED = 0.6  # share of a name's words that a question must hold to be about it

_LINES = re.compile(r"Question:\s*(\S[^\n]*?)\s*(?:\n+\s*Answer:\s*(\S[^\n]*)|\Z)")
_CLAIM = re.compile(r"(?:We|Our|It|This|The)\b")
_POINTING = re.compile(
    r"\b(?:the|this|given|that) (?:given )?(?:sentence|text|passage|abstract|context|name)\b", re.I
)
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence from which a question of some kind can be made, and what its paper is called."""

    kind: str
    paper: Paper
    name: str
    quote: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """A draft that was dropped, and why."""

    candidate: Candidate
    reason: str


def draft(
    library: Library, model: Model, *, kinds: Sequence[str] = KINDS, seed: int = 0
) -> Iterator[Question | Rejected]:
    """Drafts one by one, the kinds in turn, papers in the order of the seed, until the collection is exhausted.

    The same collection, model and seed give the same drafts.
    """
    skeletons = [skeleton(paper.abstract) for paper in library.papers()]
    asked: set[str] = set()
    for candidate in _in_turn([candidates(library, kind, seed) for kind in kinds]):
        made = _drafted(candidate, model, skeletons)
        if isinstance(made, Question) and skeleton(made.question) in asked:
            made = Rejected(candidate, "it asks the same as another")
        if isinstance(made, Question):
            asked.add(skeleton(made.question))
        yield made


def candidates(library: Library, kind: str, seed: int) -> Iterator[Candidate]:
    """Sentences fit for a kind: one of each paper, then a second of each; papers with a coined name first."""
    papers = list(library.papers())
    random.Random(f"{seed} {kind}").shuffle(papers)
    papers.sort(key=lambda paper: not subject(paper))  # a title is seldom repeated in full
    for turn in range(ROUNDS):
        for paper in papers:
            name = subject(paper) or ("" if kind == "which" else plain(paper.title))
            fit = [s.text for s in library.sentences(paper) if name and _is_fit(s.text, kind, name)]
            if turn < len(fit):
                yield Candidate(kind, paper, name, fit[turn])


def _is_fit(text: str, kind: str, name: str) -> bool:
    if not SHORTEST <= len(text) <= LONGEST or len(text.split()) < 6:
        return False
    if kind == "numeric":
        return any(q.unit or not _YEAR.fullmatch(q.value) for q in quantities(text))
    names_it = skeleton(name) in skeleton(text)
    return names_it or (kind == "lookup" and _CLAIM.match(text) is not None)


def _in_turn(sources: Sequence[Iterator[Candidate]]) -> Iterator[Candidate]:
    """One candidate of each source, again and again; no sentence twice."""
    left, used = list(sources), set()
    while left:
        for source in list(left):
            found = next((c for c in source if c.quote not in used), None)
            if found is None:
                left.remove(source)
            else:
                used.add(found.quote)
                yield found


def _drafted(candidate: Candidate, model: Model, skeletons: Sequence[str]) -> Question | Rejected:
    said = _LINES.search(_written(candidate, model))
    if said is None:
        return Rejected(candidate, "no question")
    question, reference = " ".join(said[1].split()), " ".join((said[2] or candidate.quote).split())
    if reason := _fault(candidate, question, reference):
        return Rejected(candidate, reason)
    made = _question(candidate, question, reference)
    if faults := faults_of(made, skeletons):
        return Rejected(candidate, faults[0])
    return made


def _written(candidate: Candidate, model: Model) -> str:
    prompt = prompts.load("draft")
    name = inline(candidate.name)
    filled = prompt.fill(
        name=name, sentence=inline(candidate.quote), wanted=WANTED[candidate.kind].format(name)
    )
    return "".join(model.stream(prefix_of(prompt), [Message("user", filled)], max_tokens=TOKENS))


def _question(candidate: Candidate, question: str, reference: str) -> Question:
    quote, name = candidate.quote, candidate.name
    facts = facts_of(reference, [quote], question)
    if candidate.kind == "which":
        reference, facts = f"It is {name}: {quote}", ((name,),)
    return Question(
        id=f"draft-{candidate.kind}-{hashlib.sha256(quote.encode()).hexdigest()[:8]}",
        kind=candidate.kind,
        question=question,
        evidence=(quote,),
        facts=facts,
        reference=reference,
        reviewed=False,
        note=f"Drafted from: {name_of(candidate.paper)}",
    )


def _fault(candidate: Candidate, question: str, reference: str) -> str:
    """Why a question and its answer do not fit the quote they were drafted from; empty if they do."""
    if not question.endswith("?") or not WORDS[0] <= len(question.split()) <= WORDS[1]:
        return "no question of usual length"
    if _POINTING.search(question):
        return "it points to a text that nobody sees"
    if _is_named(candidate.name, question) == (candidate.kind == "which"):
        return "it gives the name away" if candidate.kind == "which" else "it does not say what it is about"
    if candidate.kind != "which" and len(reference.split()) > REFERENCE_WORDS:
        return "a long answer"
    return _invention(candidate, question, reference)


def _invention(candidate: Candidate, question: str, reference: str) -> str:
    quoted = f"{candidate.quote} {candidate.paper.title} {candidate.name}"
    for text in (question,) if candidate.kind == "which" else (question, reference):
        if not all(stands_in(q, quantities(quoted)) for q in quantities(text)):
            return "a number that is not in the quote"
        if not all(skeleton(name) in skeleton(quoted) for name in strong_names(text)):
            return "a name that is not in the quote"
    if candidate.kind == "numeric" and not _new_numbers(question, reference):
        return "its answer is no number"
    return ""


def _new_numbers(question: str, reference: str) -> bool:
    return any(not stands_in(q, quantities(question)) for q in quantities(reference))


def _is_named(name: str, question: str) -> bool:
    """Whether a question holds a name, or most words of a long one."""
    if skeleton(name) in skeleton(question):
        return True
    parts = stems(name)
    return len(parts) > 1 and len(parts & stems(question)) >= NAMED * len(parts)
