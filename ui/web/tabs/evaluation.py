"""The Evaluation tab: run a question set, see its figures, compare two runs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

import gradio as gr

from rag.errors import PinciteError
from rag.settings import Settings
from ui.web import evaluating
from ui.web.adding import watched
from ui.web.clean import clean
from ui.web.desks import Desks
from ui.web.prose import prose
from ui.web.relay import Running
from ui.web.tabs.parts import QUIET, Updates, html, told

HINT = (
    '<p class="quiet">A set holds questions with their answers. Running it asks each of them, as a reader would, and '
    "counts how often the answer is right, cites rightly, and refuses rightly. Own sets: HOME/sets/NAME.jsonl; "
    "what the reader says of answers in Chat is kept in feedback.jsonl in the collection's folder.</p>"
)


class Parts(NamedTuple):
    name: gr.Dropdown
    limit: gr.Number
    run: gr.Button
    stop: gr.Button
    status: gr.HTML
    past: gr.Dropdown
    other: gr.Dropdown
    show: gr.Button
    compare: gr.Button
    figures: gr.HTML
    report: gr.DownloadButton


def layout(settings: Settings) -> Parts:
    with gr.Row(elem_id="evaluation", elem_classes="sheet"):
        with gr.Column(scale=2, min_width=300):
            html(clean(HINT + _model(settings)))
            name = gr.Dropdown([], label="Question set")
            limit = gr.Number(20, label="Questions at most (0: all)", precision=0, minimum=0)
            with gr.Row():
                run = gr.Button("Run", variant="primary", size="sm")
                stop = gr.Button("Stop", size="sm")
            status = html()
            past = gr.Dropdown([], label="Run (A)")
            other = gr.Dropdown([], label="Compare with (B)")
            with gr.Row():
                show = gr.Button("Show figures", size="sm")
                compare = gr.Button("Compare", size="sm")
        with gr.Column(scale=3, min_width=320):
            figures = html("", "figures")
            report = gr.DownloadButton("Report", size="sm", visible=False)
    return Parts(name, limit, run, stop, status, past, other, show, compare, figures, report)


def wire(tab: gr.Tab, parts: Parts, desks: Desks) -> None:
    running = Running()
    folder = tempfile.TemporaryDirectory(prefix="pincite-reports-")  # lives as long as what uses it
    settings = desks.first.assistant.settings  # sets and runs belong to no collection
    choices = [parts.name, parts.past, parts.other]

    def enter() -> Updates:
        names, past = list(evaluating.sets(settings)), evaluating.runs(settings)
        return {
            parts.name: gr.Dropdown(choices=names),
            parts.past: gr.Dropdown(choices=past),
            parts.other: gr.Dropdown(choices=past),
        }

    def evaluate(name: str | None, limit: float | None, request: gr.Request) -> Iterator[Updates]:
        path = evaluating.sets(settings).get(name or "")
        if path is None:
            raise gr.Error("Choose a question set first.", print_exception=False)
        assistant, made = desks.of(request).assistant, list[str]()
        with running.question(str(request.session_hash)) as stop:
            most = int(limit) if limit else None
            try:
                for line in watched(
                    lambda progress: made.append(evaluating.evaluate(assistant, path, most, stop, progress))
                ):
                    yield {parts.status: _line(line)}
            except PinciteError as error:
                yield {parts.status: clean(f'<p class="problem" role="alert">{escape(str(error))}</p>')}
            else:
                yield {parts.status: "", **enter(), **look(made[0])}

    def look(*names: str | None) -> Updates:
        """One run's figures, or two side by side."""
        chosen = [name for name in names if name]
        if len(chosen) < len(names):
            raise gr.Error("Choose the runs first.", print_exception=False)
        with told():
            shown = evaluating.shown_html(settings, chosen)
            file = evaluating.report(settings, chosen, Path(folder.name))
        return {parts.figures: shown, parts.report: gr.DownloadButton(value=str(file), visible=True)}

    def cancel(request: gr.Request) -> None:
        running.stop(str(request.session_hash))

    quick = {**QUIET, "queue": False}
    tab.select(enter, None, choices, **quick)
    shown = [parts.figures, parts.report]
    outputs = [*choices, parts.status, *shown]
    parts.run.click(evaluate, [parts.name, parts.limit], outputs, trigger_mode="once", **QUIET)
    parts.stop.click(cancel, **quick)
    parts.show.click(look, parts.past, shown, **quick)
    parts.compare.click(look, [parts.past, parts.other], shown, **quick)


def _model(settings: Settings) -> str:
    name = escape(settings.llm_name or settings.llm)
    return (
        f'<p class="quiet">The model that answers: {name}. For another one, start <code>pincite --llm NAME</code> and '
        "run the set again: both runs can be compared here.</p>"
    )


def _line(text: str) -> str:
    return clean(f'<p class="quiet" role="status">{prose(text)} …</p>')
