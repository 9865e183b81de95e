"""The page: what `pincite` does without a command."""

from __future__ import annotations

import os
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
    _first_models(ctx)
    prepare(ctx, library)
    assistant = ctx.open_assistant()
    _serve(ctx, assistant, port, open_browser)


def _first_models(ctx: Context) -> None:
    """A first start, which fetches the language model, also brings the small one that compares papers."""
    from rag.errors import WeightsError
    from rag.weights import locate

    settings = ctx.settings
    if settings.offline or settings.is_remote or settings.scorer == "none":
        return
    try:
        locate(settings.llm, settings.models_dir, offline=True)
    except WeightsError:
        with ctx.progress() as bar:
            try:
                locate(settings.scorer, settings.models_dir, offline=False, progress=bar)
            except WeightsError as error:
                bar.note(f"Going on without a second look at close papers. {error}")


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
    # Gradio imports matplotlib where it finds it, which keeps a list of fonts in the user's home.
    os.environ.setdefault("MPLCONFIGDIR", str(ctx.settings.cache_dir / "matplotlib"))
    from rag.opening import beside
    from ui.web.page import serve

    assistant.warm()
    serve(
        assistant,
        port,
        open_browser=open_browser,
        ready=lambda url: click.echo(f"Ready: {url}", err=True),
        opener=lambda settings: beside(assistant, settings),
    )
