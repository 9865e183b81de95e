"""Two runs over the same questions: what differs beyond noise, which questions flipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.bootstrap import LEVEL, Interval, differences
from eval.folder import Scored
from eval.runs import ALL, GOLD_REMOVED, by_kind
from rag.errors import InputError

LOWER_IS_BETTER = frozenset({"over", "long", "dead"})
YES_OR_NO = ("right", "refok", "over")  # figures of a whole answer: McNemar's test fits
# What the verdict and the gate look at: kind, figure, and its name in words.
WATCHED = (
    (ALL, "right", "right answers"),
    (ALL, "refok", "refusals of unanswerable questions"),
    (GOLD_REMOVED, "refok", "refusals without the gold papers"),
    (ALL, "over", "refusals of answerable questions"),
    (ALL, "cited", "sentences with citations"),
    (ALL, "exact", "exact quotes"),
    (ALL, "ingold", "citations of gold papers"),
    (ALL, "fused nDCG@10", "nDCG@10 of retrieval"),
    (ALL, "fused recall@10", "recall@10 of retrieval"),
)


@dataclass(frozen=True, slots=True)
class Difference:
    """B minus A of one figure over the questions of one kind."""

    kind: str
    figure: str
    a: float
    b: float
    interval: Interval
    p: float | None = None  # McNemar, exact; None where the figure is no yes or no

    def beyond_noise(self, alpha: float = 1 - LEVEL) -> bool:
        """Whether the interval leaves out 0 and McNemar, where it fits, agrees."""
        one_sided = self.interval.low > 0 or self.interval.high < 0
        return one_sided and (self.p is None or self.p < alpha)

    @property
    def is_better(self) -> bool:
        """Whether B has the better value."""
        return (self.interval.value < 0) if self.figure in LOWER_IS_BETTER else (self.interval.value > 0)


@dataclass(frozen=True, slots=True)
class Flip:
    """A question that one of the runs got right and the other did not."""

    id: str
    kind: str
    question: str
    improved: bool
    a: str  # "right", "wrong", "refused", "answered", "error"
    b: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """B against A over the questions that both asked."""

    common: int
    left_out: int  # questions that only one of the runs asked
    differences: tuple[Difference, ...]
    flips: tuple[Flip, ...]

    def find(self, kind: str, figure: str) -> Difference | None:
        return next((d for d in self.differences if (d.kind, d.figure) == (kind, figure)), None)

    def watched(self) -> list[tuple[Difference, str]]:
        """The differences that a verdict is about, with their names in words."""
        found = [(self.find(kind, figure), words) for kind, figure, words in WATCHED]
        return [(one, words) for one, words in found if one is not None]


def compare(a: Sequence[Scored], b: Sequence[Scored], level: float = LEVEL) -> Comparison:
    """Paired over the questions that both runs asked. Raises InputError if there are none."""
    before = {one.id: one for one in a}
    after = {one.id: one for one in b}
    pairs = [(one, after[one.id]) for one in a if one.id in after]
    if not pairs:
        raise InputError("The two runs have no question in common; compare runs over the same set.")
    other = {one.id: two for one, two in pairs}
    found: list[Difference] = []
    for kind, firsts in by_kind([one for one, _ in pairs]).items():
        found += _differences(kind, firsts, [other[one.id] for one in firsts], level)
    flips = [flip for one, two in pairs if (flip := _flip(one, two)) is not None]
    return Comparison(len(pairs), len(before.keys() ^ after.keys()), tuple(found), tuple(flips))


def _differences(kind: str, a: Sequence[Scored], b: Sequence[Scored], level: float) -> list[Difference]:
    first, second = [one.figures for one in a], [one.figures for one in b]
    found = []
    for name, interval in differences(first, second, level).items():
        before, after = (
            sum(row[name].hits for row in rows if name in row)
            / sum(row[name].of for row in rows if name in row)
            for rows in (first, second)
        )
        p = mcnemar(*_discordant(name, a, b)) if name in YES_OR_NO else None
        found.append(Difference(kind, name, before, after, interval, p))
    return found


def _discordant(name: str, a: Sequence[Scored], b: Sequence[Scored]) -> tuple[int, int]:
    """How many questions have the figure only in A, and only in B."""
    pairs = [
        (one.figures[name].hits > 0, two.figures[name].hits > 0)
        for one, two in zip(a, b, strict=True)
        if name in one.figures and name in two.figures
    ]
    return sum(x and not y for x, y in pairs), sum(y and not x for x, y in pairs)


def mcnemar(only_a: int, only_b: int) -> float:
    """The exact two-sided p of McNemar's test: how often a fair coin falls as unevenly, or more."""
    from scipy.stats import binomtest  # type: ignore[import-untyped]

    return float(binomtest(only_a, only_a + only_b).pvalue) if only_a + only_b else 1.0


def _flip(a: Scored, b: Scored) -> Flip | None:
    for name in ("right", "refok"):
        if name in a.figures and name in b.figures:
            was, now = a.figures[name].hits, b.figures[name].hits
            if was != now:
                return Flip(a.id, a.kind, a.question, now > was, _outcome(a, name), _outcome(b, name))
    return None


def _outcome(one: Scored, name: str) -> str:
    if one.status == "not_found":
        return "refused"
    if one.status not in ("answered", "partial"):
        return one.status or "missing"
    if name == "refok":
        return "answered"
    return "right" if one.figures[name].hits else "wrong"


def verdict(comparison: Comparison, name: str = "B") -> str:
    """The comparison in one sentence: what is better or worse beyond noise, and what is not."""
    better: list[str] = []
    worse: list[str] = []
    same: list[str] = []
    for one, words in comparison.watched():
        if not one.beyond_noise():
            same.append(words)
        else:
            (better if one.is_better else worse).append(f"{words} by {_points(one.interval)}")
    parts = [f"{name} is better on {_listed(better)}"] if better else []
    parts += [f"{'' if parts else f'{name} is '}worse on {_listed(worse)}"] if worse else []
    parts += [f"{'no' if parts else 'No'} difference beyond noise in {_listed(same)}"] if same else []
    return "; ".join(parts) + "." if parts else "The runs share no figure that a verdict is about."


def _points(interval: Interval) -> str:
    """The size of a difference, in points of a hundred."""
    low, high = sorted(100 * abs(x) for x in (interval.low, interval.high))
    return f"{low:.0f} to {high:.0f} points" if high >= 1 else f"{low:.1f} to {high:.1f} points"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def gate(base: Sequence[Scored], run: Sequence[Scored]) -> list[str]:
    """Each watched figure that has dropped beyond noise, in words; empty if the run may pass.

    The error rate of 5 % is for the whole gate: each figure gets an equal part of it (Bonferroni).
    """
    watched = len(compare(base, run).watched())
    alpha = (1 - LEVEL) / max(1, watched)
    found = compare(base, run, level=1 - alpha).watched()
    return [
        f"{words}: {100 * one.a:.1f} before, {100 * one.b:.1f} now ({_points(one.interval)} worse)"
        for one, words in found
        if one.beyond_noise(alpha) and not one.is_better
    ]


def changed_conditions(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    """What the runs were made with differently: "llm: small, large"."""
    first, second = (
        _flat({name: run.get(name) for name in ("set", "fingerprint", "code", "packages", "machine")})
        for run in (a, b)
    )
    names = dict.fromkeys([*first, *second])
    return [f"{n}: {first.get(n)} → {second.get(n)}" for n in names if first.get(n) != second.get(n)]


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat
