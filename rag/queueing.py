"""One model, many askers: a fair queue in which everybody sees their place."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from types import TracebackType

POLL_S = 0.1  # how soon a cancelled asker leaves the queue
HEARTBEAT_S = 1.0  # how often a waiting asker's reader gets control back, so that it can go away


class Turnstile:
    """A lock that admits in order of arrival and is held until the ticket is closed.

        with turnstile.enter(cancel) as ticket:
            for place in ticket:
                ...  # tell the asker
            if ticket.admitted:
                ...  # alone until the end of the block

    In a generator the block ends, and the place is given up, when the generator is closed or dropped.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._queue: deque[Ticket] = deque()  # the first one has the turn

    def enter(self, cancel: threading.Event | None = None) -> Ticket:
        """A place at the end of the queue. `cancel` ends the waiting, not the turn."""
        ticket = Ticket(self._changed, self._queue, cancel or threading.Event())
        with self._changed:
            self._queue.append(ticket)
        return ticket


class Ticket:
    """A place in the queue. Iterate to wait for the turn; then `admitted` says whether it came."""

    def __init__(self, changed: threading.Condition, queue: deque[Ticket], cancel: threading.Event) -> None:
        self._changed, self._queue, self._cancel = changed, queue, cancel

    @property
    def admitted(self) -> bool:
        """Does this ticket have the turn?"""
        with self._changed:
            return bool(self._queue) and self._queue[0] is self

    def __iter__(self) -> Iterator[int]:
        """Yields how many are ahead (1 = next): at once, when it changes, and every HEARTBEAT_S.

        Ends when the turn has come or `cancel` is set; without a wait, it yields nothing.
        """
        shown = None
        while (ahead := self._look(shown)) and not self._cancel.is_set():
            shown = ahead
            yield ahead

    def close(self) -> None:
        """Give the turn or the place up; again is harmless."""
        with self._changed:
            if self in self._queue:
                self._queue.remove(self)
                self._changed.notify_all()

    def __enter__(self) -> Ticket:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _look(self, shown: int | None) -> int:
        """How many are ahead, as soon as that is not `shown`, or after HEARTBEAT_S, or on cancel."""
        until = time.monotonic() + HEARTBEAT_S
        with self._changed:
            while (ahead := self._queue.index(self)) == shown and not self._cancel.is_set():
                if time.monotonic() >= until:
                    break
                self._changed.wait(POLL_S)
            return ahead
