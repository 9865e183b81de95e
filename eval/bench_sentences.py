"""Sentence splitters against marked sentences: how right and how fast; the table of docs/design/sentences.md.

    python -m eval.bench_sentences --shared DIR

DIR holds the seeds and corpora that were marked. Splitters that are not installed are left out; to compare all
of them in an environment of their own: pip install nupunkt pysbd syntok blingfire numpy sentencex segtok
sentence-splitter ftfy pylatexenc click
"""

from __future__ import annotations

import gzip
import importlib
import json
import re
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from rag.sentences import masked, split
from rag.text import plain, readable

Span = tuple[int, int]
Splitter = Callable[[str], list[Span]]
MARKS = Path(__file__).parents[1] / "tests" / "sentence_marks.json"


class Marked(NamedTuple):
    """A text with its true sentences."""

    name: str
    text: str
    spans: list[Span]


class Scores(NamedTuple):
    """Boundaries (ends of sentences, the last left out) and sentences found whole."""

    precision: float
    recall: float
    f1: float
    exact: float  # share of the true sentences whose span is found


def invented(marks: dict[str, Any]) -> list[Marked]:
    """The sentences that are in the file as text."""
    out = []
    for case in marks["invented"]:
        text, spans = "", []
        for sentence in case["sentences"]:
            text += case.get("joined_by", " ") if text else ""
            spans.append((len(text), len(text) + len(sentence)))
            text += sentence
        out.append(Marked(case["why"], text, spans))
    return out


def seeds(marks: dict[str, Any], folder: Path) -> list[Marked]:
    """The abstracts that are in the file as spans only; ValueError if a text is not the one marked."""
    out = []
    for case in marks["seeds"]:
        paragraphs = re.split(r"\n\s*\n", (folder / case["file"]).read_text(encoding="utf-8").strip())
        name = f"{case['file']}, abstract {case['abstract']}"
        out.append(_checked(case, name, paragraphs[case["abstract"]]))  # paragraph 0 is the heading
    return out


def held_out(marks: dict[str, Any], folder: Path) -> list[Marked]:
    """The held-out texts, which are in the file as line numbers and spans; ValueError as for `seeds`."""
    wanted = {(case["file"], case["line"]): case for case in marks["held_out"]}
    out = []
    for file in dict.fromkeys(file for file, _ in wanted):
        opened = gzip.open if file.endswith(".gz") else open
        with opened(folder / file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                case = wanted.get((file, number))
                if case:
                    fields = json.loads(line)
                    out.append(_checked(case, file, fields.get("abstract") or fields["text"]))
    return out


def _checked(case: dict[str, Any], name: str, found: str) -> Marked:
    text = readable(found)
    if len(text) != case["length"]:
        raise ValueError(f"{name}: not the text that was marked")
    return Marked(name, text, [(start, end) for start, end in case["spans"]])


def score(splitter: Splitter, cases: Sequence[Marked]) -> Scores:
    """Scores of a splitter, over all boundaries and all sentences of `cases`."""
    hits = found = true = exact = sentences = 0
    for case in cases:
        spans = splitter(case.text)
        ends, true_ends = {end for _, end in spans[:-1]}, {end for _, end in case.spans[:-1]}
        hits, found, true = hits + len(ends & true_ends), found + len(ends), true + len(true_ends)
        exact, sentences = exact + len(set(spans) & set(case.spans)), sentences + len(case.spans)
    precision, recall = hits / found if found else 1.0, hits / true if true else 1.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return Scores(precision, recall, f1, exact / sentences)


def splitters() -> Iterator[tuple[str, Splitter]]:
    """Ours, then each library that is installed."""
    yield "rag.sentences", split
    for name, build in _LIBRARIES.items():
        try:
            yield name, build()
        except ImportError:
            continue


def _nupunkt() -> Splitter:
    library = importlib.import_module("nupunkt")
    return lambda text: _trimmed(text, library.sent_spans(text))


def _nupunkt_tuned() -> Splitter:
    library = importlib.import_module("nupunkt")
    own = importlib.import_module("rag.sentences")
    parameters = library.PunktParameters()
    parameters.update_abbrev_types(
        {*own.JOINING, *own.CLOSING, *own.ABBREVIATED, "e.g", "i.e", "w.r.t", "i.i.d"}
    )
    parameters.update_sent_starters(set(own.OPENERS))
    tokenizer = library.PunktSentenceTokenizer(parameters)
    return lambda text: _trimmed(text, tokenizer.span_tokenize(text))


def _behind_mask(build: Callable[[], Splitter]) -> Callable[[], Splitter]:
    """A library that sees each formula as one word, as our rules do."""

    def built() -> Splitter:
        splitter = build()
        return lambda text: splitter(masked(text))

    return built


def _pysbd() -> Splitter:
    segmenter = importlib.import_module("pysbd").Segmenter(language="en", clean=False)
    return lambda text: _located(text, segmenter.segment(text))


def _syntok() -> Splitter:
    library = importlib.import_module("syntok.segmenter")
    return lambda text: [
        (tokens[0].offset, tokens[-1].offset + len(tokens[-1].value))
        for paragraph in library.analyze(text)
        for tokens in paragraph
    ]


def _blingfire() -> Splitter:
    library = importlib.import_module("blingfire")
    return lambda text: _trimmed(text, library.text_to_sentences_and_offsets(text)[1])


def _sentencex() -> Splitter:
    library = importlib.import_module("sentencex")
    return lambda text: _located(text, library.segment("en", text))


def _segtok() -> Splitter:
    library = importlib.import_module("segtok.segmenter")
    return lambda text: _located(text, library.split_single(text))


def _sentence_splitter() -> Splitter:
    splitter = importlib.import_module("sentence_splitter").SentenceSplitter(language="en")
    return lambda text: _located(text, splitter.split(text))


_LIBRARIES: dict[str, Callable[[], Splitter]] = {
    "nupunkt": _nupunkt,
    "nupunkt, our abbreviations": _nupunkt_tuned,
    "nupunkt, our abbreviations, formulas masked": _behind_mask(_nupunkt_tuned),
    "pysbd": _pysbd,
    "syntok": _syntok,
    "blingfire": _blingfire,
    "blingfire, formulas masked": _behind_mask(_blingfire),
    "sentencex": _sentencex,
    "segtok": _segtok,
    "sentence-splitter": _sentence_splitter,
}


def _trimmed(text: str, spans: Sequence[Span]) -> list[Span]:
    return _located(text, [text[start:end] for start, end in spans])


def _located(text: str, pieces: Sequence[str]) -> list[Span]:
    """Spans of pieces that a library gives as strings, in order; those it has rewritten are lost."""
    spans, position = [], 0
    for piece in filter(None, map(str.strip, pieces)):
        start = text.find(piece, position)
        if start >= 0:
            position = start + len(piece)
            spans.append((start, position))
    return spans


def milliseconds(work: Callable[[str], Any], texts: Sequence[str]) -> float:
    """Median processor time a text, each seen for the first time, after one call to load what is loaded on demand."""
    work("We begin. It works.")
    times = []
    for text in texts:
        start = time.process_time()
        work(text)
        times.append(time.process_time() - start)
    return statistics.median(times) * 1000


@click.command()
@click.option(
    "--shared", "folder", type=click.Path(path_type=Path, exists=True), help="Folder of marked texts."
)
def main(folder: Path | None) -> None:
    """Print the table of all installed splitters, and the speed of readable text."""
    marks = json.loads(MARKS.read_text(encoding="utf-8"))
    sets = {"invented": invented(marks)}
    if folder:
        sets = {"seeds": seeds(marks, folder / "seeds"), "held out": held_out(marks, folder), **sets}
    texts = [case.text for case in next(iter(sets.values()))]
    heads = "".join(f" {name} F1 | exact |" for name in sets)
    click.echo(f"| splitter |{heads} ms an abstract |\n|---|{'---|' * (2 * len(sets) + 1)}")
    for name, splitter in splitters():
        spent = milliseconds(splitter, texts)  # first: a library may remember texts
        scores = "".join(
            f" {s.f1:.3f} | {s.exact:.3f} |" for s in (score(splitter, cases) for cases in sets.values())
        )
        click.echo(f"| {name} |{scores} {spent:.2f} |")
    click.echo(
        f"\nreadable: {milliseconds(readable, texts):.2f} ms, plain: {milliseconds(plain, texts):.2f} ms"
    )


if __name__ == "__main__":
    main()
