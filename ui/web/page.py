"""The web page: one `build()`, and `serve()` for this machine only."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from rag.errors import PinciteError
from ui.web.address import HOST, free, taken
from ui.web.conversation import LONGEST_QUESTION, Assistant, Turns, answer_to, converse, opened, too_long
from ui.web.relay import Running
from ui.web.render import header_html, turns_html, welcome_html
from ui.web.sources import evidence_html

SESSIONS = 32  # questions that stream or wait at once; the assistant puts them in order
THREADS = 2 * SESSIONS  # a press finds a thread while every question holds one
HERE = Path(__file__).parent

Updates = dict[Any, Any]  # components and their new values


class Parts(NamedTuple):
    """The page's components; what `views` yields is named after them."""

    turns: gr.State  # of this browser session alone
    top: gr.HTML
    new: gr.Button
    past: gr.HTML  # ended turns; not sent again while a question runs
    now: gr.HTML  # the last turn
    source: gr.HTML
    evidence: gr.HTML
    box: gr.Textbox
    send: gr.Button
    stop: gr.Button


def build(assistant: Assistant, running: Running | None = None) -> gr.Blocks:
    """The page over an assistant; `running` can stop its questions from outside."""
    page: gr.Blocks
    with gr.Blocks(title="Pincite", analytics_enabled=False, fill_width=True) as page:
        parts = _layout(assistant)
        _wire(page, parts, assistant, running or Running())
    return page


def _layout(assistant: Assistant) -> Parts:
    turns = gr.State(())
    with gr.Column(elem_id="page"):
        with gr.Row(elem_id="top"):
            top = _html(header_html(*assistant.size()))
            new = gr.Button("New chat", elem_id="new", size="sm")
        with gr.Column(elem_id="answer"):
            past = _html("")
            now = _html(_welcome(assistant))
        with gr.Column(elem_id="side"):
            source = _html("", "source", (HERE / "page.js").read_text("utf-8"))
            evidence = _html(evidence_html(None), "evidence")
        with gr.Row(elem_id="composer"):
            box = _question_box()
            send = gr.Button("Send", elem_id="send", variant="primary")
            stop = gr.Button("Stop", elem_id="stop")
    return Parts(turns, top, new, past, now, source, evidence, box, send, stop)


def _wire(page: gr.Blocks, parts: Parts, assistant: Assistant, running: Running) -> None:
    def stream(text: str, before: Turns, request: gr.Request, event: gr.EventData) -> Iterator[Updates]:
        asked = str(event._data["ask"] if event.target is parts.source else text)
        with running.question(str(request.session_hash)) as cancel:
            for changed in views(assistant, asked.strip(), before, cancel):
                yield {getattr(parts, name): value for name, value in changed.items()}

    def press(before: Turns, event: gr.EventData) -> str:
        return opened(assistant, before, event._data or {})

    def welcome() -> Updates:
        return {parts.now: _welcome(assistant), parts.top: header_html(*assistant.size())}

    def restart() -> Updates:
        fresh = {parts.turns: (), parts.past: "", parts.source: "", parts.evidence: evidence_html(None)}
        return fresh | welcome()

    def cancel(request: gr.Request) -> None:
        running.stop(str(request.session_hash))

    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    asks = [parts.box.submit, parts.send.click, parts.source.submit]
    views_of = [parts.turns, parts.past, parts.now, parts.source, parts.evidence, parts.box, parts.top]
    gr.on(asks, stream, [parts.box, parts.turns], views_of, trigger_mode="once", **quiet)
    parts.source.click(press, parts.turns, parts.source, queue=False, **quiet)
    parts.stop.click(cancel, queue=False, **quiet)
    parts.new.click(restart, None, views_of, queue=False, **quiet)
    page.load(welcome, None, [parts.now, parts.top], queue=False, **quiet)
    page.unload(cancel)
    gr.api(_endpoint(assistant, running), api_name="ask")  # type: ignore[attr-defined]


def views(
    assistant: Assistant, question: str, before: Turns, cancel: threading.Event
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
    for turns in converse(assistant, question, before, cancel):
        view = {
            "turns": turns,
            "now": turns_html(turns[-1:], len(before)),
            "evidence": evidence_html(turns[-1].answer, len(before)),
        }
        changed = start | {name: value for name, value in view.items() if shown.get(name) != value}
        if changed:  # Gradio takes an empty update for an error
            yield changed
        shown, start = view, {}


def _endpoint(assistant: Assistant, running: Running) -> Callable[[str, gr.Request], dict[str, Any]]:
    def ask(question: str, request: gr.Request) -> dict[str, Any]:
        """A question in, the answer row of docs/interfaces.md out."""
        with running.question(str(request.session_hash)) as cancel:
            try:
                return answer_to(assistant, question, cancel)
            except PinciteError as error:
                raise gr.Error(str(error), print_exception=False) from error

    return ask


def _html(value: str, elem_id: str | None = None, script: str | None = None) -> gr.HTML:
    return gr.HTML(value, elem_id=elem_id, js_on_load=script, apply_default_css=False, padding=False)


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


# ------------------------------------------------------------------------------------ serving


def launch(page: gr.Blocks, port: int) -> str:
    """Serve the page to this machine, on any free port for 0, and give its address; does not block."""
    port = free(port)
    _reach_directly()
    style = (HERE / "style.css").read_text("utf-8")
    fonts: dict[str, Any] = {"font": ["system-ui", "sans-serif"], "font_mono": ["ui-monospace", "monospace"]}
    page.queue(default_concurrency_limit=SESSIONS, api_open=False)
    try:
        _, url, _ = page.launch(
            server_name=HOST,
            server_port=port,
            prevent_thread_lock=True,
            max_threads=THREADS,
            theme=gr.themes.Base(**fonts),
            head=f"<style>{style}</style>",  # Gradio rewrites selectors of what it gets as `css`
            footer_links=[],
            run_history=False,
            share=False,
            ssr_mode=False,
            quiet=True,
            inline=False,
            mcp_server=False,
            enable_monitoring=False,
        )
    except OSError as error:
        raise taken(port) from error
    return url.rstrip("/")


def serve(assistant: Assistant, port: int, *, open_browser: bool, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; `ready` gets the address once questions can be answered.

    Raises PinciteError where the port is taken, and KeyboardInterrupt after closing.
    """
    running = Running()
    page = build(assistant, running)
    url = launch(page, port)
    try:
        ready(url)
        if open_browser:
            _open(url)
        while True:
            time.sleep(3_600)
    finally:
        running.stop_all()
        _close(page)


def _close(page: gr.Blocks) -> None:
    """Close without waiting for open tabs, which hold their connections, and without their complaints."""
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    page.server.force_exit = True
    page.close(verbose=False)


def _reach_directly() -> None:
    """Gradio asks its own server whether it is up; a proxy of the environment must not come between."""
    for name in ("no_proxy", "NO_PROXY"):
        hosts = [host for host in os.environ.get(name, "").split(",") if host]
        if HOST not in hosts:
            os.environ[name] = ",".join([*hosts, HOST])


def _open(url: str) -> None:
    """Open a browser; on a machine without one the printed address is enough."""
    try:
        webbrowser.open(url)
    except webbrowser.Error:
        return
