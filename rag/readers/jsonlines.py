"""JSON Lines, JSON arrays, and objects that hold a list of papers, by common field names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from rag.metadata import names, year
from rag.nouns import Problem, Record
from rag.readers.record import Found, build
from rag.readers.source import Source

Fields = Mapping[str, object]

_ABSTRACT = ("abstract", "abstracttext", "paperabstract", "abstractnote", "summary", "text")
_TITLE = ("title", "papertitle", "name")
_AUTHORS = ("authors", "author", "authornames", "speakersauthors", "creators")
_YEAR = ("year", "publicationyear", "pubyear", "date", "published", "publicationdate", "issued", "pdate")
_VENUE = (
    "venueasfound",
    "venue",
    "conference",
    "journal",
    "booktitle",
    "containertitle",
    "publicationvenue",
    "venueid",
    "source",
)
_URL = ("url", "link", "paperurl", "pdf", "pdfurl", "site", "virtualsiteurl")
_KEY = ("citekey", "citationkey", "bibkey", "key", "id")
_IDS = ("doi", "doiurl", "arxivurl", "abs", "site", "link", "pdf", "pdfurl", "paperurl", "id")
_OPENREVIEW = ("openreview", "openreviewid", "forum")
_ARXIV = ("arxivid", "arxiv", "eprint")
_NESTED = ("content", "metadata", "externalids", "custom")  # OpenReview, BEIR, Semantic Scholar, CSL
_INSIDE = ("value", "name", "text", "title", "url")  # where an object stands for a string

_KINDS = {type(None): "null", str: "a string", list: "a list", bool: "true or false"}

_LINES = re.compile(r"\s*\{\s*[\"}]")
_LIST = re.compile(r"\s*\[\s*(?:[{\[\"\]]|null|$)")
_PAPERS = re.compile(r'"(?:papers|records|data|results|notes)"\s*:\s*\[(?=\s*(?:\{|null))', re.I)
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder(strict=False)  # raw line ends inside a string harm nothing


def fits_lines(head: str) -> bool:
    """Whether at least half of the first lines look like whole objects (the last may be cut).

    A lone line may as well be an object that holds a list.
    """
    lines = [line for line in head.split("\n") if line.strip()][:40]
    objects = [bool(_LINES.match(line)) for line in lines]
    ended = [line.rstrip().endswith("}") for line in lines[:-1]] + [True]
    return (
        len(lines) > 1
        and any(objects)
        and sum(a and b for a, b in zip(objects, ended, strict=False)) >= len(lines) / 2
    )


def fits(head: str) -> bool:
    """Whether a text begins as a JSON array or object."""
    return bool(_LIST.match(head) or _LINES.match(head))


def read_lines(source: Source) -> Iterator[Record | Problem]:
    """Read JSON Lines, one line in memory at a time; `number` counts the lines that hold anything."""
    number = 0
    for line, text in source.lines():
        if not text.strip():
            continue
        number += 1
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError) as error:
            yield _broken(source.name, number, line, error)
        else:
            yield _paper(source.name, number, line, value)


def read(source: Source) -> Iterator[Record | Problem]:
    """Read a JSON file whose papers are a list, a list inside an object, or objects one after another.

    The text is held in memory, its papers one at a time. Behind a broken one reading goes on at the next
    that begins on a line of its own, equally indented.
    """
    text = source.text()
    at, number, line, counted = _start(text), 0, 1, 0
    while (at := _after_gap(text, at)) < len(text) and text[at] != "]":
        number += 1
        line, counted = line + text.count("\n", counted, at), at
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            yield _broken(source.name, number, line, error)
            at = _next_sibling(text, at)
        else:
            yield _paper(source.name, number, line, value)


def _start(text: str) -> int:
    """Where the first paper may stand: behind the bracket that opens the list, if there is one."""
    inside = _PAPERS.search(text)
    if inside and not _LIST.match(text):
        return inside.end()
    at = _after_gap(text, 0)
    return at + (text[at : at + 1] == "[")


def _after_gap(text: str, at: int) -> int:
    gap = _BETWEEN.match(text, at)
    return gap.end() if gap else at


def _next_sibling(text: str, at: int) -> int:
    indent = text[text.rfind("\n", 0, at) + 1 : at]
    if indent.strip():
        return len(text)
    found = text.find(f"\n{indent}{{", at)
    return found + 1 if found >= 0 else len(text)


def _broken(source: str, number: int, line: int, error: Exception) -> Problem:
    why = str(error)
    if isinstance(error, RecursionError):
        why = "nested too deeply"
    elif isinstance(error, json.JSONDecodeError):
        why = f"{error.msg} (column {error.colno})"
        if error.msg.startswith("Unterminated") or error.pos >= len(error.doc.rstrip()):
            why = "it breaks off in the middle"
    return Problem(source, f"not valid JSON: {why}", "Mend or delete this object", record=number, line=line)


def _paper(source: str, number: int, line: int, value: object) -> Record | Problem:
    if not isinstance(value, dict):
        kind = _KINDS.get(type(value), "a number")
        cause = f"{kind} stands where a paper should"
        return Problem(
            source, cause, "Give each paper as an object with its fields", record=number, line=line
        )
    try:
        return build(source, number, line, _found(_flat(value)))
    except RecursionError as error:
        return _broken(source, number, line, error)


def _flat(value: Mapping[str, object]) -> Fields:
    """Fields by folded name, those of nested objects among them; of equal names the outer wins."""
    fields: dict[str, object] = {}
    for key, field in value.items():
        name = re.sub(r"[\W_]", "", key.lower())
        if name in _NESTED and isinstance(field, dict):
            fields = {**_flat(field), **fields}
        elif field or name not in fields:
            fields[name] = field
    return fields


def _found(fields: Fields) -> Found:
    linked = [f"https://openreview.net/forum?id={_text(fields, (k,))}" for k in _OPENREVIEW if fields.get(k)]
    linked += [f"https://proceedings.mlr.press/{_text(fields, (k,))}" for k in ("pmlr",) if fields.get(k)]
    numbered = [f"arXiv:{_text(fields, (k,))}" for k in _ARXIV if fields.get(k)]
    return Found(
        abstract=_text(fields, _ABSTRACT),
        title=_text(fields, _TITLE),
        authors=next(filter(None, (names(fields.get(key)) for key in _AUTHORS)), ()),
        year=next(filter(None, (year(fields.get(key)) for key in _YEAR)), None),
        venue=_text(fields, _VENUE),
        url=next((u for k in _URL if (u := _text(fields, (k,))).startswith(("http://", "https://"))), ""),
        ids=(*linked, *numbered, *(_text(fields, (key,)) for key in _IDS)),
        citekey=_text(fields, _KEY),
        note=_text(fields, ("note",)),
    )


def _text(fields: Fields, keys: tuple[str, ...]) -> str:
    """The first of the fields that holds any text."""
    return next(filter(None, (_string(fields.get(key)) for key in keys)), "")


def _string(value: object) -> str:
    """Strings and numbers as text, lists joined, objects by their value; "" for anything else."""
    if isinstance(value, dict):
        return next(filter(None, (_string(value.get(key)) for key in _INSIDE)), "")
    if isinstance(value, list):
        return " ".join(filter(None, map(_string, value)))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).strip()
