"""The map of topics for the page: its points as data, and their groups as sanitised lists."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from html import escape

from ui.web.clean import clean
from ui.web.topics import Point

SCALE = 10_000  # a coordinate from 0 to 1 as a whole number
COLOURS = 8  # groups told apart; the rest is OTHER
OTHER = "other"
LISTED = 100  # papers of a group


def points_json(points: Sequence[Point]) -> str:
    """What topics.js draws; free of `<`, which Gradio would warn about, though nothing takes it for HTML."""
    data = {
        "scale": SCALE,
        "x": [round(p.x * SCALE) for p in points],
        "y": [round(p.y * SCALE) for p in points],
        "keys": [p.key for p in points],
        "titles": [p.title for p in points],
        "where": [" ".join(filter(None, (p.venue, str(p.year or "")))) for p in points],
        "topic": _grouped([p.topic for p in points]),
        "venue": _grouped([p.venue for p in points]),
    }
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _names(labels: Sequence[str]) -> list[str]:
    """The groups told apart, the largest first; OTHER last, where anything is left for it."""
    sizes = Counter(labels)
    named = [name for name, _ in sizes.most_common() if name not in ("", OTHER)][:COLOURS]
    return named + ([OTHER] if sizes.keys() - named else [])


def _grouped(labels: Sequence[str]) -> dict[str, list[str] | list[int]]:
    names = _names(labels)
    places = {name: n for n, name in enumerate(names)}
    return {"names": names, "of": [places.get(label, len(names) - 1) for label in labels]}


def groups_html(points: Sequence[Point]) -> str:
    """The legend: every group by topic and by venue with its colour and its papers, each to be opened."""
    by = {"topic": [p.topic for p in points], "venue": [p.venue for p in points]}
    return clean("".join(_legend(name, labels, points) for name, labels in by.items()))


def _legend(name: str, labels: Sequence[str], points: Sequence[Point]) -> str:
    names = _names(labels)
    groups: dict[str, list[Point]] = {name: [] for name in names}
    for label, point in zip(labels, points, strict=True):
        groups[label if label in groups else OTHER].append(point)
    found = "".join(_group(f"c{min(n, COLOURS)}", group, groups[group]) for n, group in enumerate(names))
    return f'<section class="by-{name}">{found}</section>'


def _group(colour: str, name: str, points: Sequence[Point]) -> str:
    items = "".join(
        f'<li><button type="button" class="title" data-press="{escape(p.key)}">{escape(p.title)}</button></li>'
        for p in points[:LISTED]
    )
    more = len(points) - LISTED
    items += f'<li class="quiet">… and {more:,} more</li>' if more > 0 else ""
    count = f'<span class="quiet">{len(points):,} paper{"" if len(points) == 1 else "s"}</span>'
    return (
        f'<details class="group {colour}"><summary><span class="dot" aria-hidden="true"></span> '
        f"{escape(name)} {count}</summary><ul>{items}</ul></details>"
    )
