"""Between the model's thread and the page: events in batches, and a Stop that never waits for the model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue

from rag.errors import PinciteError
from rag.nouns import Event

PACE = 0.04  # seconds between batches: the eye sees no more, and the model keeps its processor


def relay(
    stream: Callable[[], Iterator[Event]], cancel: threading.Event, pace: float = PACE
) -> Iterator[list[Event]]:
    """What the stream yields, in order, in one batch every `pace` seconds; raises what it raises.

    The stream runs, and is closed, in one thread of its own, so the model is not held up by the page. It ends
    at once when `cancel` is set; the stream is closed as soon as it yields, and sees `cancel` itself.
    """
    events: SimpleQueue[Event | PinciteError | None] = SimpleQueue()
    threading.Thread(target=_run, args=(stream, cancel, events.put), name="answer", daemon=True).start()
    while not cancel.wait(pace):
        batch, ended = _drain(events)
        if batch:
            yield batch
        if isinstance(ended, PinciteError):
            raise ended
        if ended:
            return


def _run(
    stream: Callable[[], Iterator[Event]],
    cancel: threading.Event,
    put: Callable[[Event | PinciteError | None], None],
) -> None:
    """Feed the queue until the stream ends; an error that is a bug reaches the thread's excepthook."""
    try:
        events = stream()
        for event in events:
            if cancel.is_set():
                break
            put(event)
        if isinstance(events, Generator):
            events.close()
    except PinciteError as error:
        put(error)
    finally:
        put(None)


def _drain(events: SimpleQueue[Event | PinciteError | None]) -> tuple[list[Event], PinciteError | bool]:
    """The events waiting, and how they ended: an error, True, or False for not yet."""
    batch: list[Event] = []
    while True:
        try:
            event = events.get_nowait()
        except Empty:
            return batch, False
        if event is None or isinstance(event, PinciteError):
            return batch, event or True
        batch.append(event)


class Running:
    """The cancel events of the questions being answered, by browser session."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancels: dict[str, set[threading.Event]] = {}

    @contextmanager
    def question(self, session: str) -> Iterator[threading.Event]:
        """The cancel event of a new question; leaving sets it, so that no stream outlives its reader."""
        cancel = threading.Event()
        with self._lock:
            self._cancels.setdefault(session, set()).add(cancel)
        try:
            yield cancel
        finally:
            cancel.set()
            with self._lock:
                self._cancels[session].discard(cancel)
                if not self._cancels[session]:
                    del self._cancels[session]

    def busy(self, session: str) -> bool:
        """Whether a question of that session is being answered."""
        return session in self._cancels

    def stop(self, session: str) -> None:
        """Cancel that session's questions."""
        with self._lock:
            cancels = list(self._cancels.get(session, ()))
        for cancel in cancels:
            cancel.set()

    def stop_all(self) -> None:
        for session in list(self._cancels):
            self.stop(session)
