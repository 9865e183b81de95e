"""One set of `pincite eval run`: open what it needs, run it, print its figures."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ui.commands.evaluate_text import run_text

if TYPE_CHECKING:
    from eval.beir import BeirSet
    from eval.bootstrap import Figures
    from eval.metrics import Abstracts
    from eval.progress import Report
    from eval.questions import Question
    from eval.runs import Retrieve
    from rag.assistant import Assistant
    from rag.library import Library
    from rag.retrieve import Retriever
    from ui.cli import Context
    from ui.progress import Bar


@dataclass(frozen=True, slots=True)
class Options:
    """How a set is run."""

    limit: int | None
    kinds: tuple[str, ...]
    ids: tuple[str, ...]
    workers: int | None
    retrieval_only: bool
    without_gold: bool
    index_corpus: bool
    split: str


def run_set(ctx: Context, path: Path, out: Path, options: Options) -> None:
    from eval import beir
    from eval.conditions import conditions
    from eval.questions import load
    from eval.runs import chosen
    from eval.runs import run as run_all

    folder = beir.load(path, options.split) if path.is_dir() else None
    every = folder.questions if folder else load(path)
    questions = chosen(every, options.kinds, options.limit, options.ids)
    retriever, assistant = _opened(ctx, folder, out, options)
    abstracts = _abstracts(retriever.library)
    questions, retrieve = _retrieval(ctx, questions, retriever, abstracts, folder, options)
    drafts = sum(not q.reviewed for q in questions)
    with _bar(ctx) as bar:
        scored = run_all(
            questions,
            _askers(assistant, options.workers or 1),
            out,
            abstracts=abstracts,
            conditions=conditions(
                path.resolve().name,
                folder.files if folder else [path],
                mode="answers" if assistant else "retrieval",
                fingerprint=assistant.fingerprint() if assistant else _index_of(retriever.library),
                command=shlex.join(["pincite", *sys.argv[1:]]),
                options={name: value for name, value in asdict(options).items() if value},
            )
            | {"unreviewed": drafts},
            without_gold=options.without_gold,
            retrieve=retrieve,
            report=reporter(bar, "asking"),
        )
    click.echo(run_text(scored))
    if drafts:
        click.echo(
            f"{drafts} of {len(questions)} questions are drafts that nobody has reviewed: these figures count "
            "for nothing before somebody has."
        )


def _askers(assistant: Assistant | None, workers: int) -> list[Assistant]:
    """As many assistants as questions are to be asked at once, over the same parts."""
    from rag.assistant import Assistant

    if assistant is None:
        return []
    more = (Assistant(assistant.retriever, assistant.model, assistant.settings) for _ in range(1, workers))
    return [assistant, *more]


def _opened(
    ctx: Context, folder: BeirSet | None, out: Path, options: Options
) -> tuple[Retriever, Assistant | None]:
    """The user's collection, or one made for the set, and an assistant if questions are to be asked."""
    if folder is None or not options.index_corpus:
        if options.retrieval_only:
            return ctx.open_retriever(), None
        assistant = ctx.open_assistant()
        return assistant.retriever, assistant
    from eval.retrieval import build_collection
    from rag.assistant import Assistant
    from rag.opening import embedder_of, model_of
    from rag.retrieve import Retriever

    with _bar(ctx) as bar:
        library, vectors = build_collection(
            folder.corpus, out / "collection", lambda: embedder_of(ctx.settings, bar, for_documents=True), bar
        )
        retriever = Retriever(library, vectors, embedder_of(ctx.settings, bar))
        if options.retrieval_only:
            return retriever, None
        return retriever, Assistant(retriever, model_of(ctx.settings, bar), ctx.settings)


def _abstracts(library: Library) -> Abstracts:
    from eval.metrics import Abstracts

    return Abstracts({paper.key: paper.abstract for paper in library.papers()})


def _index_of(library: Library) -> dict[str, Any]:
    papers, sentences = library.size()
    return {"embedder": library.get("embedder"), "papers": papers, "sentences": sentences}


def _retrieval(
    ctx: Context,
    questions: Sequence[Question],
    retriever: Retriever,
    abstracts: Abstracts,
    folder: BeirSet | None,
    options: Options,
) -> tuple[list[Question], Retrieve | None]:
    """The questions with their gold papers as keys, and how their retrieval is measured, if it is."""
    from eval.retrieval import as_keys, documents_of, gold_judgements, measure

    documents = judgements = None
    if folder:
        documents, judgements = documents_of(retriever.library), folder.judgements
        keys = as_keys(questions, documents)
        questions = [replace(q, papers=keys[q.id]) for q in questions]
    else:
        lost = sum(bool(q.evidence) and not abstracts.gold(q) for q in questions)
        if lost:
            click.echo(
                f"{lost} of {len(questions)} questions quote papers that are not in this collection.",
                err=True,
            )
        if not options.retrieval_only:
            return list(questions), None
        judgements = gold_judgements(questions, abstracts)

    def retrieve(asked: Sequence[Question], out: Path) -> Mapping[str, Figures]:
        with _bar(ctx) as bar:
            report = reporter(bar, "searching")
            return measure(asked, retriever, judgements, out, documents=documents, report=report)

    return list(questions), retrieve


def _bar(ctx: Context) -> Bar:
    from ui.progress import Bar

    return Bar(ctx.quiet)


def reporter(bar: Bar, what: str) -> Report:
    def report(done: int, total: int, seconds_left: float) -> None:
        minutes = f"{seconds_left / 60:.0f} min" if seconds_left >= 90 else f"{seconds_left:.0f} s"
        bar.step(f"{what}, about {minutes} left", done, total)

    return report
