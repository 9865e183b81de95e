"""A conversation as plain generators and functions: questions and presses in, turns and panels out."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from rag.errors import PinciteError
from rag.nouns import (
    Answer,
    AnswerSentence,
    Done,
    Draft,
    Event,
    Filters,
    Found,
    Paper,
    Sentence,
    Settled,
    Turn,
    Waiting,
)
from rag.rows import answer_row
from ui.web.relay import relay
from ui.web.render import Shown
from ui.web.sources import gone_html, source_html

LONGEST_QUESTION = 2_000  # characters

Turns = tuple[Shown, ...]


class Assistant(Protocol):
    """What the page needs of `rag.assistant.Assistant`."""

    @property
    def is_sample(self) -> bool: ...

    def stream(
        self,
        question: str,
        history: Sequence[Turn] = (),
        filters: Filters = ...,
        cancel: threading.Event | None = None,
    ) -> Iterator[Event]: ...

    def paper(self, key: str) -> tuple[Paper, tuple[Sentence, ...]] | None: ...

    def examples(self, n: int = 4) -> list[str]: ...

    def size(self) -> tuple[int, int]: ...


def converse(assistant: Assistant, question: str, turns: Turns, cancel: threading.Event) -> Iterator[Turns]:
    """The turns after each change, ending with the new turn done, stopped or failed."""
    shown = Shown(Answer(question, "", "partial", ""))
    yield (*turns, shown)
    history = [Turn(t.answer.question, t.answer.text) for t in turns if t.phase != "failed"]
    try:
        for batch in relay(lambda: assistant.stream(question, history, Filters(), cancel), cancel):
            for event in batch:
                shown = advance(shown, event)
            yield (*turns, shown)
    except PinciteError as error:
        shown = replace(shown, phase="failed", draft="", error=str(error))
        yield (*turns, shown)
    if shown.running:
        yield (*turns, broken_off(shown, cancel.is_set()))


def advance(shown: Shown, event: Event) -> Shown:
    """The turn after one more event."""
    answer = shown.answer
    match event:
        case Waiting(position):
            return replace(shown, phase="waiting", ahead=position)
        case Found(searched_for, evidence, _):
            answer = replace(answer, searched_for=searched_for, evidence=evidence)
            return replace(shown, phase="reading", answer=answer)
        case Draft(text):
            return replace(shown, phase="writing", draft=text)
        case Settled(sentence):
            answer = replace(answer, sentences=(*answer.sentences, sentence))
            return replace(shown, phase="writing", answer=answer, draft="")
        case Done(answer):
            return replace(shown, phase="done", answer=answer, draft="")


def broken_off(shown: Shown, stopped: bool) -> Shown:
    """A turn whose stream ended before Done: by the reader, or by a fault that the terminal shows."""
    if not stopped:
        return replace(
            shown, phase="failed", error="The answer broke off. The terminal shows why; please ask again."
        )
    text = " ".join(map(_with_markers, shown.answer.sentences))
    return replace(shown, phase="stopped", answer=replace(shown.answer, text=text, note="stopped"))


def _with_markers(sentence: AnswerSentence) -> str:
    return f"{sentence.text} {''.join(f'[{c.n}]' for c in sentence.citations)}".rstrip()


def too_long(question: str) -> Shown:
    """The turn that is shown in place of asking a question of more than LONGEST_QUESTION characters."""
    error = (
        f"This question has {len(question):,} characters; {LONGEST_QUESTION:,} is the most. "
        "It is still in the box: shorten it and send it again."
    )
    return Shown(Answer(f"{question[:100].rstrip()}…", "", "not_found", ""), phase="failed", error=error)


def opened(assistant: Assistant, turns: Turns, data: Mapping[str, Any]) -> str:
    """The source panel for a pressed button; "" if the button means nothing in these turns."""
    turn = _number(data.get("turn"))
    if turn is None or turn >= len(turns):
        return ""
    answer = turns[turn].answer
    if "paper" in data:
        return _near_paper(assistant, answer, str(data["paper"]))
    n = _number(data.get("n"))
    evidence = next((e for e in answer.evidence if e.n == n), None)
    if evidence is None:
        return ""
    spans = {(c.start, c.end) for s in answer.sentences for c in s.citations if c.paper == evidence.paper.key}
    lit = (evidence.sentence.start, evidence.sentence.end)
    return source_html(evidence.paper, lit, sorted(spans - {lit}), evidence.n)


def _near_paper(assistant: Assistant, answer: Answer, key: str) -> str:
    """The panel for one of a refusal's closest papers, its best sentence lit."""
    hit = next((h for h in answer.nearest if h.paper.key == key), None)
    if hit is None:
        return ""
    found = assistant.paper(key)
    if found is None:
        return gone_html(hit.paper.label)
    paper, sentences = found
    lit = next(((s.start, s.end) for s in sentences if s.ordinal == hit.best_sentence), None)
    return source_html(paper, lit)


def _number(value: object) -> int | None:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() else None


def answer_to(assistant: Assistant, question: str, cancel: threading.Event) -> dict[str, Any]:
    """The answer row of a question (`docs/interfaces.md`); raises PinciteError."""
    if not question.strip():
        raise PinciteError("The question is empty. Send it as the first input.")
    if len(question) > LONGEST_QUESTION:
        raise PinciteError(too_long(question).error)
    for event in assistant.stream(question, (), Filters(), cancel):
        if isinstance(event, Done):
            return answer_row(event.answer)
    raise PinciteError("The answer was stopped before it was done.")
