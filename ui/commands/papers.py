"""`pincite papers` and `remove`: what the collection holds, and which papers are one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from rag.errors import PinciteError
from rag.rows import paper_row, told_row

if TYPE_CHECKING:
    from rag.duplicates import Told
    from rag.library import Library
    from ui.cli import Context


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_context
def papers(ctx: click.Context, as_json: bool) -> None:
    """List the papers of the collection.

    \b
    Examples:
      pincite papers
      pincite papers --json > papers.jsonl
      pincite papers show KEY                     one paper, and where it came from
      pincite papers duplicates                   papers that may be one
    """
    if ctx.invoked_subcommand:
        return
    for paper in ctx.obj.open_library().papers():
        if as_json:
            click.echo(json.dumps(paper_row(paper), ensure_ascii=False))
        else:
            about = " ".join(filter(None, [paper.venue, str(paper.year or "")]))
            click.echo(f"{paper.key}  {paper.label}" + (f"  ({about})" if about else ""))


@papers.command()
@click.argument("key")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_obj
def show(ctx: Context, key: str, as_json: bool) -> None:
    """One paper, which records of which files it was made of, and why they are one paper.

    \b
    Example:
      pincite papers show vesseron24a
    """
    from rag.duplicates import explain

    library = ctx.open_library()
    paper = library.paper(key)
    if paper is None:
        raise PinciteError(f"There is no paper {key!r} in this collection. `pincite papers` lists the keys.")
    records = explain(library, key)
    if as_json:
        row = paper_row(paper) | {"records": [told_row(told) for told in records]}
        click.echo(json.dumps(row, ensure_ascii=False))
        return
    click.echo(paper.label)
    for line in (
        ", ".join(paper.authors),
        f"{paper.venue} {paper.year or ''}".strip(),
        paper.url,
        paper.note,
    ):
        if line:
            click.echo(line)
    click.echo(f"\n{paper.abstract}\n")
    for line in _told_lines(records):
        click.echo(line)


def _told_lines(records: Sequence[Told]) -> list[str]:
    """How a paper came out of its records: all of it in a line, then a line a record where there are several."""
    places = [
        f"{t.record.source} #{t.record.number}" + (f" ({t.version})" if t.version else "") for t in records
    ]
    gave = "; ".join(
        f"{', '.join(t.gave)} from {place}" for t, place in zip(records, places, strict=True) if t.gave
    )
    lines = [f"{len(records)} record{'s' * (len(records) > 1)}: {', '.join(places)}; {gave}"]
    if len(records) > 1:
        whys = [t.why or "the first" for t in records]
        lines += [
            f"  {n}. {place}: {why}" for n, (place, why) in enumerate(zip(places, whys, strict=True), 1)
        ]
    return lines


@papers.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_obj
def duplicates(ctx: Context, as_json: bool) -> None:
    """List pairs of papers that may be one paper, and why that is doubtful.

    `pincite papers merge KEY KEY` makes a pair one paper, `pincite papers split KEY KEY` keeps it two; either
    way it is listed no more.

    \b
    Examples:
      pincite papers duplicates
      pincite papers duplicates --json > doubts.jsonl
    """
    from rag.duplicates import doubts

    doubt = None
    for doubt in doubts(ctx.open_library()):
        one, other = doubt.one, doubt.other
        if as_json:
            row = {"one": one.key, "other": other.key, "why": doubt.why}
            click.echo(json.dumps(row | {"labels": [one.label, other.label]}, ensure_ascii=False))
        else:
            click.echo(f"{one.key}  {other.key}  ({doubt.why})\n  {one.label}\n  {other.label}")
    if doubt is None and not as_json:
        click.echo("No two papers of this collection look like one.")


@papers.command()
@click.argument("key")
@click.argument("other")
@click.pass_obj
def merge(ctx: Context, key: str, other: str) -> None:
    """Make two papers one. It keeps the first key, and stays one when its files are read again.

    \b
    Example:
      pincite papers merge vesseron24a vesseron2024neural
    """
    from rag.duplicates import merge as make_one

    with _writing(ctx) as library:
        make_one(library, key, other)
    click.echo(f"{other} is {key} now.")


@papers.command()
@click.argument("key")
@click.argument("other", required=False)
@click.option(
    "--record",
    "records",
    type=int,
    multiple=True,
    help="Number of a record in `papers show`; may be repeated.",
)
@click.pass_obj
def split(ctx: Context, key: str, other: str | None, records: tuple[int, ...]) -> None:
    """Keep two papers two, or take records out of a paper that is two. It stays so when files are read again.

    \b
    Examples:
      pincite papers split roe24a roe24b                of a pair in `papers duplicates`
      pincite papers split roe24a --record 2            record 2 becomes a paper of its own
    """
    from rag.duplicates import keep_apart, take_out

    if bool(other) == bool(records):
        raise click.UsageError(
            "Name two papers, or one and --record with a number of `pincite papers show KEY`."
        )
    with _writing(ctx) as library:
        if other:
            keep_apart(library, key, other)
            said = f"{key} and {other} stay two papers."
        else:
            said = f"{take_out(library, key, records)} was taken out of {key}."
    click.echo(said)


@contextmanager
def _writing(ctx: Context) -> Iterator[Library]:
    """The collection with its one writer; its vectors are brought up to date at the end."""
    from rag.indexing import bring_up_to_date, writer_lock

    library = ctx.open_library()
    with ctx.progress() as bar:
        folder = ctx.settings.collection_dir
        with writer_lock(folder, lambda who: bar.note(f"Waiting: {who} is writing to this collection.")):
            yield library
            bring_up_to_date(ctx.settings, library, bar)


@click.command()
@click.argument("name")
@click.pass_obj
def remove(ctx: Context, name: str) -> None:
    """Remove a paper (by its key) or everything that only one file brought (by the file's name).

    \b
    Examples:
      pincite remove vesseron24a
      pincite remove icml2024.txt
    """
    from rag.keeping import remove as forget

    with _writing(ctx) as library:
        removed, kept = forget(library, name)
        if not removed and not kept:
            raise PinciteError(f"There is no paper and no file {name!r} in this collection.")
    click.echo(f"{removed} removed" + (f", {kept} kept: another file holds them" if kept else ""))
