"""The collections that the page has open: a desk for each, over the same models."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

import gradio as gr

from rag.errors import LibraryError
from rag.history import FILE, History
from rag.holdings import exists, missing, of_collection
from rag.settings import Settings
from ui.web.desk import Assistant, Desk
from ui.web.relay import Running
from ui.web.tabs.parts import told

KEPT = 4  # open beside the first one; opening takes a moment, and each holds its vectors in memory

Opener = Callable[[Settings], Assistant]


class Desks:
    """The desk of the collection that a page's address names (`?collection=NAME`), else the first one.

    A page keeps its collection as long as it is there, as its every request carries the address: to switch is to
    load the page anew. Desks are opened when they are wanted first; the one used least lately makes room, and what it
    holds is closed when the last question to it has ended. Safe for many threads.
    """

    def __init__(self, first: Assistant, opener: Opener, running: Running) -> None:
        self.running = running
        self.first = self._desk(first)
        self._opener = opener
        self._lock = threading.Lock()
        self._open: OrderedDict[str, Desk] = OrderedDict()  # the one used last at the end
        self._opening: dict[str, threading.Lock] = {}

    def of(self, request: gr.Request) -> Desk:
        """Of the page that a request comes from. What goes wrong is told on the page."""
        with told():
            return self.named(wanted(request))

    def named(self, name: str) -> Desk:
        """Of a collection, "" for the first one. Raises PinciteError where it is not there, or cannot be opened."""
        if name in ("", self.first.name):
            return self.first
        desk = self._kept(name)
        if desk:
            return desk
        settings = of_collection(self.first.assistant.settings, name)
        if not exists(settings):
            raise LibraryError(f"{missing(settings)} Choose one at the top of the page, or make it there.")
        with self._lock:
            opening = self._opening.setdefault(name, threading.Lock())
        with opening:  # others open meanwhile
            desk = self._kept(name) or self._desk(self._opener(settings))
            with self._lock:
                self._open[name] = desk
                while len(self._open) > KEPT:
                    self._open.popitem(last=False)
        return desk

    def _kept(self, name: str) -> Desk | None:
        with self._lock:
            if name in self._open:
                self._open.move_to_end(name)
            return self._open.get(name)

    def _desk(self, assistant: Assistant) -> Desk:
        return Desk(assistant, self.running, History(assistant.settings.collection_dir / FILE))


def wanted(request: gr.Request) -> str:
    """The collection that the address of a page names; "" if it names none."""
    return str(request.query_params.get("collection", ""))
