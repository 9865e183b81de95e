"""The name, the collection that is open, and the others to choose from, as sanitised HTML."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from ui.web.clean import clean


def header_html(name: str, sentences: int, collections: Mapping[str, int | None], problem: str = "") -> str:
    """`collections`: the papers of each, by name, the open one included; `problem`: why none was made."""
    items = "".join(_item(other, papers, other == name) for other, papers in collections.items())
    said = f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""
    return clean(
        '<header><h1>Pincite</h1><details class="collections" data-fold="collections">'
        f'<summary title="The open collection: {sentences:,} sentences">{_holds(name, collections[name])}</summary>'
        f'<div class="menu"><ul>{items}</ul><p class="making"><input type="text" class="name" maxlength="60"'
        ' aria-label="Name of a new collection" placeholder="New collection">'
        f'<button type="button" class="make" data-make="1">Create</button></p>{said}</div></details></header>'
    )


def _item(name: str, papers: int | None, is_open: bool) -> str:
    """A link, so that the browser can open it in another tab too."""
    holds = _holds(name, papers)
    return (
        f'<li><span class="row" aria-current="true">{holds}</span></li>'
        if is_open
        else f'<li><a class="row" href="?collection={escape(name)}">{holds}</a></li>'
    )


def _holds(name: str, papers: int | None) -> str:
    count = "cannot be read" if papers is None else f"{papers:,} paper{'' if papers == 1 else 's'}"
    return f'<span class="called">{escape(name)}</span> <span class="quiet">{count}</span>'
