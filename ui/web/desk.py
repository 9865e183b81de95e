"""What the page works with: an assistant of one collection, the questions that run, the conversations kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlencode

from rag.history import History
from rag.holdings import holdings
from rag.library import Library
from rag.nouns import Event, Filters, Hit, Paper, Sentence, Turn
from rag.settings import Settings
from ui.web.header import header_html
from ui.web.relay import Running


class Searcher(Protocol):
    """What the page needs of `rag.retrieve.Retriever`."""

    def search(self, queries: Sequence[str], most: int = 20, filters: Filters | None = None) -> list[Hit]: ...


class Assistant(Protocol):
    """What the page needs of `rag.assistant.Assistant`."""

    library: Library
    settings: Settings

    @property
    def retriever(self) -> Searcher: ...

    @property
    def is_sample(self) -> bool: ...

    def stream(
        self,
        question: str,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        cancel: threading.Event | None = None,
    ) -> Iterator[Event]: ...

    def paper(self, key: str) -> tuple[Paper, tuple[Sentence, ...]] | None: ...

    def examples(self, n: int = 4) -> list[str]: ...

    def fingerprint(self) -> dict[str, Any]: ...

    def size(self) -> tuple[int, int]: ...


class Desk(NamedTuple):
    assistant: Assistant
    running: Running
    history: History

    @property
    def name(self) -> str:
        """The collection's."""
        return self.assistant.settings.collection

    def header(self, problem: str = "") -> str:
        """The top of the page; `problem`: why no new collection was made."""
        papers, sentences = self.assistant.size()
        collections = holdings(self.assistant.settings) | {self.name: papers}
        return header_html(self.name, sentences, collections, problem)

    def address(self, conversation: str = "") -> str:
        """What an address must hold to open this collection, and the conversation in it."""
        return urlencode({"collection": self.name, "c": conversation})


def facets(library: Library) -> tuple[list[str], list[int]]:
    """The venues of the papers by name, and their years, the latest first."""
    counts = library.counts()
    venues = sorted({venue for venue, _, _ in counts if venue}, key=str.casefold)
    return venues, sorted({year for _, year, _ in counts if year is not None}, reverse=True)
