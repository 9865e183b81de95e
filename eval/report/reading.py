"""A run's folder read for a report: finished, half finished, or retrieval only; nothing in it is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eval import beir
from eval.conditions import digest_of
from eval.folder import ANSWERS, QUESTIONS, REMOVED, SCORES, Scored, read_conditions, read_run
from eval.metrics import score_row
from eval.questions import Question, kept, load
from eval.report.rows import Row, read_rows
from eval.runs import GOLD_REMOVED, chosen, refusable, refusable_id
from rag.errors import InputError

TOP = 10  # papers of a ranking that are shown


@dataclass(frozen=True, slots=True)
class Item:
    """A question of a run, with all that the folder knows of it."""

    scored: Scored
    gold: Question | None = None  # None where the folder does not hold the questions
    row: Row | None = None  # None if it was not asked, or not yet
    ranking: tuple[str, ...] = ()  # papers found, best first


@dataclass(frozen=True, slots=True)
class Run:
    """A run as a report shows it."""

    name: str
    facts: Mapping[str, Any]  # run.json
    items: tuple[Item, ...]
    asked: int  # questions that have a row or a ranking, each counted once
    total: int | None  # questions that were to be asked; None if nobody knows
    notes: tuple[str, ...]  # what is missing, and what mends it

    @property
    def scored(self) -> list[Scored]:
        return [item.scored for item in self.items]

    @property
    def rows(self) -> list[Row]:
        return [item.row for item in self.items if item.row]


Sets = Mapping[str, Sequence[Question]]  # by the sum that a run keeps


def read_sets(paths: Sequence[Path], split: str = "test") -> dict[str, Sequence[Question]]:
    """The questions of sets, for runs that have not kept theirs."""
    found: dict[str, Sequence[Question]] = {}
    for path in paths:
        if path.is_dir():
            one = beir.load(path, split)
            found[digest_of(one.files)] = one.questions
        else:
            found[digest_of([path])] = load(path)
    return found


def read(paths: Sequence[Path], sets: Sets) -> list[Run]:
    """The runs of some folders; raises InputError for a folder that holds none, or a damaged one."""
    return [_read(path, name, sets) for path, name in zip(paths, _names(paths), strict=True)]


def _names(paths: Sequence[Path]) -> list[str]:
    """The folders' names, with as many parents as it takes to tell them apart."""
    parts = [path.resolve().parts for path in paths]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(one[-depth:]) for one in parts]
        if len(set(names)) == len(names):
            return names
    raise InputError("The same run was named twice; name each folder once.")


def _read(path: Path, name: str, sets: Sets) -> Run:
    facts = read_conditions(path)
    finished = bool(facts.get("finished")) and (path / SCORES).is_file()
    questions = _questions(path, facts, sets)
    scored = {one.id: one for one in read_run(path)[1]} if finished else {}
    rows = {row.id: row for row in read_rows(path / ANSWERS)}
    again = {row.id: row for row in read_rows(path / REMOVED)}
    rankings = _rankings(path / "run.trec")
    items = _items(questions, scored, rows, again, rankings)
    first = [one for one in items if one.scored.kind != GOLD_REMOVED]
    asked = sum(bool(one.row or one.ranking) for one in first)
    total = len(questions) if questions else (len(first) if finished else None)
    return Run(name, facts, tuple(items), asked, total, tuple(_notes(facts, questions, finished)))


def _questions(path: Path, facts: Mapping[str, Any], sets: Sets) -> list[Question]:
    """What was to be asked: as the run has kept it, else from a set of the same sum."""
    if (path / QUESTIONS).is_file():
        return kept(path / QUESTIONS)
    found = sets.get(str(_of(facts, "set").get("sha256")))
    if found is None:
        return []
    options = _of(facts, "options")
    # Document ids of a set are no keys of the collection, so gold is known by its quotes alone.
    return chosen([replace(q, papers=()) for q in found], options.get("kinds", ()), options.get("limit"))


def _of(facts: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = facts.get(name)
    return value if isinstance(value, dict) else {}


def _rankings(file: Path) -> dict[str, tuple[str, ...]]:
    """The first papers of each query of a TREC file; {} without one. Raises InputError naming the line."""
    if not file.is_file():
        return {}
    found: dict[str, list[str]] = {}
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from error
    # Lines end at "\n" alone; the ids of questions and papers may hold spaces.
    for number, line in enumerate(text.split("\n"), 1):
        query, _, rest = line.partition(" Q0 ")
        fields = rest.rsplit(" ", 3)  # document, rank, score, tag
        if line and len(fields) != 4:
            raise InputError(f"{file}, line {number}: not a line of a TREC run. Run the set again.")
        if line and len(ranked := found.setdefault(query, [])) < TOP:
            ranked.append(fields[0])
    return {query: tuple(ranked) for query, ranked in found.items()}


def _items(
    questions: Sequence[Question],
    scored: Mapping[str, Scored],
    rows: Mapping[str, Row],
    again: Mapping[str, Row],
    rankings: Mapping[str, tuple[str, ...]],
) -> list[Item]:
    """Every question with its row, then every question asked again without its gold papers."""
    if not questions:
        ids = scored or dict.fromkeys(rows)
        return [_bare(one, scored.get(one), rows, again, rankings.get(one, ())) for one in ids]
    items = [_item(q, q.id, scored, rows.get(q.id), rankings.get(q.id, ())) for q in questions]
    return items + [
        _item(copy, copy.id, scored, again[of], ())
        for copy, of in ((refusable(q), q.id) for q in questions if q.id in again)
    ]


def _item(
    gold: Question, name: str, scored: Mapping[str, Scored], row: Row | None, ranking: tuple[str, ...]
) -> Item:
    """With the figures that were kept; those that need no collection are worked out where they were not."""
    own = score_row(gold, row.model_dump(), None).figures() if row else {}
    known = scored.get(name)
    figures = {**(known.figures if known else {})}
    figures |= {figure: share for figure, share in own.items() if figure not in figures}
    return Item(
        Scored(name, gold.kind, gold.question, row.status if row else "", figures), gold, row, ranking
    )


def _bare(
    name: str,
    scored: Scored | None,
    rows: Mapping[str, Row],
    again: Mapping[str, Row],
    ranking: tuple[str, ...],
) -> Item:
    """A question of a run that has not kept its questions."""
    row = rows.get(name) or next((one for of, one in again.items() if refusable_id(of) == name), None)
    if scored is None:
        scored = Scored(name, "unknown", row.searched_for if row else "", row.status if row else "", {})
    return Item(scored, None, row, ranking)


def _notes(facts: Mapping[str, Any], questions: Sequence[Question], finished: bool) -> list[str]:
    notes = []
    if not finished:
        command = facts.get("command") or "run it again"
        notes.append(f"The run is not finished. To go on with it: {command}")
    if not finished and questions:
        notes.append("Figures that need the collection (exact, ingold, own) come when it is finished.")
    if not questions:
        lost = "gold is" if finished else "gold and figures are"
        notes.append(
            f"The run has not kept its questions, so their {lost} not shown. Name the set with --set."
        )
    return notes
