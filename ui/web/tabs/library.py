"""The Library tab: the papers of the collection, found, opened, added and removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr
import pandas as pd  # type: ignore[import-untyped]

from rag.nouns import Filters
from ui.web import adding
from ui.web.clean import clean
from ui.web.conversation import paper_panel
from ui.web.desk import Desk, facets
from ui.web.desks import Desks
from ui.web.prose import prose
from ui.web.tables import files_html, papers_html, reports_html
from ui.web.tabs import topics
from ui.web.tabs.parts import QUIET, Updates, html, pressable, pressed, told

PAGE = 50  # papers shown at once
VENUES = 7  # told apart in the plot; the rest is "other"
SORTS = [("Latest", "added"), ("Title", "title"), ("Venue", "venue"), ("Year", "year")]
TO_IT = "watch('value', () => innerWidth <= 900 && element.scrollIntoView({ block: 'start' }));"
NOTHING = '<p class="quiet">Press a title to read the abstract.</p>'


@dataclass(frozen=True, slots=True)
class Look:
    """What a browser session looks at."""

    start: int = 0
    paper: str = ""


class Parts(NamedTuple):
    look: gr.State
    words: gr.Textbox
    venues: gr.Dropdown
    years: gr.Dropdown
    order: gr.Dropdown
    table: gr.HTML
    where: gr.HTML
    back: gr.Button
    on: gr.Button
    paper: gr.HTML
    remove: gr.Button
    sure: gr.Row
    yes: gr.Button
    no: gr.Button
    adding: gr.Accordion
    upload: gr.File
    report: gr.HTML
    files: gr.HTML
    plot: gr.BarPlot
    mapping: gr.Tab
    map: topics.Parts


def layout() -> Parts:
    look = gr.State(Look())
    with gr.Row(elem_id="library", elem_classes="sheet"):
        with gr.Column(scale=3, min_width=320):
            with gr.Tabs(elem_id="looks"):
                with gr.Tab("List"):
                    with gr.Row():
                        words = gr.Textbox(
                            label="Search papers", placeholder="Title, author, words", min_width=160, scale=2
                        )
                        venues = gr.Dropdown([], label="Venue", multiselect=True, min_width=120)
                        years = gr.Dropdown([], label="Year", multiselect=True, min_width=120)
                        order = gr.Dropdown(SORTS, value="added", label="Sort by", min_width=120)
                    table = pressable("", "papers")
                    with gr.Row(elem_id="pager"):
                        back = gr.Button("Previous", size="sm", min_width=80, interactive=False)
                        where = html()
                        on = gr.Button("Next", size="sm", min_width=80, interactive=False)
                with gr.Tab("Map") as mapping:
                    mapped = topics.layout()
        with gr.Column(scale=2, min_width=320, elem_id="shelf"):
            paper = html(clean(NOTHING), "paper", TO_IT)
            remove = gr.Button("Remove this paper", size="sm", visible=False)
            with gr.Row(visible=False) as sure:
                yes = gr.Button("Yes, remove it", variant="stop", size="sm")
                no = gr.Button("Keep it", size="sm")
            with gr.Accordion("Add files", open=False, elem_id="adding") as adding_fold:
                upload = gr.File(
                    label="Lists, BibTeX, RIS, JSON, CSV …", file_count="multiple", type="filepath"
                )
                report = html("", "report")
            with gr.Accordion("Files", open=False):
                files = html()
            with gr.Accordion("Papers by year and venue", open=False, elem_id="counts"):
                plot = gr.BarPlot(x="year", y="papers", color="venue", height=260, show_label=False)
    return Parts(
        look, words, venues, years, order, table, where, back, on, paper, remove, sure, yes, no, adding_fold, upload,
        report, files, plot, mapping, mapped,
    )  # fmt: skip


class Shelf:
    """What the reader's presses do; `choice` in the methods is the search, the filters and the order."""

    def __init__(self, parts: Parts, top: gr.HTML, desks: Desks) -> None:
        self.parts, self.top, self.desks = parts, top, desks
        self.choice = [parts.look, parts.words, parts.venues, parts.years, parts.order]
        self.listing = [parts.look, parts.table, parts.where, parts.back, parts.on]
        self.all = [*self.listing, parts.venues, parts.years, parts.files, parts.adding, parts.plot, top]
        self.additions: dict[str, adding.Addition] = {}  # the latest of each collection
        self.changes: list[Any] = []  # events after which papers have come or gone

    def _listed(
        self, desk: Desk, look: Look, words: str, venues: list[str], years: list[int], order: str
    ) -> Updates:
        """The page of the table that begins at `look.start`."""
        parts = self.parts
        with told():
            filters = Filters(tuple(venues), tuple(years))
            papers, total = desk.assistant.library.listed(words, filters, order, look.start, PAGE)
        end = look.start + len(papers)
        said = f"{look.start + 1:,} to {end:,} of {total:,}" if papers else "0 papers"
        return {
            parts.look: look,
            parts.table: papers_html(papers, look.paper, empty=not desk.assistant.size()[0]),
            parts.where: clean(f'<p class="quiet" role="status">{said}</p>'),
            parts.back: gr.Button(interactive=look.start > 0),
            parts.on: gr.Button(interactive=end < total),
        }

    def first(self, request: gr.Request, look: Look, *choice: Any) -> Updates:
        return self._listed(self.desks.of(request), replace(look, start=0), *choice)

    def back(self, request: gr.Request, look: Look, *choice: Any) -> Updates:
        return self._listed(self.desks.of(request), replace(look, start=max(0, look.start - PAGE)), *choice)

    def on(self, request: gr.Request, look: Look, *choice: Any) -> Updates:
        return self._listed(self.desks.of(request), replace(look, start=look.start + PAGE), *choice)

    def enter(self, request: gr.Request, look: Look, *choice: Any) -> Updates:
        return self._entered(self.desks.of(request), look, *choice)

    def _entered(self, desk: Desk, look: Look, *choice: Any) -> Updates:
        """All that changes when papers come or go."""
        library = desk.assistant.library
        venues, years = facets(library)
        first_step = {} if library.size()[0] else {self.parts.adding: gr.Accordion(open=True)}
        return (
            self._listed(desk, look, *choice)
            | first_step
            | {
                self.parts.venues: gr.Dropdown(choices=venues),
                self.parts.years: gr.Dropdown(choices=years),
                self.parts.files: files_html(library.files()),
                self.parts.plot: counts_of(library.counts()),
                self.top: desk.header(),
            }
        )

    def choose(self, request: gr.Request, look: Look, event: gr.EventData) -> Updates:
        look = replace(look, paper=pressed(event)("press"))
        return {self.parts.look: look} | self._paper(self.desks.of(request), look)

    def remove(self, request: gr.Request, look: Look, *choice: Any) -> Iterator[Updates]:
        desk = self.desks.of(request)
        with told():
            for line in adding.watched(lambda progress: adding.remove(desk.assistant, look.paper, progress)):
                yield {self.parts.paper: _line(line)}
        gone = replace(look, paper="")
        yield self._paper(desk, gone) | self._entered(desk, gone, *choice)

    def add(self, request: gr.Request, paths: list[str] | None, *choice: Any) -> Iterator[Updates]:
        if not paths:
            return
        desk = self.desks.of(request)
        addition = adding.Addition(desk.assistant, [Path(path) for path in paths])
        self.additions[desk.name] = addition
        yield from self._told(desk, addition, *choice)
        yield {self.parts.upload: None}

    def follow(self, request: gr.Request, *choice: Any) -> Iterator[Updates]:
        """The latest addition to the collection: its report, told on from where its reader has left the page."""
        desk = self.desks.of(request)
        addition = self.additions.get(desk.name)
        if addition is None or addition.told:
            yield {self.parts.report: reports_html(addition.reports) if addition else ""}
        else:
            yield {self.parts.adding: gr.Accordion(open=True)}
            yield from self._told(desk, addition, *choice)

    def _told(self, desk: Desk, addition: adding.Addition, *choice: Any) -> Iterator[Updates]:
        report = self.parts.report
        try:
            with told():
                for line in addition.lines():
                    yield {report: _line(line) + reports_html(addition.reports)}
        except gr.Error:
            addition.told = True
            raise
        yield {report: reports_html(addition.reports)} | self._entered(desk, *choice)
        addition.told = True  # it is asked for more only when that is on its way to the page

    def _paper(self, desk: Desk, look: Look) -> Updates:
        found = desk.assistant.paper(look.paper)
        panel = paper_panel(desk.assistant, look.paper, closable=False) if found else clean(NOTHING)
        return {
            self.parts.paper: panel,
            self.parts.remove: gr.Button(visible=found is not None),
            self.parts.sure: gr.Row(visible=False),
        }


def wire(tab: gr.Tab, parts: Parts, top: gr.HTML, desks: Desks) -> Shelf:
    shelf = Shelf(parts, top, desks)
    choice, listing = shelf.choice, shelf.listing
    paper = [parts.paper, parts.remove, parts.sure]
    quick = {**QUIET, "queue": False}
    tab.select(shelf.enter, choice, shelf.all, **quick)
    tab.select(shelf.follow, choice, [parts.report, *shelf.all], **QUIET)
    parts.words.change(shelf.first, choice, listing, **QUIET)
    gr.on([parts.venues.input, parts.years.input, parts.order.input], shelf.first, choice, listing, **quick)
    parts.back.click(shelf.back, choice, listing, **quick)
    parts.on.click(shelf.on, choice, listing, **quick)
    parts.table.click(shelf.choose, parts.look, [parts.look, *paper], **quick)
    parts.remove.click(lambda: gr.Row(visible=True), None, parts.sure, **quick)
    parts.no.click(lambda: gr.Row(visible=False), None, parts.sure, **quick)
    gone = parts.yes.click(shelf.remove, choice, [*shelf.all, *paper], **QUIET)
    topics.wire(parts.mapping, parts.map, shelf.desks, shelf.choose, [parts.look, [parts.look, *paper]])
    added = [parts.report, parts.upload, *shelf.all]
    come = parts.upload.upload(shelf.add, [parts.upload, *choice], added, **QUIET)
    shelf.changes = [come, gone]
    return shelf


def counts_of(counts: list[tuple[str, int | None, int]]) -> pd.DataFrame:
    """Papers by year and venue, the small venues together, for the plot."""
    sizes = Counter[str]()
    for venue, _, n in counts:
        sizes[venue] += n
    named = {venue for venue, _ in sizes.most_common(VENUES) if venue}
    rows = Counter[tuple[str, str]]()
    for venue, year, n in counts:
        rows[str(year or "unknown"), venue if venue in named else "other"] += n
    data = [(year, venue, n) for (year, venue), n in sorted(rows.items())]
    return pd.DataFrame(data, columns=["year", "venue", "papers"])


def _line(text: str) -> str:
    return clean(f'<p class="quiet" role="status">{prose(text)} …</p>')
