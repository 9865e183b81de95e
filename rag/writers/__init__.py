"""Writers: papers as other programs and people take them. What is written here, `rag.readers` reads back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, get_args

from rag.nouns import Paper

__all__ = ["FORMS", "SUFFIXES", "Form", "form_of", "write"]

Form = Literal["bibtex", "ris", "csl", "markdown", "jsonl"]
FORMS: tuple[Form, ...] = get_args(Form)
SUFFIXES: dict[str, Form] = {
    ".bib": "bibtex",
    ".ris": "ris",
    ".json": "csl",
    ".md": "markdown",
    ".jsonl": "jsonl",
}


def write(papers: Iterable[Paper], form: Form) -> Iterator[str]:
    """The papers in a form, in their order, as pieces of text; one paper is held at a time.

    The pieces joined are a whole file, also of no papers at all.
    """
    from rag.writers import bibtex, csl, jsonlines, markdown, ris

    writers: dict[Form, Callable[[Iterable[Paper]], Iterator[str]]] = {
        "bibtex": bibtex.write,
        "ris": ris.write,
        "csl": csl.write,
        "markdown": markdown.write,
        "jsonl": jsonlines.write,
    }
    return writers[form](papers)


def form_of(name: str) -> Form | None:
    """The form that a file's name asks for, if it asks for one."""
    return next((form for suffix, form in SUFFIXES.items() if name.lower().endswith(suffix)), None)
