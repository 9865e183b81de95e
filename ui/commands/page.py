"""The page: what `pincite` does without a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rag.assistant import Assistant
    from rag.library import Library
    from ui.cli import Context


def page(ctx: Context, port: int, *, open_browser: bool) -> None:
    """Open the page; an empty library gets the sample collection first."""
    from ui.web.address import free

    free(port)  # a taken port is told before anything is fetched or loaded
    library = ctx.open_library(new=True)
    prepare(ctx, library)
    assistant = ctx.open_assistant()
    _serve(ctx, assistant, port, open_browser)


def prepare(ctx: Context, library: Library) -> None:
    """The sample into an empty library; vectors that are missing or wrong are made."""
    from rag.indexing import bring_up_to_date, import_file, writer_lock
    from rag.sample import sample_files

    with ctx.progress() as bar:
        folder = ctx.settings.collection_dir
        with writer_lock(folder, lambda who: bar.note(f"Waiting: {who} is writing to this collection.")):
            if library.size()[0] == 0:
                for file in sample_files():
                    import_file(library, file, bar)
            bring_up_to_date(ctx.settings, library, bar)


def _serve(ctx: Context, assistant: Assistant, port: int, open_browser: bool) -> None:
    from ui.web.page import serve

    assistant.warm()
    serve(assistant, port, open_browser=open_browser, ready=lambda url: click.echo(f"Ready: {url}", err=True))
