"""Which of a few close papers a question is about, by the answering model itself: it reads each with the question.

Where no paper stands out, a model that reads several of them at once mixes them up or refuses. Read one at a time,
the paper that makes it expect the question most, and want to refuse least, is the one that is answered from.
Measured in docs/design/answering.md.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from prompts import Prompt
from rag.evidence import WHOLE, choose
from rag.model import Read, Reader
from rag.nouns import Evidence, Hit, Turn
from rag.prompting import inline, messages_of, prefix_of
from rag.refusal import NOT_FOUND
from rag.retrieve import Retriever

READ = 4  # papers that are read: each costs one to two seconds
FIRST, HOPELESS = 2, 0.5  # if the model would rather refuse over each of so many, the others are not read
TOKENS = 260  # of each of them
EXPECTED = 0.2  # weight of the question's mean log-probability beside a paper's score
REFUSING = 0.02  # weight of the log of the chance that the model would refuse


@dataclass(frozen=True, slots=True)
class Reading:
    """The papers in the order that reading them gave; the first one's sentences, the chance that the model would refuse
    over them, and how much more it expects the question after them than after the others (nats a token)."""

    hits: tuple[Hit, ...]
    evidence: tuple[Evidence, ...]
    watched: float
    gap: float


def read_closest(
    model: Reader,
    prompt: Prompt,
    retriever: Retriever,
    hits: Sequence[Hit],
    forms: Sequence[str],
    question: str,
    history: Sequence[Turn],
    budget: int,
    cancel: threading.Event,
) -> Reading | None:
    """The first READ hits, read by the model; None if `cancel` was set or there is nothing to choose from."""
    texts = [
        choose(retriever, [hit], forms, share=(WHOLE,), budget=min(budget, TOKENS), count=model.count)
        for hit in hits[:READ]
    ]
    if len(texts) < 2:
        return None
    reads: list[Read] = []
    for text in texts:
        messages = messages_of(prompt, text, question, history)
        one = model.read(prefix_of(prompt), messages, inline(question), watch=NOT_FOUND, cancel=cancel)
        if one is None:
            return None
        reads.append(one)
        if len(reads) == FIRST and all(read.watched > HOPELESS for read in reads):
            break
    best = max(read.expected for read in reads)
    again = [
        replace(
            hit,
            score=hit.score
            + EXPECTED * (read.expected - best)
            - REFUSING * math.log(max(read.watched, 1e-4)),
        )
        for hit, read in zip(hits, reads, strict=False)
    ]
    order = sorted(range(len(reads)), key=lambda n: -again[n].score)
    first, *others = (reads[n] for n in order)
    return Reading(
        (*(again[n] for n in order), *hits[len(again) :]),
        tuple(texts[order[0]]),
        first.watched,
        first.expected - sum(read.expected for read in others) / len(others),
    )
