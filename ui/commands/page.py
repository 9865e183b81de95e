"""The page: what `pincite` does without a command."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from rag.assistant import Assistant
    from rag.library import Library
    from ui.cli import Context
    from ui.progress import Bar
    from ui.web.desk import Assistant as PageAssistant
    from ui.web.starting import Download

BRIEFLY_S = 0.5  # waited for a process that only looks who is writing


def page(ctx: Context, port: int, *, open_browser: bool) -> None:
    """Open the page; an empty library gets the sample collection first.

    Where models are missing the page opens before they are here, and shows how far they are.
    """
    from ui.web.address import free

    free(port)  # a taken port is told before anything is fetched or loaded
    library = ctx.open_library(new=True)
    downloads = _downloads(ctx)
    if downloads:
        _serve_and_fetch(ctx, library, downloads, port, open_browser)
    else:
        _serve(ctx, _opened(ctx, library), port, open_browser, _say_ready)


def _downloads(ctx: Context) -> list[Download]:
    """The models that are to be fetched; none if what answers need is here, or nothing may be fetched.

    Whoever fetches the others also gets the small one that compares papers; it is not fetched for its own sake.
    """
    from rag.weights import lacking
    from ui.web.starting import Download

    settings = ctx.settings
    needed = [(settings.embedder, "finds papers")]
    needed += [] if settings.is_remote else [(settings.llm, "writes the answers")]
    found = [(lacking(name, settings.models_dir), purpose) for name, purpose in needed]
    downloads = [Download(model, purpose) for model, purpose in found if model]
    if settings.offline or not downloads:
        return []
    if not settings.is_remote and settings.scorer != "none":
        scorer = lacking(settings.scorer, settings.models_dir)
        downloads += [Download(scorer, "compares close papers", optional=True)] if scorer else []
    return downloads


def _serve_and_fetch(
    ctx: Context, library: Library, downloads: Sequence[Download], port: int, open_browser: bool
) -> None:
    """Serve at once; `Ready:` is printed when the models are here and the first question gets its answer."""
    from ui.web.starting import Starting

    with ctx.progress() as bar:
        _fill_if_empty(ctx, library, bar)
        starting = Starting(ctx.settings, library, downloads, lambda: _opened(ctx, library), bar)

        def opened(url: str) -> None:
            bar.note(f"The page is at {url} and shows how far the models are.")
            starting.begin(lambda: _say_ready(url), lambda error: _say_failed(url, error))

        try:
            _serve(ctx, starting, port, open_browser, opened)
        finally:
            starting.close()


def _say_ready(url: str) -> None:
    click.echo(f"Ready: {url}", err=True)


def _say_failed(url: str, error: str) -> None:
    click.echo(
        f'pincite: {error}\nThe page goes on: press "Try again" at {url}, or end it with Ctrl-C.', err=True
    )


def _opened(ctx: Context, library: Library) -> Assistant:
    prepare(ctx, library)
    assistant = ctx.open_assistant()
    assistant.warm()
    return assistant


def prepare(ctx: Context, library: Library) -> None:
    """The sample into an empty library; vectors that are missing or wrong are made.

    Where another process is writing, nothing is waited for: the page shows what is there, and what comes.
    """
    from rag.indexing import bring_up_to_date, lock_if_free

    with ctx.progress() as bar:
        _fill_if_empty(ctx, library, bar)
        with lock_if_free(ctx.settings.collection_dir, timeout=BRIEFLY_S) as holder:
            if not holder:
                bring_up_to_date(ctx.settings, library, bar)


def _fill_if_empty(ctx: Context, library: Library, bar: Bar) -> None:
    from rag.indexing import import_file, lock_if_free
    from rag.sample import sample_files

    with lock_if_free(ctx.settings.collection_dir, timeout=BRIEFLY_S) as holder:
        if not holder and library.size()[0] == 0:
            for file in sample_files():
                import_file(library, file, bar)


def _serve(
    ctx: Context, assistant: PageAssistant, port: int, open_browser: bool, ready: Callable[[str], None]
) -> None:
    # Gradio imports matplotlib where it finds it, which keeps a list of fonts in the user's home.
    os.environ.setdefault("MPLCONFIGDIR", str(ctx.settings.cache_dir / "matplotlib"))
    from rag.opening import beside
    from ui.web.page import serve

    serve(
        assistant,
        port,
        open_browser=open_browser,
        ready=ready,
        opener=lambda settings: beside(_there(assistant), settings),
    )


def _there(assistant: PageAssistant) -> Assistant:
    """The assistant itself, where the page was opened before it; raises ModelError while its models are to come."""
    from ui.web.starting import Starting

    found = assistant.there() if isinstance(assistant, Starting) else assistant
    return cast("Assistant", found)
