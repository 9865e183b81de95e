"""What one question has come to so far, and the answer made of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag.languages import Language, said
from rag.model import Finish
from rag.narrowing import told
from rag.nouns import Answer, AnswerSentence, Dropped, Evidence, Filters, Hit, Timing
from rag.refusal import refusal_text
from rag.understand import Search

NEAREST = 3  # closest papers named beside an answer or a refusal


@dataclass
class Run:
    """What one question has come to so far."""

    question: str  # without the words that only say which papers are meant
    asked: str  # as it was typed
    search: Search
    started: float
    filters: Filters
    total: int = 0  # papers searched
    found: Sequence[Hit] = ()  # as retrieved
    hits: Sequence[Hit] = ()  # the first of them, after a second look
    evidence: Sequence[Evidence] = ()
    sentences: list[AnswerSentence] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    against: list[Evidence] = field(default_factory=list)  # sentences that say otherwise than a draft
    evidence_s: float = 0.0
    first_token_s: float | None = None
    finishes: list[Finish] = field(default_factory=list)  # of the model's streams, one a prompt
    sides: Sequence[Hit] = ()  # the papers that a comparison sets beside each other
    missing: Sequence[str] = ()  # what is asked beside the rest and is not there
    refused: bool = False
    note: str = ""
    language: Language = "en"  # of the question
    refusal: str = ""  # why the library's records do not answer
    sure: bool = True  # the best paper stands out from the collection
    gap: float | None = None  # of the paper that was chosen by reading several, see `rag.reading`
    confidence: float | None = None
    features: Mapping[str, float] = field(
        default_factory=dict
    )  # of the answer, also if it was refused for them

    def clock(self) -> float:
        return time.perf_counter() - self.started


def answer_of(run: Run, fingerprint: Mapping[str, Any]) -> Answer:
    """The answer or the refusal that a run has come to."""
    found = bool(run.sentences) and not run.refused
    partial = found and bool(run.missing)
    nearest = tuple(run.hits[:NEAREST])
    return Answer(
        question=run.asked,
        searched_for=run.search.text,
        status="partial" if partial else "answered" if found else "not_found",
        text=" ".join(map(with_markers, run.sentences))
        if found
        else run.refusal or refusal_text(nearest, told(run.filters), run.language),
        sentences=tuple(run.sentences) if found else (),
        dropped=tuple(run.dropped),
        evidence=tuple(run.evidence),
        nearest=nearest,
        timing=Timing(
            round(run.evidence_s, 4),
            None if run.first_token_s is None else round(run.first_token_s, 4),
            round(run.clock(), 4),
            sum(finish.prompt_tokens for finish in run.finishes),
            sum(finish.output_tokens for finish in run.finishes),
        ),
        fingerprint=fingerprint,
        confidence=run.confidence if found else None,
        features=run.features,
        note=_note(run, partial),
    )


def with_markers(sentence: AnswerSentence) -> str:
    """The sentence with its markers before the final stop: "It halves the cost [2][5]."."""
    marks = "".join(f"[{c.n}]" for c in sentence.citations)
    if not marks:
        return sentence.text
    if sentence.text[-1] in ".!?":
        return f"{sentence.text[:-1].rstrip()} {marks}{sentence.text[-1]}"
    return f"{sentence.text} {marks}"


def _note(run: Run, partial: bool) -> str:
    """What is said beside an answer, if anything."""
    if partial and not run.note:
        return said("lacking", run.language, names=", ".join(run.missing))
    return run.note or next((_NOTES[f.reason] for f in run.finishes if f.reason in _NOTES), "")


_NOTES = {
    "length": "cut at the length limit",
    "cancelled": "stopped",
    "loop": "cut: the model repeated itself",
}
