"""Runs as one HTML file that opens no connection, and as Markdown. Templates escape all that they are given."""

from __future__ import annotations

import base64
import hashlib
import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from eval.compare import Comparison, changed_conditions, compare, verdict
from eval.report.figures import interval as interval_text
from eval.report.figures import kinds, percent, seconds, tables
from eval.report.items import Entry, entries
from eval.report.plots import Plot, plots
from eval.report.reading import Run
from eval.report.summary import main_figures, summary

HERE = Path(__file__).parent
CONDITIONS = ("set", "mode", "options", "fingerprint", "code", "machine", "packages", "seed", "command")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&=-])")


@dataclass(frozen=True, slots=True)
class Pair:
    """A later run against an earlier one, where both asked the same questions."""

    title: str
    verdict: str
    found: Comparison
    changed: tuple[str, ...]


def html(runs: Sequence[Run]) -> str:
    """The report as one file: style, script and images are in it, and it may load nothing else."""
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    page = _environment(autoescape=True).get_template("report.html")
    return page.render(
        **_contents(runs),
        plots=plots(runs),
        picture=_picture,
        style=style,
        script=script,
        style_sum=_sum(style),
        script_sum=_sum(script),
    )


def markdown(runs: Sequence[Run]) -> str:
    """The report without plots and evidence, for a review or an issue."""
    page = _environment(autoescape=False, finalize=markdown_escaped).get_template("report.md")
    return page.render(**_contents(runs))


def markdown_escaped(value: object) -> str:
    """A value as one line of Markdown that shows it as it is: no markup, no HTML, no link, no image."""
    text = " ".join(str(value).split())
    return _MARKDOWN.sub(r"\\\1", text).replace("://", ":\\/\\/").replace("www.", "www\\.")


def _environment(**options: Any) -> Environment:
    return Environment(
        loader=FileSystemLoader(HERE),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **options,
    )


def _contents(runs: Sequence[Run]) -> dict[str, Any]:
    """What both templates are given."""
    letters = string.ascii_uppercase[: len(runs)]
    asked = entries(runs, letters)
    return {
        "runs": list(zip(letters, runs, strict=True)),
        "several": len(runs) > 1,
        "summary": summary,
        "main_figures": main_figures,
        "tables": tables(runs),
        "kinds": kinds(runs),
        "pairs": _pairs(runs, letters),
        "entries": asked,
        "kind_counts": Counter(one.kind for one in asked),
        "verdict_counts": _verdict_counts(asked),
        "conditions": _conditions,
        "percent": percent,
        "points": _points,
        "seconds": seconds,
        "interval": interval_text,
    }


def _pairs(runs: Sequence[Run], letters: str) -> list[Pair]:
    """Each two runs that asked a question in common, in the same words."""
    found = []
    for (a, first), (b, second) in combinations(list(zip(letters, runs, strict=True)), 2):
        words = {one.id: one.question for one in first.scored}
        same = [one for one in second.scored if words.get(one.id) == one.question]
        if same:
            one = compare(first.scored, same)
            changed = tuple(changed_conditions(first.facts, second.facts))
            found.append(Pair(f"{b} against {a}", verdict(one, b), one, changed))
    return found


def _verdict_counts(asked: Sequence[Entry]) -> Counter[str]:
    return Counter(verdict for one in asked for verdict in one.verdicts)


def _conditions(run: Run) -> list[tuple[str, str]]:
    """What a run was made with, one line a value."""
    known = {name: run.facts[name] for name in CONDITIONS if run.facts.get(name) not in (None, {}, "")}
    times = {name: run.facts.get(name) or "-" for name in ("started", "finished")}
    return [(name, _written(value)) for name, value in (known | times).items()]


def _written(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_written(one)}" for name, one in value.items())
    return str(value)


def _points(value: float) -> str:
    return f"{100 * value:+.1f}"


def _picture(plot: Plot, *, dark: bool) -> str:
    image = base64.b64encode(plot.dark if dark else plot.light).decode()
    return f"data:image/svg+xml;base64,{image}"


def _sum(text: str) -> str:
    """A source in the words of a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
