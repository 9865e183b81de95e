"""Starter questions for the collection at hand, drawn from its own papers."""

from __future__ import annotations

import re

from rag.library import Library
from rag.nouns import Paper
from rag.text import plain
from rag.understand import strong_names

LONGEST = 90  # characters of a question


def examples(library: Library, n: int) -> list[str]:
    """At most n questions about papers spread over the collection; the same every time."""
    count = library.size()[0]
    step = max(1, count // max(1, 3 * n))
    rows = library.db.execute("SELECT id FROM papers WHERE id % ? = 0 ORDER BY id LIMIT ?", (step, 20 * n))
    papers = library.by_id([row[0] for row in rows])
    asked = [q for q in (_about(p, i) for i, p in enumerate(papers.values())) if q]
    spread = max(1, len(asked) // n) if n else 1
    return list(dict.fromkeys(asked[::spread]))[:n]


def _about(paper: Paper, turn: int) -> str:
    """A question that the abstract of a paper with a named method can answer; empty if it names none."""
    title = plain(paper.title or paper.label)
    head, _, tail = title.partition(":")
    names = [w for w in strong_names(title) if w.casefold() in paper.abstract.casefold()]
    if not names:
        return ""
    name = head if tail and head.split()[0] in names and len(head.split()) == 1 else names[0]
    form = ("What is {} and what is it good for?", "How does {} work?", "What results does {} reach?")[
        turn % 3
    ]
    question = form.format(name)
    return question if len(question) <= LONGEST and re.search(r"[A-Za-z]{2}", name) else ""
