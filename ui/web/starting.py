"""A page that opens before its models are here: what is fetched, how far it is, and the assistant that takes over."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from rag.catalog import Model
from rag.errors import ModelError, PinciteError, WeightsError
from rag.examples import examples
from rag.fetch import answers
from rag.library import Library
from rag.nouns import Event, Filters, Paper, Sentence, Turn, Waiting
from rag.sample import is_sample_only
from rag.settings import Settings
from rag.weights import REMOTE, Progress, obtain
from ui.web.desk import Assistant, Searcher

POLL = 0.2  # seconds between two looks of a waiting question
SPAN = 10.0  # seconds over which the speed is taken
NOT_YET = "The models are not here yet. What is missing stands at the top of the page."


class Closed(PinciteError):
    """The page is being closed; ends a download."""


class Download:
    """One model on its way; written by the thread that fetches, read by the page."""

    def __init__(self, model: Model, purpose: str, *, optional: bool = False) -> None:
        self.model, self.purpose, self.optional = model, purpose, optional
        self.state: Literal["to come", "fetching", "here", "left out"] = "to come"
        self.total = self.have = 0  # bytes of the file that is being fetched
        self._closing = threading.Event()
        self._terminal: Progress | None = None
        self._seen: deque[tuple[float, int]] = deque()  # when, and how much was there

    def fetch(self, models_dir: Path, terminal: Progress, closing: threading.Event) -> None:
        """Bring the model here, unless it is; raises WeightsError, and Closed once `closing` is set."""
        self.state, self._terminal, self._closing = "fetching", terminal, closing
        try:
            obtain(self.model, models_dir, remote=REMOTE, progress=self)
        except PinciteError:
            self.state = "left out" if self.optional else "to come"
            raise
        self.state = "here"

    def speed(self) -> float:
        """Bytes a second of late; 0 where that is not known."""
        seen = list(self._seen)
        if not seen:
            return 0.0
        since, had = next((mark for mark in seen if mark[0] >= time.monotonic() - SPAN), seen[-1])
        return (self.have - had) / max(0.5, time.monotonic() - since)

    # --- rag.weights.Progress ---

    def start(self, file: str, total: int) -> None:
        self.total, self.have = total, 0
        self._seen.clear()
        if self._terminal:
            self._terminal.start(file, total)

    def advance(self, n: int) -> None:
        if self._closing.is_set():
            raise Closed("The page was closed.")
        self.have += n
        self._seen.append((time.monotonic(), self.have))
        while self._seen[0][0] < time.monotonic() - SPAN:
            self._seen.popleft()
        if self._terminal:
            self._terminal.advance(n)

    def done(self) -> None:
        if self._terminal:
            self._terminal.done()


class Starting:
    """An assistant whose models are still to come: of the library it can tell, questions wait."""

    def __init__(
        self,
        settings: Settings,
        library: Library,
        downloads: Sequence[Download],
        finish: Callable[[], Assistant],
        terminal: Progress,
    ) -> None:
        """`finish` opens the assistant once all is here. Nothing is fetched before `begin`."""
        self.settings, self.library, self.downloads = settings, library, downloads
        self.error = ""  # why it stands still, and what to do
        self._finish, self._terminal = finish, terminal
        self._assistant: Assistant | None = None
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def begin(self, then: Callable[[], None], failed: Callable[[str], None]) -> None:
        """Fetch and open in a thread of its own; `then` is called once questions are answered, `failed` if not."""
        self._then, self._failed = then, failed
        self.again()

    def again(self) -> None:
        """Begin anew after a failure; harmless while it goes on, and once all is here."""
        with self._lock:
            if self.ready or (self._thread and self._thread.is_alive()):
                return
            self.error = ""
            self._thread = threading.Thread(target=self._run, name="models", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End a download; what has arrived is kept for the next start."""
        self._closing.set()
        if self._thread:
            self._thread.join(5)

    @property
    def ready(self) -> bool:
        return self._assistant is not None

    @property
    def fetching(self) -> bool:
        """Whether a model is still to come; if not, the parts are being opened."""
        return any(download.state in ("to come", "fetching") for download in self.downloads)

    def _run(self) -> None:
        broke = "Opening the models broke off; the terminal shows why."
        try:
            self._fetch()
            self._assistant = self._finish()
            broke = ""
        except Closed:
            return
        except PinciteError as error:
            broke = str(error)
        finally:
            self.error = broke
        if broke:
            self._failed(broke)
        else:
            self._then()

    def _fetch(self) -> None:
        answers.cache_clear()  # the network may be back
        for download in self.downloads:
            try:
                download.fetch(self.settings.models_dir, self._terminal, self._closing)
            except WeightsError:
                if not download.optional:
                    raise

    # --- what the page asks of an assistant ---

    def stream(
        self,
        question: str,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        cancel: threading.Event | None = None,
    ) -> Iterator[Event]:
        """Waits for the models, also while a failure waits for the reader, then answers."""
        cancel = cancel or threading.Event()
        if not self.ready:
            yield Waiting(0)
        while (assistant := self._assistant) is None:
            if cancel.wait(POLL):
                return
        yield from assistant.stream(question, history, filters, cancel)

    @property
    def retriever(self) -> Searcher:
        return self.there().retriever

    @property
    def is_sample(self) -> bool:
        return is_sample_only(self.library)

    def paper(self, key: str) -> tuple[Paper, tuple[Sentence, ...]] | None:
        paper = self.library.paper(key)
        return None if paper is None else (paper, self.library.sentences(paper))

    def examples(self, n: int = 4) -> list[str]:
        return examples(self.library, n)

    def fingerprint(self) -> dict[str, Any]:
        return self.there().fingerprint()

    def size(self) -> tuple[int, int]:
        return self.library.size()

    def there(self) -> Assistant:
        """The assistant itself; raises ModelError while it is to come."""
        if self._assistant is None:
            raise ModelError(NOT_YET)
        return self._assistant
