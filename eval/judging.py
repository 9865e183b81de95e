"""A language model's opinion of a run's answers: advisory, in files of its own, never mixed with the figures.

A verdict that is neither RIGHT nor WRONG is *unscored*: it counts neither for nor against.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

import prompts
from eval.bootstrap import totals
from eval.conditions import digest_of
from eval.folder import ANSWERS, Appender, Scored, read_run, replace_file, whole_rows
from eval.matching import without_markers
from eval.metrics import Share
from eval.progress import Report, counted, silent
from eval.questions import Question
from rag.errors import InputError, ModelError, PinciteError
from rag.model import Message, Model
from rag.prompting import inline, prefix_of

VERDICTS, SUMMARY = "judge.jsonl", "judge.json"
UNSCORED = "unscored"
TOKENS = 16  # of a verdict
_SAID = re.compile(r"\W*(right|wrong)\b\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Judged:
    """What a judge said of a run."""

    rows: Sequence[Mapping[str, Any]]  # {"id", "verdict": "right" | "wrong" | "unscored", "said"}
    summary: Mapping[str, Any]  # as in SUMMARY


def judge(
    path: Path, questions: Sequence[Question], files: Sequence[Path], model: Model, report: Report = silent
) -> Judged:
    """Judge each answer of a finished run whose question has a reference; an interrupted judgement goes on.

    `files` are those of the set. Refusals, failed rows and questions without an answer are left to the rules.
    Raises InputError if the set is not the run's, or another judge has begun here.
    """
    facts, scored = read_run(path)
    if facts["set"]["sha256"] != digest_of(files):
        raise InputError(
            f"The run in {path} is of another set, {facts['set']['name']}, or the set has changed."
        )
    if not (path / ANSWERS).is_file():
        raise InputError(f"The run in {path} has no answers to judge: only retrieval was measured.")
    lock = FileLock(path / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise PinciteError(f"Another process is writing to {path}. Wait for it.") from None
    try:
        conditions = {
            "model": dict(model.fingerprint),
            "prompt": prompts.load("judge").digest,
            "answers": digest_of([path / ANSWERS]),
        }
        rows = _verdicts(path, _pairs(path, questions), conditions, model, report)
        found = {"advisory": True, **conditions, "figures": figures(rows, scored)}
        replace_file(path / SUMMARY, json.dumps(found, ensure_ascii=False, indent=2) + "\n")
    finally:
        lock.release()
    return Judged(rows, found)


def _pairs(path: Path, questions: Sequence[Question]) -> list[tuple[Question, str]]:
    """The questions to be judged with the text that answered them."""
    answers = {row["id"]: row for row in whole_rows(path / ANSWERS)}
    return [
        (q, without_markers(answers[q.id]["text"]))
        for q in questions
        if q.answerable and q.reference and answers.get(q.id, {}).get("status") in ("answered", "partial")
    ]


def _verdicts(
    path: Path,
    pairs: Sequence[tuple[Question, str]],
    conditions: Mapping[str, Any],
    model: Model,
    report: Report,
) -> list[Mapping[str, Any]]:
    file = path / VERDICTS
    begun = path / SUMMARY
    rows: list[Mapping[str, Any]] = list(whole_rows(file)) if file.is_file() else []
    if rows:
        earlier = json.loads(begun.read_text(encoding="utf-8")) if begun.is_file() else {}
        other = [name for name, value in conditions.items() if earlier.get(name) != value]
        if other or [row["id"] for row in rows] != [q.id for q, _ in pairs[: len(rows)]]:
            raise InputError(
                f"{file} holds verdicts of another judge ({', '.join(other) or 'other questions'}). "
                "Delete it to judge anew."
            )
    replace_file(begun, json.dumps({"advisory": True, **conditions}, ensure_ascii=False, indent=2) + "\n")
    with file.open("ab") as stream:
        append = Appender(stream.fileno())
        todo = pairs[len(rows) :]
        for q, answer in counted(todo, len(todo), report, len(rows)):
            row = {"id": q.id, **verdict(q, answer, model)}
            append(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            rows.append(row)
    return rows


def verdict(q: Question, answer: str, model: Model) -> dict[str, str]:
    """ "right", "wrong" or "unscored", and what the model said."""
    prompt = prompts.load("judge")
    filled = prompt.fill(question=inline(q.question), reference=inline(q.reference), answer=inline(answer))
    try:
        said = "".join(model.stream(prefix_of(prompt), [Message("user", filled)], max_tokens=TOKENS)).strip()
    except ModelError as error:
        return {"verdict": UNSCORED, "said": f"error: {error}"}
    found = _SAID.fullmatch(said)
    return {"verdict": found[1].lower() if found else UNSCORED, "said": said}


def figures(rows: Sequence[Mapping[str, Any]], scored: Sequence[Scored]) -> dict[str, Any]:
    """The share of right verdicts among those scored with its interval, how many are unscored, and how often
    the rules say the same; None where nothing was scored."""
    said = {row["id"]: row["verdict"] == "right" for row in rows if row["verdict"] != UNSCORED}
    rules = {one.id: one.figures["right"].hits > 0 for one in scored if "right" in one.figures}
    both = [i for i in said if i in rules]
    right = totals([{"right": Share(int(yes), 1)} for yes in said.values()]).get("right")
    return {
        "right": None if right is None else {"value": right.value, "low": right.low, "high": right.high},
        "scored": len(said),
        "unscored": len(rows) - len(said),
        "agreement": sum(said[i] == rules[i] for i in both) / len(both) if both else None,
    }
