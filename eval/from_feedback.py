"""What people said of answers as items of a question set: each a draft that a person has to complete."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.facts import facts_of
from eval.matching import skeleton, without_markers
from eval.questions import MOST_TURNS, SHORTEST, Question
from rag.errors import InputError
from rag.feedback import VERDICTS
from rag.nouns import Turn
from rag.sets import kind_of

SUGGESTED = 3  # sentences of a refusal's evidence that are suggested as evidence
REFUSED = "The papers do not say."


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the feedback file."""

    verdict: str
    comment: str
    history: tuple[Turn, ...]
    row: Mapping[str, Any]


def read(file: Path) -> tuple[list[Entry], list[str]]:
    """The entries of a feedback file, and what is wrong with the lines that could not be read.

    Raises InputError if there is no such file.
    """
    try:
        lines = file.read_bytes().split(b"\n")
    except FileNotFoundError:
        raise InputError(f"There is no feedback yet: {file} is written when answers are rated.") from None
    entries: list[Entry] = []
    damaged = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                entries.append(_entry(json.loads(line)))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                damaged.append(f"{file.name}, line {number}: {error}")
    return entries, damaged


def _entry(value: Any) -> Entry:
    """Raises one of the errors that `read` catches if a value is not what the file should hold."""
    if not isinstance(value, dict):
        raise ValueError(f"not an object but {type(value).__name__}")
    if value.get("verdict") not in VERDICTS:
        raise ValueError(f"unknown verdict {value.get('verdict')!r}")
    row = value.get("row")
    if not isinstance(row, dict) or not isinstance(row.get("question"), str) or not row["question"].strip():
        raise ValueError("no answer row with a question")
    _cited(row), _read(row)  # raises where citations and evidence are no quotes
    turns = tuple(Turn(str(turn["question"]), str(turn["answer"])) for turn in value.get("history") or ())
    return Entry(value["verdict"], str(value.get("comment") or ""), turns[-MOST_TURNS:], row)


def items(entries: Sequence[Entry], abstracts: Sequence[str]) -> list[Question]:
    """One unreviewed item a question, in the order they were first asked; what was said last counts.

    Quotes that are not in exactly one of the abstracts are left out.
    """
    skeletons = [skeleton(text) for text in abstracts]
    last = {_id(entry): entry for entry in entries}
    return [_item(name, entry, skeletons) for name, entry in last.items()]


def _id(entry: Entry) -> str:
    asked = json.dumps([*((t.question, t.answer) for t in entry.history), entry.row["question"]])
    return f"feedback-{hashlib.sha256(asked.encode()).hexdigest()[:8]}"


def _item(name: str, entry: Entry, skeletons: Sequence[str]) -> Question:
    row, refused = entry.row, entry.row.get("status") == "not_found"
    made = {"id": name, "question": row["question"], "history": entry.history, "reviewed": False}
    if entry.verdict == "should_have_refused" or (entry.verdict == "good" and refused):
        kind = "absent_near"
        return Question(**made, kind=kind, answerable=False, reference=REFUSED, note=_note(entry))
    evidence = _usable(_cited(row) or _read(row)[:SUGGESTED], skeletons)
    made |= {"kind": _kind(entry), "evidence": evidence, "note": _note(entry)}
    if entry.verdict != "good":
        return Question(**made)
    said = " ".join(without_markers(str(row.get("text") or "")).split())
    return Question(**made, facts=facts_of(said, evidence, row["question"]), reference=said)


def _kind(entry: Entry) -> str:
    kind = kind_of(entry.row["question"])
    if entry.history:
        return "followup"
    return "lookup" if kind == "other" else kind


def _note(entry: Entry) -> str:
    """What the reviewer has to know: the verdict, the comment, and the answer it is about."""
    said = f"{entry.verdict}: {entry.comment}" if entry.comment else entry.verdict
    return f"{said} | answer: {entry.row.get('text') or ''}"


def _cited(row: Mapping[str, Any]) -> list[str]:
    sentences = row.get("sentences") or ()
    return [str(c["quote"]) for sentence in sentences for c in sentence.get("citations") or ()]


def _read(row: Mapping[str, Any]) -> list[str]:
    """The sentences that the answer was to be made from, best paper first."""
    return [str(e["quote"]) for e in row.get("evidence") or ()]


def _usable(quotes: Sequence[str], skeletons: Sequence[str]) -> tuple[str, ...]:
    wanted = [(quote, skeleton(quote)) for quote in dict.fromkeys(quotes) if len(quote) >= SHORTEST]
    return tuple(quote for quote, bones in wanted if sum(one.count(bones) for one in skeletons) == 1)
