"""`pincite eval`: check a set, run it, compare two runs, gate a change, write a report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rag.errors import InputError, PinciteError
from ui.commands.evaluate_judge import judge
from ui.commands.evaluate_report import report
from ui.commands.evaluate_run import Options, run_set
from ui.commands.evaluate_sets import from_feedback, new
from ui.commands.evaluate_text import comparison_text

if TYPE_CHECKING:
    from ui.cli import Context

PATH = click.Path(exists=True, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group("eval")
def evaluate() -> None:
    """Question sets: how often is it right, cites rightly, refuses rightly?

    A SET is a .jsonl file of questions (docs/evaluation.md) or a BEIR folder.

    \b
    Examples:
      pincite eval new --out draft.jsonl
      pincite eval check questions.jsonl
      pincite eval run questions.jsonl --out runs/base
      pincite eval compare runs/base runs/new
    """


for command in (new, from_feedback, judge):
    evaluate.add_command(command)


@evaluate.command()
@click.argument("path", metavar="SET", type=PATH)
@click.option("--split", default="test", show_default=True, help="Which judgements of a BEIR folder.")
@click.pass_obj
def check(ctx: Context, path: Path, split: str) -> None:
    """Find what is wrong with a set: quotes that are not in the collection, missing facts, ids used twice.

    Prints a line for each fault, and exits with 1 if there are any.

    \b
    Examples:
      pincite eval check questions.jsonl
      pincite --collection iclr eval check questions.jsonl
    """
    from eval import beir
    from eval.questions import check as faults_of
    from eval.questions import load

    if path.is_dir():
        one = beir.load(path, split)
        click.echo(f"{len(one.questions)} queries, {len(one.judgements)} of them judged.", err=True)
        return
    questions = load(path)
    faults = faults_of(questions, (paper.abstract for paper in ctx.open_library().papers()))
    drafts = sum(not q.reviewed for q in questions)
    told = f", {drafts} of them not reviewed yet" if drafts else ""
    for fault in faults:
        click.echo(fault)
    if faults:
        raise InputError(f"{len(faults)} faults in {path}, which has {len(questions)} questions{told}.")
    click.echo(f"{len(questions)} questions{told}, no faults.", err=True)


@evaluate.command()
@click.argument("sets", metavar="SET...", nargs=-1, required=True, type=PATH)
@click.option(
    "--out", required=True, type=FOLDER, help="Folder for the run; several sets get a folder each in it."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N questions.")
@click.option("--kinds", metavar="A,B", help="Only questions of these kinds.")
@click.option("--ids", metavar="A,B", help="Only the questions with these ids.")
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Questions asked at once; for a model on a server [default: 1].",
)
@click.option("--retrieval-only", is_flag=True, help="Only search; no language model runs.")
@click.option("--without-gold", is_flag=True, help="Ask again without the gold papers: a refusal is right.")
@click.option("--index-corpus", is_flag=True, help="Of a BEIR folder: index its corpus into DIR/collection.")
@click.option("--split", default="test", show_default=True, help="Which judgements of a BEIR folder.")
@click.pass_obj
def run(
    ctx: Context, /, sets: Sequence[Path], out: Path, kinds: str | None, ids: str | None, **given: Any
) -> None:
    """Put a set to the assistant, as a user would, and print the figures.

    Writes DIR/answers.jsonl (a row a question, in the set's order), DIR/scores.jsonl and DIR/run.json (the
    conditions, and the figures with their intervals). Stop it whenever you like: the same command goes on.

    \b
    Examples:
      pincite eval run questions.jsonl --out runs/base
      pincite eval run questions.jsonl --out runs/base --without-gold
      pincite eval run questions.jsonl --out runs/try --limit 20 --kinds numeric,which
      pincite eval run scifact/ --out runs/scifact --index-corpus --retrieval-only
      pincite --llm http://127.0.0.1:8080/v1 --llm-name big eval run q.jsonl --out runs/big --workers 8
    """
    options = Options(kinds=_parts(kinds), ids=_parts(ids), **given)
    if options.retrieval_only and options.without_gold:
        raise click.UsageError("--without-gold asks questions, --retrieval-only asks none: choose one.")
    if options.index_corpus and not all(path.is_dir() for path in sets):
        raise click.UsageError(
            "--index-corpus is for BEIR folders; a .jsonl set is run over your collection."
        )
    if (options.workers or 1) > 1 and (options.retrieval_only or not ctx.settings.is_remote):
        raise click.UsageError(
            "--workers is for a model on a server (--llm URL). A local model answers one question at a time, on "
            "all cores: several at once would only wait for each other. Leave --workers away."
        )
    for path, folder in _places(sets, out):
        if len(sets) > 1:
            click.echo(f"{path.name}:")
        run_set(ctx, path, folder, options)


def _parts(text: str | None) -> tuple[str, ...]:
    return tuple(filter(None, (text or "").split(",")))


def _places(sets: Sequence[Path], out: Path) -> list[tuple[Path, Path]]:
    """Where each set's run goes: `out` itself for one set, a folder in it for each of several."""
    if len(sets) == 1:
        return [(sets[0], out)]
    stems = [path.resolve().stem for path in sets]
    if len(set(stems)) < len(stems):
        raise click.UsageError(
            "Two of the sets have the same name; run them one by one, each with its own --out."
        )
    return [(path, out / stem) for path, stem in zip(sets, stems, strict=True)]


@evaluate.command()
@click.argument("a", type=FOLDER)
@click.argument("b", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compare(a: Path, b: Path, as_json: bool) -> None:
    """Compare run B with run A question by question: differences, intervals, flipped questions, a verdict.

    \b
    Examples:
      pincite eval compare runs/base runs/new
      pincite eval compare runs/base runs/new --json | jq .verdict
    """
    from eval.compare import changed_conditions, verdict
    from eval.compare import compare as compare_runs
    from eval.folder import read_run

    (facts_a, scored_a), (facts_b, scored_b) = read_run(a), read_run(b)
    found = compare_runs(scored_a, scored_b)
    if as_json:
        click.echo(json.dumps({"verdict": verdict(found), **asdict(found)}, ensure_ascii=False))
    else:
        click.echo(comparison_text(found, changed_conditions(facts_a, facts_b)))


@evaluate.command()
@click.argument("base", type=FOLDER)
@click.argument("new", metavar="RUN", type=FOLDER)
def gate(base: Path, new: Path) -> None:
    """Exit with 1 only if RUN is worse than BASE beyond noise: on right answers, citations or refusals.

    \b
    Example:
      pincite eval gate runs/base runs/new
    """
    from eval.compare import compare as compare_runs
    from eval.compare import gate as drops_of
    from eval.compare import verdict
    from eval.folder import read_run

    scored_base, scored_new = read_run(base)[1], read_run(new)[1]
    drops = drops_of(scored_base, scored_new)
    click.echo(verdict(compare_runs(scored_base, scored_new)))
    if drops:
        raise PinciteError(f"{new} is worse than {base} beyond noise. {'; '.join(drops)}.")
    click.echo("Passed: no drop beyond noise.", err=True)


evaluate.add_command(report)
