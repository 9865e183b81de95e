"""The source panel as sanitised HTML: a paper, its abstract with the cited sentence lit, and what to do with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from rag.nouns import Hit, Paper
from rag.rows import why_text
from rag.writers import write
from ui.web.actions import copy_button
from ui.web.clean import clean
from ui.web.links import link_html
from ui.web.prose import Mark, prose


def source_html(
    paper: Paper,
    lit: tuple[int, int] | None,
    cited: Iterable[tuple[int, int]] = (),
    n: int = 0,
    hit: Hit | None = None,
    *,
    closable: bool = True,
) -> str:
    """A paper, its abstract with the span `lit`, and the answer's other cited spans faintly.

    `n` is the evidence number it was opened by, `hit` tells why the paper was found.
    """
    marks = [Mark(*lit, "lit")] if lit else []
    marks += [Mark(start, end, "also") for start, end in cited]
    number = f'<span class="chip">{n}</span> ' if n else ""
    return _panel(
        f"{number}{prose(paper.label)}",
        f"{_facts(paper)}{link_html(paper)}{_aside(paper.note)}"
        f'<p class="abstract">{prose(paper.abstract, marks)}</p>{_why(hit)}{_deeds(paper)}',
        closable,
    )


def alike_html(paper: Paper, hits: Sequence[Hit]) -> str:
    """The papers that resemble one, each to be opened."""
    items = "".join(
        f'<li><button type="button" class="near" data-paper="{escape(hit.paper.key)}">{prose(hit.paper.label)}'
        f'</button><span class="quiet">{escape(why_text(hit))}</span></li>'
        for hit in hits
    )
    back = (
        f'<p class="actions quiet"><button type="button" class="act" data-paper="{escape(paper.key)}">'
        "Back to the paper</button></p>"
    )
    body = f'<ul class="nearest">{items}</ul>' if items else '<p class="quiet">No other paper is near it.</p>'
    return _panel(f"More like: {prose(paper.label)}", body + back)


def gone_html(label: str) -> str:
    """The panel for a paper that has been removed from the collection meanwhile."""
    return _panel(prose(label), '<p class="quiet">This paper is no longer in the collection.</p>')


def _panel(heading: str, body: str, closable: bool = True) -> str:
    close = '<button type="button" class="close" data-close="1" aria-label="Close source">✕</button>'
    close = close if closable else ""
    head = f'<header><h2 tabindex="-1">{heading}</h2>{close}</header>'
    return clean(f'<article class="panel">{head}{body}</article>')


def _facts(paper: Paper) -> str:
    where = " ".join(filter(None, (paper.venue_as_found or paper.venue, _year(paper))))
    facts = (", ".join(paper.authors), where)
    return "".join(f'<p class="quiet">{escape(fact)}</p>' for fact in facts if fact)


def _year(paper: Paper) -> str:
    year = str(paper.year or "")
    return "" if year in paper.venue_as_found else year


def _aside(note: str) -> str:
    return f'<p class="quiet aside">{escape(note)}</p>' if note else ""


def _why(hit: Hit | None) -> str:
    """Why this paper: the words it shares, its places in both searches."""
    if hit is None:
        return ""
    places = []
    if hit.why.text_rank:
        places.append(f"number {hit.why.text_rank} by words")
    if hit.why.vector_rank:
        places.append(f"number {hit.why.vector_rank} by meaning")
    said = "; ".join(filter(None, (why_text(hit), ", ".join(places))))
    return (
        f'<details class="quiet why" data-fold="why"><summary>Why this paper</summary><p>{escape(said)}</p></details>'
        if said
        else ""
    )


def _deeds(paper: Paper) -> str:
    key = escape(paper.key)
    bibtex = copy_button("BibTeX", "".join(write([paper], "bibtex")), "Copy the BibTeX entry")
    return (
        f'<p class="actions quiet">{bibtex}<button type="button" class="act" data-alike="{key}">More like this</button>'
        f'<button type="button" class="act" data-only="{key}">Ask about this paper only</button></p>'
    )
