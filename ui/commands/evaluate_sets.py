"""`pincite eval new` and `eval from-feedback`: where question sets come from."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag.errors import InputError

if TYPE_CHECKING:
    from eval.questions import Question
    from ui.cli import Context

TRIES = 8  # drafts tried for each one wanted
FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.option("--out", required=True, type=FILE, help="File to write; an earlier one is never overwritten.")
@click.option(
    "-n",
    "many",
    type=click.IntRange(min=1),
    metavar="N",
    default=20,
    show_default=True,
    help="Drafts wanted.",
)
@click.option("--kinds", metavar="A,B", default="lookup,numeric,which", show_default=True, help="In turn.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed takes other sentences.")
@click.pass_obj
def new(ctx: Context, out: Path, many: int, kinds: str, seed: int) -> None:
    """Draft a question set from the collection.

    The program picks papers and quotes, the model words question and answer, and the program takes the facts
    from the quote; what does not fit its quote is dropped. Each item is marked "reviewed": false. Read them,
    mend them, and take the mark away. For questions that must be refused: eval run --without-gold.

    \b
    Examples:
      pincite eval new --out draft.jsonl
      pincite eval new --out draft.jsonl -n 50 --kinds numeric,which --seed 7
      pincite eval check draft.jsonl
    """
    from eval.drafting import KINDS, draft
    from eval.questions import Question, line_of
    from rag.opening import model_of

    wanted = tuple(filter(None, kinds.split(",")))
    if not wanted or set(wanted) - set(KINDS):
        raise click.UsageError(f"--kinds takes any of {', '.join(KINDS)}, parted by commas; not {kinds!r}.")
    if out.exists() and out.stat().st_size:
        raise InputError(f"{out} exists, and may hold work of yours. Choose another --out.")
    library = ctx.open_library()
    rejected: Counter[str] = Counter()
    done = 0
    with ctx.progress() as bar:
        model = model_of(ctx.settings, bar)
        with out.open("w", encoding="utf-8") as file:
            for made in islice(draft(library, model, kinds=wanted, seed=seed), TRIES * many):
                if isinstance(made, Question):
                    file.write(line_of(made) + "\n")
                    file.flush()
                    done += 1
                else:
                    rejected[made.reason] += 1
                bar.step("drafting", done, many)
                if done == many:
                    break
    _tell_drafts(out, done, many, rejected)


def _tell_drafts(out: Path, done: int, many: int, rejected: Counter[str]) -> None:
    if not done:
        out.unlink()
    elif done < many:
        click.echo(f"Only {done} of {many}. Another --seed or a larger --llm may give more.", err=True)
    for reason, times in rejected.most_common():
        click.echo(f"{times} dropped: {reason}", err=True)
    if not done:
        raise InputError("No draft fits its quote. Try another --seed, other --kinds, or a larger --llm.")
    click.echo(f"{done} drafts, none reviewed: {out}. Read each one; see: pincite eval check {out}", err=True)


@click.command("from-feedback")
@click.option("--out", type=FILE, help="Set to add to; what it holds already is left alone [default: print].")
@click.pass_obj
def from_feedback(ctx: Context, out: Path | None) -> None:
    """Turn what people said of answers in this collection into items of a question set.

    An answer that should have been refused becomes a question to be refused; a good one a question with its
    quotes and facts; a wrong one a question with quotes as suggestions, whose facts you write. All are marked
    "reviewed": false, and `eval check` tells what each of them lacks.

    \b
    Examples:
      pincite eval from-feedback
      pincite eval from-feedback --out feedback-set.jsonl
    """
    from eval.from_feedback import items, read
    from eval.questions import line_of, load
    from rag.feedback import FILE as FEEDBACK

    library = ctx.open_library()
    entries, damaged = read(ctx.settings.collection_dir / FEEDBACK)
    for problem in damaged:
        click.echo(f"skipped {problem}", err=True)
    have = {q.id for q in load(out)} if out and out.exists() else set()
    made = [q for q in items(entries, [p.abstract for p in library.papers()]) if q.id not in have]
    lines = "".join(line_of(q) + "\n" for q in made)
    if out is None:
        click.echo(lines, nl=False)
    else:
        _add(out, lines)
    _tell_items(made, len(entries), len(have), out)


def _add(out: Path, lines: str) -> None:
    """Append whole lines, also to a file whose last line has no end."""
    before = out.read_bytes() if out.exists() else b""
    open_end = before and not before.endswith(b"\n")
    with out.open("a", encoding="utf-8") as file:
        file.write(("\n" if open_end else "") + lines)


def _tell_items(made: list[Question], entries: int, have: int, out: Path | None) -> None:
    refused = sum(not q.answerable for q in made)
    click.echo(
        f"{len(made)} new items from {entries} entries, {refused} of them to be refused"
        + (f"; {have} questions were in {out} already." if have else "."),
        err=True,
    )
