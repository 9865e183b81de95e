"""`pincite index`: files into the collection."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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

STDIN = "standard input"  # what papers that came by a pipe have for a file
SHOWN = 10  # problems listed in the terminal; all of them go into --report


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, readable=False))
@click.option("--no-embed", is_flag=True, help="Read and store only; vectors are made by the next run.")
@click.option("--rebuild", is_flag=True, help="Make the vector index anew; needs no source file.")
@click.option("--strict", is_flag=True, help="Exit with 1 if any record could not be read.")
@click.option(
    "--report", type=click.Path(dir_okay=False, path_type=Path), help="Write every problem to a JSON file."
)
@click.option(
    "--map",
    "mapped",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="Which column of a table holds a field, such as title or abstract; can be repeated.",
)
@click.pass_obj
def index(
    ctx: Context,
    paths: Sequence[Path],
    no_embed: bool,
    rebuild: bool,
    strict: bool,
    report: Path | None,
    mapped: Sequence[str],
) -> None:
    """Read files of abstracts into the collection; what a file is, its content tells (docs/formats.md).

    Text lists, BibTeX, RIS, nbib, XML, JSON, CSV, Markdown, PDF, each also in .gz or .zip; folders and
    patterns too; - reads standard input. A file that was read before and has not changed is left alone; of a
    changed one only what changed is embedded anew. Stop it whenever you like: the next run goes on,
    and nothing is embedded twice.

    \b
    Examples:
      pincite index icml2024.txt library.bib
      pincite index ~/papers/ "lists/*.csv"       all files of a folder, and a pattern
      pincite index --map title="Paper Title" --map abstract=Text table.csv
      curl -s "$ADDRESS" | pincite index -
      pincite index --rebuild                     make the vector index anew
    """
    from rag.indexing import writer_lock

    if not paths and not rebuild:
        raise click.UsageError("Name at least one file or folder, or --rebuild.")
    if no_embed and rebuild:
        raise click.UsageError("--no-embed and --rebuild exclude each other.")
    columns = _columns(mapped)
    started = time.monotonic()
    with ctx.progress() as bar:
        folder = ctx.settings.collection_dir
        with writer_lock(folder, lambda who: bar.note(f"Waiting: {who} is writing to this collection.")):
            library = ctx.open_library(new=True)
            reports = _read(library, paths, columns, bar, report)
            embedded = 0 if no_embed else _embed(ctx, library, rebuild, bar)
    _summary(library, reports, embedded, time.monotonic() - started)
    _remarks(library, reports, embedded, no_embed, rebuild)
    problems = [p for r in reports for p in r.problems]
    if report:
        _write_report(report, problems)
    if strict and problems:
        sys.exit(1)


def _write_report(report: Path, problems: Sequence[Problem]) -> None:
    text = json.dumps([asdict(p) for p in problems], indent=2, ensure_ascii=False)
    try:
        report.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"The report {report} cannot be written: {error.strerror}. Check its folder and rights."
        ) from error


def _columns(mapped: Sequence[str]) -> dict[str, str]:
    from rag.readers.table import FIELDS

    columns = {}
    for each in mapped:
        name, equals, column = each.partition("=")
        if not equals or not column.strip() or name.strip().lower() not in FIELDS:
            raise click.UsageError(
                f"--map {each!r}: give FIELD=COLUMN, where FIELD is one of {', '.join(FIELDS)}."
            )
        columns[name.strip().lower()] = column.strip()
    return columns


def _read(
    library: Library, paths: Sequence[Path], columns: Mapping[str, str], bar: Bar, report: Path | None
) -> list[SourceReport]:
    """What each file brought. Where no file can be opened, that is written to `report`, and raised."""
    reports: list[SourceReport] = []
    try:
        _read_each(library, paths, columns, bar, reports)
    except InputError as error:
        if report:
            told = [p for r in reports for p in r.problems]
            _write_report(report, told or [_unopened(", ".join(map(str, paths)), error)])
        raise
    return reports


def _unopened(name: str, error: InputError) -> Problem:
    from rag.text import printable

    return Problem(printable(name), str(error).rstrip("."), "Check the file and its rights")


def _read_each(
    library: Library,
    paths: Sequence[Path],
    columns: Mapping[str, str],
    bar: Bar,
    reports: list[SourceReport],
) -> None:
    from rag.indexing import SourceReport, import_file
    from rag.sample import is_sample_only, leave_sample, sample_files

    with _files(paths) as files:
        sample_before = is_sample_only(library) and not {file for file, _ in files} <= set(sample_files())
        failed = []
        for file, called in files:
            try:
                reports.append(import_file(library, file, bar, columns=columns, called=called))
            except InputError as error:  # one bad file hides no other
                failed.append(error)
                problem = _unopened(file.name, error)
                reports.append(SourceReport(problem.source, problems=[problem]))
    if failed and len(failed) == len(files):
        raise failed[0]
    if sample_before and any(r.counts.added for r in reports):
        removed = leave_sample(library)
        bar.note(f"The {removed} sample papers made room for yours.")


@contextmanager
def _files(paths: Sequence[Path]) -> Iterator[list[tuple[Path, str]]]:
    """The files to read, each with the name it is called by if that is not its own."""
    from rag.readers import sources

    named = [path for path in paths if str(path) != "-"]
    files = [(file, "") for file in (sources(named) if named else [])]
    if len(named) == len(paths):
        yield files
        return
    with tempfile.TemporaryDirectory(prefix="pincite-") as folder:
        spooled = Path(folder, "input")
        with spooled.open("wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        yield [*files, (spooled, STDIN)]


def _embed(ctx: Context, library: Library, rebuild: bool, bar: Bar) -> int:
    from rag.indexing import bring_up_to_date

    return bring_up_to_date(ctx.settings, library, bar, rebuild=rebuild)


def _summary(library: Library, reports: Sequence[SourceReport], embedded: int, seconds: float) -> None:
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
        parts += [_count(len(r.problems), "problem")] if r.problems else []
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
        ("problems", f"{sum(len(r.problems) for r in reports):,}"),
        ("seconds", f"{seconds:.1f}"),
    ):
        click.echo(f"{name:<14}{value:>10}")


def _remarks(
    library: Library, reports: Sequence[SourceReport], embedded: int, no_embed: bool, rebuild: bool
) -> None:
    changed = any(r.counts.added or r.counts.changed for r in reports)
    if rebuild and not embedded:
        click.echo("The vector index was made anew from the library's vectors.")
    elif not changed and not embedded:
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
    """Where, what, and what to do; nothing of a file that a terminal would obey."""
    from rag.text import printable

    where = [p.source]
    where += [f"line {p.line}"] if p.line else []
    where += [f"record {p.record}"] if p.record else []
    where += [p.field] if p.field else []
    return printable(f"{', '.join(where)}: {p.cause}. {p.remedy}".rstrip())
