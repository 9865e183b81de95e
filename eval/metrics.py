"""The figures of an answer, by rules alone. Definitions with worked examples: docs/evaluation.md.

A figure of a row is a share, so that figures add up over rows; one that does not apply is None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from eval.matching import fact_found, folded, holds, numbers, skeleton, without_markers
from eval.questions import Question, places_of

STATUSES = ("answered", "partial", "not_found")
LENGTH, LONG_LENGTH = (60, 3), (120, 4)  # words: at most max(first, second x the reference's words)
ENUMERATING = ("list", "count", "compare")
GRADES = ("quoted", "supported", "weak")
SHORTEST_QUOTE, SHORTEST_RUN = 20, 15  # skeleton characters from which a match means anything


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` out of `of`, which is above 0."""

    hits: float
    of: float


@dataclass(frozen=True, slots=True)
class RowScore:
    """The figures of one answer row."""

    dead: Share  # missing or failed
    right: Share | None = None  # all facts, nothing forbidden, not refused, concise
    facts: Share | None = None  # facts that stand in the answer
    over: Share | None = None  # refused, though answerable
    refok: Share | None = None  # refused, and not answerable
    cited: Share | None = None  # sentences with a citation
    exact: Share | None = None  # citations whose quote stands where they say
    ingold: Share | None = None  # share of the row's citations that are from a gold paper
    gldhit: Share | None = None  # a citation overlaps a gold quote
    long: Share | None = None  # over the length limit
    own: Share | None = None  # sentences that are no verbatim run of an abstract
    nums: Share | None = None  # cited sentences whose every number stands in their quotes
    citpre: Share | None = None  # citations that overlap a gold quote
    citrec: Share | None = None  # gold quotes that a citation overlaps
    quoted: Share | None = None  # sentences of this grade, and of the next two
    supported: Share | None = None
    weak: Share | None = None

    def figures(self) -> dict[str, Share]:
        """The figures that apply, by name."""
        return {name: value for name in FIGURES if (value := getattr(self, name)) is not None}


FIGURES = tuple(f.name for f in fields(RowScore))


class Abstracts:
    """The abstracts of a collection by paper key, prepared for finding quotes in them."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        self.keys = tuple(self.texts)
        self.skeletons = tuple(map(skeleton, self.texts.values()))

    def holding(self, quote: str) -> set[str]:
        """Keys of the papers whose abstract holds a quote, layout and markup aside."""
        wanted = skeleton(quote)
        return {key for key, one in zip(self.keys, self.skeletons, strict=True) if wanted in one}

    def is_verbatim(self, text: str) -> bool:
        """Whether a text is a verbatim run of any abstract."""
        wanted = skeleton(text)
        return len(wanted) >= SHORTEST_RUN and any(wanted in one for one in self.skeletons)

    def gold(self, question: Question) -> set[str]:
        """Keys of the papers that hold the question's evidence, and of those it names."""
        quoted = {self.keys[i] for quote in question.evidence for i in places_of(quote, self.skeletons)}
        return quoted | {key for key in question.papers if key in self.texts}


def score_row(question: Question, row: Mapping[str, Any], abstracts: Abstracts | None) -> RowScore:
    """The figures of one answer row; an empty or failed row is dead.

    `abstracts` are those that the citations' spans refer to; without them `exact`, `ingold` and `own` do not
    apply.
    """
    dead = row.get("status") not in STATUSES
    refused = row.get("status") == "not_found"
    if not question.answerable:
        return RowScore(dead=_yes(dead), refok=_yes(refused))
    text = without_markers(row.get("text") or "")
    counted = question.kind == "count"
    found = sum(fact_found(forms, text, counted=counted) for forms in question.facts)
    wrong = any(holds(folded(text), phrase) for phrase in question.forbidden)
    long = len(text.split()) > word_limit(question)
    silent = dead or refused
    right = found == len(question.facts) and not (silent or wrong or long)
    return RowScore(
        dead=_yes(dead),
        right=_yes(right) if question.facts else None,
        facts=_share(0 if silent else found, len(question.facts)),
        over=_yes(refused),
        long=_yes(long),
        **({} if silent else _grounds(question, row.get("sentences") or (), abstracts)),
    )


def word_limit(question: Question) -> int:
    """The most words a right answer may have."""
    least, times = LONG_LENGTH if question.kind in ENUMERATING else LENGTH
    return max(least, times * len(question.reference.split()))


def _grounds(
    question: Question, sentences: Sequence[Mapping[str, Any]], abstracts: Abstracts | None
) -> dict[str, Share | None]:
    """The figures about citations and sentences of an answer that is one."""
    citations = [c for s in sentences for c in s.get("citations") or ()]
    texts = [without_markers(s["text"]) for s in sentences]
    grounded = [
        _numbers_stand(text, s["citations"])
        for text, s in zip(texts, sentences, strict=True)
        if s.get("citations") and question.kind not in ("list", "count")
    ]
    return {
        "cited": _share(sum(bool(s.get("citations")) for s in sentences), len(sentences)),
        "nums": _share(sum(grounded), len(grounded)),
        **_against_gold(question, [c["quote"] for c in citations]),
        **({} if abstracts is None else _against_abstracts(question, citations, texts, abstracts)),
        **{g: _share(sum(s.get("support") == g for s in sentences), len(sentences)) for g in GRADES},
    }


def _against_gold(question: Question, quotes: Sequence[str]) -> dict[str, Share | None]:
    """Citations and the question's own evidence quotes, each measured against the other."""
    gold = question.evidence
    hits = [overlaps(quote, gold) for quote in quotes]
    met = [any(overlaps(quote, [one]) for quote in quotes) for one in gold]
    named_only = question.papers and not gold
    return {
        "gldhit": None if named_only else _yes(any(hits)),
        "citpre": _share(sum(hits), len(quotes)) if gold else None,
        "citrec": _share(sum(met), len(gold)),
    }


def _against_abstracts(
    question: Question, citations: Sequence[Mapping[str, Any]], texts: Sequence[str], abstracts: Abstracts
) -> dict[str, Share | None]:
    gold = abstracts.gold(question)
    in_gold = sum(bool(_papers(c, abstracts) & gold) for c in citations)
    return {
        "exact": _share(sum(_is_exact(c, abstracts) for c in citations), len(citations)),
        "ingold": Share(in_gold / len(citations), 1) if citations else None,
        "own": _share(sum(not abstracts.is_verbatim(text) for text in texts), len(texts)),
    }


def _yes(is_so: bool) -> Share:
    return Share(int(is_so), 1)


def _share(hits: float, of: int) -> Share | None:
    return Share(hits, of) if of else None


def _papers(citation: Mapping[str, Any], abstracts: Abstracts) -> set[str]:
    """The paper a citation names; if there is none of that key, the papers that hold its quote."""
    key, quote = citation.get("paper"), citation["quote"]
    if key in abstracts.texts:
        return {str(key)}
    return abstracts.holding(quote) if len(skeleton(quote)) >= SHORTEST_QUOTE else set()


def _is_exact(citation: Mapping[str, Any], abstracts: Abstracts) -> bool:
    quote = citation["quote"]
    if len(skeleton(quote)) < SHORTEST_QUOTE:
        return False
    text = abstracts.texts.get(str(citation.get("paper")), "")
    return bool(text[citation["start"] : citation["end"]] == quote)


def overlaps(quote: str, evidence: Sequence[str]) -> bool:
    """Whether a quote holds a gold quote or is part of one."""
    mine = skeleton(quote)
    gold = [skeleton(one) for one in evidence]
    return len(mine) >= SHORTEST_QUOTE and any(mine in one or one in mine for one in gold)


def _numbers_stand(text: str, citations: Sequence[Mapping[str, Any]]) -> bool:
    source = folded(" ".join(c["quote"] for c in citations))
    return all(folded(number) in source for number in numbers(text))


def refusals(rows: Sequence[Mapping[str, Share]]) -> dict[str, Share]:
    """Both errors of refusal over the figures of some rows, which the bootstrap is to draw together.

    `refpre`: right refusals of all refusals; `refrec`: of all unanswerable questions; `refover`: refused
    answerable questions of all answerable ones.
    """
    wrongly = [row["over"].hits for row in rows if "over" in row]
    rightly = [row["refok"].hits for row in rows if "refok" in row]
    found = {
        "refpre": _share(sum(rightly), int(sum(wrongly) + sum(rightly))),
        "refrec": _share(sum(rightly), len(rightly)),
        "refover": _share(sum(wrongly), len(wrongly)),
    }
    return {name: share for name, share in found.items() if share is not None}
