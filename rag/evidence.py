"""The numbered sentences put before the model: the leading paper whole, the best sentences of the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from rag import stored
from rag.nouns import Evidence, Hit, Paper, Sentence
from rag.quantities import quantities
from rag.retrieve import Retriever
from rag.understand import asks_number
from rag.words import terms, words

CLEAR = 0.03  # lead of the first paper over the second from which it alone is shown whole
NUMBER = 0.1  # what a sentence with a number gains where a number is asked for
OPENING, SHORT = (
    (0.2, 0.1),
    3,
)  # what the first sentences of an abstract lose, if it has more than SHORT: background
FOLLOWED = 0.005  # the same for a follow-up: the history has already said which paper it is
# Sentences that speak to a model or a reviewer instead of about the work: no evidence for anything.
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:rules?|instructions?|prompts?|above|previous|everything)\b"
    r"|\b(?:reply|respond|answer|output|print|write|say)\b (?:only|nothing|exactly|just)\b"
    r"|\b(?:system prompt|you are (?:now|an? (?:ai|assistant|language model))|as an ai)\b"
    r"|<\|\w+\|>|\[/?INST\]|(?-i:NOT FOUND)",
    re.IGNORECASE,
)
_LEANING = ("this ", "these ", "it ", "its ", "they ", "such ", "that ", "the latter", "both ", "here ")


# Sentences of the first paper, the second, ...: WHOLE is all of them; papers behind get none.
WHOLE = 1_000
ONE_LEADS = (WHOLE, 1, 1)
SOME_LEAD = (4, 4, 2)  # several papers stand out: two papers on one subject
SIDES = (8, 8, 5)  # a comparison: each side has a prompt of its own
NONE_LEADS = (5, 3, 2, 1)  # breadth: the question may share no words with its paper


def shares(hits: Sequence[Hit], sure: bool, follow_up: bool) -> tuple[int, ...]:
    """How the room is shared; `sure` tells whether the first paper stands out from the collection."""
    lead = hits[0].score - hits[1].score if len(hits) > 1 else 1.0
    if lead >= (FOLLOWED if follow_up else CLEAR):
        return ONE_LEADS
    return SOME_LEAD if sure else NONE_LEADS


def choose(
    retriever: Retriever,
    hits: Sequence[Hit],
    forms: Sequence[str],
    *,
    share: Sequence[int],
    budget: int,
    count: Callable[[str], int],
) -> list[Evidence]:
    """Numbered sentences of the hits in reading order, at most `budget` tokens by `count`.

    When the budget is full, a paper keeps its best sentences that fit; no sentence is cut.
    """
    picked: list[tuple[Hit, Sentence, float]] = []
    used = 0
    for hit, most in zip(hits, share, strict=False):
        ranked = _ranked(retriever, hit, forms)[:most]
        part = _reading_order(ranked, retriever.library.sentences(hit.paper))
        head = count(name_of(hit.paper)) + 4
        cost = head + sum(count(s.text) + 4 for s, _ in part)
        if used + cost > budget:
            part, cost = _trimmed(part, budget - used - head, count)
            if not part:
                break
            cost += head
        used += cost
        picked += [(hit, s, score) for s, score in part]
    return [Evidence(n, hit.paper, s, round(score, 6)) for n, (hit, s, score) in enumerate(picked, 1)]


def name_of(paper: Paper) -> str:
    """What the model is told a paper is called: its title, or the phrase that its label takes from it."""
    return paper.title or paper.label.partition(": ")[2] or paper.label


def best_each(retriever: Retriever, hits: Sequence[Hit], forms: Sequence[str]) -> list[Evidence]:
    """The best sentence of every hit, numbered in the order of the hits."""
    best = [(hit, ranked[0]) for hit in hits if (ranked := _ranked(retriever, hit, forms))]
    return [Evidence(n, hit.paper, s, round(score, 6)) for n, (hit, (s, score)) in enumerate(best, 1)]


def _ranked(retriever: Retriever, hit: Hit, forms: Sequence[str]) -> list[tuple[Sentence, float]]:
    """A paper's sentences with their score for the question, best first."""
    sentences = retriever.library.sentences(hit.paper)
    cosines = _cosines(retriever, hit, forms[:1])
    wanted = set(terms(forms[0]))  # what is asked; the history has told which paper it is asked of
    numeric = asks_number(forms[0])
    scored = []
    for s in sentences:
        if _ORDERS.search(s.text):
            continue
        shared = len(wanted & set(words(s.text))) / (len(wanted) or 1)
        asked = NUMBER if numeric and quantities(s.text) else 0.0
        opening = OPENING[s.ordinal] if s.ordinal < len(OPENING) and len(sentences) > SHORT else 0.0
        scored.append((s, cosines.get(s.ordinal, 0.0) + 0.5 * shared + asked - opening))
    return sorted(scored, key=lambda pair: (-pair[1], pair[0].ordinal))


def _cosines(retriever: Retriever, hit: Hit, forms: Sequence[str]) -> dict[int, float]:
    """The best cosine of each sentence with any form of the question."""
    vectors = stored.of_papers(retriever.library, [hit.paper.id], "sentence")
    if not vectors:
        return {}
    queries = np.stack([retriever.query_vector(form) for form in forms])
    out: dict[int, float] = {}
    for name, vector in vectors:
        out[name.first] = max(out.get(name.first, -1.0), float((queries @ vector).max()))
    return out


def _reading_order(
    part: Sequence[tuple[Sentence, float]], every: Sequence[Sentence]
) -> list[tuple[Sentence, float]]:
    """By place in the abstract; a sentence that leans on the one before ("It ...") brings that one along."""
    scores = {s.ordinal: score for s, score in part}
    for s, score in part[:2]:
        if s.ordinal and s.text.casefold().startswith(_LEANING):
            scores.setdefault(s.ordinal - 1, score)
    return [(every[n], scores[n]) for n in sorted(scores)]


def _trimmed(
    part: Sequence[tuple[Sentence, float]], room: int, count: Callable[[str], int]
) -> tuple[list[tuple[Sentence, float]], int]:
    """The best sentences that fit into `room` tokens, in reading order, and their cost."""
    kept: list[tuple[Sentence, float]] = []
    used = 0
    for s, score in sorted(part, key=lambda pair: -pair[1]):
        cost = count(s.text) + 4
        if used + cost <= room:
            kept.append((s, score))
            used += cost
    return sorted(kept, key=lambda pair: pair[0].ordinal), used
