"""The command `pincite`: global options, commands, and the one place where errors become messages."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag.errors import PinciteError

if TYPE_CHECKING:
    from rag.assistant import Assistant
    from rag.library import Library
    from rag.retrieve import Retriever
    from rag.settings import Settings
    from ui.progress import Bar

COMMANDS = {
    "index": "ui.commands.index:index",
    "papers": "ui.commands.papers:papers",
    "remove": "ui.commands.papers:remove",
    "export": "ui.commands.export:export",
    "search": "ui.commands.ask:search",
    "ask": "ui.commands.ask:ask",
    "chat": "ui.commands.ask:chat",
    "models": "ui.commands.models:models",
    "eval": "ui.commands.evaluate:evaluate",
    "bench": "ui.commands.bench:bench",
    "doctor": "ui.commands.doctor:doctor",
}


class Context:
    """What every command gets: the settings, and openers for the parts it needs."""

    def __init__(self, flags: Mapping[str, Any], quiet: bool) -> None:
        self.flags = flags
        self.quiet = quiet

    @cached_property
    def settings(self) -> Settings:
        """Read when first wanted, so that help is shown whatever the settings file holds."""
        from rag.settings import load

        settings = load(**self.flags)
        _go_offline(settings.offline)
        return settings

    def progress(self) -> Bar:
        from ui.progress import Bar

        return Bar(self.quiet)

    def open_library(self, *, new: bool = False) -> Library:
        """The collection's library; raises PinciteError for a collection that nobody made, unless `new`."""
        from rag.opening import library_of

        if new:
            return library_of(self.settings)
        self._must_exist()
        library = library_of(self.settings)
        self._tell_if_empty(library)
        return library

    def open_retriever(self) -> Retriever:
        from rag.opening import retriever_of

        self._must_exist()
        with self.progress() as bar:
            retriever = retriever_of(self.settings, bar)
        self._tell_how_far(retriever.library)
        return retriever

    def open_assistant(self) -> Assistant:
        from rag.opening import assistant_of

        self._must_exist()
        with self.progress() as bar:
            assistant = assistant_of(self.settings, bar)
        self._tell_how_far(assistant.library)
        return assistant

    def _must_exist(self) -> None:
        """A name typed wrong must not become a new, empty collection; the first one needs no making."""
        from rag.holdings import DEFAULT, exists, missing

        name = self.settings.collection
        if name != DEFAULT and not exists(self.settings):
            how = f"To make it: pincite --collection {name} index FILE"
            raise PinciteError(f"{missing(self.settings)} {how}")

    def _tell_if_empty(self, library: Library) -> None:
        if not library.size()[0]:
            click.echo(
                f"The collection {self.settings.collection!r} is empty. To fill it: pincite index FILE",
                err=True,
            )

    def _tell_how_far(self, library: Library) -> None:
        """What answers rest on, where that is not the whole collection: nothing is waited for."""
        from rag.indexing import writer_of

        papers, left = library.size()[0], library.pending()
        without = f"{left:,} of {papers:,} papers have no vectors yet, only their words are searched."
        if writer := writer_of(library.folder):
            here = without if left else f"{papers:,} papers are here so far."
            click.echo(f"{writer.capitalize()} is writing to this collection: {here}", err=True)
        elif left:
            click.echo(f"{without} To finish: pincite index --rebuild", err=True)
        else:
            self._tell_if_empty(library)


class Lazy(click.Group):
    """A group that imports a command when it is called, so that `--help` starts at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        command: click.Command = getattr(__import__(module, fromlist=[attribute]), attribute)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # The reader (head, less) has gone: no error, but Python would complain once more at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=Lazy, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--home", type=click.Path(file_okay=False, path_type=Path), help="Folder of all state [PINCITE_HOME]."
)
@click.option("--collection", metavar="NAME", help="Collection to use [default: default].")
@click.option(
    "--llm", metavar="MODEL", help="Catalogue name, PATH.gguf, hf:REPO/FILE.gguf, or URL of a server."
)
@click.option("--llm-name", metavar="NAME", help="The model's name on the server of --llm URL.")
@click.option("--offline", is_flag=True, default=None, help="Open no connection but to this machine.")
@click.option("--quiet", is_flag=True, help="Show no progress; problems are still printed.")
@click.option(
    "--port", type=click.IntRange(1, 65535), default=7860, show_default=True, help="Port of the page."
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.version_option(package_name="pincite")
@click.pass_context
def pincite(ctx: click.Context, /, quiet: bool, port: int, no_browser: bool, **flags: Any) -> None:
    """Answers questions about a collection of papers; every sentence is pinned to its source.

    Without a command, opens the page in the browser.

    \b
    Examples:
      pincite                                     open the page (sample papers, if there are none)
      pincite index library.bib icml2024.txt      add your papers
      pincite ask "Which papers edit audio?"      ask in the terminal
    """
    _no_telemetry()
    ctx.obj = Context(flags, quiet)
    if ctx.invoked_subcommand is None:
        from ui.commands.page import page

        page(ctx.obj, port, open_browser=not no_browser)


def _no_telemetry() -> None:
    for name, value in (
        ("GRADIO_ANALYTICS_ENABLED", "False"),
        ("HF_HUB_DISABLE_TELEMETRY", "1"),
        ("ANONYMIZED_TELEMETRY", "False"),
        ("DO_NOT_TRACK", "1"),
        ("ORT_DISABLE_TELEMETRY", "1"),
    ):
        os.environ[name] = value


def _go_offline(offline: bool) -> None:
    """With --offline no library may look for anything beyond this machine."""
    if offline:
        os.environ["HF_HUB_OFFLINE"] = "1"
        os.environ["TRANSFORMERS_OFFLINE"] = "1"


def main() -> None:
    """Run the command line; exit 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    try:
        pincite.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(2 if isinstance(error, click.UsageError) else 1)
    except PinciteError as error:
        click.echo(f"pincite: {error}", err=True)
        sys.exit(1)
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted; what was finished is kept.", err=True)
        sys.exit(130)
    except OSError as error:
        click.echo(f"pincite: {error.strerror or error}: {error.filename or ''}".rstrip(": "), err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
