"""The map in the Library tab: a point for each paper, and the same papers in lists below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from rag.errors import PinciteError
from ui.web.clean import clean
from ui.web.desks import Desks
from ui.web.mapping import groups_html, points_json
from ui.web.tabs.parts import QUIET, Updates, html, pressable
from ui.web.topics import Mapped

# Nothing of a paper is in the template: the script writes titles as text, so that none becomes HTML.
FIGURE = """<figure hidden><figcaption><span role="group" aria-label="Colour by">Colour by
<button type="button" data-by="topic" aria-pressed="true">Topic</button>
<button type="button" data-by="venue" aria-pressed="false">Venue</button></span>
<span role="group" aria-label="Zoom"><button type="button" data-zoom="2" aria-label="Closer">+</button>
<button type="button" data-zoom="0.5" aria-label="Farther">−</button>
<button type="button" data-zoom="0.001">Whole map</button></span></figcaption>
<svg role="img" viewBox="0 0 1000 640"></svg><p class="tip" hidden></p></figure>"""
SCRIPT = (Path(__file__).parents[1] / "topics.js").read_text("utf-8")


class Parts(NamedTuple):
    of: gr.State  # the collection's state that this session's map shows
    map: gr.HTML
    groups: gr.HTML
    status: gr.HTML


def layout() -> Parts:
    of = gr.State()
    drawn = gr.HTML(
        "", html_template=FIGURE, js_on_load=SCRIPT, elem_id="map", apply_default_css=False, padding=False
    )
    groups = pressable("", "groups")
    return Parts(of, drawn, groups, html())


def wire(tab: gr.Tab, parts: Parts, desks: Desks, choose: Callable[..., Any], looked: list[Any]) -> None:
    """`choose` opens the paper of a pressed point or row; `looked` are what it takes and what it changes."""
    mapped = Mapped()

    def draw(request: gr.Request, shown: Any) -> Iterator[Updates]:
        library = desks.of(request).assistant.library
        if shown != (library.file, library.generation()):
            yield {parts.status: _line(f"Placing {library.size()[0]:,} papers by what they say …")}
            try:
                of, points = mapped.points(library)
            except PinciteError as error:
                yield {parts.status: _line(str(error))}
                return
            yield {
                parts.of: of,
                parts.status: "",
                parts.map: points_json(points),
                parts.groups: groups_html(points),
            }

    tab.select(draw, parts.of, list(parts), **QUIET)
    gr.on([parts.map.click, parts.groups.click], choose, *looked, **QUIET, queue=False)


def _line(text: str) -> str:
    return clean(f'<p class="quiet" role="status">{escape(text)}</p>')
