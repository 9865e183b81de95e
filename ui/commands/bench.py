"""`pincite bench`: how fast Pincite is on this machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from rag.errors import PinciteError

if TYPE_CHECKING:
    from ui.cli import Context


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def bench(ctx: Context, as_json: bool) -> None:
    """Measure answers and search over the present collection, on this machine, now.

    \b
    Examples:
      pincite bench
      pincite --llm qwen2.5-coder-0.5b bench --json
    """
    figures = _measure(ctx)
    if as_json:
        click.echo(json.dumps(figures))
        return
    for name, value in figures.items():
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        click.echo(f"{name:<20}{shown}")


def _measure(ctx: Context) -> dict[str, Any]:
    from eval import speed

    figures: dict[str, Any] = {"help_s": speed.help_seconds()}
    assistant = ctx.open_assistant()
    if not assistant.size()[0]:
        raise PinciteError("The collection is empty. Run: pincite index FILE")
    assistant.warm()
    figures |= speed.answers(assistant)
    retriever = assistant.retriever
    searches = [speed.timed(lambda q=q: retriever.search([q + " please"])) for q in speed.QUESTIONS]  # type: ignore[misc]
    figures["search_s"] = {str(assistant.size()[0]): speed.spread(searches)}
    figures["peak_mb"] = {"chat": speed.peak_mb()}
    return figures
