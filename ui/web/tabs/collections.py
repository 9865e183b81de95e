"""The top of the page: the collection that is open, the others, and a new one."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

from rag.errors import PinciteError
from rag.holdings import create
from ui.web.desk import Desk
from ui.web.desks import Desks
from ui.web.tabs.parts import QUIET, Updates, html, pressed

SCRIPT = (Path(__file__).parents[1] / "header.js").read_text("utf-8")
GO = "watch('value', () => props.value && location.assign(props.value));"


def layout(desk: Desk) -> tuple[gr.HTML, gr.HTML]:
    """The top of the page, and where it goes next."""
    return html(desk.header(), "collections", SCRIPT), html("", "go", GO)


def wire(top: gr.HTML, go: gr.HTML, desks: Desks) -> None:
    def make(request: gr.Request, event: gr.EventData) -> Updates:
        """A new collection, which the page then goes to; or why there is none."""
        desk = desks.of(request)
        try:
            new = create(desk.assistant.settings, pressed(event)("name").strip())
        except PinciteError as error:
            return {top: desk.header(str(error))}
        return {go: f"?collection={new.collection}"}

    # Each press counts, also while what the one before it led to is on its way.
    top.submit(make, None, [top, go], queue=False, trigger_mode="multiple", **QUIET)
