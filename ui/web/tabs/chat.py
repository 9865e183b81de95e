"""The Chat tab: the conversation, its evidence and sources, and the box."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from rag.errors import PinciteError
from rag.holdings import DEFAULT
from ui.web.asking import SEATS, asked, changed, chips, judged, left_off, now, past, reopened
from ui.web.conversation import Talk, Turns, opened
from ui.web.desk import Desk, facets
from ui.web.desks import Desks, wanted
from ui.web.render import empty_html, welcome_html
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
    where: gr.HTML  # the collection and the conversation's id, for the address
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
            now = html(_welcome(desk))
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


def wire(page: gr.Blocks, parts: Parts, frame: Frame, desks: Desks) -> None:
    seats = threading.Semaphore(SEATS)

    def stream(
        text: str, turns: Turns, talk: Talk, request: gr.Request, event: gr.EventData
    ) -> Iterator[Updates]:
        desk = desks.of(request)
        with desk.running.question(str(request.session_hash)) as cancel:
            for changed in asked(seats, desk, text, turns, talk, event._data or {}, cancel):
                shown = {_part(parts, frame, name): value for name, value in changed.items()}
                yield shown or {parts.where: gr.skip()}  # Gradio takes an empty update for an error

    def press(turns: Turns, request: gr.Request, event: gr.EventData) -> str:
        with told():
            return opened(desks.of(request).assistant, turns, event._data or {})

    def edit(turns: Turns, talk: Talk, request: gr.Request) -> Updates:
        if not turns:
            return {parts.box: ""}
        talk = replace(talk, editing=True)
        shown = chips(desks.of(request), talk)
        return {parts.box: turns[-1].answer.question, parts.talk: talk, parts.chips: shown}

    def judge(turns: Turns, request: gr.Request, event: gr.EventData) -> Updates:
        with told():
            turns = judged(desks.of(request), turns, event._data or {})
        return {parts.turns: turns, parts.past: past(turns), parts.now: now(turns)}

    def cancel(turns: Turns, request: gr.Request) -> Any:
        desks.running.stop(str(request.session_hash))
        left = left_off(turns)
        return gr.skip() if left == turns else (left, now(left))

    def start(request: gr.Request) -> Updates:
        """A new visit: the collection and the conversation that the address names, else the first screen."""
        desk = _desk_at(desks, request)
        turns, talk = _from_address(desk, request)
        shown = show(parts, frame, desk, turns, talk)
        fresh = (
            parts.now,
            parts.where,
            parts.venues,
            parts.years,
            frame.top,
        )  # the rest is as it was laid out
        return shown if turns else {part: shown[part] for part in fresh}

    def restart(request: gr.Request) -> Updates:
        return show(parts, frame, desks.of(request), (), Talk()) | {frame.tabs: gr.Tabs(selected="chat")}

    asks = [parts.box.submit, parts.send.click, parts.source.submit]
    shown = [*parts, frame.top]
    gr.on(asks, stream, [parts.box, parts.turns, parts.talk], shown, trigger_mode="once", **QUIET)
    parts.source.click(press, parts.turns, parts.source, queue=False, **QUIET)
    parts.source.edit(
        edit, [parts.turns, parts.talk], [parts.box, parts.talk, parts.chips], queue=False, **QUIET
    )
    parts.source.select(judge, parts.turns, [parts.turns, parts.past, parts.now], queue=False, **QUIET)
    parts.stop.click(cancel, parts.turns, [parts.turns, parts.now], queue=False, **QUIET)
    frame.new.click(restart, None, [*shown, frame.tabs], queue=False, **QUIET)
    # In the queue: what is told beside an update is shown only from there.
    page.load(start, None, shown, concurrency_limit=None, **QUIET)
    _wire_filters(parts, desks)


def _wire_filters(parts: Parts, desks: Desks) -> None:
    def choose(venues: list[str], years: list[int], talk: Talk, request: gr.Request) -> tuple[Talk, str]:
        filters = replace(talk.filters, venues=tuple(venues), years=tuple(years))
        talk = replace(talk, filters=filters)
        return talk, chips(desks.of(request), talk)

    def change(talk: Talk, request: gr.Request, event: gr.EventData) -> Updates:
        """Take a filter off, leave off editing, or ask about one paper only."""
        talk = changed(talk, event._data or {})
        return {
            parts.talk: talk,
            parts.chips: chips(desks.of(request), talk),
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
    venues, years = facets(desk.assistant.library)
    last = turns[-1].answer if turns else None
    return {
        parts.turns: turns,
        parts.talk: talk,
        parts.past: past(turns),
        parts.now: now(turns) if turns else _welcome(desk),
        parts.source: "",
        parts.evidence: evidence_html(last, max(0, len(turns) - 1)),
        parts.where: desk.address(talk.id),
        parts.chips: chips(desk, talk),
        parts.venues: gr.Dropdown(choices=venues, value=list(talk.filters.venues)),
        parts.years: gr.Dropdown(choices=years, value=list(talk.filters.years)),
        frame.top: desk.header(),
    }


def _desk_at(desks: Desks, request: gr.Request) -> Desk:
    """The desk that the address names; the first one, with the reason, where that cannot be had."""
    try:
        return desks.named(wanted(request))
    except PinciteError as error:
        gr.Warning(escape(str(error)), title=f"{desks.first.name} is open instead")
        return desks.first


def _from_address(desk: Desk, request: gr.Request) -> tuple[Turns, Talk]:
    with told():
        kept = desk.history.get(str(request.query_params.get("c", "")))
    return reopened(kept) if kept else ((), Talk())


def _part(parts: Parts, frame: Frame, name: str) -> Any:
    return frame.top if name == "top" else getattr(parts, name)


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


def _welcome(desk: Desk) -> str:
    assistant, command = desk.assistant, _command()
    if desk.name != DEFAULT:
        command += f" --collection {desk.name}"
    if not assistant.size()[0]:
        return empty_html(desk.name, command)
    return welcome_html(assistant.examples(), assistant.is_sample, command)


def _command() -> str:
    """How to call this program in the terminal it was started from."""
    called = sys.argv[0]
    return called if Path(called).name == "pincite" and not shutil.which("pincite") else "pincite"
