"""`pincite models`: which models there are, and fetching them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from rag.errors import PinciteError

if TYPE_CHECKING:
    from ui.cli import Context


@click.group()
def models() -> None:
    """List and fetch models.

    \b
    Examples:
      pincite models list
      pincite models pull                         the default models
      pincite models pull qwen2.5-coder-0.5b
    """


@models.command("list")
@click.pass_obj
def list_(ctx: Context) -> None:
    """All models of the catalogue, and which of them are on this machine.

    \b
    Example:
      pincite models list
    """
    from rag.catalog import catalog
    from rag.weights import status

    known = catalog()
    for s in status(ctx.settings.models_dir):
        model = known[s.name]
        size = f"{s.bytes / 1e6:,.0f} MB" if s.bytes else "?"
        there = "here" if s.present else "-"
        marks = ("default" if model.default else "") if model.tested else "not tested here"
        click.echo(f"{s.name:<24}{s.role:<10}{size:>10}  {there:<5} {model.licence:<18} {marks}".rstrip())


@models.command()
@click.argument("names", nargs=-1)
@click.pass_obj
def pull(ctx: Context, names: Sequence[str]) -> None:
    """Fetch models (without a name: the defaults); what is already here is checked, not fetched again.

    \b
    Examples:
      pincite models pull
      pincite models pull qwen2.5-coder-0.5b
    """
    from rag.catalog import catalog
    from rag.weights import locate

    known = catalog()
    wanted = names or [m.name for m in known.values() if m.default]
    for name in wanted:
        if name not in known and not name.startswith("hf:"):
            raise PinciteError(f"There is no model {name!r}. `pincite models list` shows the names.")
    with ctx.progress() as bar:
        for name in wanted:
            place = locate(name, ctx.settings.models_dir, offline=ctx.settings.offline, progress=bar)
            bar.done()
            click.echo(f"{name}: {place}")
