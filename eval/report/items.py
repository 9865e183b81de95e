"""The questions of a report: what each run answered, what was to be found, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval.folder import Scored
from eval.matching import fact_found, folded, holds, without_markers
from eval.metrics import overlaps
from eval.questions import Question
from eval.report.figures import percent
from eval.report.reading import Item, Run
from eval.report.rows import Row

GOOD = ("right", "refused rightly")
BAD = ("wrong", "refused wrongly", "answered wrongly", "failed")
DIFFER = "verdicts differ"
FAILED_WHEN = {  # figures that are at fault when they are not whole
    "exact": "quotes exact",
    "cited": "sentences cited",
    "nums": "numbers in their quotes",
    "ingold": "citations of gold papers",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One run's answer to a question."""

    letter: str
    verdict: str
    row: Row | None
    facts: tuple[bool, ...]  # of each fact whether it was found
    forbidden: tuple[str, ...]  # phrases found that prove the answer wrong
    shown: tuple[bool, ...]  # of each gold quote whether it was among the evidence
    cited: tuple[bool, ...]  # of each gold quote whether a citation overlaps it
    ranking: tuple[str, ...]
    gold_papers: frozenset[str]
    figures: tuple[tuple[str, str], ...]  # name and value of those that are not as they should be

    @property
    def tone(self) -> str:
        return "good" if self.verdict in GOOD else "bad" if self.verdict in BAD else "plain"

    @property
    def cited_numbers(self) -> frozenset[int]:
        sentences = self.row.sentences if self.row else ()
        return frozenset(citation.n for said in sentences for citation in said.citations)


@dataclass(frozen=True, slots=True)
class Entry:
    """A question, and what every run made of it."""

    id: str
    kind: str
    question: str
    gold: Question | None
    asked: tuple[Asked, ...]

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The different verdicts, and that they differ."""
        found = tuple(dict.fromkeys(one.verdict for one in self.asked))
        return (*found, DIFFER) if len(found) > 1 else found


def entries(runs: Sequence[Run], letters: Sequence[str]) -> list[Entry]:
    """Every question that any run has; the same id and the same words are the same question."""
    found: dict[tuple[str, str], list[tuple[str, Item]]] = {}
    for letter, run in zip(letters, runs, strict=True):
        for item in run.items:
            found.setdefault((item.scored.id, item.scored.question), []).append((letter, item))
    return [_entry(pairs) for pairs in found.values()]


def _entry(pairs: Sequence[tuple[str, Item]]) -> Entry:
    one = pairs[0][1].scored
    gold = next((item.gold for _, item in pairs if item.gold), None)
    return Entry(one.id, one.kind, one.question, gold, tuple(_asked(*pair) for pair in pairs))


def _asked(letter: str, item: Item) -> Asked:
    gold, row = item.gold, item.row
    text = without_markers(row.text) if row and row.is_answer else ""
    evidence = gold.evidence if gold else ()
    citations = [c.quote for said in row.sentences for c in said.citations] if row else []
    return Asked(
        letter,
        verdict(item),
        row,
        facts=tuple(fact_found(f, text, counted=gold.kind == "count") for f in gold.facts) if gold else (),
        forbidden=tuple(p for p in gold.forbidden if holds(folded(text), p)) if gold else (),
        shown=tuple(_any_overlaps([e.quote for e in row.evidence] if row else [], one) for one in evidence),
        cited=tuple(_any_overlaps(citations, one) for one in evidence),
        ranking=item.ranking,
        gold_papers=frozenset(gold.papers if gold else ()),
        figures=tuple(_faults(item.scored)),
    )


def _any_overlaps(quotes: Sequence[str], gold: str) -> bool:
    return any(overlaps(quote, [gold]) for quote in quotes)


def verdict(item: Item) -> str:
    """What came of a question, in a word or two."""
    figures, row = item.scored.figures, item.row
    if row is None:
        return "searched" if item.ranking else "not asked"
    if row.status == "not_found":
        return (
            "refused wrongly" if "over" in figures else "refused rightly" if "refok" in figures else "refused"
        )
    if not row.is_answer:
        return "failed"
    if "right" in figures:
        return "right" if figures["right"].hits else "wrong"
    return "answered wrongly" if "refok" in figures else "answered"


def _faults(one: Scored) -> list[tuple[str, str]]:
    """The figures that say what is amiss; of retrieval all figures of the fused ranking."""
    found = []
    for name, share in one.figures.items():
        if name.startswith("fused "):
            found.append((name, f"{share.hits / share.of:.3f}"))
        elif name in FAILED_WHEN and share.hits < share.of:
            found.append((FAILED_WHEN[name], percent(share.hits / share.of)))
        elif name == "long" and share.hits:
            found.append(("length", "over the limit"))
    return found
