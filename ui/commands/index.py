"""`pincite index`: files into the collection."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag.errors import InputError
from rag.nouns import Problem

if TYPE_CHECKING:
    from rag.indexing import SourceReport
    from rag.library import Library
    from ui.cli import Context
    from ui.progress import Bar

SHOWN = 10  # problems listed in the terminal; all of them go into --report


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, readable=False))
@click.option("--no-embed", is_flag=True, help="Read and store only; vectors are made by the next run.")
@click.option("--rebuild", is_flag=True, help="Make all vectors anew from the library; needs no source file.")
@click.option("--strict", is_flag=True, help="Exit with 1 if any record could not be read.")
@click.option(
    "--report", type=click.Path(dir_okay=False, path_type=Path), help="Write every problem to a JSON file."
)
@click.pass_obj
def index(
    ctx: Context, paths: Sequence[Path], no_embed: bool, rebuild: bool, strict: bool, report: Path | None
) -> None:
    """Read files of abstracts into the collection: text lists, BibTeX, JSON Lines; folders too.

    A file that was read before and has not changed is left alone; of a changed one only what changed is
    embedded anew. Stop it whenever you like: the next run goes on.

    \b
    Examples:
      pincite index icml2024.txt library.bib
      pincite index ~/papers/                     all files of a folder
      pincite index --rebuild                     all vectors anew
    """
    from rag.indexing import writer_lock

    if not paths and not rebuild:
        raise click.UsageError("Name at least one file or folder, or --rebuild.")
    if no_embed and rebuild:
        raise click.UsageError("--no-embed and --rebuild exclude each other.")
    started = time.monotonic()
    with ctx.progress() as bar:
        folder = ctx.settings.collection_dir
        with writer_lock(folder, lambda who: bar.note(f"Waiting: {who} is writing to this collection.")):
            library = ctx.open_library(new=True)
            reports = _read(library, paths, bar)
            embedded = 0 if no_embed else _embed(ctx, library, rebuild, bar)
    _summary(library, reports, embedded, time.monotonic() - started, no_embed)
    problems = [p for r in reports for p in r.problems]
    if report:
        report.write_text(
            json.dumps([asdict(p) for p in problems], indent=2, ensure_ascii=False), encoding="utf-8"
        )
    if strict and problems:
        sys.exit(1)


def _read(library: Library, paths: Sequence[Path], bar: Bar) -> list[SourceReport]:
    from rag.indexing import SourceReport, import_file
    from rag.readers import sources
    from rag.sample import is_sample_only, leave_sample, sample_files

    files = sources(paths) if paths else []
    sample_before = is_sample_only(library) and not set(files) <= set(sample_files())
    reports, failed = [], []
    for file in files:
        try:
            reports.append(import_file(library, file, bar))
        except InputError as error:  # one bad file hides no other
            failed.append(error)
            problem = Problem(file.name, str(error).rstrip("."), "Check the file and its rights")
            reports.append(SourceReport(file.name, problems=[problem]))
    if failed and len(failed) == len(files):
        raise failed[0]
    if sample_before and any(r.counts.added for r in reports):
        removed = leave_sample(library)
        bar.note(f"The {removed} sample papers made room for yours.")
    return reports


def _embed(ctx: Context, library: Library, rebuild: bool, bar: Bar) -> int:
    from rag.indexing import bring_up_to_date

    return bring_up_to_date(ctx.settings, library, bar, rebuild=rebuild)


def _summary(
    library: Library, reports: Sequence[SourceReport], embedded: int, seconds: float, no_embed: bool
) -> None:
    papers, sentences = library.size()
    for r in reports:
        c = r.counts
        if r.unchanged:
            click.echo(f"{r.name}: unchanged since it was last read")
            continue
        parts = [_count(c.records, "record"), _count(c.added, "new paper")]
        parts += [f"{c.changed} changed"] if c.changed else []
        parts += [f"{c.joined} already known"] if c.joined else []
        parts += [f"{_count(c.merged, 'paper')} found to be another"] if c.merged else []
        parts += [f"{len(r.problems)} skipped"] if r.problems else []
        click.echo(f"{r.name}: {', '.join(parts)}")
        if c.gone:
            gone = _count(c.gone, "paper")
            click.echo(f"  kept from its earlier version: {gone}; `pincite remove KEY` removes one")
        _problems(r.problems)
    click.echo("")
    for name, value in (
        ("papers", f"{papers:,}"),
        ("sentences", f"{sentences:,}"),
        ("embedded now", f"{embedded:,}"),
        ("skipped", f"{sum(len(r.problems) for r in reports):,}"),
        ("seconds", f"{seconds:.1f}"),
    ):
        click.echo(f"{name:<14}{value:>10}")
    changed = any(r.counts.added or r.counts.changed for r in reports)
    if not changed and not embedded:
        click.echo("Nothing has changed.")
    if no_embed and library.pending():
        click.echo(f"Not embedded yet: {_count(library.pending(), 'paper')}; the next run does it.")


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def _problems(problems: Sequence[Problem]) -> None:
    for p in problems[:SHOWN]:
        click.echo(f"  {problem_text(p)}", err=True)
    if len(problems) > SHOWN:
        click.echo(f"  … and {len(problems) - SHOWN} more; --report FILE.json writes all.", err=True)


def problem_text(p: Problem) -> str:
    """Where, what, and what to do."""
    where = [p.source]
    where += [f"line {p.line}"] if p.line else []
    where += [f"record {p.record}"] if p.record else []
    where += [p.field] if p.field else []
    return f"{', '.join(where)}: {p.cause}. {p.remedy}".rstrip()
