"""From what the reader typed or pressed to the turns, kept: plain functions that the Chat tab wires."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import gradio as gr

from rag import feedback
from rag.errors import PinciteError
from rag.history import Conversation, History, Said
from rag.nouns import Answer, Filters
from rag.rows import answer_row
from ui.web.actions import chips_html
from ui.web.clean import clean
from ui.web.conversation import LONGEST_QUESTION, Talk, Turns, broken_off, converse, too_long
from ui.web.desk import Assistant, Desk
from ui.web.render import Shown, turns_html
from ui.web.sources import evidence_html

# Browsers open six connections to one server at the most. A question holds one until it is answered; the rest are
# left for Stop, for new tabs, and for an evaluation or an upload.
SEATS = 4


def reopened(kept: Conversation) -> tuple[Turns, Talk]:
    """A kept conversation as it was shown."""
    turns = tuple(
        Shown(
            said.answer,
            "stopped" if said.answer.note == "stopped" else "done",
            hits=said.hits,
            filters=said.filters,
            kept=number,
        )
        for number, said in kept.turns
    )
    return turns, Talk(kept.id)


def what_is_asked(text: str, turns: Turns, talk: Talk, data: Mapping[str, Any]) -> tuple[str, Turns, Talk]:
    """The question, the turns it follows, and the talk it belongs to.

    `data` is what a button, or the page for a question that was put off ("again"), says of itself.
    """
    if "retry" in data and turns:
        filters = Filters() if "wide" in data else turns[-1].filters
        return turns[-1].answer.question, turns[:-1], replace(talk, filters=filters, editing=True)
    turns = left_off(turns)
    if "ask" in data:
        return str(data["ask"]).strip(), turns, replace(talk, editing=False)
    return text.strip(), turns[:-1] if talk.editing else turns, talk


def asked(
    seats: threading.Semaphore,
    desk: Desk,
    text: str,
    turns: Turns,
    talk: Talk,
    data: Mapping[str, Any],
    cancel: threading.Event,
) -> Iterator[dict[str, Any]]:
    """What changes on the page, by name of its part, from a press to the answer, or to a place in the line."""
    again = "again" in data
    if again and left_off(turns) == turns:
        yield {}  # stopped or answered meanwhile
        return
    question, before, talk = what_is_asked(text, turns, talk, data)
    for view in seated(seats, desk, question, before, turns, talk, cancel):
        if again and view.get("turns") == turns:
            yield {}  # still no seat: all stays as it is
        else:
            still = ("box", "source") if again else ()  # the reader may be typing, or reading
            yield {name: part for name, part in view.items() if name not in still}


def seated(
    seats: threading.Semaphore,
    desk: Desk,
    question: str,
    before: Turns,
    turns: Turns,
    talk: Talk,
    cancel: threading.Event,
) -> Iterator[dict[str, Any]]:
    """`kept_views` while it has one of the seats; without a free one the question is put off."""
    views = kept_views(desk, question, before, turns, talk, cancel)
    if not 0 < len(question) <= LONGEST_QUESTION:
        yield from views  # told at once
    elif not seats.acquire(blocking=False):
        yield put_off(desk, question, before, turns, talk)
    else:
        try:
            yield from views
        finally:
            seats.release()


def kept_views(
    desk: Desk, question: str, before: Turns, turns: Turns, talk: Talk, cancel: threading.Event
) -> Iterator[dict[str, Any]]:
    """`views`, and the ended turn kept in the history under the conversation's id."""
    replaced = turns[-1].kept if talk.editing and turns else 0
    question = question.encode("utf-8", "replace").decode()  # half a character cannot be kept
    asking = replace(talk, id=talk.id or History.new_id(), editing=False)
    started = False
    for view in views(desk.assistant, question, before, cancel, talk.filters):
        turns = view.get("turns", ())
        if turns and not started:
            started = True
            view |= {
                "talk": asking,
                "where": desk.address(asking.id),
                "chips": chips(desk, asking),
                "top": desk.header(),
            }
        if turns and turns[-1].phase in ("done", "stopped"):
            view["turns"] = (*turns[:-1], _kept(desk.history, asking.id, turns[-1], replaced))
        yield view


def put_off(desk: Desk, question: str, before: Turns, turns: Turns, talk: Talk) -> dict[str, Any]:
    """What is shown of a question that has no seat yet; page.js asks it again."""
    answer, replaced = Answer(question, "", "partial", ""), turns[-1].kept if talk.editing and turns else 0
    waiting = Shown(answer, "put off", ahead=SEATS, filters=talk.filters, kept=replaced)
    turns = (*before, waiting)
    shown = {"turns": turns, "past": past(turns), "now": now(turns), "evidence": evidence_html(None)}
    talk = replace(talk, editing=False)
    return shown | {"talk": talk, "chips": chips(desk, talk), "source": "", "box": ""}


def left_off(turns: Turns) -> Turns:
    """The turns, the last one stopped if it was put off."""
    if not turns or turns[-1].phase != "put off":
        return turns
    return (*turns[:-1], broken_off(turns[-1], stopped=True))


def _kept(history: History, conversation: str, shown: Shown, instead_of: int) -> Shown:
    """The turn with its number in the history; a disk that is full costs the history, not the answer."""
    try:
        said = Said(shown.answer, shown.hits, shown.filters)
        return replace(shown, kept=history.add(conversation, said, instead_of=instead_of))
    except PinciteError as error:
        gr.Warning(str(error), title="This conversation is not kept")
        return shown


def views(
    assistant: Assistant,
    question: str,
    before: Turns,
    cancel: threading.Event,
    filters: Filters | None = None,
) -> Iterator[dict[str, Any]]:
    """What changes on the page, by name of its part, from a question to its answer."""
    if not question:
        yield {"box": ""}
        return
    shown: dict[str, Any] = {}
    if len(question) > LONGEST_QUESTION:
        yield {"past": turns_html(before), "now": turns_html([too_long(question)], len(before))}
        return
    start = {"past": turns_html(before), "source": "", "box": ""}
    for turns in converse(assistant, question, before, cancel, filters):
        view = {
            "turns": turns,
            "now": now(turns),
            "evidence": evidence_html(turns[-1].answer, len(before)),
        }
        changed = start | {name: value for name, value in view.items() if shown.get(name) != value}
        if changed:  # Gradio takes an empty update for an error
            yield changed
        shown, start = view, {}


def judged(desk: Desk, turns: Turns, data: Mapping[str, Any]) -> Turns:
    """The turns with the reader's verdict on one of them, which is kept for evaluation."""
    number = str(data.get("turn", ""))
    verdict = next((v for v in feedback.VERDICTS if v == data.get("verdict")), None)
    if verdict is None or not number.isdecimal() or int(number) >= len(turns):
        return turns
    n = int(number)
    earlier = [(t.answer.question, t.answer.text) for t in turns[:n] if t.phase != "failed"]
    feedback.append(
        desk.assistant.settings.collection_dir,
        verdict,
        answer_row(turns[n].answer),
        history=earlier,
        comment=str(data.get("comment", ""))[:500],
    )
    return (*turns[:n], replace(turns[n], verdict=verdict), *turns[n + 1 :])


def changed(talk: Talk, data: Mapping[str, Any]) -> Talk:
    """The talk after a press on a filter's button, or on "ask about this paper only"."""
    filters, value = talk.filters, str(data.get("value", ""))
    if "only" in data:
        return replace(talk, filters=Filters(papers=(str(data["only"]),)))
    match data.get("unfilter"):
        case "venue":
            filters = replace(filters, venues=tuple(v for v in filters.venues if v != value))
        case "year":
            filters = replace(filters, years=tuple(y for y in filters.years if str(y) != value))
        case "paper":
            filters = replace(filters, papers=tuple(p for p in filters.papers if p != value))
        case "edit":
            return replace(talk, editing=False)
    return replace(talk, filters=filters)


def past(turns: Turns) -> str:
    return turns_html(turns[:-1])


def now(turns: Turns) -> str:
    return turns_html(turns[-1:], max(0, len(turns) - 1), last=True)


def chips(desk: Desk, talk: Talk) -> str:
    labels = {key: found[0].label for key in talk.filters.papers if (found := desk.assistant.paper(key))}
    chips = chips_html(talk.filters, labels)
    if talk.editing:
        chips += (
            '<button type="button" class="filter" data-unfilter="edit" title="Ask it as a new question instead">'
            'Replaces your last question<span aria-hidden="true"> ✕</span></button>'
        )
    return clean(f'<p class="chips">{chips}</p>') if chips else ""
