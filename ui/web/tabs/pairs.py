"""Doubtful pairs above the table of the Library tab: hidden while there are none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import gradio as gr

from ui.web.adding import watched
from ui.web.clean import clean
from ui.web.desk import Desk
from ui.web.desks import Desks
from ui.web.pairs import decide, heading, pairs_html, undecided
from ui.web.prose import prose
from ui.web.tabs.library import Shelf
from ui.web.tabs.parts import QUIET, Updates, html, pressable, pressed, told


class Parts(NamedTuple):
    fold: gr.Accordion
    status: gr.HTML
    pairs: gr.HTML


def layout() -> Parts:
    with (
        gr.Row(elem_classes="sheet", elem_id="doubts"),
        gr.Accordion(heading(0), open=False, visible=False) as fold,
    ):
        status = html()
        pairs = pressable("", "pairs")
    return Parts(fold, status, pairs)


def wire(tab: gr.Tab, parts: Parts, shelf: Shelf, desks: Desks) -> None:
    def look(request: gr.Request) -> Updates:
        with told():
            return _shown(parts, desks.of(request))

    def say(request: gr.Request, event: gr.EventData) -> Iterator[Updates]:
        """What the reader has pressed, done; then the pairs that are left."""
        desk = desks.of(request)
        one, other, same = map(pressed(event), ("press", "other", "same"))
        done: list[str] = []
        with told():
            for line in watched(
                lambda progress: done.append(decide(desk.assistant, one, other, bool(same), progress))
            ):
                yield {parts.status: clean(f'<p class="quiet" role="status">{prose(line)} …</p>')}
            yield _shown(parts, desk, done[0])

    shown = list(parts)
    tab.select(look, None, shown, **QUIET)
    for event in shelf.changes:
        event.then(look, None, shown, **QUIET)
    decided = parts.pairs.click(say, None, shown, trigger_mode="once", **QUIET)
    decided.then(shelf.enter, shelf.choice, shelf.all, queue=False, **QUIET)


def _shown(parts: Parts, desk: Desk, said: str = "") -> Updates:
    pairs, total = undecided(desk.assistant.library)
    return {
        parts.fold: gr.Accordion(label=heading(total), visible=bool(total or said)),
        parts.status: "",
        parts.pairs: pairs_html(pairs, total, said),
    }
