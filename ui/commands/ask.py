"""`pincite ask`, `search` and `chat`: questions in the terminal."""

from __future__ import annotations

import json
import signal
import sys
import textwrap
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

import click

from rag.errors import PinciteError
from rag.nouns import Answer, AnswerSentence, Done, Draft, Filters, Settled, Turn
from rag.rows import answer_row, search_row, why_text

if TYPE_CHECKING:
    from rag.assistant import Assistant
    from ui.cli import Context

WIDTH = 100


@click.command()
@click.argument("question")
@click.option("--json", "as_json", is_flag=True, help="Print the answer row (docs/interfaces.md).")
@click.option("--venue", "venues", multiple=True, help="Only papers of this venue; can be repeated.")
@click.option("--year", "years", multiple=True, type=int, help="Only papers of this year; can be repeated.")
@click.pass_obj
def ask(ctx: Context, question: str, as_json: bool, venues: Sequence[str], years: Sequence[int]) -> None:
    """Answer one question; every sentence carries the numbers of the sentences that support it.

    \b
    Examples:
      pincite ask "What speed-up does SRigL reach on a GPU?"
      pincite ask --venue ICML "Which papers edit audio?" --json
    """
    question = _question(question)
    answer = ctx.open_assistant().ask(question, filters=Filters(tuple(venues), tuple(years)))
    if as_json:
        click.echo(json.dumps(answer_row(answer), ensure_ascii=False))
    else:
        click.echo(answer_text(answer))


@click.command()
@click.argument("query")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option(
    "-k", "most", type=click.IntRange(1, 1000), default=10, show_default=True, help="Papers to list."
)
@click.option("--venue", "venues", multiple=True, help="Only papers of this venue; can be repeated.")
@click.option("--year", "years", multiple=True, type=int, help="Only papers of this year; can be repeated.")
@click.pass_obj
def search(
    ctx: Context, query: str, as_json: bool, most: int, venues: Sequence[str], years: Sequence[int]
) -> None:
    """List the papers nearest to a query, each with its best sentence. No language model runs.

    \b
    Examples:
      pincite search "sparse training" -k 5
      pincite search --json "protein backbones" | jq .title
    """
    retriever = ctx.open_retriever()
    filters = Filters(tuple(venues), tuple(years))
    for rank, hit in enumerate(retriever.search([_question(query)], most, filters), 1):
        sentences = retriever.library.sentences(hit.paper)
        best = sentences[min(hit.best_sentence, len(sentences) - 1)]
        if as_json:
            row = search_row(rank, hit, best.text, best.start, best.end)
            click.echo(json.dumps(row, ensure_ascii=False))
            continue
        click.echo(f"{rank:>3}  {_plain(hit.paper.label)}")
        click.echo(
            textwrap.fill(f"“{_plain(best.text)}”", WIDTH, initial_indent="     ", subsequent_indent="     ")
        )
        click.echo(f"     {why_text(hit)}\n")


@click.command()
@click.pass_obj
def chat(ctx: Context) -> None:
    """A conversation in the terminal; follow-up questions are understood. An empty line or Ctrl-D ends it.

    Ctrl-C stops an answer that is being made; at the prompt it ends the conversation.

    \b
    Example:
      pincite chat
    """
    assistant = ctx.open_assistant()
    history: list[Turn] = []
    click.echo(f"{assistant.size()[0]} papers. An empty line ends the conversation.", err=True)
    while True:
        try:
            question = input("\n> " if sys.stdin.isatty() else "").strip()
        except EOFError:
            click.echo("", err=True)
            return
        if not question:
            return
        try:
            with _stoppable() as cancel:
                answer = _streamed(assistant, question, history, cancel)
        except PinciteError as error:
            click.echo(f"pincite: {error}", err=True)
            continue
        if answer.sentences or not cancel.is_set():
            history.append(Turn(question, answer.text))


@contextmanager
def _stoppable() -> Iterator[threading.Event]:
    """Ctrl-C sets the event meanwhile; pressed again, it interrupts as usual."""
    cancel = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield cancel
    finally:
        signal.signal(signal.SIGINT, before)


def _streamed(
    assistant: Assistant, question: str, history: Sequence[Turn], cancel: threading.Event
) -> Answer:
    """Print settled sentences as they come, then the sources; of a stopped answer what there is."""
    shown = False
    for event in assistant.stream(question, history, cancel=cancel):
        if isinstance(event, Settled):
            click.echo(f"{_plain(event.sentence.text)} {_marks(event.sentence)}".rstrip())
            shown = True
        elif isinstance(event, Done):
            if shown or not cancel.is_set():
                click.echo(sources_text(event.answer) if shown else answer_text(event.answer))
            if cancel.is_set():
                click.echo("(stopped)", err=True)
            return event.answer
        elif isinstance(event, Draft):
            continue
    raise PinciteError("The answer ended before it was complete.")


def answer_text(answer: Answer) -> str:
    """The answer for a terminal: text with markers, then each cited paper with the quoted sentences."""
    lines = []
    if answer.searched_for != answer.question:
        lines.append(f"Searched for: {answer.searched_for}\n")
    lines += _text_lines(answer)
    if answer.note:
        lines.append(f"({answer.note})")
    return "\n".join([*lines, sources_text(answer)]).rstrip()


def _text_lines(answer: Answer) -> list[str]:
    """Running text, or, after a first sentence that ends with a colon, a line for each of the others."""
    if not answer.sentences or not answer.sentences[0].text.endswith(":"):
        return [textwrap.fill(_plain(answer.text), WIDTH)]
    return [
        textwrap.fill(f"{_plain(s.text)} {_marks(s)}".rstrip(), WIDTH, subsequent_indent="  ")
        for s in answer.sentences
    ]


def _marks(sentence: AnswerSentence) -> str:
    return "".join(f"[{c.n}]" for c in sentence.citations)


def sources_text(answer: Answer) -> str:
    """Each cited paper once, below it the quoted sentences with their numbers."""
    cited = {c.n: c for s in answer.sentences for c in s.citations}
    papers = {e.paper.key: e.paper for e in answer.evidence}
    lines: list[str] = []
    for key in dict.fromkeys(c.paper for _, c in sorted(cited.items())):
        paper = papers[key]
        about = [", ".join(paper.authors[:3]) + (" et al." if len(paper.authors) > 3 else "")]
        about += [" ".join(filter(None, [paper.venue, str(paper.year or "")])), paper.url, paper.note]
        lines += ["", _plain(paper.label), *(f"  {a}" for a in about if a.strip())]
        for n, c in sorted(cited.items()):
            if c.paper == key:
                indent = " " * (len(str(n)) + 5)
                lines.append(textwrap.fill(f"  [{n}] “{_plain(c.quote)}”", WIDTH, subsequent_indent=indent))
    if answer.dropped:
        lines += ["", f"{len(answer.dropped)} sentence(s) of the draft were not shown:"]
        lines += [f"  - {d.reason}" for d in answer.dropped]
    return "\n".join(lines)


def _question(text: str) -> str:
    if not text.strip():
        raise click.UsageError("The question is empty.")
    return text.strip()


def _plain(text: str) -> str:
    """Formulas as Unicode, and nothing that a terminal would obey."""
    from rag.text import plain

    return "".join(c for c in plain(text) if c.isprintable() or c == "\n")
