"""What the model is asked at once: the question over all its evidence, or each side of a comparison alone.

A small model that reads two papers at once tells the same of both; asked for one at a time it keeps them apart.
Measured in docs/design/answering.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag.evidence import name_of
from rag.nouns import AnswerSentence, Evidence, Hit
from rag.understand import names_in, strong_names
from rag.verify import bones

HEAD_WORDS = 8  # of a title that can stand for a paper


@dataclass(frozen=True, slots=True)
class Part:
    """One prompt of an answer."""

    evidence: tuple[Evidence, ...]
    question: str
    name: str = ""  # of the side it is about
    known: tuple[str, ...] = ()  # what the question calls it


def parts_of(question: str, evidence: Sequence[Evidence], sides: Sequence[Hit]) -> list[Part]:
    """One part, or one for each side of a comparison that has evidence."""
    if len(sides) < 2:
        return [Part(tuple(evidence), question)]
    out = []
    for side in sides:
        mine = tuple(e for e in evidence if e.paper.key == side.paper.key)
        others = [other for other in sides if other is not side]
        known = tuple(
            name
            for name in names_in(question)
            if _holds(side, name) and not any(_holds(other, name) for other in others)
        )
        name = next((name for name in known if strong_names(name)), _head(side))
        if mine:
            out.append(Part(mine, f"{question} (Answer for {name} only.)", name, known))
    return out


def told_by_name(sentence: AnswerSentence, part: Part) -> AnswerSentence:
    """The sentence, with its side's name in front where nothing in it says which side it is about."""
    said = bones(sentence.text)
    if not part.name or any(bones(name) in said for name in (part.name, *part.known)):
        return sentence
    return replace(sentence, text=f"{part.name}: {sentence.text}")


def _head(side: Hit) -> str:
    """The head of a paper's title."""
    title = name_of(side.paper)
    head = title.partition(": ")[0]
    return head if side.paper.title and len(head.split()) <= HEAD_WORDS else title


def _holds(hit: Hit, name: str) -> bool:
    return bones(name) in bones(f"{hit.paper.label} {hit.paper.abstract}")
