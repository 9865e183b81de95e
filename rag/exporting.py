"""Papers out of the collection: those an answer cites, those of a list of keys, and a file written whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rag.errors import InputError, LibraryError
from rag.library import Library
from rag.nouns import Paper


def papers_of(library: Library, keys: Iterable[str]) -> Iterator[Paper]:
    """The papers with these keys, in their order, each once.

    Raises `LibraryError` naming the first that the collection does not hold.
    """
    for key in dict.fromkeys(keys):
        paper = library.paper(key)
        if paper is None:
            raise LibraryError(
                f"There is no paper {key!r} in this collection. `pincite papers` lists the keys."
            )
        yield paper


def cited(file: Path) -> list[str]:
    """Keys of the papers that the answers of a file cite, in the order of their first citation.

    The file holds what `pincite ask --json` prints, or the rows of an evaluation (`answers.jsonl`).
    Raises `InputError` where it holds no answer.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"{file} cannot be read: {why}. Give what `pincite ask --json` printed.") from error
    try:
        return list(dict.fromkeys(key for row in _rows(text) for key in _cited(row)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{file} holds no answer. Give what `pincite ask --json` printed.") from error


def _rows(text: str) -> list[Any]:
    if not text.strip():
        raise ValueError("empty")
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def _cited(row: Any) -> Iterator[str]:
    if row.get("status") == "error":
        return
    for sentence in row["sentences"]:
        yield from (str(citation["paper"]) for citation in sentence["citations"])


def save(file: Path, pieces: Iterable[str], *, replace: bool) -> None:
    """Write a file as a whole or not at all; one that is there is replaced only if asked to.

    Raises `InputError` where it must not or cannot be written.
    """
    target = file.resolve()  # through a link, so that it stays one
    if target.exists() and not (replace and target.is_file()):
        hint = "Name another file, or add --force to replace it" if target.is_file() else "Name a file"
        raise InputError(f"{file} is already there. {hint}.")
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with draft.open("x", encoding="utf-8", newline="\n") as stream:
            stream.writelines(pieces)
        draft.replace(target)
    except OSError as error:
        raise InputError(
            f"{file} cannot be written: {error.strerror}. Check its folder and rights."
        ) from error
    finally:
        draft.unlink(missing_ok=True)
