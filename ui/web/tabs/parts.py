"""Components as all tabs use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gradio as gr

from rag.errors import PinciteError

QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
PRESSING = (Path(__file__).parents[1] / "pressing.js").read_text("utf-8")

Updates = dict[Any, Any]  # components and their new values


def html(value: str = "", elem_id: str | None = None, script: str | None = None) -> gr.HTML:
    return gr.HTML(value, elem_id=elem_id, js_on_load=script, apply_default_css=False, padding=False)


def pressable(value: str = "", elem_id: str | None = None) -> gr.HTML:
    """HTML whose `button[data-press]` raise `click` with their data."""
    return html(value, elem_id, PRESSING)


@contextmanager
def told() -> Iterator[None]:
    """What the program cannot do is told in a notice on the page, in its own words."""
    try:
        yield
    except PinciteError as error:
        raise gr.Error(str(error), print_exception=False, title="That did not work") from error


def pressed(event: gr.EventData) -> Callable[[str], str]:
    """What a pressed button says of itself, by name; "" where it says nothing."""
    data = event._data if isinstance(event._data, dict) else {}
    return lambda name: str(data.get(name, ""))
