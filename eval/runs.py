"""A set put to the assistant through the door that users use; a kill loses only the question it was at."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from eval.asking import Asker, Job, Row, answered
from eval.bootstrap import Figures, totals
from eval.folder import ANSWERS, REMOVED, RunFolder, Scored, open_run
from eval.metrics import Abstracts, score_row
from eval.progress import Report, counted, silent
from eval.questions import Question
from rag.errors import InputError
from rag.nouns import Filters

ALL = "ALL"  # every question of the set, over all kinds
GOLD_REMOVED = "gold_removed"  # the kind of a question asked without its gold papers; no part of ALL

Retrieve = Callable[[Sequence[Question], Path], Mapping[str, Figures]]


def chosen(
    questions: Sequence[Question],
    kinds: Sequence[str] = (),
    limit: int | None = None,
    ids: Sequence[str] = (),
) -> list[Question]:
    """The questions of some kinds and ids, then the first `limit` of them. Raises InputError if none is left."""
    if missing := sorted(set(ids) - {q.id for q in questions}):
        raise InputError(f"The set has no question with the id {', '.join(missing)}.")
    known = {q.kind for q in questions}
    if missing := sorted(set(kinds) - known):
        raise InputError(
            f"The set has no questions of kind {', '.join(missing)}. It has: {', '.join(sorted(known))}."
        )
    found = [q for q in questions if (not kinds or q.kind in kinds) and (not ids or q.id in ids)][:limit]
    if not found:
        raise InputError(
            "There is no question to ask: the set is empty, or none of it is of these kinds and ids."
        )
    return found


def run(
    questions: Sequence[Question],
    assistants: Sequence[Asker],
    out: Path,
    *,
    abstracts: Abstracts,
    conditions: Mapping[str, Any],
    without_gold: bool = False,
    retrieve: Retrieve | None = None,
    report: Report = silent,
    cancel: threading.Event | None = None,
) -> list[Scored]:
    """Ask all questions (none without an assistant), score them, and leave a finished run in `out`.

    With several assistants so many questions are asked at once; the rows are in the same order all the same.
    `abstracts` are those of the collection asked. `without_gold`: every answerable question again without its
    gold papers, where a refusal is right. `retrieve` measures the retrieval: figures by question id.
    Raises PinciteError if `out` holds another run, and Stopped once `cancel` is set.
    """
    _refuse_repeated(questions)
    with open_run(out, conditions) as folder:
        folder.keep([replace(q, papers=tuple(sorted(abstracts.gold(q)))) for q in questions])
        measured = retrieve(questions, out) if retrieve else {}
        rows: dict[str, dict[str, Row]] = {ANSWERS: {}, REMOVED: {}}
        copies = gold_removed(questions, abstracts) if without_gold and assistants else []
        if assistants:
            jobs = [Job(q, ANSWERS) for q in questions]
            jobs += [Job(q, REMOVED, Filters(without=papers)) for q, papers in copies]
            rows = _ask_all(jobs, assistants, folder, report, cancel)
        scored = [_scored(q, rows[ANSWERS].get(q.id), abstracts, measured.get(q.id, {})) for q in questions]
        scored += [_scored(refusable(q), rows[REMOVED][q.id], abstracts, {}) for q, _ in copies]
        folder.finish(scored, summary(scored))
    return scored


def gold_removed(
    questions: Sequence[Question], abstracts: Abstracts
) -> list[tuple[Question, tuple[str, ...]]]:
    """The answerable questions whose gold papers the collection holds, with the keys of these papers."""
    gold = [(q, tuple(sorted(abstracts.gold(q)))) for q in questions if q.answerable]
    return [(q, papers) for q, papers in gold if papers]


def summary(scored: Sequence[Scored]) -> dict[str, dict[str, Any]]:
    """The figures of each kind and of ALL: value, interval, and how many questions have the figure."""
    return {
        kind: {name: asdict(one) for name, one in totals([s.figures for s in rows]).items()}
        for kind, rows in by_kind(scored).items()
    }


def by_kind(scored: Sequence[Scored]) -> dict[str, list[Scored]]:
    """The questions of each kind, then ALL of the set, then those whose gold papers were removed."""
    groups: dict[str, list[Scored]] = {}
    for one in scored:
        groups.setdefault(one.kind, []).append(one)
    removed = groups.pop(GOLD_REMOVED, [])
    everything = [one for one in scored if one.kind != GOLD_REMOVED]
    last = {ALL: everything, GOLD_REMOVED: removed}
    return groups | {kind: rows for kind, rows in last.items() if rows}


def _refuse_repeated(questions: Sequence[Question]) -> None:
    seen: set[str] = set()
    for q in questions:
        if q.id in seen:
            raise InputError(f"The id {q.id!r} is used twice in the set. See: pincite eval check SET")
        seen.add(q.id)


def _ask_all(
    jobs: Sequence[Job],
    assistants: Sequence[Asker],
    folder: RunFolder,
    report: Report,
    cancel: threading.Event | None,
) -> dict[str, dict[str, Row]]:
    """The rows of all jobs by file and id; those that an earlier run has written are not asked again."""
    files = dict.fromkeys(job.file for job in jobs)
    have: dict[str, list[Row]] = {}
    for name in files:
        have[name] = list(folder.rows(name, [job.question.id for job in jobs if job.file == name]))
    ahead = {name: len(rows) for name, rows in have.items()}
    todo = []
    for job in jobs:
        if ahead[job.file]:
            ahead[job.file] -= 1
        else:
            todo.append(job)
    with closing(answered(todo, assistants, cancel)) as rows:
        for job, row, line in counted(rows, len(todo), report, len(jobs) - len(todo)):
            with folder.appending(job.file) as append:
                append(line)
            have[job.file].append(row)
    return {ANSWERS: {}, REMOVED: {}} | {
        name: {row["id"]: row for row in written} for name, written in have.items()
    }


def refusable(question: Question) -> Question:
    """The question as it is asked without its gold papers."""
    return replace(question, id=refusable_id(question.id), kind=GOLD_REMOVED, answerable=False)


def refusable_id(question_id: str) -> str:
    """The id of a question's copy that is asked without its gold papers."""
    return f"{question_id} without gold"


def _scored(question: Question, row: Row | None, abstracts: Abstracts, measured: Figures) -> Scored:
    figures = dict(measured)
    if row is not None:
        figures |= score_row(question, row, abstracts).figures()
    return Scored(question.id, question.kind, question.question, row["status"] if row else "", figures)
