"""The History tab: the conversations kept, to be found, reopened, renamed, exported and deleted."""

from __future__ import annotations

import hashlib
import tempfile
from datetime import datetime
from html import escape
from pathlib import Path
from typing import NamedTuple

import gradio as gr

from rag.history import Conversation, Heading
from ui.web import exports
from ui.web.asking import reopened
from ui.web.clean import clean
from ui.web.desk import Desk
from ui.web.desks import Desks
from ui.web.prose import prose
from ui.web.tabs import chat
from ui.web.tabs.parts import QUIET, Updates, html, pressable, pressed, told

NONE = '<p class="quiet">No conversation yet. What you ask in Chat is kept here, on this machine.</p>'
NOT_FOUND = '<p class="quiet">No conversation holds all these words.</p>'


class Parts(NamedTuple):
    chosen: gr.State  # id of the conversation that is looked at, of this session alone
    words: gr.Textbox
    listed: gr.HTML
    detail: gr.Column
    heading: gr.HTML
    title: gr.Textbox
    rename: gr.Button
    open: gr.Button
    delete: gr.Button
    files: list[gr.DownloadButton]


def layout() -> Parts:
    chosen = gr.State("")
    with gr.Row(elem_id="history", elem_classes="sheet"):
        with gr.Column(scale=3, min_width=300):
            words = gr.Textbox(label="Search conversations", placeholder="Words of a question or an answer")
            listed = pressable("", "conversations")
        with gr.Column(scale=2, min_width=300, visible=False, elem_id="conversation") as detail:
            heading = html()
            title = gr.Textbox(label="Title", max_length=120)
            with gr.Row():
                opened = gr.Button("Open", variant="primary", size="sm", min_width=80)
                rename = gr.Button("Rename", size="sm", min_width=80)
                delete = gr.Button("Delete", size="sm", min_width=80)
            with gr.Row():
                files = [gr.DownloadButton(name, size="sm", min_width=80) for name in exports.EXPORTS]
    return Parts(chosen, words, listed, detail, heading, title, rename, opened, delete, files)


def wire(tab: gr.Tab, parts: Parts, talk: chat.Parts, frame: chat.Frame, desks: Desks) -> None:
    folder = tempfile.TemporaryDirectory(prefix="pincite-exports-")  # lives as long as what uses it

    def listed(words: str, chosen: str, request: gr.Request) -> str:
        return _listed(desks.of(request), words, chosen)

    def look(desk: Desk, words: str, chosen: str) -> Updates:
        """The list, and the conversation chosen."""
        detail = _detail(parts, _kept(desk, chosen), Path(folder.name))
        return {parts.listed: _listed(desk, words, chosen)} | detail

    def choose(words: str, request: gr.Request, event: gr.EventData) -> Updates:
        return look(desks.of(request), words, pressed(event)("press"))

    def rename(chosen: str, title: str, words: str, request: gr.Request) -> Updates:
        desk = desks.of(request)
        with told():
            desk.history.rename(chosen, title)
        return look(desk, words, chosen)

    def delete(chosen: str, words: str, request: gr.Request) -> Updates:
        desk = desks.of(request)
        with told():
            desk.history.delete(chosen)
        return look(desk, words, "")

    def reopen(chosen: str, request: gr.Request) -> Updates:
        desk = desks.of(request)
        if desk.running.busy(str(request.session_hash)):
            raise gr.Error(
                "An answer is being written in Chat. Stop it, or wait for it.", print_exception=False
            )
        kept = _kept(desk, chosen)
        if kept is None:
            raise gr.Error("This conversation has been deleted.", print_exception=False)
        return chat.show(talk, frame, desk, *reopened(kept)) | {frame.tabs: gr.Tabs(selected="chat")}

    quick = {**QUIET, "queue": False}
    shown = [parts.listed, parts.chosen, parts.detail, parts.heading, parts.title, *parts.files]
    tab.select(listed, [parts.words, parts.chosen], parts.listed, **quick)
    parts.words.change(listed, [parts.words, parts.chosen], parts.listed, **QUIET)
    parts.listed.click(choose, parts.words, shown, **quick)
    gr.on(
        [parts.rename.click, parts.title.submit],
        rename,
        [parts.chosen, parts.title, parts.words],
        shown,
        **quick,
    )
    parts.delete.click(delete, [parts.chosen, parts.words], shown, **quick)
    parts.open.click(reopen, parts.chosen, [*talk, frame.top, frame.tabs], **quick)


def _listed(desk: Desk, words: str, chosen: str) -> str:
    with told():
        return list_html(desk.history.headings(words), chosen, bool(words.strip()))


def _kept(desk: Desk, conversation: str) -> Conversation | None:
    with told():
        return desk.history.get(conversation)


def _detail(parts: Parts, kept: Conversation | None, folder: Path) -> Updates:
    if kept is None:
        return {parts.chosen: "", parts.detail: gr.Column(visible=False)}
    questions = "".join(f"<li>{prose(said.answer.question)}</li>" for _, said in kept.turns)
    return {
        parts.chosen: kept.id,
        parts.detail: gr.Column(visible=True),
        parts.heading: clean(f'<h2>{prose(kept.title)}</h2><ul class="questions quiet">{questions}</ul>'),
        parts.title: kept.title,
        **dict(zip(parts.files, _exported(kept, folder), strict=True)),
    }


def _exported(kept: Conversation, folder: Path) -> list[str]:
    """The conversation in every form, ready before a button is pressed: a press downloads what is there."""
    place = folder / hashlib.sha256(kept.id.encode()).hexdigest()[:16]
    place.mkdir(exist_ok=True)
    files = []
    for suffix, write in exports.EXPORTS.values():
        file = place / exports.file_name(kept.title, suffix)
        file.write_text(write(kept), encoding="utf-8")
        files.append(str(file))
    return files


def list_html(headings: list[Heading], chosen: str, searched: bool) -> str:
    """The conversations as buttons, the one looked at marked."""
    if not headings:
        return clean(NOT_FOUND if searched else NONE)
    items = "".join(
        f'<li><button type="button" class="near" data-press="{escape(h.id)}"'
        f"{' aria-current=true' if h.id == chosen else ''}>{prose(h.title)}"
        f'<span class="quiet when">{_when(h)}</span></button></li>'
        for h in headings
    )
    return clean(f'<ul class="rows">{items}</ul>')


def _when(heading: Heading) -> str:
    day = datetime.fromtimestamp(heading.changed).strftime("%Y-%m-%d %H:%M")
    return f"{day} · {heading.turns} question{'' if heading.turns == 1 else 's'}"
