"""`pincite export`: papers out of the collection, for reference managers, documents and scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag.writers import FORMS, Form, form_of, write

if TYPE_CHECKING:
    from rag.nouns import Paper
    from ui.cli import Context


@click.command()
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    help="Form of the output [default: by the name of the -o file, else bibtex].",
)
@click.option("--query", metavar="TEXT", help="Only the papers that a search finds, the nearest first.")
@click.option("-k", "most", type=click.IntRange(1, 1000), help="Papers of --query [default: 10].")
@click.option(
    "--answer",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Only the papers cited by an answer, as `pincite ask --json` printed it.",
)
@click.option("--keys", multiple=True, metavar="KEY[,KEY…]", help="Only these papers; can be repeated.")
@click.option("-o", "output", type=click.Path(path_type=Path), help="File to write [default: stdout].")
@click.option("--force", is_flag=True, help="Replace the -o file if it is there.")
@click.pass_obj
def export(
    ctx: Context,
    form: Form | None,
    query: str | None,
    most: int | None,
    answer: Path | None,
    keys: Sequence[str],
    output: Path | None,
    force: bool,
) -> None:
    """Write papers of the collection as BibTeX, RIS, CSL-JSON, Markdown or JSON Lines.

    Keys of your own BibTeX files are kept. A file is written whole or not at all.

    \b
    Examples:
      pincite export -o papers.bib
      pincite export --query "sparse training" -k 5 --format markdown
      pincite ask "Which papers edit audio?" --json > answer.json
      pincite export --answer answer.json -o cited.ris
    """
    if sum((query is not None, answer is not None, bool(keys))) > 1:
        raise click.UsageError("--query, --answer and --keys exclude each other.")
    if most and query is None:
        raise click.UsageError("-k belongs to --query.")
    to_file = output is not None and str(output) != "-"
    form = form or (form_of(output.name) if output and to_file else None) or "bibtex"
    count = _Count(_chosen(ctx, query, most or 10, answer, keys))
    if not to_file or output is None:
        for piece in write(count, form):
            click.echo(piece, nl=False)
        return
    from rag.exporting import save

    save(output, write(count, form), replace=force)
    click.echo(f"{output}: {count.n:,} paper{'' if count.n == 1 else 's'} as {form}", err=True)


class _Count:
    """Papers on their way out, counted."""

    def __init__(self, papers: Iterable[Paper]) -> None:
        self.papers = papers
        self.n = 0

    def __iter__(self) -> Iterator[Paper]:
        for paper in self.papers:
            self.n += 1
            yield paper


def _chosen(
    ctx: Context, query: str | None, most: int, answer: Path | None, keys: Sequence[str]
) -> Iterable[Paper]:
    from rag.exporting import cited, papers_of

    if query is not None:
        if not query.strip():
            raise click.UsageError("The query is empty.")
        return [hit.paper for hit in ctx.open_retriever().search([query.strip()], most)]
    library = ctx.open_library()
    if answer:
        return list(papers_of(library, cited(answer)))
    if keys:
        wanted = (key.strip() for some in keys for key in some.split(","))
        return list(papers_of(library, filter(None, wanted)))
    return library.papers()
