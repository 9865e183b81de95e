"""The flags that narrow a question or a search: `--venue`, `--year`, `--author`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from rag.nouns import Filters

if TYPE_CHECKING:
    from rag.library import Library


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the flags; it gets them as `filters`."""

    @click.option(
        "--venue", "venues", multiple=True, metavar="NAME", help="Only papers of this venue; repeatable."
    )
    @click.option("--year", "years", multiple=True, type=int, help="Only papers of this year; repeatable.")
    @click.option(
        "--author",
        "authors",
        multiple=True,
        metavar="NAME",
        help="Only papers by this last or full name; repeatable.",
    )
    @wraps(command)
    def narrowed(
        *args: Any, venues: tuple[str, ...], years: tuple[int, ...], authors: tuple[str, ...], **more: Any
    ) -> Any:
        return command(*args, filters=Filters(venues=venues, years=years, authors=authors), **more)

    return narrowed


def tell_if_none(library: Library, filters: Filters) -> None:
    """Say on stderr that no paper passes the flags: a name typed wrong must not look like a paper not found."""
    from rag.narrowing import told

    if library.size()[0] and library.allowed(filters) == set():
        click.echo(f"No paper of this collection passes the flags ({told(filters)}).", err=True)
