"""The page: what `pincite` does without a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rag.assistant import Assistant
    from rag.library import Library
    from ui.cli import Context

BRIEFLY_S = 0.5  # waited for a process that only looks who is writing


def page(ctx: Context, port: int, *, open_browser: bool) -> None:
    """Open the page; an empty library gets the sample collection first."""
    from ui.web.address import free

    free(port)  # a taken port is told before anything is fetched or loaded
    library = ctx.open_library(new=True)
    prepare(ctx, library)
    assistant = ctx.open_assistant()
    _serve(ctx, assistant, port, open_browser)


def prepare(ctx: Context, library: Library) -> None:
    """The sample into an empty library; vectors that are missing or wrong are made.

    Where another process is writing, nothing is waited for: the page shows what is there, and what comes.
    """
    from rag.indexing import bring_up_to_date, import_file, lock_if_free
    from rag.sample import sample_files

    with ctx.progress() as bar, lock_if_free(ctx.settings.collection_dir, timeout=BRIEFLY_S) as holder:
        if holder:
            return
        if library.size()[0] == 0:
            for file in sample_files():
                import_file(library, file, bar)
        bring_up_to_date(ctx.settings, library, bar)


def _serve(ctx: Context, assistant: Assistant, port: int, open_browser: bool) -> None:
    from ui.web.page import serve

    assistant.warm()
    serve(assistant, port, open_browser=open_browser, ready=lambda url: click.echo(f"Ready: {url}", err=True))
