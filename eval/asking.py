"""Questions put to one asker after the other, or to several at once; rows come back in the given order."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Protocol

from eval.questions import Question
from rag.errors import PinciteError
from rag.nouns import Answer, Filters, Turn
from rag.rows import answer_row

AHEAD = 4  # questions begun or answered for each asker while an earlier row is waited for

Row = Mapping[str, Any]


class Asker(Protocol):
    """What a run needs of `rag.assistant.Assistant`."""

    def ask(
        self,
        question: str,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        cancel: threading.Event | None = None,
    ) -> Answer: ...


class Stopped(PinciteError):
    """A run was stopped in the middle of a question, which has no row then."""


@dataclass(frozen=True, slots=True)
class Job:
    """One question to be asked, and the file its row goes to."""

    question: Question
    file: str
    filters: Filters | None = None


def answered(
    jobs: Sequence[Job], askers: Sequence[Asker], cancel: threading.Event | None = None
) -> Generator[tuple[Job, Row, bytes], None, None]:
    """Each job with its row and the row's line, in the jobs' order; every asker has one question at a time.

    Raises Stopped once `cancel` is set. Closing it drops the questions that nobody has begun, and cancels those
    that are being answered.
    """
    cancel = cancel or threading.Event()
    if len(askers) == 1:
        for job in jobs:
            yield job, *_asked(job, askers[0], cancel)
        return
    idle: SimpleQueue[Asker] = SimpleQueue()
    for asker in askers:
        idle.put(asker)
    pool = ThreadPoolExecutor(len(askers))
    waiting: deque[tuple[Job, Future[tuple[Row, bytes]]]] = deque()
    try:
        for job in jobs:
            if len(waiting) == AHEAD * len(askers):
                first, future = waiting.popleft()
                yield first, *future.result()
            waiting.append((job, pool.submit(_by_an_idle_one, job, idle, cancel)))
        while waiting:
            first, future = waiting.popleft()
            yield first, *future.result()
    finally:
        cancel.set()
        pool.shutdown(cancel_futures=True)


def _by_an_idle_one(job: Job, idle: SimpleQueue[Asker], cancel: threading.Event) -> tuple[Row, bytes]:
    asker = idle.get()
    try:
        return _asked(job, asker, cancel)
    finally:
        idle.put(asker)


def _asked(job: Job, asker: Asker, cancel: threading.Event) -> tuple[Row, bytes]:
    """The answer row of a question and its line; whatever goes wrong becomes a row of status "error".

    Raises Stopped if `cancel` was set before the answer was whole.
    """
    q = job.question
    try:
        asked = _line(answer_row(asker.ask(q.question, list(q.history), job.filters, cancel), q.id))
    except PinciteError as error:
        asked = _failed(q.id, str(error))
    except Exception as error:  # noqa: BLE001 - whatever one question breaks, the others are asked
        asked = _failed(q.id, f"{type(error).__name__}: {error}")
    if cancel.is_set():  # what came of cutting it off is neither an answer nor an error of the question
        raise Stopped("The run was stopped.")
    return asked


def _failed(question_id: str, error: str) -> tuple[Row, bytes]:
    said = error.encode("utf-8", "replace").decode()
    return _line({"id": question_id, "status": "error", "error": said})


def _line(row: dict[str, Any]) -> tuple[Row, bytes]:
    return row, json.dumps(row, ensure_ascii=False).encode() + b"\n"
