"""Papers and their sentences as sanitised HTML: numbered buttons, lists, evidence.

Numbers are the evidence numbers of the answer everywhere. A button opens its source by `data-turn` (ordinal
of the turn, from 0) with `data-n` (evidence number) or `data-paper` (key of a near paper).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from rag.nouns import Answer, AnswerSentence, Evidence, Grade, Hit, Paper
from rag.rows import why_text
from ui.web.clean import clean
from ui.web.prose import prose

GRADES: dict[Grade, str] = {
    "quoted": "word for word",
    "supported": "supported",
    "weak": "weakly supported",
    "unsupported": "not supported",
}


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


def button(n: int, turn: int, title: str, tip: str, name: str, grade: str = "") -> str:
    """A button of class `name` that opens evidence `n` of that turn; `title` is the paper's."""
    said = f"Source {n}{', ' if grade else ''}{grade}: {title}"
    return (
        f'<button type="button" class="{name}" data-n="{n}" data-turn="{turn}"'
        f' aria-label="{escape(said)}" title="{escape(tip)}">{n}</button>'
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
    """How the sentences were supported, seconds, tokens."""
    timing = answer.timing
    if not timing.total_s:
        return ""
    grades = Counter(s.support for s in answer.sentences)
    parts = [f"{grades[grade]} {word}" for grade, word in GRADES.items() if grades[grade]]
    parts = (
        [f'<span title="How the sources support the sentences above">{", ".join(parts)}</span>']
        if parts
        else []
    )
    parts.append(f"{timing.total_s:.1f} s")
    ran = timing.first_token_s is not None
    parts.append(
        f"{timing.prompt_tokens} tokens read, {timing.output_tokens} written" if ran else "no model ran"
    )
    return f'<footer class="quiet">{" · ".join(parts)}</footer>'


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
