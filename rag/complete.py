"""What a draft left out, in the authors' words: sentences quoted behind the model's own.

A small model answers rightly but not completely, and of two papers it forgets one. The sentence that fits the
question best is quoted when most of it is not in the answer. Measured in docs/design/answering.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from rag.nouns import AnswerSentence, Citation, Evidence, Hit
from rag.opposites import denied, negated, opposite
from rag.quantities import quantities
from rag.understand import asks_number, strong_names
from rag.verify import bones
from rag.words import stems

NEW = 0.4  # share of a sentence's content that the answer lacks, from which it is quoted
WORDS, WORDS_OF_SIDES = 58, 112  # of an answer with its quotes
MOST_SIDES = 3
_PAPERS = r"(?:\w+ ){0,3}(?:papers|methods|works|approaches|techniques|models|samplers)"
_COMPARES = re.compile(
    r"\b(?:compare|comparison|contrast|versus|vs|each|respectively|in common|both|"
    rf"(?:two|three|four) {_PAPERS})\b"
    r"|\bdiffer(?:s|ences?|ently)?\b.*\b(?:and|from)\b",
    re.IGNORECASE,
)

_SAID = re.compile(r"\b(two|three) (?:\w+ ){0,4}(?:papers|works|abstracts|studies)\b", re.IGNORECASE)
_WHY = re.compile(r"\b(?:why|how come|since|given that|because)\b", re.IGNORECASE)
_ADDRESS = re.compile(
    r"https?://|www\.", re.IGNORECASE
)  # where the code is: nothing that completes an answer
_JOINS = re.compile(r"\b(?:and|or|than|while|whereas|but|versus|vs)\b|[;?]", re.IGNORECASE)


def compares(question: str) -> bool:
    """Whether a question sets things beside each other."""
    return bool(_COMPARES.search(question))


def joins_names(question: str) -> bool:
    """Whether a question names several things side by side ("what does A see, and what B?")."""
    names = strong_names(question)
    places = sorted({question.find(name): name for name in names}.items())
    between = (question[at + len(name) : next_at] for (at, name), (next_at, _) in pairwise(places))
    return any(_JOINS.search(part) for part in between)


def sides(
    question: str, hits: Sequence[Hit], edge: float, search: Callable[[str], Sequence[Hit]]
) -> tuple[list[Hit], list[str]]:
    """The papers a comparison is about, and the names in it that no paper holds.

    Papers it names, which are searched for by name if `hits` lack them; where it names fewer than two things, also
    those whose score is at least `edge`, and as many as it says ("the two papers").
    """
    meant: dict[str, Hit] = {}
    missing: list[str] = []
    for name in strong_names(question):
        found = next((hit for hit in hits if _names(hit, name)), None) or next(
            (hit for hit in search(name) if _names(hit, name)), None
        )
        if found:
            meant.setdefault(found.paper.key, found)
        else:
            missing.append(name)
    named = len(meant) + len(missing) > 1
    others = [] if named else [hit for hit in hits if hit.paper.key not in meant]
    said = _SAID.search(question)
    lacking = (2 if said[1].casefold() == "two" else 3) - len(meant) if said else 0
    rest = [hit for n, hit in enumerate(others) if hit.score >= edge or n < lacking]
    return [*meant.values(), *rest][:MOST_SIDES], missing


def _names(hit: Hit, name: str) -> bool:
    return bones(name) in bones(f"{hit.paper.label} {hit.paper.abstract}")


def contradicting(question: str, evidence: Sequence[Evidence]) -> list[Evidence]:
    """Sentences of the first paper that say the opposite of what a question takes for granted."""
    first = evidence[0].paper.key
    mine = [e for e in evidence if e.paper.key == first]
    rules = [opposite, denied, *([negated] if _WHY.search(question) else [])]
    return [e for e in mine if any(rule(question, e.sentence.text) for rule in rules)][:1]


def quotes(
    said: Sequence[AnswerSentence],
    evidence: Sequence[Evidence],
    papers: Sequence[str],
    most: int,
    new: float = NEW,
) -> list[AnswerSentence]:
    """The best sentence of each paper of which the answer lacks a share of `new`, within `most` words in all."""
    text = " ".join(s.text for s in said)
    out: list[AnswerSentence] = []
    for paper in papers:
        mine = (e for e in evidence if e.paper.key == paper and not _ADDRESS.search(e.sentence.text))
        best = max(mine, key=lambda e: e.score, default=None)
        if best is None or len(f"{text} {best.sentence.text}".split()) > most:
            continue
        content = stems(best.sentence.text)
        if best.sentence.text in text or len(content - stems(text)) < new * len(content):
            continue
        out.append(quoted(best))
        text += f" {best.sentence.text}"
    return out


def numbers_told(question: str, said: Sequence[AnswerSentence]) -> bool:
    """Whether one number is asked for, and the answer has it."""
    one = asks_number(question) and " and " not in question
    return one and any(quantities(s.text) for s in said)


def quoted(e: Evidence) -> AnswerSentence:
    """An evidence sentence as a sentence of the answer."""
    s = e.sentence
    citation = Citation(e.n, e.paper.key, e.paper.label, s.text, s.start, s.end, "quoted")
    return AnswerSentence(s.text, "quoted", (citation,))


def cited(said: Sequence[AnswerSentence]) -> list[str]:
    """Keys of the papers an answer cites, the most cited first."""
    keys = [c.paper for s in said for c in s.citations]
    return sorted(dict.fromkeys(keys), key=lambda key: -keys.count(key))
