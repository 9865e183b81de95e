"""Questions put to one asker after the other, or to several at once; rows come back in the given order."""

from __future__ import annotations

import json
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

    def ask(self, question: str, history: Sequence[Turn] = (), filters: Filters | None = None) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Job:
    """One question to be asked, and the file its row goes to."""

    question: Question
    file: str
    filters: Filters | None = None


def answered(jobs: Sequence[Job], askers: Sequence[Asker]) -> Generator[tuple[Job, Row, bytes], None, None]:
    """Each job with its row and the row's line, in the jobs' order; every asker has one question at a time.

    Closing it drops the questions that nobody has begun, and waits for those that are being answered.
    """
    if len(askers) == 1:
        for job in jobs:
            yield job, *_asked(job, askers[0])
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
            waiting.append((job, pool.submit(_by_an_idle_one, job, idle)))
        while waiting:
            first, future = waiting.popleft()
            yield first, *future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _by_an_idle_one(job: Job, idle: SimpleQueue[Asker]) -> tuple[Row, bytes]:
    asker = idle.get()
    try:
        return _asked(job, asker)
    finally:
        idle.put(asker)


def _asked(job: Job, asker: Asker) -> tuple[Row, bytes]:
    """The answer row of a question and its line; whatever goes wrong becomes a row of status "error"."""
    q = job.question
    try:
        return _line(answer_row(asker.ask(q.question, list(q.history), job.filters), q.id))
    except PinciteError as error:
        said = str(error)
    except Exception as error:  # noqa: BLE001 - whatever one question breaks, the others are asked
        said = f"{type(error).__name__}: {error}"
    return _line({"id": q.id, "status": "error", "error": said.encode("utf-8", "replace").decode()})


def _line(row: dict[str, Any]) -> tuple[Row, bytes]:
    return row, json.dumps(row, ensure_ascii=False).encode() + b"\n"
