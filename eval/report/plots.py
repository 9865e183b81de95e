"""The plots of a report as SVG images, by matplotlib; each once for light and once for dark pages."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from eval.bootstrap import Interval
from eval.latency import SECONDS, timings
from eval.report.figures import TIMES, Sureness, kinds, percent, seconds, sureness
from eval.report.reading import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 3.4  # inches of 72 points; a page shows it at about that size
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")  # no XML may hold them
FEW = 12  # points of a curve that are marked
_DASHES = ("-", "--", ":", "-.")


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours with a contrast of 3:1 or more against the page, 4.5:1 or more for text."""

    ink: str
    line: str
    runs: tuple[str, ...]


LIGHT = Theme("#3d444d", "#dfe2e0", ("#0b5f63", "#b4540a", "#6b4fa0", "#8c2f52"))
DARK = Theme("#c3cad1", "#3a4148", ("#7fd0ca", "#f0a860", "#b9a3e8", "#f29bb4"))


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot, also in words, and its image for light and for dark pages."""

    title: str
    note: str  # what must be known to read it
    words: str
    light: bytes  # SVG
    dark: bytes


_Draw = Callable[["Axes", Theme], None]


def plots(runs: Sequence[Run]) -> list[Plot]:
    """The plots for which the runs have figures."""
    names = [f"{letter} {_plain(run.name)}" for letter, run in zip(ascii_uppercase, runs, strict=False)]
    found = [_kinds(runs, names), _risk(runs, names), _calibration(runs, names), _latency(runs, names)]
    return [one for one in found if one is not None]


def _kinds(runs: Sequence[Run], names: Sequence[str]) -> Plot | None:
    rows = [row for row in kinds(runs) if any(row[2])]
    if not rows:
        return None
    thick = 0.8 / len(runs)

    def draw(ax: Axes, theme: Theme) -> None:
        for i, name in enumerate(names):
            for y, (_, _, figures) in enumerate(rows):
                if (one := figures[i]) is not None:
                    place, colour = y - 0.4 + (i + 0.5) * thick, theme.runs[i % len(theme.runs)]
                    ax.barh(place, one.value, thick * 0.9, color=colour, alpha=0.55, label=name)
                    ax.errorbar(one.value, place, xerr=_arms(one), color=theme.ink, capsize=2, lw=1)
        ax.set_yticks(range(len(rows)), [_label(kind, counts) for kind, counts, _ in rows])
        ax.set(xlim=(0, 1.02), ylim=(len(rows) - 0.4, -0.6))
        ax.xaxis.set_major_formatter(lambda x, _: f"{100 * x:.0f} %")

    said = "; ".join(
        f"{kind}: {', '.join('-' if one is None else percent(one.value) for one in figures)}"
        for kind, _, figures in rows
    )
    height = 0.7 + len(rows) * max(0.24, 0.14 * len(runs))
    note = "Right answers; of unanswerable kinds right refusals; of rankings nDCG@10. 95 % intervals."
    return _plot("By kind", note, said, draw, names, height)


def _label(kind: str, counts: Sequence[int]) -> str:
    return f"{_plain(kind, 16)} ({'/'.join(map(str, dict.fromkeys(counts)))})"


def _arms(one: Interval) -> list[list[float]]:
    return [[max(0.0, one.value - one.low)], [max(0.0, one.high - one.value)]]


def _risk(runs: Sequence[Run], names: Sequence[str]) -> Plot | None:
    found = [sureness(run) for run in runs]
    if not any(found):
        return None

    def draw(ax: Axes, theme: Theme) -> None:
        for i, one in enumerate(found):
            if one is not None:
                colour, curve = theme.runs[i % len(theme.runs)], one.curve
                dots = "o" if len(curve.coverage) <= FEW else ""
                ax.plot(curve.coverage, curve.risk, marker=dots, color=colour, ms=3.5, label=names[i])
        ax.set(xlim=(0, 1.02), ylim=(0, 1.02), xlabel="share of questions answered", ylabel="share wrong")

    said = "; ".join(
        f"{name}: area {one.curve.area:.3f} (by chance {one.curve.by_chance:.3f}, at best {one.curve.best:.3f})"
        for name, one in zip(names, found, strict=True)
        if one
    )
    note = f"Surest answers first. Confidence: {_sources(found)}."
    return _plot("Risk and coverage", note, said, draw, names, 2.5)


def _sources(found: Sequence[Sureness | None]) -> str:
    return " / ".join(dict.fromkeys(one.source for one in found if one))


def _calibration(runs: Sequence[Run], names: Sequence[str]) -> Plot | None:
    found = [sureness(run) for run in runs]
    if not any(found):
        return None

    def draw(ax: Axes, theme: Theme) -> None:
        ax.plot([0, 1], [0, 1], ":", color=theme.ink, lw=1)
        for i, one in enumerate(found):
            for bin_ in one.bins if one else ():
                arms = [[bin_.right - bin_.low], [bin_.high - bin_.right]]
                place = bin_.confidence + 0.012 * i  # runs of the same confidence stand side by side
                colour = theme.runs[i % len(theme.runs)]
                ax.errorbar(place, bin_.right, arms, fmt="o", color=colour, ms=4, capsize=2, label=names[i])
        ax.set(xlim=(-0.02, 1.04), ylim=(0, 1.02), xlabel="confidence", ylabel="share right")

    said = "; ".join(
        f"{name}: " + ", ".join(f"{b.confidence:.2f} → {percent(b.right)} of {b.n}" for b in one.bins)
        for name, one in zip(names, found, strict=True)
        if one
    )
    note = f"95 % intervals (Wilson). Confidence: {_sources(found)}."
    return _plot("Calibration", note, said, draw, names, 2.5)


def _latency(runs: Sequence[Run], names: Sequence[str]) -> Plot | None:
    rows = [[row.model_dump() for row in run.rows] for run in runs]
    values = {(i, part): timings(one, part) for i, one in enumerate(rows) for part in SECONDS}
    if not any(values.values()):
        return None

    def draw(ax: Axes, theme: Theme) -> None:
        for (i, part), found in values.items():
            if found:
                colour, style = theme.runs[i % len(theme.runs)], _DASHES[SECONDS.index(part)]
                ax.ecdf([max(one, 1e-3) for one in found], color=colour, ls=style, label=names[i])
        ax.set_xscale("log")
        ax.minorticks_off()
        ax.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        ax.set(ylim=(0, 1.02), xlabel="seconds", ylabel="share of answers done")

    lines = ("solid", "dashed", "dotted")
    note = ", ".join(f"{line}: {TIMES[part]}" for line, part in zip(lines, SECONDS, strict=True))
    said = "; ".join(
        f"{name}: {', '.join(_median(TIMES[part], values[i, part]) for part in SECONDS if values[i, part])}"
        for i, name in enumerate(names)
    )
    return _plot("Time", f"From the question; {note}.", said, draw, names, 2.5)


def _median(words: str, found: Sequence[float]) -> str:
    return f"{words} {seconds(median(found))} (median of {len(found)})"


def _plot(title: str, note: str, words: str, draw: _Draw, names: Sequence[str], height: float) -> Plot:
    light = _svg(draw, LIGHT, names, height)
    return Plot(title, note.replace(" %", "\N{NO-BREAK SPACE}%"), words, light, _recoloured(light))


def _recoloured(light: bytes) -> bytes:
    """The same image for dark pages; drawing it anew would take as long again."""
    other = dict(zip(_colours(LIGHT), _colours(DARK), strict=True))
    return re.sub(rb"#[0-9a-f]{6}", lambda m: other.get(m[0].decode(), m[0].decode()).encode(), light)


def _colours(theme: Theme) -> tuple[str, ...]:
    return (theme.ink, theme.line, *theme.runs)


def _svg(draw: _Draw, theme: Theme, names: Sequence[str], height: float) -> bytes:
    """The drawing without a background; the same drawing always gives the same bytes."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    out = io.BytesIO()
    with rc_context(_style(theme)), warnings.catch_warnings():
        # Letters that the measuring font lacks are drawn by the browser all the same.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        ax = figure.add_subplot()
        draw(ax, theme)
        ax.spines[["top", "right"]].set_visible(False)
        if len(names) > 1:
            handles = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
            figure.legend(handles.values(), handles.keys(), loc="outside upper left", frameon=False)
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def _style(theme: Theme) -> dict[Any, Any]:
    ink = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), theme.ink)
    return ink | {
        "text.parse_math": False,  # names of kinds and runs are no formulas
        "svg.fonttype": "none",  # letters stay letters
        "svg.hashsalt": "pincite",
        "font.size": 9,
        "axes.edgecolor": theme.line,
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
    }


def _plain(name: str, most: int = 24) -> str:
    """A name that XML may hold, short enough for a legend or an axis."""
    name = _CONTROLS.sub("�", name)
    return name if len(name) <= most else f"{name[: most - 1]}…"
