"""A run's folder: rows that survive a kill at any byte, the run's conditions, and its figures."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from eval.bootstrap import Figures
from eval.metrics import Share
from eval.questions import Question, as_row, json_lines
from rag.errors import InputError, PinciteError

QUESTIONS = "questions.jsonl"  # what is asked, with its gold
ANSWERS = "answers.jsonl"  # in the set's order, with the set's ids
REMOVED = "without_gold.jsonl"  # the same for the questions asked again without their gold papers
SCORES = "scores.jsonl"
RUN = "run.json"
_MUST_AGREE = ("mode", "set", "fingerprint", "code")  # of a run that is resumed


@dataclass(frozen=True, slots=True)
class Scored:
    """A question of a run with its figures: all that a comparison needs."""

    id: str
    kind: str
    question: str
    status: str  # of the answer; "" if only retrieval ran
    figures: Figures


class RunFolder:
    """The open folder of one run; nobody else writes to it meanwhile."""

    def __init__(self, path: Path, conditions: Mapping[str, Any]) -> None:
        self.path = path
        earlier = facts_of(path)
        started = earlier.get("started") if self._has_rows() else None
        if started:
            _refuse_other(path, earlier, conditions)
        self.facts = {**conditions, "started": started or _now(), "finished": None}
        self._write_run()

    def _has_rows(self) -> bool:
        return any((self.path / name).is_file() for name in (ANSWERS, REMOVED))

    def rows(self, name: str, ids: Sequence[str]) -> list[dict[str, Any]]:
        """The rows written so far; a half-written last line is cut off the file.

        Raises InputError if they are not the first of `ids`, in order.
        """
        file = self.path / name
        rows = whole_rows(file) if file.is_file() else []
        if [row.get("id") for row in rows] != list(ids[: len(rows)]):
            raise InputError(
                f"{file} holds other questions than the first {len(rows)} of this run. Was it made "
                "with another --kinds or a larger --limit? Choose another --out, or delete the folder."
            )
        return rows

    def keep(self, questions: Sequence[Question]) -> None:
        """Write down what is asked, so that a report can show the gold, and how much is still to come."""
        lines = [json.dumps(as_row(q), ensure_ascii=False) + "\n" for q in questions]
        replace_file(self.path / QUESTIONS, "".join(lines))

    @contextmanager
    def appending(self, name: str) -> Iterator[Appender]:
        with (self.path / name).open("ab") as file:
            yield Appender(file.fileno())

    def finish(self, scored: Sequence[Scored], figures: Mapping[str, Any]) -> None:
        """Write the figures: of each question for comparisons, and of the whole run into `run.json`."""
        lines = [json.dumps(_scored_row(one), ensure_ascii=False) + "\n" for one in scored]
        replace_file(self.path / SCORES, "".join(lines))
        self.facts |= {"finished": _now(), "figures": figures}
        self._write_run()

    def _write_run(self) -> None:
        replace_file(self.path / RUN, json.dumps(self.facts, ensure_ascii=False, indent=2) + "\n")


class Appender:
    """Writes whole lines to the end of a file, each in one call: a kill leaves at most one broken line."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __call__(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self.descriptor, rest) :]


@contextmanager
def open_run(path: Path, conditions: Mapping[str, Any]) -> Iterator[RunFolder]:
    """The folder for a new run, or for one to be resumed under the same conditions.

    Raises PinciteError if the set, settings, index or code have changed, or another run writes here.
    """
    path.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise PinciteError(
            f"Another run is writing to {path}. Wait for it, or choose another --out."
        ) from None
    try:
        yield RunFolder(path, conditions)
    finally:
        lock.release()


def read_run(path: Path) -> tuple[dict[str, Any], list[Scored]]:
    """The conditions and the scored questions of a finished run; raises InputError if it is none."""
    facts = read_conditions(path)
    if not facts.get("finished") or not (path / SCORES).is_file():
        raise InputError(
            f"The run in {path} is not finished. Go on with it: {facts.get('command') or 'run it again'}"
        )
    return facts, [_scored(value, where) for where, value in json_lines(path / SCORES)]


def read_conditions(path: Path) -> dict[str, Any]:
    """The conditions of a run, finished or not; raises InputError if the folder holds none."""
    facts = facts_of(path)
    if not facts:
        raise InputError(
            f"{path} holds no run: there is no {RUN}. Make one with: pincite eval run SET --out {path}"
        )
    return facts


def facts_of(path: Path) -> dict[str, Any]:
    """What `run.json` holds, of a run that need not be finished; {} if there is none."""
    file = path / RUN
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(
            f"{file} cannot be read: {error}. Choose another --out, or delete the folder."
        ) from error
    if not isinstance(found, dict):
        raise InputError(f"{file} is no JSON object. Choose another --out, or delete the folder.")
    return found


def _refuse_other(path: Path, earlier: Mapping[str, Any], conditions: Mapping[str, Any]) -> None:
    differing = [name for name in _MUST_AGREE if earlier.get(name) != conditions.get(name)]
    if differing:
        raise InputError(
            f"The run in {path} was begun with another {' and '.join(differing)}: its rows and new ones "
            "would not be one run. Choose another --out, or delete the folder."
        )


def whole_rows(file: Path) -> list[dict[str, Any]]:
    """The rows up to the last whole line; what is behind it is cut off."""
    data = file.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(file, whole)
    rows = []
    for number, line in enumerate(data[:whole].split(b"\n")[:-1], 1):
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            raise InputError(
                f"{file}, line {number}: not valid JSON ({error}). Delete this folder."
            ) from error
    return rows


def replace_file(file: Path, text: str) -> None:
    """Write a file so that a kill leaves either the old or the new one."""
    part = file.with_name(f"{file.name}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, file)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _scored_row(one: Scored) -> dict[str, Any]:
    return {
        "id": one.id,
        "kind": one.kind,
        "question": one.question,
        "status": one.status,
        "figures": {name: [share.hits, share.of] for name, share in one.figures.items()},
    }


def _scored(row: Mapping[str, Any], where: str) -> Scored:
    try:
        figures = {name: Share(float(hits), float(of)) for name, (hits, of) in row["figures"].items()}
        name, kind, question, status = (str(row[field]) for field in ("id", "kind", "question", "status"))
        return Scored(name, kind, question, status, figures)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{where}: not the figures of a question ({error}). Run the set again.") from error
