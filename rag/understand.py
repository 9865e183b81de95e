"""What a turn is about: whether it leans on the history, and what to search for then. Rules, no model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.nouns import Turn
from rag.words import STOP, words

# Words that point back to something said before.
_PRONOUN = re.compile(
    r"\b(it|its|itself|they|them|their|theirs|this|these|those|he|she|him|her|the (?:two|three|former|latter|"
    r"first|second|third|last|other|others|same|authors)|which (?:one|of (?:them|those|these|the two))|"
    r"ones?|both|here|there|such)\b",
    re.IGNORECASE,
)
# "that" points back after these words; elsewhere it mostly joins clauses ("shows that ...").
_THAT = re.compile(
    r"\b(?:does|do|did|is|was|are|about|of|for|with|on|in|to|from|being|than|and|but|why|how|what|like|after)"
    r" that\b(?! (?:is|are|was|were|can|does|do)\b)",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^\s*(and|but|so|also|then|or|ok|okay|what about|how about|what if|why not|why\?)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]\w*(?:[-/+]\w+)*")
_QUANTITY = re.compile(
    r"\d[\d.]*(?:st|nd|rd|th|x|k|d|s|ms|m|b|gb|mb|hz|khz|-\w+)", re.IGNORECASE
)  # "12x", "3rd", "20-ms"
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|big|large|fast|often|far|high|low|small)\b|\bby (?:what|which) (?:factor|margin)\b"
    r"|\b(?:what|which) (?:\w+ ){0,2}(?:number|percentage|share|factor|size|rate|accuracy|speed-?up|score)\b",
    re.IGNORECASE,
)
SHORT = 3  # a question of so few words cannot stand alone
TOPIC_WORDS = 14  # of the history, in what is searched for


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched for: one form, or two (as asked, and with the history's topic)."""

    text: str  # shown to the reader
    forms: tuple[str, ...]
    follow_up: bool


def understand(question: str, history: Sequence[Turn]) -> Search:
    """The search for a turn. A question that stands alone is never rewritten."""
    question = " ".join(question.split())
    if not history or not leans_on_history(question):
        return Search(question, (question,), False)
    subject = topic(history, question)
    if not subject:
        return Search(question, (question,), False)
    text = f"{question} (about: {subject})"
    return Search(text, (question, f"{subject} {question}"), True)


def leans_on_history(question: str) -> bool:
    """Whether a question points back, goes on ("and ...?"), or is too short to stand alone."""
    if _OPENING.search(question) or len(words(question)) <= SHORT:
        return True
    return bool(_PRONOUN.search(question) or _THAT.search(question))


def asks_number(question: str) -> bool:
    """Whether a question asks for a number."""
    return bool(_ASKS_NUMBER.search(question))


def topic(history: Sequence[Turn], question: str) -> str:
    """What the last turns were about: their questions' rare words and all names, newest first."""
    said = set(words(question))
    out: list[str] = []
    for turn in reversed(history):
        found = [w for w in _WORD.findall(turn.question) if w.casefold() not in STOP] + names_in(turn.answer)
        out += [w for w in found if not set(words(w)) <= said]
        if len(out) >= TOPIC_WORDS // 2:
            break
    return " ".join(list(dict.fromkeys(out))[:TOPIC_WORDS])


def names_in(text: str) -> list[str]:
    """Names and acronyms: words with a capital inside a sentence, and everything `strong_names` finds."""
    strong = strong_names(text)
    out: list[str] = []
    for match in _WORD.finditer(text):
        word = match[0]
        before = text[: match.start()].rstrip(" \"'“‘(*")
        opens = not before or before[-1] in ".!?:\n"
        plain_name = word[0].isupper() and not opens and len(word) > 1 and word.casefold() not in STOP
        if word in strong or plain_name:
            out.append(word)
    return list(dict.fromkeys(out))


def strong_names(text: str) -> list[str]:
    """Words that can only be names: a capital after the first letter, or letters mixed with digits."""
    out: list[str] = []
    for word in _WORD.findall(text):
        letters = [c for c in word if c.isalpha()]
        mixed = bool(letters) and any(c.isdigit() for c in word) and not _QUANTITY.fullmatch(word)
        if len(word) > 1 and (any(c.isupper() for c in word[1:]) or mixed):
            out.append(word)
    return list(dict.fromkeys(out))
