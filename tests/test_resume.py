"""A run with the real model, killed at half: the rest gives what an unbroken run gives, and so does a second run."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from process import BIB, EMBEDDER, ROOT, SMALL, environment, home_with

from eval.questions import Question, line_of

pytestmark = pytest.mark.model

QUESTIONS = (
    "What does Vole keep in a burrow?",
    "How many voices can Pipit separate?",
    "By how much does the burrow halve the memory of Vole?",
    "Which method counts birds from roof microphones?",
    "How many GPUs were needed for Pipit?",
    "Who won the football cup?",
)
HALF = len(QUESTIONS) // 2


def started(home: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "ui.cli", "--offline", "--llm", SMALL, *arguments],
        env=environment(home, PINCITE_ANSWER_TOKENS="40"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def finished(home: Path, *arguments: str) -> None:
    process = started(home, *arguments)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, out + err


def lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.is_file() else []


def without_timing(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) | {"timing": None} for line in lines(file)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = home_with(tmp_path / "home", SMALL, EMBEDDER)
    (made / "birds.bib").write_text(BIB)
    finished(made, "index", str(made / "birds.bib"))
    asked = [Question(f"q{n}", "lookup", text, facts=(("x",),)) for n, text in enumerate(QUESTIONS)]
    (made / "set.jsonl").write_text("".join(line_of(q) + "\n" for q in asked))
    return made


def test_killed_at_half_and_gone_on_equals_unbroken(home: Path) -> None:
    def command(out: str) -> tuple[str, ...]:
        return ("eval", "run", str(home / "set.jsonl"), "--out", str(home / out))

    finished(home, *command("first"))
    killed = started(home, *command("killed"))
    answers = home / "killed" / "answers.jsonl"
    end = time.monotonic() + 200
    while len(lines(answers)) < HALF and time.monotonic() < end:
        assert killed.poll() is None, killed.communicate()
        time.sleep(0.02)
    os.kill(killed.pid, signal.SIGKILL)
    assert killed.wait(20) == -signal.SIGKILL
    assert HALF <= len(lines(answers)) < len(QUESTIONS)
    assert json.loads((home / "killed" / "run.json").read_text())["finished"] is None
    finished(home, *command("killed"))
    rows = without_timing(answers)
    assert rows == without_timing(home / "first" / "answers.jsonl")
    assert [row["id"] for row in rows] == [f"q{n}" for n in range(len(QUESTIONS))]
    assert {row["status"] for row in rows} == {"answered", "not_found"}
    for name in ("figures", "fingerprint"):
        first, again = (
            json.loads((home / run / "run.json").read_text())[name] for run in ("first", "killed")
        )
        assert first == again
    assert lines(home / "first" / "scores.jsonl") == lines(home / "killed" / "scores.jsonl")
