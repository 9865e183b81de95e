"""A run's result as one says it: a few sentences, and the figures one looks at first."""

from __future__ import annotations

from collections.abc import Mapping

from eval.bootstrap import Interval
from eval.latency import spreads
from eval.report.figures import Cell, cell, copies, kinds, percent, seconds, whole
from eval.report.reading import Run
from eval.runs import GOLD_REMOVED

MAIN = {
    "right": "right answers",
    "over": "refused, though answerable",
    "refok": "unanswerable, and refused",
    "citpre": "citation precision",
    "citrec": "citation recall",
    "fused nDCG@10": "nDCG@10, fused",
    "fused recall@10": "recall@10, fused",
}


def main_figures(run: Run) -> list[tuple[str, Cell]]:
    """What one looks at first, in words."""
    figures = whole(run)
    found = [(words, cell(name, figures.get(name))) for name, words in MAIN.items()]
    found.append(("refused without the gold papers", cell("refok", copies(run).get("refok"))))
    time = spreads([row.model_dump() for row in run.rows]).get("total_s")
    if time:
        found.append(
            ("a whole answer, median", Cell(seconds(time.median), f"p95 {seconds(time.p95)}", time.n))
        )
    return [(words, cell) for words, cell in found if cell is not None]


def summary(run: Run) -> list[str]:
    """A run's result in a few sentences."""
    figures = whole(run)
    said = [_asked(run)]
    said += _of_a_hundred(figures)
    if "cited" in figures and "exact" in figures:
        quotes = _all_or(figures["exact"], "quote", "exact").lower()
        said.append(f"{_all_or(figures['cited'], 'sentence', 'cited')}; {quotes}.")
    if "fused nDCG@10" in figures:
        said.append(f"The fused ranking has nDCG@10 {figures['fused nDCG@10'].value:.3f}.")
    if weak := _weakest(run):
        said.append(f"Weakest: {weak}.")
    return said


def _of_a_hundred(figures: Mapping[str, Interval]) -> list[str]:
    """Right answers and both kinds of refusals, as one says them."""
    said = []
    n = {name: f"{100 * figures[name].value:.0f}" for name in ("right", "over", "refok") if name in figures}
    if "right" in n:
        said.append(f"Of 100 questions with an answer, {n['right']} are answered rightly.")
    if "over" in n:
        said.append(f"Of 100 answerable ones, {n['over']} are refused.")
    if "refok" in n:
        said.append(f"Of 100 unanswerable ones, {n['refok']} are refused, as they should be.")
    return said


def _all_or(one: Interval, what: str, how: str) -> str:
    if one.value == 1:
        return f"Every {what} is {how}"
    return f"{percent(one.value)} of the {what}s are {how}"


def _weakest(run: Run) -> str:
    """The three kinds with the lowest main figure, if it is under one half."""
    found = [(figures[0].value, kind) for kind, _, figures in kinds([run])[:-1] if figures[0] is not None]
    low = sorted(one for one in found if one[0] < 0.5)[:3]
    return ", ".join(f"{kind} ({percent(value)})" for value, kind in low) if len(found) > 1 else ""


def _asked(run: Run) -> str:
    again = [item for item in run.items if item.scored.kind == GOLD_REMOVED]
    of = f" of {run.total}" if run.total is not None and run.asked < run.total else ""
    said = f"{run.asked}{of} questions asked"
    if again:
        said += f", {len(again)} of them again without their gold papers"
    failed = sum(row.status == "error" for row in run.rows)
    return f"{said}; {failed} answers failed." if failed else f"{said}."
