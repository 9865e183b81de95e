"""A conversation as plain generators and functions: questions and presses in, turns and panels out."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rag.errors import PinciteError
from rag.nouns import (
    Answer,
    AnswerSentence,
    Done,
    Draft,
    Event,
    Filters,
    Found,
    Hit,
    Settled,
    Turn,
    Waiting,
)
from rag.rows import answer_row
from ui.web.desk import Assistant
from ui.web.panel import alike_html, gone_html, source_html
from ui.web.relay import relay
from ui.web.render import Shown

LONGEST_QUESTION = 2_000  # characters
ALIKE = 6  # papers shown that resemble one

Turns = tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class Talk:
    """What a browser session knows of its conversation beside the turns."""

    id: str = ""  # in the history; "" before the first question
    filters: Filters = Filters()
    editing: bool = False  # the next question replaces the last one


def converse(
    assistant: Assistant, question: str, turns: Turns, cancel: threading.Event, filters: Filters | None = None
) -> Iterator[Turns]:
    """The turns after each change, ending with the new turn done, stopped or failed."""
    filters = filters or Filters()
    shown = Shown(Answer(question, "", "partial", ""), filters=filters)
    yield (*turns, shown)
    history = [Turn(t.answer.question, t.answer.text) for t in turns if t.phase != "failed"]
    try:
        for batch in relay(lambda: assistant.stream(question, history, filters, cancel), cancel):
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
        case Found(searched_for, evidence, hits):
            answer = replace(answer, searched_for=searched_for, evidence=evidence)
            return replace(shown, phase="reading", answer=answer, hits=hits)
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
    if "alike" in data:
        return alike(assistant, str(data["alike"]))
    number = _number(data.get("turn"))
    shown = turns[number] if number is not None and number < len(turns) else None
    if "paper" in data:
        return paper_panel(assistant, str(data["paper"]), shown)
    n = _number(data.get("n"))
    evidence = next((e for e in shown.answer.evidence if e.n == n), None) if shown else None
    if shown is None or evidence is None:
        return ""
    answer, key = shown.answer, evidence.paper.key
    spans = {(c.start, c.end) for s in answer.sentences for c in s.citations if c.paper == key}
    lit = (evidence.sentence.start, evidence.sentence.end)
    return source_html(evidence.paper, lit, sorted(spans - {lit}), evidence.n, _hit_of(shown, key))


def paper_panel(assistant: Assistant, key: str, shown: Shown | None = None, *, closable: bool = True) -> str:
    """The panel for a paper of the collection; its best sentence is lit where the turn has looked at it."""
    hit = _hit_of(shown, key) if shown else None
    found = assistant.paper(key)
    if found is None:
        return gone_html(hit.paper.label) if hit else ""
    paper, sentences = found
    best = hit.best_sentence if hit else None
    lit = next(((s.start, s.end) for s in sentences if s.ordinal == best), None)
    return source_html(paper, lit, hit=hit, closable=closable)


def alike(assistant: Assistant, key: str) -> str:
    """The panel with the papers nearest to a paper of the collection."""
    found = assistant.paper(key)
    if found is None:
        return ""
    paper, sentences = found
    text = f"{paper.label}. {sentences[0].text if sentences else ''}"
    return alike_html(paper, assistant.retriever.search([text], ALIKE, Filters(without=(key,))))


def _hit_of(shown: Shown, key: str) -> Hit | None:
    return next((h for h in (*shown.answer.nearest, *shown.hits) if h.paper.key == key), None)


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
