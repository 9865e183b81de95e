"""Runs and comparisons as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval.bootstrap import Interval
    from eval.compare import Comparison, Difference, Flip
    from eval.folder import Scored

ANSWERS = ("right", "facts", "over", "refok", "cited", "exact", "ingold", "gldhit", "long", "own", "nums")
SHOWN = 20  # flipped questions listed in the terminal; --json has all


def run_text(scored: Sequence[Scored]) -> str:
    """The figures of a run in percent: a row a kind, then those of all questions with their intervals."""
    from eval.bootstrap import totals
    from eval.runs import ALL, by_kind

    groups = by_kind(scored)
    found = {kind: totals([one.figures for one in rows]) for kind, rows in groups.items()}
    columns = [name for name in ANSWERS if any(name in figures for figures in found.values())]
    lines = []
    if columns:
        lines.append(f"{'kind':<16}{'n':>5}" + "".join(f"{name:>8}" for name in columns))
        for kind, figures in found.items():
            cells = "".join(f"{_percent(figures.get(name)):>8}" for name in columns)
            lines.append(f"{kind:<16}{len(groups[kind]):>5}{cells}")
        lines.append("")
    for name, one in found[ALL].items():
        if name != "dead":
            interval = f"{100 * one.low:.1f} to {100 * one.high:.1f}"
            lines.append(f"{name:<24}{100 * one.value:6.1f}   95 %: {interval:<16} over {one.n}")
    dead = sum(one.figures["dead"].hits > 0 for one in scored if "dead" in one.figures)
    if dead:
        lines.append(f"{dead} questions failed; their rows say why.")
    return "\n".join(lines)


def _percent(one: Interval | None) -> str:
    return "-" if one is None else f"{100 * one.value:.1f}"


def comparison_text(comparison: Comparison, changed: Sequence[str]) -> str:
    """The verdict, what the runs were made with differently, every difference, and the flipped questions."""
    from eval.compare import verdict

    lines = [verdict(comparison), "", f"{comparison.common} questions in both runs"]
    if comparison.left_out:
        lines[-1] += f"; {comparison.left_out} that only one of them asked are left out"
    lines += ["", "Made differently:", *(f"  {one}" for one in changed)] if changed else []
    lines += ["", f"{'kind':<16}{'figure':<24}{'A':>7}{'B':>7}{'B-A':>8}   95 %"]
    lines += [_difference(one) for one in comparison.differences]
    lines += ["", f"{len(comparison.flips)} questions flipped"]
    lines += [_flip(one) for one in comparison.flips[:SHOWN]]
    if len(comparison.flips) > SHOWN:
        lines.append(f"  … and {len(comparison.flips) - SHOWN} more; --json prints all.")
    return "\n".join(lines)


def _difference(one: Difference) -> str:
    change = one.interval
    numbers = f"{100 * one.a:>7.1f}{100 * one.b:>7.1f}{100 * change.value:>+8.1f}"
    interval = f"{100 * change.low:+.1f} to {100 * change.high:+.1f}"
    test = "" if one.p is None else f"   McNemar p = {one.p:.3f}"
    mark = " *" if one.beyond_noise() else ""
    return f"{one.kind:<16}{one.figure:<24}{numbers}   {interval}{test}{mark}"


def _flip(one: Flip) -> str:
    return f"  {'+' if one.improved else '-'} {one.id} [{one.kind}] {one.a} → {one.b}: {one.question}"
