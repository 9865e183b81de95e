"""The Chat tab: the conversation, its evidence and sources, and the box."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from rag import feedback
from rag.errors import PinciteError
from rag.history import Conversation, History, Said
from rag.nouns import Filters
from rag.rows import answer_row
from ui.web.actions import chips_html
from ui.web.clean import clean
from ui.web.conversation import LONGEST_QUESTION, Talk, Turns, converse, opened, too_long
from ui.web.desk import Assistant, Desk
from ui.web.render import Shown, header_html, turns_html, welcome_html
from ui.web.sources import evidence_html
from ui.web.tabs.parts import QUIET, Updates, html, told

SCRIPT = (Path(__file__).parents[1] / "page.js").read_text("utf-8")
WHERE = (Path(__file__).parents[1] / "where.js").read_text("utf-8")


class Frame(NamedTuple):
    """What stands around the tabs."""

    top: gr.HTML
    new: gr.Button
    tabs: gr.Tabs


class Parts(NamedTuple):
    """The tab's components; what `views` yields is named after them."""

    turns: gr.State  # of this browser session alone
    talk: gr.State
    past: gr.HTML  # ended turns; not sent again while a question runs
    now: gr.HTML  # the last turn
    source: gr.HTML
    evidence: gr.HTML
    where: gr.HTML  # the conversation's id, for the address
    chips: gr.HTML
    venues: gr.Dropdown
    years: gr.Dropdown
    box: gr.Textbox
    send: gr.Button
    stop: gr.Button


def layout(desk: Desk) -> Parts:
    turns, talk = gr.State(()), gr.State(Talk())
    with gr.Column(elem_id="talk"):
        with gr.Column(elem_id="answer"):
            past = html()
            now = html(_welcome(desk.assistant))
        with gr.Column(elem_id="side"):
            source = html("", "source", SCRIPT)
            evidence = html(evidence_html(None), "evidence")
        with gr.Column(elem_id="composer"):
            chips = html("", "chips")
            with gr.Row(elem_id="asking"):
                box = _question_box()
                send = gr.Button("Send", elem_id="send", variant="primary")
                stop = gr.Button("Stop", elem_id="stop")
            with gr.Accordion("Filters", open=False, elem_id="filters"), gr.Row():
                venues = gr.Dropdown([], label="Venues", multiselect=True, elem_id="venues")
                years = gr.Dropdown([], label="Years", multiselect=True, elem_id="years")
        where = html("", "where", WHERE)
    return Parts(turns, talk, past, now, source, evidence, where, chips, venues, years, box, send, stop)


def wire(page: gr.Blocks, parts: Parts, frame: Frame, desk: Desk) -> None:
    assistant = desk.assistant

    def stream(
        text: str, turns: Turns, talk: Talk, request: gr.Request, event: gr.EventData
    ) -> Iterator[Updates]:
        asked, before, talk = _what_is_asked(text, turns, talk, event._data or {})
        with desk.running.question(str(request.session_hash)) as cancel:
            for changed in kept_views(desk, asked, before, turns, talk, cancel):
                yield {_part(parts, frame, name): value for name, value in changed.items()}

    def press(turns: Turns, event: gr.EventData) -> str:
        with told():
            return opened(assistant, turns, event._data or {})

    def edit(turns: Turns, talk: Talk) -> Updates:
        if not turns:
            return {parts.box: ""}
        talk = replace(talk, editing=True)
        return {parts.box: turns[-1].answer.question, parts.talk: talk, parts.chips: _chips(desk, talk)}

    def judge(turns: Turns, event: gr.EventData) -> Updates:
        with told():
            turns = judged(desk, turns, event._data or {})
        return {parts.turns: turns, parts.past: _past(turns), parts.now: _now(turns)}

    def cancel(request: gr.Request) -> None:
        desk.running.stop(str(request.session_hash))

    def start(request: gr.Request) -> Updates:
        """A new visit: the conversation that the address names, else the first screen."""
        found = _from_address(desk, request)
        return show(parts, frame, desk, *found)

    def restart() -> Updates:
        return show(parts, frame, desk, (), Talk()) | {frame.tabs: gr.Tabs(selected="chat")}

    asks = [parts.box.submit, parts.send.click, parts.source.submit]
    shown = [*parts, frame.top]
    gr.on(asks, stream, [parts.box, parts.turns, parts.talk], shown, trigger_mode="once", **QUIET)
    parts.source.click(press, parts.turns, parts.source, queue=False, **QUIET)
    parts.source.edit(
        edit, [parts.turns, parts.talk], [parts.box, parts.talk, parts.chips], queue=False, **QUIET
    )
    parts.source.select(judge, parts.turns, [parts.turns, parts.past, parts.now], queue=False, **QUIET)
    parts.stop.click(cancel, queue=False, **QUIET)
    frame.new.click(restart, None, [*shown, frame.tabs], queue=False, **QUIET)
    page.load(start, None, shown, queue=False, **QUIET)
    page.unload(cancel)
    _wire_filters(parts, desk)


def _wire_filters(parts: Parts, desk: Desk) -> None:
    def choose(venues: list[str], years: list[int], talk: Talk) -> tuple[Talk, str]:
        filters = replace(talk.filters, venues=tuple(venues), years=tuple(years))
        talk = replace(talk, filters=filters)
        return talk, _chips(desk, talk)

    def change(talk: Talk, event: gr.EventData) -> Updates:
        """Take a filter off, leave off editing, or ask about one paper only."""
        talk = changed(talk, event._data or {})
        return {
            parts.talk: talk,
            parts.chips: _chips(desk, talk),
            parts.venues: list(talk.filters.venues),
            parts.years: list(talk.filters.years),
        }

    gr.on(
        [parts.venues.input, parts.years.input],
        choose,
        [parts.venues, parts.years, parts.talk],
        [parts.talk, parts.chips],
        queue=False,
        **QUIET,
    )
    parts.source.apply(
        change, parts.talk, [parts.talk, parts.chips, parts.venues, parts.years], queue=False, **QUIET
    )


def show(parts: Parts, frame: Frame, desk: Desk, turns: Turns, talk: Talk) -> Updates:
    """Everything of the tab for a conversation, or the first screen."""
    venues, years = desk.assistant.library.facets()
    last = turns[-1].answer if turns else None
    return {
        parts.turns: turns,
        parts.talk: talk,
        parts.past: _past(turns),
        parts.now: _now(turns) if turns else _welcome(desk.assistant),
        parts.source: "",
        parts.evidence: evidence_html(last, max(0, len(turns) - 1)),
        parts.where: talk.id,
        parts.chips: _chips(desk, talk),
        parts.venues: gr.Dropdown(choices=venues, value=list(talk.filters.venues)),
        parts.years: gr.Dropdown(choices=years, value=list(talk.filters.years)),
        frame.top: header_html(*desk.assistant.size()),
    }


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


def _from_address(desk: Desk, request: gr.Request) -> tuple[Turns, Talk]:
    with told():
        kept = desk.history.get(str(request.query_params.get("c", "")))
    return reopened(kept) if kept else ((), Talk())


def _what_is_asked(text: str, turns: Turns, talk: Talk, data: Mapping[str, Any]) -> tuple[str, Turns, Talk]:
    """The question, the turns it follows, and the talk it belongs to."""
    if "retry" in data and turns:
        filters = Filters() if "wide" in data else turns[-1].filters
        return turns[-1].answer.question, turns[:-1], replace(talk, filters=filters, editing=True)
    if "ask" in data:
        return str(data["ask"]).strip(), turns, replace(talk, editing=False)
    return text.strip(), turns[:-1] if talk.editing else turns, talk


def kept_views(
    desk: Desk, question: str, before: Turns, turns: Turns, talk: Talk, cancel: threading.Event
) -> Iterator[dict[str, Any]]:
    """`views`, and the ended turn kept in the history under the conversation's id."""
    replaced = turns[-1].kept if talk.editing and turns else 0
    asking = replace(talk, id=talk.id or History.new_id(), editing=False)
    started = False
    for view in views(desk.assistant, question, before, cancel, talk.filters):
        turns = view.get("turns", ())
        if turns and not started:
            started = True
            view |= {"talk": asking, "where": asking.id, "chips": _chips(desk, asking)}
        if turns and turns[-1].phase in ("done", "stopped"):
            view["turns"] = (*turns[:-1], _kept(desk.history, asking.id, turns[-1], replaced))
        yield view


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
    start = {"past": turns_html(before), "source": "", "box": "", "top": header_html(*assistant.size())}
    for turns in converse(assistant, question, before, cancel, filters):
        view = {
            "turns": turns,
            "now": _now(turns),
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


def _part(parts: Parts, frame: Frame, name: str) -> Any:
    return frame.top if name == "top" else getattr(parts, name)


def _past(turns: Turns) -> str:
    return turns_html(turns[:-1])


def _now(turns: Turns) -> str:
    return turns_html(turns[-1:], max(0, len(turns) - 1), last=True)


def _chips(desk: Desk, talk: Talk) -> str:
    labels = {key: found[0].label for key in talk.filters.papers if (found := desk.assistant.paper(key))}
    chips = chips_html(talk.filters, labels)
    if talk.editing:
        chips += (
            '<button type="button" class="filter" data-unfilter="edit" title="Ask it as a new question instead">'
            'Replaces your last question<span aria-hidden="true"> ✕</span></button>'
        )
    return clean(f'<p class="chips">{chips}</p>') if chips else ""


def _question_box() -> gr.Textbox:
    return gr.Textbox(
        elem_id="question",
        label="Question",
        show_label=False,
        container=False,
        placeholder="Ask about the papers",
        lines=1,  # Enter sends, Shift+Enter breaks the line
        max_lines=8,
        autofocus=True,
        scale=1,
    )


def _welcome(assistant: Assistant) -> str:
    return welcome_html(assistant.examples(), assistant.is_sample, _command())


def _command() -> str:
    """How to call this program in the terminal it was started from."""
    called = sys.argv[0]
    return called if Path(called).name == "pincite" and not shutil.which("pincite") else "pincite"
