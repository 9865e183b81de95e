"""Starter questions for the collection at hand, drawn from its own papers."""

from __future__ import annotations

import re
from collections import Counter

from rag.library import Library
from rag.nouns import Paper
from rag.text import plain

LONGEST = 90  # characters of a question
LOOKED_AT = 80  # papers
FORMS = ("What is {} and what is it good for?", "How does {} work?", "What results does {} reach?")
# "STELLA: Continual Pre-training", not "SE(3)-Flows", not "Position: ..."
_HEAD = re.compile(r"(?!(?:Position|Survey|Review|Tutorial)$)(?=\S*[A-Z])[\w-]{3,}")
_COINED = re.compile(r"\b(?=\w*[a-z])(?=\w{4})[A-Za-z]\w*[A-Z]\w*(?![\w-])")  # "SRigL", not "GPU", "kHz"
_PLURAL = re.compile(r"[A-Z]+s")  # "LLMs"


def examples(library: Library, n: int) -> list[str]:
    """At most n questions about papers spread over the collection; the same every time."""
    count = library.size()[0]
    step = max(1, count // LOOKED_AT)
    rows = library.db.execute("SELECT id FROM papers WHERE id % ? = 0 ORDER BY id LIMIT ?", (step, LOOKED_AT))
    papers = library.by_id([row[0] for row in rows])
    asked = [q for q in (_about(p, i) for i, p in enumerate(papers.values())) if q]
    spread = max(1, len(asked) // n) if n else 1
    return list(dict.fromkeys(asked[::spread]))[:n]


def _about(paper: Paper, turn: int) -> str:
    """A question that the abstract of a paper with a named method can answer; empty if it names none."""
    name = subject(paper)
    question = FORMS[turn % len(FORMS)].format(name)
    return question if name and len(question) <= LONGEST else ""


def subject(paper: Paper) -> str:
    """What the paper's authors gave a name: the title's head, or the coined word that the abstract repeats;
    empty if there is none."""
    abstract = plain(paper.abstract)
    head, colon, _ = plain(paper.title).partition(":")
    if colon and _HEAD.fullmatch(head) and re.search(rf"\b{re.escape(head)}\b", abstract):
        return head
    coined = Counter(word for word in _COINED.findall(abstract) if not _PLURAL.fullmatch(word))
    name, times = max(coined.items(), key=lambda item: item[1], default=("", 0))
    return name if times >= 2 else ""
