"""Records and papers as the JSON that the library stores, and back."""

from __future__ import annotations

import json
from dataclasses import fields

from rag.nouns import Paper, Record

_PAPER_FIELDS = tuple(f.name for f in fields(Paper) if f.name not in ("id", "key"))
_WHERE = ("source", "number", "line")
_TOLD = tuple(f.name for f in fields(Record) if f.name not in _WHERE)
_READ = {"abstract_found": "abstract", "title_found": "title"}
_NOTHING = ("", None, ())
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True)


def record_json(record: Record) -> tuple[str, str]:
    """A record as it is stored, and the part of it that tells of the paper and not where it was found.

    What is as it is by default, or as found in the file, is left out.
    """
    told = {name: value for name in _TOLD if (value := getattr(record, name)) not in _NOTHING}
    for found, read in _READ.items():
        told.pop(found, None)
        if getattr(record, found) != getattr(record, read):
            told[found] = getattr(record, found)
    text = _ENCODER.encode(told)
    where = {name: getattr(record, name) for name in _WHERE}
    return f"{text[:-1]}{', ' * bool(told)}{_ENCODER.encode(where)[1:]}", text


def to_record(text: str) -> Record:
    values = json.loads(text)
    for found, read in _READ.items():
        values.setdefault(found, values.get(read, ""))
    values["authors"] = tuple(values.get("authors", ()))
    return Record(**values)


def to_paper(paper_id: int, key: str, text: str) -> Paper:
    values = json.loads(text)
    return Paper(
        id=paper_id, key=key, **values | {name: tuple(values[name]) for name in ("authors", "sources")}
    )


def paper_json(paper: Paper) -> str:
    """A paper as it is stored: without what the row already holds."""
    values = {name: getattr(paper, name) for name in _PAPER_FIELDS}
    return _ENCODER.encode(values)
