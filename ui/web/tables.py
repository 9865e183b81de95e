"""The library's papers, files and reports as sanitised HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from rag.indexing import SourceReport
from rag.nouns import Paper, Problem
from ui.web.clean import clean
from ui.web.prose import prose

AUTHORS = 3  # named in a row of the table
PROBLEMS = 50  # shown of each file


def papers_html(papers: Sequence[Paper], chosen: str = "", *, empty: bool = False) -> str:
    """The table of papers; pressing a title opens the paper. `empty`: the collection holds none."""
    if empty:
        return clean('<p class="quiet">No papers yet. Add files, and they are listed here.</p>')
    if not papers:
        return clean('<p class="quiet">No paper fits. Take a filter off, or search for fewer words.</p>')
    rows = "".join(_row(p, p.key == chosen) for p in papers)
    return clean(
        '<table class="papers-table"><thead><tr><th scope="col">Paper</th><th scope="col" class="authors">Authors</th>'
        f'<th scope="col">Venue</th><th scope="col">Year</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _row(paper: Paper, chosen: bool) -> str:
    authors = ", ".join(paper.authors[:AUTHORS]) + (" et al." if len(paper.authors) > AUTHORS else "")
    current = ' aria-current="true"' if chosen else ""
    return (
        f'<tr><td><button type="button" class="title" data-press="{escape(paper.key)}"{current}>'
        f'{prose(paper.label)}</button></td><td class="quiet authors">{escape(authors)}</td>'
        f'<td class="quiet">{escape(paper.venue)}</td><td class="quiet">{paper.year or ""}</td></tr>'
    )


def files_html(files: Iterable[tuple[str, int]]) -> str:
    """The files that were read, with how many papers each tells of."""
    items = "".join(
        f'<li>{escape(name)} <span class="quiet">{count:,} paper{"" if count == 1 else "s"}</span></li>'
        for name, count in files
    )
    return clean(f'<ul class="files">{items}</ul>' if items else '<p class="quiet">No file yet.</p>')


def reports_html(reports: Sequence[SourceReport]) -> str:
    """What each added file brought, and every problem with where, why and what to do."""
    return clean(f'<div role="status">{"".join(map(_report, reports))}</div>') if reports else ""


def _report(report: SourceReport) -> str:
    c = report.counts
    if report.unchanged:
        return f"<p>{escape(report.name)}: unchanged since it was last read</p>"
    parts = [_count(c.added, "new paper")]
    parts += [f"{c.changed:,} changed"] if c.changed else []
    parts += [f"{c.joined:,} already known"] if c.joined else []
    parts += [_count(len(report.problems), "problem")] if report.problems else []
    items = "".join(f"<li>{_problem(p)}</li>" for p in report.problems[:PROBLEMS])
    more = len(report.problems) - PROBLEMS
    items += f'<li class="quiet">… and {more:,} more</li>' if more > 0 else ""
    problems = f'<ul class="problems">{items}</ul>' if items else ""
    return f"<p>{escape(report.name)}: {', '.join(parts)}</p>{problems}"


def _problem(problem: Problem) -> str:
    where = [f"line {problem.line}"] if problem.line else []
    where += [f"record {problem.record}"] if problem.record else []
    where += [problem.field] if problem.field else []
    place = f"{', '.join(where)}: " if where else ""
    return escape(f"{place}{problem.cause}. {problem.remedy}".rstrip())


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
