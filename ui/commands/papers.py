"""`pincite papers` and `remove`: what the collection holds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from rag.errors import PinciteError
from rag.rows import paper_row

if TYPE_CHECKING:
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
      pincite papers show KEY
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
@click.pass_obj
def show(ctx: Context, key: str) -> None:
    """One paper, and which records of which files it was made of.

    \b
    Example:
      pincite papers show vesseron24a
    """
    from rag.importing import explain

    library = ctx.open_library()
    paper = library.paper(key)
    if paper is None:
        raise PinciteError(f"There is no paper {key!r} in this collection. `pincite papers` lists the keys.")
    records = explain(library, key)
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
    whence = next(r.source for r in records if r.abstract == paper.abstract)
    click.echo(
        f"{len(records)} record(s): {', '.join(f'{r.source} #{r.number}' for r in records)}; "
        f"abstract from {whence}"
    )


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
    from rag.importing import remove as forget
    from rag.indexing import bring_up_to_date, writer_lock

    library = ctx.open_library()
    with ctx.progress() as bar:
        folder = ctx.settings.collection_dir
        with writer_lock(folder, lambda who: bar.note(f"Waiting: {who} is writing to this collection.")):
            removed, kept = forget(library, name)
            if not removed and not kept:
                raise PinciteError(f"There is no paper and no file {name!r} in this collection.")
            bring_up_to_date(ctx.settings, library, bar)
    click.echo(f"{removed} removed" + (f", {kept} kept: another file holds them" if kept else ""))
