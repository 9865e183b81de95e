"""When to say that the papers do not hold the answer, and the words for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rag.nouns import Hit
from rag.quantities import quantities
from rag.understand import strong_names
from rag.verify import bones
from rag.words import terms

NOT_FOUND = "NOT FOUND"  # what the prompt tells the model to write
REFUSAL = "I could not find this in these papers."
FAR = 0.45  # cosine of the best paper and sentence below which nothing is about the question
SUBJECT = 0.3  # share of a question's words from which the names in it are its subject
_FIGURE = re.compile(
    r"\bhow many\b|"
    r"\b(?:what|which|exact|precise)\b (?:\w+ ){0,3}(?:number|percentage|share|factor|size|rate|accuracy|score)\b",
    re.IGNORECASE,
)
# What is no figure by `quantities` and yet tells one.
_NONE = re.compile(
    r"\b(?:no|not|none|zero|one|single|two|both|pair|half|twice|double|halve[sd]?|free|without|never|all|every)\b",
    re.IGNORECASE,
)
_REFUSING = re.compile(r"^\W*not[ _-]?found\b", re.IGNORECASE)


def is_refusal(text: str) -> bool:
    """Whether a draft is the model's refusal."""
    return bool(_REFUSING.match(text))


def numberless(question: str, said: Iterable[str]) -> bool:
    """Whether a question asks how many, or for a certain figure, and nothing that is said holds a number."""
    return bool(_FIGURE.search(question)) and not any(quantities(text) or _NONE.search(text) for text in said)


def hopeless(question: str, hits: Sequence[Hit]) -> bool:
    """Whether no model need be asked: nothing found, nothing near, or the question is about unknown names.

    A name among many other words may be the reader's own ("do I have to cut arrows out of my DAG ...?").
    """
    if not hits:
        return True
    best = max(max(h.why.abstract_score, h.why.sentence_score) for h in hits)
    if best and best < FAR and not any(h.why.terms for h in hits):
        return True
    names = strong_names(question)
    if len(names) < SUBJECT * len(terms(question)):
        return False
    texts = " ".join(bones(h.paper.label + " " + h.paper.abstract) for h in hits)
    return bool(names) and not any(bones(name) in texts for name in names)


def refusal_text(nearest: Sequence[Hit], only: str = "") -> str:
    """The refusal, with the filters in words (`only`) and the closest papers named."""
    text = (
        f"{REFUSAL} Only papers {'' if only.startswith('by ') else 'from '}{only} were searched."
        if only
        else REFUSAL
    )
    return f"{text} Closest: {'; '.join(h.paper.label for h in nearest)}." if nearest else text
