"""A kept conversation as a file to take away: Markdown, HTML, JSON, and its cited papers as BibTeX."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import escape

from rag.history import Conversation
from rag.nouns import Paper
from rag.rows import answer_row
from rag.writers import write
from ui.web.clean import clean
from ui.web.copying import as_markdown, cited, markdown_text
from ui.web.links import link_html
from ui.web.prose import prose

STYLE = (
    "body{max-width:44rem;margin:2rem auto;padding:0 1rem;font:1rem/1.6 system-ui,sans-serif}"
    "h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}blockquote{margin:.3rem 0;color:#444}"
)
_UNFIT = re.compile(r"[^\w-]+")


def markdown(conversation: Conversation) -> str:
    parts = [f"# {markdown_text(conversation.title)}"]
    for _, said in conversation.turns:
        parts += [f"## {markdown_text(' '.join(said.answer.question.split()))}", as_markdown(said.answer)]
    return "\n\n".join(parts) + "\n"


def html(conversation: Conversation) -> str:
    """One file that loads nothing, runs nothing and links only to the papers' own pages."""
    turns = []
    for _, said in conversation.turns:
        answer = said.answer
        quotes = {e.n: e.sentence.text for e in answer.evidence}
        sources = "".join(
            f"<li><p>[{n}] {prose(paper.label)}</p><p>“{prose(quotes[n])}”</p>{link_html(paper)}</li>"
            for n, paper in cited(answer)
        )
        turns.append(f"<h2>{prose(answer.question)}</h2><p>{prose(answer.text)}</p><ul>{sources}</ul>")
    title = escape(conversation.title)
    body = clean(f"<h1>{prose(conversation.title)}</h1>{''.join(turns)}")
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<style>{STYLE}</style></head><body>{body}</body></html>\n"
    )


def as_json(conversation: Conversation) -> str:
    """The answer rows of docs/interfaces.md."""
    rows = [answer_row(said.answer) for _, said in conversation.turns]
    kept = {"title": conversation.title, "turns": rows}
    return json.dumps(kept, ensure_ascii=False, indent=2) + "\n"


def bibtex(conversation: Conversation) -> str:
    """The cited papers, each once, in the order they were cited."""
    papers: dict[str, Paper] = {}
    for _, said in conversation.turns:
        for _, paper in cited(said.answer):
            papers.setdefault(paper.key, paper)
    return "".join(write(papers.values(), "bibtex"))


EXPORTS: dict[str, tuple[str, Callable[[Conversation], str]]] = {
    "Markdown": ("md", markdown),
    "HTML": ("html", html),
    "JSON": ("json", as_json),
    "BibTeX": ("bib", bibtex),
}


def file_name(title: str, suffix: str) -> str:
    """A harmless file name that resembles the title."""
    stem = _UNFIT.sub("-", title).strip("-")[:60].strip("-") or "conversation"
    return f"{stem}.{suffix}"
