"""Question sets put to the assistant from the page: which there are, running one, its figures, two side by side."""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from importlib.resources import files
from pathlib import Path

from eval.asking import Stopped
from eval.bootstrap import totals
from eval.compare import Comparison, changed_conditions, compare, verdict
from eval.conditions import conditions
from eval.folder import Scored, read_run
from eval.metrics import Abstracts
from eval.questions import load
from eval.runs import ALL, by_kind, chosen, run
from rag.errors import ModelError
from rag.nouns import Answer, Done, Filters, Turn
from rag.settings import Settings
from ui.web.adding import Watched
from ui.web.clean import clean
from ui.web.desk import Assistant
from ui.web.prose import prose
from ui.web.relay import relay

FLIPS = 50  # flipped questions shown
WORDS = {
    "right": "right answers",
    "facts": "facts that were asked for and named",
    "over": "refusals of answerable questions",
    "refok": "refusals of unanswerable questions",
    "cited": "sentences with citations",
    "exact": "quotes that are exact",
    "ingold": "citations of the right papers",
    "gldhit": "answers that cite a right paper",
    "nums": "numbers that stand in the cited sentences",
    "own": "sentences that copy nothing",
    "long": "answers over their length",
    "dead": "questions that failed",
}


class Asker:
    """The assistant as a run asks it."""

    def __init__(self, assistant: Assistant) -> None:
        self.assistant = assistant

    def ask(
        self,
        question: str,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        cancel: threading.Event | None = None,
    ) -> Answer:
        """The answer alone; raises at once when `cancel` is set, whatever the model is doing."""
        cancel = cancel or threading.Event()
        for batch in relay(lambda: self.assistant.stream(question, history, filters, cancel), cancel):
            for event in batch:
                if isinstance(event, Done):
                    return event.answer
        raise ModelError("The answer ended before it was complete.")


def sets(settings: Settings) -> dict[str, Path]:
    """The question sets that ship with the program, and the reader's own in HOME/sets, by name."""
    shipped = Path(str(files("eval"))) / "sets"
    found = [*sorted(shipped.glob("*.jsonl")), *sorted((settings.home / "sets").glob("*.jsonl"))]
    return {path.stem: path for path in found}


def runs(settings: Settings) -> list[str]:
    """The names of the finished runs in HOME/runs, the newest first."""
    folders = (settings.home / "runs").glob("*/scores.jsonl")
    return sorted((f.parent.name for f in folders), key=lambda n: n.rpartition("-")[2], reverse=True)


def evaluate(
    assistant: Assistant, path: Path, limit: int | None, stop: threading.Event, progress: Watched
) -> str:
    """Put a set to the assistant; the name of the run's folder in HOME/runs. Raises Stopped once `stop` is set."""
    name = f"{path.stem}-{datetime.now().strftime('%Y%m%dT%H%M%S')}"

    def report(done: int, total: int, seconds_left: float) -> None:
        left = f"{seconds_left / 60:.0f} min" if seconds_left >= 90 else f"{seconds_left:.0f} s"
        progress.step(f"asking, about {left} left", done, total)

    library = assistant.library
    questions = chosen(load(path), limit=limit)
    progress.step("asking", 0, len(questions))
    folder = assistant.settings.home / "runs" / name
    try:
        run(
            questions,
            [Asker(assistant)],
            folder,
            abstracts=Abstracts({paper.key: paper.abstract for paper in library.papers()}),
            conditions=conditions(
                path.name,
                [path],
                mode="answers",
                fingerprint=assistant.fingerprint(),
                command=f"pincite eval run {path.name}",
                options={"limit": limit} if limit else {},
            ),
            report=report,
            cancel=stop,
        )
    except Stopped:
        most = ("--limit", str(limit)) if limit else ()
        command = shlex.join(["pincite", "eval", "run", str(path), "--out", str(folder), *most])
        raise Stopped(f"Stopped; the answers so far are kept. To go on: {command}") from None
    return name


def read(settings: Settings, name: str) -> tuple[dict[str, object], list[Scored]]:
    """A finished run by its name; raises InputError."""
    return read_run(settings.home / "runs" / Path(name).name)


def shown_html(settings: Settings, names: Sequence[str]) -> str:
    """The figures of one run, or the comparison of two."""
    if len(names) == 2:
        return comparison_html(settings, *names)
    return figures_html(names[0], read(settings, names[0])[1])


def report(settings: Settings, names: Sequence[str], folder: Path) -> Path:
    """The report on one run, or on two side by side, as one HTML file in `folder`."""
    # matplotlib keeps a list of fonts: among Pincite's own files, not in the user's home.
    os.environ.setdefault("MPLCONFIGDIR", str(settings.cache_dir / "matplotlib"))
    from eval.report.pages import html
    from eval.report.reading import read as read_all

    folders = [settings.home / "runs" / Path(name).name for name in dict.fromkeys(names)]
    file = folder / f"{'-and-'.join(f.name for f in folders)}.html"
    file.write_bytes(html(read_all(folders, {})).encode("utf-8", "replace"))
    return file


def figures_html(name: str, scored: Sequence[Scored]) -> str:
    """The figures of all questions with their intervals, and how right each kind was."""
    groups = by_kind(scored)
    rows = (
        f"<tr><td>{escape(WORDS.get(figure, figure))}</td><td>{100 * one.value:.1f} %</td>"
        f'<td class="quiet">{100 * one.low:.1f} to {100 * one.high:.1f}</td><td class="quiet">{one.n}</td></tr>'
        for figure, one in totals([s.figures for s in groups[ALL]]).items()
    )
    head = ("Figure", "Value", "95 % interval", "Over")
    return clean(f"<section><h2>{escape(name)}</h2>{_table(head, rows)}</section>")


def comparison_html(settings: Settings, a: str, b: str) -> str:
    """What differs between two runs beyond noise, what they were made with, and which questions flipped."""
    (facts_a, scored_a), (facts_b, scored_b) = read(settings, a), read(settings, b)
    found = compare(scored_a, scored_b)
    changed = "".join(f"<li>{escape(one)}</li>" for one in changed_conditions(facts_a, facts_b))
    made = f'<h3>Made differently</h3><ul class="problems">{changed}</ul>' if changed else ""
    return clean(
        f"<section><h2>B: {escape(b)}, against A: {escape(a)}</h2><p>{escape(verdict(found))}</p>"
        f'<p class="quiet">{found.common} questions in both runs; {len(found.flips)} flipped.</p>'
        f"{_differences(found)}{_flips(found)}{made}</section>"
    )


def _differences(found: Comparison) -> str:
    rows = (
        f"<tr><td>{escape(WORDS.get(one.figure, one.figure))}</td><td>{100 * one.a:.1f}</td><td>{100 * one.b:.1f}</td>"
        f"<td>{100 * one.interval.value:+.1f}</td>"
        f'<td class="quiet">{100 * one.interval.low:+.1f} to {100 * one.interval.high:+.1f}</td></tr>'
        for one in found.differences
        if one.kind == ALL
    )
    return _table(("Figure", "A", "B", "B − A", "95 % interval"), rows)


def _flips(found: Comparison) -> str:
    rows = (
        f"<tr><td>{prose(one.question)}</td><td>{escape(one.a)}</td><td>{escape(one.b)}</td></tr>"
        for one in found.flips[:FLIPS]
    )
    return _table(("Flipped question", "A", "B"), rows) if found.flips else ""


def _table(head: Iterable[str], rows: Iterable[str]) -> str:
    cells = "".join(f'<th scope="col">{escape(one)}</th>' for one in head)
    return (
        f'<table class="papers-table"><thead><tr>{cells}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )
