"""Papers and their sentences as sanitised HTML: numbered buttons, lists, evidence, the source panel.

Numbers are the evidence numbers of the answer everywhere. A button opens its source by `data-turn` (ordinal
of the turn, from 0) with `data-n` (evidence number) or `data-paper` (key of a near paper).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import urlsplit

from rag.nouns import Answer, AnswerSentence, Evidence, Hit, Paper
from rag.rows import why_text
from ui.web.clean import clean
from ui.web.prose import Mark, prose


def ending(answer: Answer, turn: int) -> str:
    """Below an ended answer: cited papers, what else was looked at or near, seconds and tokens."""
    numbers = {c.n for s in answer.sentences for c in s.citations}
    cited = {e.paper.key for e in answer.evidence if e.n in numbers}
    sources = [_source(e, turn) for e in _by_paper(e for e in answer.evidence if e.n in numbers)]
    looked_at = [_source(e, turn) for e in _by_paper(e for e in answer.evidence if e.paper.key not in cited)]
    parts = []
    if sources and not is_list(answer.sentences):  # a list has named them already
        parts.append(f'<ul class="sources">{"".join(sources)}</ul>')
    if answer.status == "not_found" and answer.nearest:
        near = "".join(_near(hit, turn) for hit in answer.nearest)
        parts.append(f'<h3 class="quiet">Closest papers</h3><ul class="nearest">{near}</ul>')
    elif looked_at:
        parts.append(
            f'<details class="quiet looked"><summary>Also looked at ({len(looked_at)})</summary>'
            f'<ul class="sources">{"".join(looked_at)}</ul></details>'
        )
    return "".join(parts) + _footer(answer)


def is_list(sentences: Sequence[AnswerSentence]) -> bool:
    """Whether a first sentence that ends with a colon announces the others."""
    return len(sentences) > 1 and sentences[0].text.endswith(":")


def button(n: int, turn: int, title: str, tip: str, name: str) -> str:
    """A button of class `name` that opens evidence `n` of that turn; `title` is the paper's."""
    return (
        f'<button type="button" class="{name}" data-n="{n}" data-turn="{turn}"'
        f' aria-label="Source {n}: {escape(title)}" title="{escape(tip)}">{n}</button>'
    )


def _by_paper(evidence: Iterable[Evidence]) -> list[list[Evidence]]:
    """The evidence, one list a paper, in the order of numbers."""
    groups: dict[str, list[Evidence]] = {}
    for e in sorted(evidence, key=lambda e: e.n):
        groups.setdefault(e.paper.key, []).append(e)
    return list(groups.values())


def _source(evidence: Sequence[Evidence], turn: int) -> str:
    paper = evidence[0].paper
    numbers = "".join(button(e.n, turn, paper.label, e.sentence.text, "number") for e in evidence)
    return (
        f'<li><span class="numbers">{numbers}</span><span>{prose(paper.label)}{_published(paper)}</span></li>'
    )


def _published(paper: Paper) -> str:
    text = "\N{NO-BREAK SPACE}".join(filter(None, (paper.venue, str(paper.year or ""))))
    return f' <span class="quiet">{escape(text)}</span>' if text else ""


def _near(hit: Hit, turn: int) -> str:
    paper, why = hit.paper, why_text(hit)
    reason = f'<span class="quiet">{escape(why)}</span>' if why else ""
    return (
        f'<li><button type="button" class="near" data-paper="{escape(paper.key)}" data-turn="{turn}">'
        f"{prose(paper.label)}{_published(paper)}</button>{reason}</li>"
    )


def _footer(answer: Answer) -> str:
    timing = answer.timing
    if not timing.total_s:
        return ""
    tokens = f" · {timing.prompt_tokens} tokens read, {timing.output_tokens} written"
    ran = timing.first_token_s is not None
    return f'<footer class="quiet">{timing.total_s:.1f} s{tokens if ran else " · no model ran"}</footer>'


def evidence_html(answer: Answer | None, turn: int = 0) -> str:
    """The numbered sentences of a turn under their papers; a hint before the first question."""
    if answer is None:
        return clean(
            '<section class="hint quiet"><h2>Evidence</h2>'
            "<p>The sentences an answer rests on appear here, before it is written.</p></section>"
        )
    if not answer.evidence:
        return ""
    cited = {c.n for s in answer.sentences for c in s.citations}
    papers = [
        f"<li><h3>{prose(group[0].paper.label)}{_published(group[0].paper)}</h3>"
        f"{_sentences(group, turn, cited)}</li>"
        for group in _by_paper(answer.evidence)
    ]
    many = len(answer.evidence)
    return clean(
        '<details open data-fold="evidence"><summary>Evidence'
        f' <span class="quiet">{many} sentence{"s" if many != 1 else ""}</span></summary>'
        f'<ul class="papers">{"".join(papers)}</ul></details>'
    )


def _sentences(evidence: Iterable[Evidence], turn: int, cited: set[int]) -> str:
    items = (
        f'<li class="{"used" if e.n in cited else "unused"}">'
        f"{button(e.n, turn, e.paper.label, 'Show in the abstract', 'number')}"
        f"<span>{prose(e.sentence.text)}</span></li>"
        for e in evidence
    )
    return f"<ul>{''.join(items)}</ul>"


# ------------------------------------------------------------------------------- source panel


def source_html(
    paper: Paper, lit: tuple[int, int] | None, cited: Iterable[tuple[int, int]] = (), n: int = 0
) -> str:
    """The panel: a paper, its abstract with the span `lit`, and the answer's other cited spans faintly."""
    marks = [Mark(*lit, "lit")] if lit else []
    marks += [Mark(start, end, "also") for start, end in cited]
    number = f'<span class="chip">{n}</span> ' if n else ""
    where = " ".join(filter(None, (paper.venue_as_found or paper.venue, _year(paper))))
    facts = "".join(
        f'<p class="quiet">{escape(fact)}</p>' for fact in (", ".join(paper.authors), where) if fact
    )
    return _panel(
        f"{number}{prose(paper.label)}",
        f'{facts}{_link(paper)}{_aside(paper.note)}<p class="abstract">{prose(paper.abstract, marks)}</p>',
    )


def gone_html(label: str) -> str:
    """The panel for a paper that has been removed from the collection meanwhile."""
    return _panel(prose(label), '<p class="quiet">This paper is no longer in the collection.</p>')


def _panel(heading: str, body: str) -> str:
    close = '<button type="button" class="close" data-close="1" aria-label="Close source">✕</button>'
    head = f'<header><h2 tabindex="-1">{heading}</h2>{close}</header>'
    return clean(f'<article class="panel">{head}{body}</article>')


def _year(paper: Paper) -> str:
    year = str(paper.year or "")
    return "" if year in paper.venue_as_found else year


def _aside(note: str) -> str:
    return f'<p class="quiet aside">{escape(note)}</p>' if note else ""


def _link(paper: Paper) -> str:
    url = web_address(paper.url) or (web_address(f"https://doi.org/{paper.doi}") if paper.doi else "")
    if not url:
        return ""
    host = urlsplit(url).hostname or url
    return f'<p><a href="{escape(url)}" target="_blank">{escape(host.removeprefix("www."))} ↗</a></p>'


def web_address(url: str) -> str:
    """The address if it is http or https with a host, otherwise ""."""
    url = url.strip()
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in ("http", "https") and parts.hostname else ""
