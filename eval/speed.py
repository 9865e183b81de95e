"""Speed as users meet it: answers, search, decoding, memory; one row of medians."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from rag.assistant import Assistant
from rag.nouns import Done, Found

QUESTIONS = (
    "Which method edits audio without any training?",
    "How much faster is structured sparse inference on a GPU?",
    "What does the correlation clustering algorithm cost per update?",
    "How are protein backbones generated?",
    "Which benchmark evaluates the alignment of vision-language models?",
    "What causes the loss to oscillate during training?",
    "How is a test sample adapted with feedback from CLIP?",
)


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile, in seconds."""
    ordered = sorted(values)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    return {"median": round(statistics.median(ordered), 4), "p95": round(p95, 4)}


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def answers(assistant: Assistant, questions: Sequence[str] = QUESTIONS) -> dict[str, Any]:
    """Seconds to the evidence, to the first token and to the end, over the questions; the first is cold."""
    evidence, first, total = [], [], []
    for question in questions:
        start = time.perf_counter()
        for event in assistant.stream(question):
            if isinstance(event, Found):
                evidence.append(time.perf_counter() - start)
            if isinstance(event, Done):
                timing = event.answer.timing
                total.append(timing.total_s)
                if timing.first_token_s is not None:
                    first.append(timing.first_token_s)
    return {
        "first_token_cold_s": round(first[0], 4) if first else None,
        "evidence_s": spread(evidence[1:]),
        "first_token_s": spread(first[1:] or first),
        "total_s": spread(total[1:]),
    }


def help_seconds() -> float:
    """`pincite --help` in a new process, median of five."""
    command = [sys.executable, "-m", "ui.cli", "--help"]
    runs = [timed(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(5)]
    return round(statistics.median(runs), 3)


def peak_mb() -> int:
    """Peak memory of this process."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
