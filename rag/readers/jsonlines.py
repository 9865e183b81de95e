"""JSON Lines, JSON arrays, and objects that hold papers, each paper in memory alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from rag.nouns import Problem, Record
from rag.readers.jsonfields import found, is_paper, rows
from rag.readers.record import build
from rag.readers.source import CHUNK, Source
from rag.readers.window import BEHIND, Window

OBJECT_LIMIT = 8_000_000  # characters of one object, as of one line of JSON Lines
NEXT_SOUGHT = 10_000  # characters of a second object within which its list of papers begins
DEPTH = 4  # objects within objects that are searched for papers
SHORTEST_CUT = 12  # characters from the end of what was read within which an error may be no error

_KINDS = {type(None): "null", str: "a string", list: "a list", bool: "true or false"}
_LINES = re.compile(r"\s*\{\s*[\"}]")
_LIST = re.compile(r"\s*\[\s*(?:[{\[\"\]]|null|$)")
_PAPERS = re.compile(
    r'"(?:papers|records|data|results|notes|items|articles|entries|publications|works|documents)"'
    r"\s*:\s*\[(?=\s*(?:\{|null))",
    re.I,
)
_ABSTRACT = re.compile(r'"abstract"', re.I)
_BETWEEN = re.compile(r"[\s,:]*")
_FIRST_KEY = re.compile(r'\{\s*("(?:[^"\\\n]|\\.){1,60}")')
_DECODER = json.JSONDecoder(strict=False)  # raw line ends inside a string harm nothing


class _TooLong(ValueError):
    """An object that is over `OBJECT_LIMIT`."""


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
            continue
        for extra, paper in enumerate(_papers(value)):
            number += extra > 0
            yield _paper(source.name, number, line, paper)


def read(source: Source) -> Iterator[Record | Problem]:
    """Read a JSON file whose papers are a list, a list inside an object, or objects one after another.

    Behind a broken one reading goes on at the next that looks like its sibling.
    """
    window = Window(source)
    listed = wrapped = False  # inside a list of papers; inside an object that holds one
    number, sought = 0, CHUNK
    while first := window.skip(_BETWEEN):
        if first in "]}":
            window.move(window.at + 1)
            listed, wrapped = False, wrapped and first == "]"
            continue
        if not listed and not wrapped and first in "[{":
            listed, wrapped = _enter(window, sought)
            sought = NEXT_SOUGHT
            if listed:
                continue
        line = window.line
        try:
            value = _next_value(window)
        except (ValueError, RecursionError) as error:
            number += 1
            yield _broken(source.name, number, line, error)
            _to_sibling(window)
            continue
        for paper in [value] if listed else _inside(value) if wrapped else _papers(value):
            number += 1
            yield _paper(source.name, number, line, paper)


def _enter(window: Window, sought: int) -> tuple[bool, bool]:
    """Go behind the bracket that opens the list of papers; whether there is one, and whether an object holds it.

    In an object it is looked for within so many characters.
    """
    first = window.text[window.at]
    inside = _PAPERS.search(window.text, window.at, window.at + sought) if first == "{" else None
    if inside and not _ABSTRACT.search(window.text, window.at, inside.start()):
        window.move(inside.end())
        return True, True
    window.move(window.at + (first == "["))
    return first == "[", False


def _papers(value: object) -> list[object]:
    """The papers that a value holds, itself where it holds none."""
    return [*(rows(value) or _inside(value) or [value])]


def _next_value(window: Window) -> object:
    """The value that begins here; the window goes behind it. Raises ValueError if it is broken."""
    while True:
        try:
            value, end = _DECODER.raw_decode(window.text, window.at)
        except json.JSONDecodeError as error:
            cut = error.msg.startswith("Unterminated") or error.pos >= len(window.text) - SHORTEST_CUT
            if len(window.text) - window.at > OBJECT_LIMIT:
                raise _TooLong from error
            if not (cut and window.more()):
                raise
        else:
            # A number at the end of what was read may go on.
            if end < len(window.text) or not window.more():
                window.move(end)
                return value


def _to_sibling(window: Window) -> None:
    """Go on to the next object that begins as this one does: on a line equally indented, or with the same key."""
    before = window.text[max(0, window.at - BEHIND // 2) : window.at]
    indent = before[before.rfind("\n") + 1 :]
    key = _FIRST_KEY.match(window.text, window.at)
    sibling = "(?!)"
    if "\n" in before and not indent.strip():
        sibling = rf"\n{indent}(?=\{{)"
    elif key:
        sibling = rf"\}}\s{{0,20}},\s{{0,20}}(?=\{{\s{{0,20}}{re.escape(key[1])})"
    window.move(window.at + 1)
    match = window.find(re.compile(sibling))
    window.move(match.end() if match else len(window.text))


def _inside(value: object, depth: int = DEPTH) -> list[object]:
    """The papers of an object that is none itself, such as one of objects by their keys."""
    if not isinstance(value, dict | list) or depth == 0 or is_paper(value):
        return []
    children = list(value.values()) if isinstance(value, dict) else value
    if any(map(is_paper, children)):
        return [child for child in children if child is None or isinstance(child, dict)]
    return [paper for child in children for paper in _inside(child, depth - 1)]


def _broken(source: str, number: int, line: int, error: Exception) -> Problem:
    why = str(error)
    if isinstance(error, _TooLong):
        why = f"longer than {OBJECT_LIMIT:,} characters, or never closed"
    elif isinstance(error, RecursionError):
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
        return build(source, number, line, found(value))
    except RecursionError as error:
        return _broken(source, number, line, error)
