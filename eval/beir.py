"""Retrieval sets in BEIR form: `corpus.jsonl`, `queries.jsonl`, `qrels/SPLIT.tsv`, perhaps answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.questions import Question, json_lines
from rag.errors import InputError

UNANSWERABLE = frozenset({"NOT_ENOUGH_INFO", "unanswerable"})
PLAIN = "query"  # the kind of a query that comes without an answer


@dataclass(frozen=True, slots=True)
class BeirSet:
    """The queries of one split, those that are judged or have an answer, in the file's order."""

    name: str
    corpus: Path
    files: tuple[Path, ...]  # all that the set is read from
    questions: tuple[Question, ...]  # `papers` holds document ids, not yet keys of a collection
    judgements: Mapping[str, Mapping[str, int]]  # query id, document id, grade


def is_beir(path: Path) -> bool:
    """Whether a path is a folder with a corpus and queries."""
    return (path / "corpus.jsonl").is_file() and (path / "queries.jsonl").is_file()


def load(folder: Path, split: str = "test") -> BeirSet:
    """A folder's set. Raises InputError naming the file and line, or the splits that there are."""
    if not is_beir(folder):
        raise InputError(f"{folder} is no BEIR folder: it needs corpus.jsonl, queries.jsonl and qrels/*.tsv.")
    corpus, qrels = folder / "corpus.jsonl", _qrels(folder, split)
    queries_file, answers_file = (_of_split(folder, stem, split) for stem in ("queries", "answers"))
    judgements, answers = _judgements(qrels), _answers(answers_file)
    texts = {}
    for where, value in json_lines(queries_file):
        query = _text(value, "_id", where)
        if query in judgements or query in answers:
            texts[query] = _text(value, "text", where)
    missing = judgements.keys() - texts.keys()
    if missing:
        raise InputError(f"{folder}: {len(missing)} judged queries have no text, for one {min(missing)!r}.")
    sentences = _sentences(corpus, answers.values())
    questions = [
        _question(q, text, judgements.get(q, {}), answers.get(q), sentences) for q, text in texts.items()
    ]
    files = tuple(file for file in (corpus, queries_file, qrels, answers_file) if file.is_file())
    return BeirSet(folder.resolve().name, corpus, files, tuple(questions), judgements)


def _of_split(folder: Path, stem: str, split: str) -> Path:
    """The file of a split, where splits have files of their own; else the file of all."""
    own = folder / f"{stem}.{split}.jsonl"
    return own if own.is_file() else folder / f"{stem}.jsonl"


def _qrels(folder: Path, split: str) -> Path:
    wanted = folder / "qrels" / f"{split}.tsv"
    if wanted.is_file():
        return wanted
    splits = ", ".join(sorted(file.stem for file in (folder / "qrels").glob("*.tsv"))) or "none"
    raise InputError(f"{wanted} does not exist. Splits that have judgements: {splits}.")


def _judgements(file: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8-sig").splitlines(), 1):
        columns = line.split("\t")
        if not line.strip() or (number == 1 and columns[-1].strip() == "score"):
            continue
        try:
            query, document, grade = columns
            found.setdefault(query, {})[document] = int(grade)
        except ValueError:
            raise InputError(
                f"{file}, line {number}: expected query id, document id and a whole number, parted by tabs; "
                f"found {line!r}."
            ) from None
    return found


def _answers(file: Path) -> dict[str, dict[str, Any]]:
    if not file.is_file():
        return {}
    return {_text(value, "query_id", where): value for where, value in json_lines(file)}


def _text(value: Mapping[str, Any], name: str, where: str) -> str:
    found = value.get(name)
    if not isinstance(found, str) or not found.strip():
        raise InputError(f"{where}: {name!r} must be text, not {found!r}.")
    return found


def _sentences(corpus: Path, answers: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The sentences of the documents whose sentences some answer names by number."""
    wanted = {e["doc_id"] for a in answers for e in a.get("evidence") or () if e.get("sentences")}
    if not wanted:
        return {}
    rows = (value for _, value in json_lines(corpus) if value.get("_id") in wanted)
    return {row["_id"]: (row.get("metadata") or {}).get("sentences") or [] for row in rows}


def _question(
    query: str,
    text: str,
    judged: Mapping[str, int],
    answer: Mapping[str, Any] | None,
    sentences: Mapping[str, list[str]],
) -> Question:
    relevant = tuple(document for document, grade in judged.items() if grade > 0)
    if answer is None:
        return Question(query, PLAIN, text, papers=relevant)
    label = str(answer.get("label") or PLAIN)
    if label in UNANSWERABLE:
        return Question(query, label, text, answerable=False)
    said = answer.get("answer")
    short = tuple(dict.fromkeys(map(str, said))) if isinstance(said, list) else ()
    named = answer.get("evidence") or ()
    quotes = [
        sentences[e["doc_id"]][n] for e in named if e["doc_id"] in sentences for n in e.get("sentences") or ()
    ]
    return Question(
        query,
        label,
        text,
        evidence=tuple(dict.fromkeys(quotes)),
        facts=(short,) if short else (),
        reference=said if isinstance(said, str) else "",
        papers=tuple(dict.fromkeys(e["doc_id"] for e in named)) or relevant,
    )
