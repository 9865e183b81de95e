"""Questions to go on with, about the papers that an answer rests on."""

from __future__ import annotations

import re

from rag.nouns import Answer, Paper
from rag.text import plain

MOST = 3
# "STELLA: Continual Pre-training", not "Position: ...", even where the abstract says "Position papers"
_NAME = re.compile(r"(?!(?:Position|Survey|Review|Tutorial)$)(?=\S*[A-Z])[\w-]{3,30}")


def followups(answer: Answer) -> list[str]:
    """At most MOST questions that the evidence of the answer suggests and that it has not been asked."""
    asked = answer.question.casefold()
    names = list(dict.fromkeys(name for paper in _papers(answer) if (name := _name(paper))))
    fresh = [n for n in names if n.casefold() not in asked]
    questions = [f"How do {names[0]} and {names[1]} differ?"] if len(names) > 1 else []
    questions += [f"What results does {n} reach?" for n in names if "result" not in asked]
    questions += [f"How does {n} work?" for n in fresh]
    return [q for q in dict.fromkeys(questions) if q.casefold() != asked][:MOST]


def _papers(answer: Answer) -> list[Paper]:
    """The papers of the evidence, cited ones first."""
    cited = {c.paper for s in answer.sentences for c in s.citations}
    evidence = sorted(answer.evidence, key=lambda e: (e.paper.key not in cited, e.n))
    return list({e.paper.key: e.paper for e in evidence}.values())


def _name(paper: Paper) -> str:
    """What the authors gave a name: the title's head, if the abstract uses it ("Position: ..." is none)."""
    head, colon, _ = plain(paper.title).partition(":")
    used = re.search(rf"\b{re.escape(head)}\b", plain(paper.abstract))
    return head if colon and used and _NAME.fullmatch(head) else ""
