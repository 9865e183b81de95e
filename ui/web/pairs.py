"""Pairs of papers that may be one: both side by side, and what the reader says of them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rag.duplicates import Doubt, doubts, keep_apart, merge
from rag.indexing import bring_up_to_date, writer_lock
from rag.library import Library
from rag.nouns import Paper
from rag.text import plain
from ui.web.adding import Watched
from ui.web.clean import clean
from ui.web.desk import Assistant
from ui.web.prose import prose

SHOWN = 10  # pairs at once; the next come as these are decided
BEGINNING = 320  # characters of an abstract
AUTHORS = 8


def decide(assistant: Assistant, one: str, other: str, same: bool, progress: Watched) -> str:
    """Make two papers one under the first key, or keep them two, for good; what was done, in words."""
    library = assistant.library
    with writer_lock(library.folder, lambda who: progress.step(f"waiting: {who} is writing", 0, 0)):
        papers = [paper for key in (one, other) if (paper := library.paper(key))]
        if len(papers) < 2:  # another tab may have been quicker
            return "One of these two papers is not here any more."
        (merge if same else keep_apart)(library, one, other)
        bring_up_to_date(assistant.settings, library, progress)
    return f"{'One paper' if same else 'Two papers'} from now on: {_titles(papers)}."


def _titles(papers: Sequence[Paper]) -> str:
    return " and ".join(dict.fromkeys(f"“{plain(paper.label).rstrip('.')}”" for paper in papers))


def undecided(library: Library) -> tuple[list[Doubt], int]:
    """The first doubtful pairs, and how many there are."""
    found = list(doubts(library))
    return found[:SHOWN], len(found)


def pairs_html(pairs: Sequence[Doubt], total: int, said: str = "") -> str:
    """The pairs, each with two buttons that raise `click` with both keys; `said`: what became of the last one."""
    parts = [f'<p class="done" role="status">{prose(said)}</p>'] if said else []
    parts += map(_pair, pairs)
    more = total - len(pairs)
    parts += [f'<p class="quiet">… and {more:,} more, which come as these are decided</p>'] if more else []
    return clean("".join(parts))


def _pair(doubt: Doubt) -> str:
    one, other = doubt.one, doubt.other
    keys = f'data-press="{escape(one.key)}" data-other="{escape(other.key)}"'
    titles = f"{plain(one.label)} / {plain(other.label)}"
    buttons = "".join(
        f'<button type="button" class="say" {keys} data-same="{same}"'
        f' aria-label="{label}: {escape(titles)}">{label}</button>'
        for label, same in (("One paper", "1"), ("Two papers", ""))
    )
    return (
        f'<article class="pair"><p class="quiet">{prose(_capital(doubt.why))}</p>'
        f'<div class="both">{_side(one)}{_side(other)}</div><p class="said-of">{buttons}</p></article>'
    )


def _side(paper: Paper) -> str:
    authors = ", ".join(paper.authors[:AUTHORS]) + (" et al." if len(paper.authors) > AUTHORS else "")
    facts = (
        authors or "No authors named",
        " ".join(filter(None, (paper.venue_as_found or paper.venue, str(paper.year or ""))))
        or "No venue, no year",
        f"From {', '.join(paper.sources)}",
    )
    lines = "".join(f'<p class="quiet">{escape(fact)}</p>' for fact in facts)
    return (
        f'<div class="side"><h3>{prose(paper.label)}</h3>{lines}'
        f'<p class="beginning">{escape(_beginning(plain(paper.abstract)))}</p></div>'
    )


def _beginning(text: str) -> str:
    """The first words of a text."""
    return text if len(text) <= BEGINNING else f"{text[:BEGINNING].rpartition(' ')[0] or text[:BEGINNING]} …"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def heading(total: int) -> str:
    if not total:
        return "No pair is in doubt any more"
    return f"{total:,} pair{'' if total == 1 else 's'} of papers may be one"
