"""Our figures and those of the independent judge are the same: on every row, and in the sum of 200 random runs."""

import contextlib
import functools
import importlib.util
import io
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from test_metrics import SHARED, Judge

from eval.metrics import Abstracts
from eval.questions import Question, line_of, load
from rag.text import readable

SETS = ("dev_seeds", "dev_corpus")
RUNS, QUESTIONS, OTHERS = 200, (6, 14), 8

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED.is_dir(), reason="the shared development material is not here"),
]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """`score.py`, loaded once; its pure text functions remember what they have seen."""
    spec = importlib.util.spec_from_file_location("score", SHARED / "eval" / "score.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("norm", "skel"):
        setattr(module, name, functools.lru_cache(maxsize=None)(getattr(module, name)))
    return module


class Direct(Judge):
    """The judge in this process, over some abstracts as found in their source."""

    def __init__(self, folder: Path, script: ModuleType, raw: Sequence[str]) -> None:
        self.folder, self.script = folder, script
        self.corpus = folder / "corpus.jsonl"
        self.papers = {f"paper-{n}": readable(text) for n, text in enumerate(raw)}
        self.abstracts = Abstracts(self.papers)
        self.papers_file = folder / "papers.jsonl"
        self._write(self.corpus, [{"abstract": text} for text in raw])
        self._write(self.papers_file, [{"key": key, "abstract": text} for key, text in self.papers.items()])

    def _write(self, file: Path, rows: Sequence[Any]) -> Path:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return file

    def said(self, questions: Sequence[Question], rows: Sequence[Any]) -> dict[str, list[str]]:
        """The judge's printed figures by kind."""
        asked = self.folder / "set.jsonl"
        asked.write_text("".join(line_of(q) + "\n" for q in questions), encoding="utf-8")
        answers = self._write(self.folder / "answers.jsonl", rows)
        before, out = sys.argv, io.StringIO()
        sys.argv = ["score.py", *map(str, (asked, answers, self.corpus, "--papers", self.papers_file))]
        try:
            with contextlib.redirect_stdout(out):
                self.script.main()
        finally:
            sys.argv = before
        lines = [line.split("  dead ") for line in out.getvalue().splitlines()[1:]]
        return {one[0].split()[0]: one[0].split()[2:] + one[1:] for one in lines}

    def agrees(self, questions: Sequence[Question], rows: Sequence[Any]) -> None:
        found, wanted = self.ours(list(questions), list(rows)), self.said(questions, rows)
        assert found == wanted, (questions, rows)


@functools.cache
def raw_abstracts() -> dict[str, tuple[str, ...]]:
    """The abstracts of each development set, as found."""
    seeds = [(SHARED / "seeds" / name).read_text() for name in ("iclr2024.txt", "icml2024.txt")]
    blocks = tuple(b.strip() for text in seeds for b in text.split("\n\n")[1:] if b.strip())
    lines = (SHARED / "eval" / "dev_corpus_papers.jsonl").read_text().splitlines()
    return {"dev_seeds": blocks, "dev_corpus": tuple(json.loads(line)["abstract"] for line in lines)}


@functools.cache
def questions_of(name: str) -> tuple[Question, ...]:
    return tuple(load(SHARED / "eval" / f"{name}.jsonl"))


@functools.cache
def gold_of(name: str) -> dict[str, tuple[int, ...]]:
    """The places of each question's gold papers among the abstracts of its set."""
    every = Abstracts({str(n): readable(text) for n, text in enumerate(raw_abstracts()[name])})
    return {q.id: tuple(sorted(map(int, every.gold(q)))) for q in questions_of(name)}


def random_runs() -> Iterator[tuple[list[Question], list[str], random.Random]]:
    """Questions, the abstracts that are the collection, and the source of chance for the rows."""
    for seed in range(RUNS):
        rng = random.Random(seed)
        name = SETS[seed % len(SETS)]
        asked = rng.sample(questions_of(name), rng.randint(*QUESTIONS))
        raw = raw_abstracts()[name]
        places = {n for q in asked for n in gold_of(name)[q.id]} | set(rng.sample(range(len(raw)), OTHERS))
        yield asked, [raw[n] for n in sorted(places)], rng


def test_200_random_runs(tmp_path: Path, script: ModuleType) -> None:
    kinds_seen = set()
    for asked, raw, rng in random_runs():
        judge = Direct(tmp_path, script, raw)
        rows = [row for q in asked if (row := judge.row(q, rng)) is not None]
        judge.agrees(asked, rows)
        for q in asked:
            judge.agrees([q], [row for row in rows if row["id"] == q.id])
            kinds_seen.add(q.kind)
    assert len(kinds_seen) >= 10


@pytest.mark.parametrize("name", SETS)
def test_every_row_of_the_development_sets(tmp_path: Path, script: ModuleType, name: str) -> None:
    judge, rng = Direct(tmp_path, script, raw_abstracts()[name]), random.Random(name)
    made = {q.id: judge.row(q, rng) for q in questions_of(name)}
    judge.agrees(questions_of(name), [row for row in made.values() if row])
    for q in questions_of(name):
        row = made[q.id]
        judge.agrees([q], [row] if row else [])
