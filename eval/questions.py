"""The question format (docs/evaluation.md): JSON Lines in, records out, and what is wrong with a set."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from eval.matching import folded, holds, skeleton
from rag.errors import InputError
from rag.nouns import Turn
from rag.text import readable

UNANSWERABLE = frozenset({"absent_near", "absent_far"})
KINDS = UNANSWERABLE | {
    *("lookup", "paraphrase", "numeric", "which", "compare", "list", "count"),
    *("followup", "noisy", "false_premise", "about"),
}
SHORTEST = 40  # characters of an evidence quote
MOST_TURNS = 3
_FIELDS = frozenset(
    ("id", "kind", "question", "history", "answerable", "evidence", "facts", "forbidden", "reference")
    + ("reviewed", "note")
)


@dataclass(frozen=True, slots=True)
class Question:
    """One item of a set. Gold papers are those that hold the evidence, and those of `papers`."""

    id: str
    kind: str
    question: str  # the last turn
    answerable: bool = True
    history: tuple[Turn, ...] = ()
    evidence: tuple[str, ...] = ()  # exact quotes of abstracts as found in their source
    facts: tuple[tuple[str, ...], ...] = ()  # each fact as its surface forms
    forbidden: tuple[str, ...] = ()
    reference: str = ""
    papers: tuple[str, ...] = ()  # keys of gold papers, for sets that name documents instead of quoting
    reviewed: bool = True  # False: a draft that no person has looked at
    note: str = ""  # for the reviewer of a draft
    unknown: tuple[str, ...] = ()  # fields of the line that the format does not have


def load(path: Path) -> list[Question]:
    """The questions of a JSON Lines file, in its order. Raises InputError naming file and line."""
    return [_question(value, where) for where, value in json_lines(path)]


def as_row(question: Question) -> dict[str, Any]:
    """A question as a run keeps it: the format's fields, and the keys of its gold papers."""
    return {name: value for name, value in asdict(question).items() if name != "unknown"}


def kept(path: Path) -> list[Question]:
    """The questions that a run has kept (`as_row`); raises InputError naming file and line."""
    return [
        replace(_question(value, where), papers=_texts(value.get("papers", []), "papers", where), unknown=())
        for where, value in json_lines(path)
    ]


def json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each object of a JSON Lines file with where it stands. Raises InputError naming file and line."""
    try:
        # Lines end at "\n" alone: a string may hold U+2028 as it is.
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    where = f"{path}, line {number}"
                    yield where, _object(line, where)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 ({error.reason}). Save it as UTF-8.") from error


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise InputError(f"{where}: not valid JSON ({error}). Each line holds one object.") from error
    if not isinstance(value, dict):
        raise InputError(f"{where}: not a JSON object but {type(value).__name__}.")
    return value


def _question(value: Mapping[str, Any], where: str) -> Question:
    for name in ("id", "kind", "question", "answerable"):
        if name not in value:
            raise InputError(f"{where}: the field {name!r} is missing.")
    for name in ("id", "kind", "question", "reference", "note"):
        if not isinstance(value.get(name, ""), str):
            raise InputError(f"{where}: {name!r} must be text, not {value[name]!r}.")
    for name in ("answerable", "reviewed"):
        if not isinstance(value.get(name, True), bool):
            raise InputError(f"{where}: {name!r} must be true or false, not {value[name]!r}.")
    return Question(
        id=value["id"],
        kind=value["kind"],
        question=value["question"],
        answerable=value["answerable"],
        history=tuple(_turn(turn, where) for turn in _list(value, "history", where)),
        evidence=_texts(value.get("evidence", []), "evidence", where),
        facts=tuple(_texts(fact, "facts", where) for fact in _list(value, "facts", where)),
        forbidden=_texts(value.get("forbidden", []), "forbidden", where),
        reference=value.get("reference", ""),
        reviewed=value.get("reviewed", True),
        note=value.get("note", ""),
        unknown=tuple(sorted(value.keys() - _FIELDS)),
    )


def line_of(q: Question) -> str:
    """The question as a line of a set, without its end."""
    row: dict[str, Any] = {
        "id": q.id,
        "kind": q.kind,
        "question": q.question,
        "history": [{"question": t.question, "answer": t.answer} for t in q.history],
        "answerable": q.answerable,
        "evidence": list(q.evidence),
        "facts": [list(forms) for forms in q.facts],
        "forbidden": list(q.forbidden),
        "reference": q.reference,
    }
    if not q.reviewed:
        row["reviewed"] = False
    if q.note:
        row["note"] = q.note
    return json.dumps(row, ensure_ascii=False)


def _list(value: Mapping[str, Any], name: str, where: str) -> list[Any]:
    found = value.get(name, [])
    if not isinstance(found, list):
        raise InputError(f"{where}: {name!r} must be a list, not {found!r}.")
    return found


def _texts(found: object, name: str, where: str) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(x, str) for x in found):
        what = "hold lists of texts" if name == "facts" else "be a list of texts"
        raise InputError(f"{where}: {name!r} must {what}, not {found!r}.")
    return tuple(found)


def _turn(turn: object, where: str) -> Turn:
    if not isinstance(turn, dict) or not all(isinstance(turn.get(k), str) for k in ("question", "answer")):
        raise InputError(f"{where}: 'history' must hold objects with 'question' and 'answer', not {turn!r}.")
    return Turn(turn["question"], turn["answer"])


def check(questions: Sequence[Question], abstracts: Iterable[str]) -> list[str]:
    """What is wrong with a set over a collection with these abstracts, a line each; empty if it is sound."""
    skeletons = [skeleton(text) for text in abstracts]
    faults = _repeated(questions)
    for q in questions:
        faults += [f"{q.id}: {fault}" for fault in faults_of(q, skeletons)]
    return faults


def faults_of(q: Question, skeletons: Sequence[str]) -> list[str]:
    """What is wrong with one question, over abstracts whose skeletons these are."""
    papers: set[int] = set()
    found = [*_form(q), *_forbidden(q), *_quotes(q, skeletons, papers)]
    if q.answerable:
        found += _answer(q, len(papers))
    elif q.evidence or q.facts:
        found.append("not answerable, but it has evidence or facts")
    return found


def _repeated(questions: Sequence[Question]) -> list[str]:
    faults = [f"{i}: the id is used {n} times" for i, n in Counter(q.id for q in questions).items() if n > 1]
    first: dict[tuple[str, ...], str] = {}
    for q in questions:
        asked = tuple(skeleton(text) for text in (*(t.question for t in q.history), q.question))
        if first.setdefault(asked, q.id) != q.id:
            faults.append(f"{q.id}: asks the same as {first[asked]}")
    return faults


def _form(q: Question) -> Iterator[str]:
    """Faults that show without the abstracts."""
    if q.unknown:
        yield f"unknown field {', '.join(q.unknown)}"
    if q.kind not in KINDS:
        yield f"unknown kind {q.kind!r}; known: {', '.join(sorted(KINDS))}"
    elif q.answerable == (q.kind in UNANSWERABLE):
        yield f"answerable is {str(q.answerable).lower()}, which does not go with the kind {q.kind}"
    for name, text in (("id", q.id), ("question", q.question), ("reference", q.reference)):
        if not text.strip():
            yield f"the {name} is empty"
    if q.kind == "followup" and not q.history:
        yield "a followup without history"
    if len(q.history) > MOST_TURNS:
        yield f"{len(q.history)} earlier turns; at most {MOST_TURNS}"


def _forbidden(q: Question) -> Iterator[str]:
    """Faults of the phrases that prove an answer wrong."""
    for phrase in q.forbidden:
        if not folded(phrase):
            yield "an empty forbidden phrase"
        elif holds(folded(q.reference), phrase):
            yield f"the reference holds the forbidden phrase {phrase!r}"
        elif any(holds(folded(quote), phrase) for quote in q.evidence):
            yield f"the evidence holds the forbidden phrase {phrase!r}"


def _quotes(q: Question, skeletons: Sequence[str], papers: set[int]) -> Iterator[str]:
    """Faults of the evidence; `papers` receives where it was found."""
    for quote in q.evidence:
        if len(quote) < SHORTEST:
            yield f"evidence shorter than {SHORTEST} characters: {quote!r}"
        places = places_of(quote, skeletons)
        papers.update(places)
        if not places:
            yield f"evidence is in no abstract of the collection: {quote!r}"
        elif len(places) > 1:
            yield f"evidence is not unique, it is in {len(places)} abstracts: {quote!r}"
        elif (times := skeletons[places[0]].count(skeleton(quote))) > 1:
            yield f"evidence is not unique, it is {times} times in its abstract: {quote!r}"


def places_of(quote: str, skeletons: Sequence[str]) -> list[int]:
    """Which abstracts hold a quote; one as found that is in none is looked for as readable text."""
    for form in (quote, readable(quote)):
        wanted = skeleton(form)
        if wanted and (places := [i for i, one in enumerate(skeletons) if wanted in one]):
            return places
    return []


def _answer(q: Question, papers: int) -> Iterator[str]:
    """Faults of what is to be answered."""
    if not q.evidence and q.kind != "about":
        yield "answerable, but it has no evidence"
    if not q.facts:
        yield "answerable, but it has no facts"
    if q.kind == "compare" and papers < 2:
        yield f"compare needs two or more papers; its evidence is from {papers}"
    if q.kind == "count" and not any(x.strip().isdigit() for fact in q.facts for x in fact):
        yield "count without the number in digits among its facts"
    gold = folded(" ".join([*q.evidence, q.reference]))
    for fact in q.facts:
        if not fact or not all(map(folded, fact)):
            yield f"a fact needs at least one surface form, none of them empty: {list(fact)}"
        elif not any(holds(gold, one) for one in fact):
            yield f"a fact that is in neither evidence nor reference: {list(fact)}"
