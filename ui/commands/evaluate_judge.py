"""`pincite eval judge`: a second opinion on a run, by a language model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ui.commands.evaluate_run import reporter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ui.cli import Context


@click.command()
@click.argument("run", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("path", metavar="SET", type=click.Path(exists=True, path_type=Path))
@click.option("--split", default="test", show_default=True, help="Which judgements of a BEIR folder.")
@click.pass_obj
def judge(ctx: Context, run: Path, path: Path, split: str) -> None:
    """Ask a model whether each answer of a run says what the reference says. Advisory only.

    A small local model is a poor judge: the rules' figures stay what compare and gate look at. The verdicts go
    to DIR/judge.jsonl, their sum to DIR/judge.json. What is neither RIGHT nor WRONG is unscored and counts
    neither way. Stop it whenever you like: the same command goes on.

    \b
    Examples:
      pincite eval judge runs/base questions.jsonl
      pincite --llm http://127.0.0.1:8080/v1 --llm-name big eval judge runs/base questions.jsonl
    """
    from eval import beir, judging
    from eval.questions import load
    from rag.opening import model_of

    folder = beir.load(path, split) if path.is_dir() else None
    questions = folder.questions if folder else load(path)
    with ctx.progress() as bar:
        model = model_of(ctx.settings, bar)
        found = judging.judge(
            run, questions, folder.files if folder else [path], model, reporter(bar, "judging")
        )
    click.echo(judged_text(found.summary, model.name))


def judged_text(summary: Mapping[str, Any], name: str) -> str:
    """The judge's figures in words; what was not scored is named, never counted."""
    figures = summary["figures"]
    right, agreement = figures["right"], figures["agreement"]
    lines = [f"Judged by {name} (advisory: a model's opinion, no figure of compare and gate)"]
    if right is None:
        lines.append("right                   nothing was scored")
    else:
        interval = f"95 %: {100 * right['low']:.1f} to {100 * right['high']:.1f}"
        lines.append(f"{'right':<24}{100 * right['value']:6.1f}   {interval}   over {figures['scored']}")
    lines.append(f"{'unscored':<24}{figures['unscored']:6}   no verdict could be read")
    if agreement is not None:
        lines.append(f"{'as the rules say':<24}{100 * agreement:6.1f}")
    return "\n".join(lines)
