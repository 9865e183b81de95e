"""When to say that the papers do not hold the answer, and the words for it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence

from rag.languages import NAMES, Language, said
from rag.nouns import Hit
from rag.quantities import quantities
from rag.understand import strong_names
from rag.verify import bones
from rag.words import terms

NOT_FOUND = "NOT FOUND"  # what the prompt tells the model to write
REFUSAL = said("refusal")
FAR = 0.45  # cosine of the best paper and sentence below which nothing is about the question
SUBJECT = 0.3  # share of a question's words from which the names in it are its subject
_FIGURE = re.compile(
    r"\bhow many\b|\b(?:exact|precise)(?: \w+){0,3} (?:number|size|value|figure|rate|accuracy|score)\b|"
    r"\b(?:what|which)(?: (?!do|does|did|is|are|was|were)[\w-]+){0,3} (?:percentage|share|rate|accuracy|score)\b",
    re.IGNORECASE,
)
# What is no figure by `quantities` and yet tells one.
_NONE = re.compile(
    r"\b(?:no|not|none|zero|one|single|two|both|pair|half|twice|double|halve[sd]?|free|without|never|all|every)\b",
    re.IGNORECASE,
)
# "TidalNet", "SRigL", "Auto-Bench"; not "DAG", "LLMs" or "kHz".
_COINED = re.compile(r"(?=.{4})\S*(?:[a-z][A-Z]|[A-Z]{2}[a-rt-z]|[a-z]-[A-Z]|^[A-Z]{4,}$)")
_WORD = re.compile(r"\w+(?:-\w+)*")
LIKE = 0.8  # how alike (0 to 1) a mistyped name is
_REFUSING = re.compile(r"^\W*not[ _-]?found\b", re.IGNORECASE)


def is_refusal(text: str) -> bool:
    """Whether a draft is the model's refusal."""
    return bool(_REFUSING.match(text))


def numberless(question: str, said: Iterable[str]) -> bool:
    """Whether a question asks how many, or for a certain figure, and nothing that is said holds a number."""
    return bool(_FIGURE.search(question)) and not any(quantities(text) or _NONE.search(text) for text in said)


def hopeless(question: str, hits: Sequence[Hit], holders: Callable[[str], int]) -> bool:
    """Whether no model need be asked: nothing found, nothing near, or the question is about unknown names.

    A short acronym among many words may be the reader's own ("do I have to cut arrows out of my DAG ...?"); a coined
    name ("InstructSpeech", "RLCF") is not, unless the papers write it otherwise. `holders` tells how many papers of the
    collection hold a word.
    """
    if not hits:
        return True
    best = max(max(h.why.abstract_score, h.why.sentence_score) for h in hits)
    if best and best < FAR and not any(h.why.terms for h in hits):
        return True
    names = strong_names(question)
    coined = [name for name in names if _COINED.match(name)]
    if coined and not any(holders(name) or _written_otherwise(name, hits) for name in coined):
        return True
    if len(names) < SUBJECT * len(terms(question)):
        return False
    texts = " ".join(bones(h.paper.label + " " + h.paper.abstract) for h in hits)
    return bool(names) and not any(bones(name) in texts for name in names)


def _written_otherwise(name: str, hits: Sequence[Hit]) -> bool:
    """Whether the papers found mean a name by other letters: nearly the same, one of their authors', or words that
    begin with its letters ("Markov chain Monte Carlo" for MCMC)."""
    name = name.casefold()
    for h in hits:
        p = h.paper
        there = _WORD.findall(f"{p.label} {p.abstract} {' '.join(p.authors)} {p.venue_as_found}".casefold())
        if name in "".join(word[0] for word in there) or difflib.get_close_matches(name, there, 1, LIKE):
            return True
    return False


def refusal_text(nearest: Sequence[Hit], only: str = "", language: Language = "en") -> str:
    """The refusal, with the filters in words (`only`) and the closest papers named."""
    parts = [said("refusal", language)]
    if only:
        parts.append(said("by" if only.startswith("by ") else "from", language, only=only))
    if nearest:
        parts.append(said("closest", language, papers="; ".join(h.paper.label for h in nearest)))
    return " ".join(parts)


def without_closest(text: str) -> str:
    """A refusal without the closest papers; any other text as it is."""
    for language in NAMES:
        if text.startswith(said("refusal", language)):
            return text.partition(f" {said('closest', language, papers='')[:-2].rstrip()}")[0]
    return text
