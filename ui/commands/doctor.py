"""`pincite doctor`: whether everything that an answer needs is here and agrees."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rag.library import Library
    from ui.cli import Context

SHOWN = (
    "pincite", "llama-cpp-python", "chromadb", "gradio", "sentence-transformers", "torch", "onnxruntime", "tiktoken",
)  # fmt: skip


@click.command()
@click.option("--full", is_flag=True, help="Compute the sums of all models anew.")
@click.pass_obj
def doctor(ctx: Context, full: bool) -> None:
    """Check versions, models, library and vectors, disk and memory. Exit 1 if something must be mended.

    \b
    Example:
      pincite doctor
    """
    click.echo(f"python          {platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores")
    for name in SHOWN:
        click.echo(f"{name:<22}{version(name)}")
    click.echo(f"home            {ctx.settings.home}")
    disk = shutil.disk_usage(_existing(ctx))
    click.echo(f"disk free       {disk.free / 1e9:.1f} GB")
    click.echo(f"memory          {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.1f} GB")
    click.echo(
        f"network         {'off (--offline)' if ctx.settings.offline else 'used only to fetch missing models'}"
    )
    wrong = _models(ctx, full) + _collection(ctx)
    for line in wrong:
        click.echo(f"MEND: {line}")
    click.echo("Something must be mended." if wrong else "All is well.")
    sys.exit(1 if wrong else 0)


def _models(ctx: Context, full: bool) -> list[str]:
    from rag.errors import WeightsError
    from rag.weights import status, verify

    wrong = []
    wanted = {ctx.settings.llm, ctx.settings.embedder}
    for s in status(ctx.settings.models_dir):
        state = "not here" if not s.present else "verified" if s.verified else "here, sum not checked yet"
        if s.present or s.name in wanted:
            click.echo(f"model           {s.name}: {state}")
        if full and s.present:
            try:
                verify(s.name, ctx.settings.models_dir)
            except WeightsError as error:
                wrong.append(str(error))
        if s.name in wanted and not s.present:
            wrong.append(f"the model {s.name} is not here. Run: pincite models pull {s.name}")
    return wrong


def _collection(ctx: Context) -> list[str]:
    if not (ctx.settings.collection_dir / "library.sqlite").exists():
        click.echo(f"collection      {ctx.settings.collection}: empty")
        return []
    library = ctx.open_library()
    papers, sentences = library.size()
    click.echo(f"collection      {ctx.settings.collection}: {papers:,} papers, {sentences:,} sentences")
    wrong = []
    if library.pending():
        wrong.append(
            f"{library.pending():,} papers are not embedded. Run: pincite index --rebuild, or index again"
        )
    problem = library.db.execute("PRAGMA quick_check").fetchone()[0]
    if problem != "ok":
        wrong.append(
            f"the library is damaged ({problem}); move {library.file} away and index your files again"
        )
    return wrong + _vectors(ctx, library)


def _vectors(ctx: Context, library: Library) -> list[str]:
    from rag.filling import disagreement, lacking
    from rag.opening import vectors_of

    vectors = vectors_of(ctx.settings)
    problem = disagreement(library, vectors)
    if not problem and (left := lacking(library, vectors)):
        problem = f"{left:,} vectors are not in the index yet"
    click.echo(f"vectors         {problem or 'agree with the library'}")
    return [f"{problem}. Run: pincite index --rebuild"] if problem else []


def _existing(ctx: Context) -> str:
    """The nearest folder of the home that exists: where its disk is."""
    folder = ctx.settings.home.absolute()
    while not folder.exists():
        folder = folder.parent
    return str(folder)
