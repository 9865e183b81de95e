"""`pincite eval report`: runs as a page to read and as Markdown."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag.errors import InputError

if TYPE_CHECKING:
    from ui.cli import Context

MOST = 4  # runs side by side that a page can hold


@click.command()
@click.argument(
    "folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(file_okay=False, path_type=Path)
)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="FILE.html [default: DIR/report.html]."
)
@click.option(
    "--set",
    "sets",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="The set of a run that has not kept its questions.",
)
@click.option("--split", default="test", show_default=True, help="Which judgements of a BEIR folder.")
@click.pass_obj
def report(ctx: Context, folders: Sequence[Path], out: Path | None, sets: Sequence[Path], split: str) -> None:
    """Write what runs found as one HTML file that needs no network, and as Markdown beside it.

    Several runs stand side by side, and are compared where they asked the same questions. Prints the names
    of both files.

    \b
    Examples:
      pincite eval report runs/new
      pincite eval report runs/base runs/new --out compared.html
    """
    out = out or folders[0] / "report.html"
    if len(folders) > MOST:
        raise click.UsageError(f"{len(folders)} runs are too many for one page; name at most {MOST}.")
    if out.suffix != ".html":
        raise click.UsageError(f"--out must end in .html, not {out.name!r}; the Markdown goes beside it.")
    # matplotlib keeps a list of fonts: among Pincite's own files, not in the user's home.
    os.environ.setdefault("MPLCONFIGDIR", str(ctx.settings.cache_dir / "matplotlib"))
    from eval.report.pages import html, markdown
    from eval.report.reading import read, read_sets

    runs = read(folders, read_sets(sets, split))
    for file, text in ((out, html(runs)), (out.with_suffix(".md"), markdown(runs))):
        _write(file, text)
        click.echo(file)


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise InputError(
            f"{file} cannot be written: {error.strerror}. Choose another place with --out."
        ) from error
