"""The figures of runs side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from eval.bootstrap import Interval, totals
from eval.confidence import Bin, Curve, Outcome, calibration, calibration_error, confidences, risk_coverage
from eval.folder import Scored
from eval.latency import Spread, spreads
from eval.metrics import refusals
from eval.report.reading import Run
from eval.runs import ALL, GOLD_REMOVED, by_kind, refusable_id

GROUPS = {
    "Answers": {
        "right": "right answers",
        "facts": "facts found",
        "long": "too long",
        "dead": "failed",
    },
    "Citations": {
        "cited": "sentences with a citation",
        "exact": "quotes exact",
        "nums": "sentences whose numbers stand in their quotes",
        "citpre": "citation precision: citations that overlap gold evidence",
        "citrec": "citation recall: gold evidence that a citation overlaps",
        "gldhit": "answers that cite gold evidence",
        "ingold": "citations of gold papers",
    },
    "Sentences": {
        "quoted": "graded quoted",
        "supported": "graded supported",
        "weak": "graded weak",
        "own": "in the model's own words",
    },
}
REFUSALS = {
    "refpre": "refusal precision: right refusals of all refusals",
    "refrec": "refusal recall: unanswerable questions refused",
    "refover": "over-refusal: answerable questions refused",
}
TIMES = {
    "evidence_s": "evidence",
    "first_token_s": "first token",
    "total_s": "whole answer",
    "prompt_tokens": "prompt",
    "output_tokens": "output",
}
MARKED, COPIES = "Refusals, marked questions", "Refusals, without the gold papers"


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure as it is read: "56.6 %", "46.7 to 65.8", how many questions have it."""

    value: str
    interval: str = ""
    n: int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of all runs; None for a run that does not have it."""

    name: str  # as scores.jsonl has it
    words: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Sureness:
    """What a run's confidence is worth."""

    source: str
    curve: Curve
    bins: tuple[Bin, ...]
    error: float  # of calibration


SURENESS: tuple[tuple[str, str, Callable[[Sureness], float]], ...] = (
    ("area", "area under risk-coverage", lambda one: one.curve.area),
    ("", "… by chance", lambda one: one.curve.by_chance),
    ("", "… at best", lambda one: one.curve.best),
    ("ece", "calibration error", lambda one: one.error),
)


def tables(runs: Sequence[Run]) -> dict[str, list[Line]]:
    """Every figure that any run has, by group."""
    sets = [whole(run) for run in runs]
    found = {title: _lines(names, sets) for title, names in GROUPS.items()}
    for title in (MARKED, COPIES):
        found[title] = _lines(REFUSALS, [refusal_totals(run.scored).get(title, {}) for run in runs])
    found["Retrieval"] = _lines(_searched(sets), sets)
    found["Confidence"] = _sure_lines(runs)
    found["Time"] = _time_lines(runs)
    return {title: lines for title, lines in found.items() if lines}


def whole(run: Run) -> dict[str, Interval]:
    """The totals over all questions of the set, each asked once."""
    return totals([s.figures for s in _of_set(run.scored)])


def copies(run: Run) -> dict[str, Interval]:
    """The totals over the questions asked without their gold papers."""
    return totals([s.figures for s in run.scored if s.kind == GOLD_REMOVED])


def kinds(runs: Sequence[Run]) -> list[tuple[str, tuple[int, ...], tuple[Interval | None, ...]]]:
    """Of each kind its main figure in each run: right answers, right refusals, or fused nDCG@10; and how
    many questions it has in each."""
    groups = [by_kind(run.scored) for run in runs]
    names = [name for name in dict.fromkeys(kind for group in groups for kind in group) if name != ALL]
    found = []
    for name in [*names, ALL]:
        rows = [group.get(name, []) for group in groups]
        found.append((name, tuple(map(len, rows)), tuple(map(_main, rows))))
    return found


def _main(rows: Sequence[Scored]) -> Interval | None:
    figures = totals([one.figures for one in rows])
    return next((figures[name] for name in ("right", "refok", "fused nDCG@10") if name in figures), None)


def refusal_totals(scored: Sequence[Scored]) -> dict[str, dict[str, Interval]]:
    """Both errors of refusal, of the set as marked, and of each question with its copy without gold."""
    copies = {one.id: one for one in scored if one.kind == GOLD_REMOVED}
    marked = [refusals([one.figures]) for one in _of_set(scored)]
    pairs = [
        refusals([one.figures, copies[refusable_id(one.id)].figures])
        for one in _of_set(scored)
        if refusable_id(one.id) in copies
    ]
    return {MARKED: totals(marked), COPIES: totals(pairs)}


def sureness(run: Run, *, copies: bool = False) -> Sureness | None:
    """Over the answers that were judged right or wrong; with `copies`, those without gold papers too.

    None where no answer has a confidence.
    """
    items = [item for item in run.items if copies or item.scored.kind != GOLD_REMOVED]
    judged = [item for item in items if {"right", "refok"} & item.scored.figures.keys()]
    answered = [(item.row, _is_right(item.scored)) for item in judged if item.row and item.row.is_answer]
    source, values = confidences([row.model_dump() for row, _ in answered])
    outcomes = [
        Outcome(value, right) for value, (_, right) in zip(values, answered, strict=True) if value is not None
    ]
    curve = risk_coverage(outcomes, len(judged))
    if curve is None:
        return None
    bins = calibration(outcomes)
    return Sureness(source, curve, tuple(bins), calibration_error(bins) or 0.0)


def _is_right(one: Scored) -> bool:
    return "right" in one.figures and one.figures["right"].hits > 0


def percent(share: float) -> str:
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%".replace("100.0", "100")


def interval(one: Interval, digits: int | None = None) -> str:
    """The interval's ends: in percent, or as they are with that many digits."""
    if digits is None:
        return f"{100 * one.low:.0f} to {100 * one.high:.0f}"
    return f"{one.low:.{digits}f} to {one.high:.{digits}f}"


def seconds(value: float) -> str:
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def _of_set(scored: Iterable[Scored]) -> list[Scored]:
    return [one for one in scored if one.kind != GOLD_REMOVED]


def _searched(whole: Sequence[Mapping[str, Interval]]) -> dict[str, str]:
    """The figures of retrieval, named as they are: "fused nDCG@10"."""
    names = dict.fromkeys(name for one in whole for name in one)
    return {name: name for name in names if name.endswith(("nDCG@10", "MRR")) or "recall@" in name}


def _lines(names: Mapping[str, str], runs: Sequence[Mapping[str, Interval]]) -> list[Line]:
    return [
        Line(name, words, tuple(cell(name, one.get(name)) for one in runs))
        for name, words in names.items()
        if any(name in one for one in runs)
    ]


def cell(name: str, one: Interval | None) -> Cell | None:
    """A figure in percent, or as the field writes it; None for none."""
    if one is None:
        return None
    if " " in name:  # of retrieval, where the field writes 0.727
        return Cell(f"{one.value:.3f}", interval(one, 3), one.n)
    return Cell(percent(one.value), interval(one), one.n)


def _sure_lines(runs: Sequence[Run]) -> list[Line]:
    lines = []
    for title, copies in (("the set", False), ("with the copies without gold", True)):
        if copies and not any(one.kind == GOLD_REMOVED for run in runs for one in run.scored):
            continue
        found = [sureness(run, copies=copies) for run in runs]
        if not any(found):
            continue
        for name, words, value in SURENESS:
            cells = tuple(None if one is None else Cell(f"{value(one):.3f}") for one in found)
            lines.append(Line(name, f"{words}, {title}", cells))
    return lines


def _time_lines(runs: Sequence[Run]) -> list[Line]:
    found = [spreads([row.model_dump() for row in run.rows]) for run in runs]
    lines = []
    for name, words in TIMES.items():
        if any(name in one for one in found):
            write = seconds if name.endswith("_s") else _count
            unit = "" if name.endswith("_s") else " tokens"
            cells = tuple(_spread_cell(one.get(name), write) for one in found)
            lines.append(Line(name, f"{words}{unit}: median, 95th percentile", cells))
    return lines


def _count(value: float) -> str:
    return f"{value:.0f}"


def _spread_cell(one: Spread | None, write: Callable[[float], str]) -> Cell | None:
    return None if one is None else Cell(write(one.median), write(one.p95), one.n)
