"""What people say of answers: one JSON object a line, from which evaluation makes question sets."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

Verdict = Literal["good", "wrong_answer", "wrong_citation", "should_have_refused", "should_have_answered"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
FILE = "feedback.jsonl"  # in the collection's folder


def append(
    folder: Path,
    verdict: Verdict,
    row: Mapping[str, Any],
    *,
    history: Sequence[tuple[str, str]] = (),
    comment: str = "",
) -> None:
    """Note what a person said of an answer row; `history` holds the earlier (question, answer) turns."""
    turns = [{"question": question, "answer": answer} for question, answer in history]
    entry = {"verdict": verdict, "comment": comment, "history": turns, "row": dict(row)}
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / FILE).open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
