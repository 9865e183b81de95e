"""The web page: one `build()`, and `serve()` for this machine only."""

from __future__ import annotations

import logging
import os
import time
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

from rag.errors import PinciteError
from rag.settings import Settings
from ui.web import fetching
from ui.web.address import HOST, free, taken
from ui.web.conversation import answer_to
from ui.web.desk import Assistant
from ui.web.desks import Desks, Opener, wanted
from ui.web.relay import Running
from ui.web.render import network_html
from ui.web.starting import Starting
from ui.web.tabs import chat, collections, pairs
from ui.web.tabs import evaluation as evaluation_tab
from ui.web.tabs import history as history_tab
from ui.web.tabs import library as library_tab
from ui.web.tabs import settings as settings_tab
from ui.web.tabs.parts import html

SESSIONS = 32  # questions that stream or wait at once; the assistant puts them in order
THREADS = 2 * SESSIONS  # a press finds a thread while every question holds one
HOUR = 3_600  # seconds that copies of uploads and downloads are kept
HERE = Path(__file__).parent


def only_one(settings: Settings) -> Assistant:
    raise PinciteError(f"{settings.collection} cannot be opened beside the collection that is.")


def build(assistant: Assistant, running: Running | None = None, opener: Opener = only_one) -> gr.Blocks:
    """The page over an assistant; `running` can stop its questions from outside.

    `opener` gives the assistant of another collection.
    """
    desks = Desks(assistant, opener, running or Running())
    starting = assistant if isinstance(assistant, Starting) else None
    page: gr.Blocks
    with gr.Blocks(
        title="Pincite", analytics_enabled=False, fill_width=True, delete_cache=(HOUR, HOUR)
    ) as page:
        with gr.Column(elem_id="page"):
            if starting:
                models, timer = fetching.layout(starting)
            with gr.Row(elem_id="top"):
                top, go = collections.layout(desks.first)
                html(network_html(assistant.settings), "network")
                new = gr.Button("New chat", elem_id="new", size="sm")
            with gr.Tabs(elem_id="tabs", selected="chat", overflow_behavior="wrap") as tabs:
                # Always there: a question goes on while the reader looks at another tab.
                with gr.Tab("Chat", id="chat", render_children=True):
                    parts = chat.layout(desks.first)
                with gr.Tab("Library", id="library") as papers:
                    doubts = pairs.layout()
                    shelf = library_tab.layout()
                with gr.Tab("History", id="history") as past:
                    kept = history_tab.layout()
                with gr.Tab("Evaluation", id="evaluation") as evaluation:
                    runs = evaluation_tab.layout(assistant.settings)
                with gr.Tab("Settings", id="settings") as settings:
                    facts = settings_tab.layout()
        frame = chat.Frame(top, new, tabs)
        if starting:
            fetching.wire(page, models, timer, starting)
        chat.wire(page, parts, frame, desks)
        collections.wire(top, go, desks)
        pairs.wire(papers, doubts, library_tab.wire(papers, shelf, top, desks), desks)
        history_tab.wire(past, kept, parts, frame, desks)
        evaluation_tab.wire(evaluation, runs, desks)
        settings_tab.wire(settings, facts, desks)
        gr.api(_endpoint(desks), api_name="ask")  # type: ignore[attr-defined]
    return page


def _endpoint(desks: Desks) -> Callable[[str, gr.Request], dict[str, Any]]:
    def ask(question: str, request: gr.Request) -> dict[str, Any]:
        """A question in, the answer row of docs/interfaces.md out."""
        with desks.running.question(str(request.session_hash)) as cancel:
            try:
                return answer_to(desks.named(wanted(request)).assistant, question, cancel)
            except PinciteError as error:
                raise gr.Error(str(error), print_exception=False) from error

    return ask


# ------------------------------------------------------------------------------------ serving


def launch(page: gr.Blocks, port: int) -> str:
    """Serve the page to this machine, on any free port for 0, and give its address; does not block."""
    port = free(port)
    _reach_directly()
    style, arriving = ((HERE / name).read_text("utf-8") for name in ("style.css", "arriving.js"))
    fonts: dict[str, Any] = {"font": ["system-ui", "sans-serif"], "font_mono": ["ui-monospace", "monospace"]}
    page.queue(default_concurrency_limit=SESSIONS, api_open=False)
    try:
        _, url, _ = page.launch(
            server_name=HOST,
            server_port=port,
            prevent_thread_lock=True,
            max_threads=THREADS,
            theme=gr.themes.Base(**fonts),
            # Gradio rewrites the selectors of what it gets as `css`.
            head=f"<style>{style}</style><script>{arriving}</script>",
            footer_links=[],
            run_history=False,
            share=False,
            ssr_mode=False,
            quiet=True,
            inline=False,
            mcp_server=False,
            enable_monitoring=False,
            _frontend=False,  # no look at the page within three seconds, which a busy machine fails
        )
    except OSError as error:
        raise taken(port) from error
    # Gradio would hold a connection for every open tab, and browsers allow six to one server: the seventh tab
    # would hang. A tab that is closed while it streams is noticed by its stream.
    page.config["connect_heartbeat"] = False
    return url.rstrip("/")


def serve(
    assistant: Assistant,
    port: int,
    *,
    open_browser: bool,
    ready: Callable[[str], None],
    opener: Opener = only_one,
) -> None:
    """Serve until interrupted; `ready` gets the address once the page is there.

    Raises PinciteError where the port is taken, and KeyboardInterrupt after closing.
    """
    running = Running()
    page = build(assistant, running, opener)
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
