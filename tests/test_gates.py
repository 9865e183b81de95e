"""The gates of `scripts/gates`: each must be able to stop a change."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from process import ROOT
from test_runs import ABSTRACTS, CONDITIONS, QUESTIONS, Scripted, go, rows

from eval.conditions import digest_of
from eval.folder import read_run
from eval.gates import answer_faults, main, retrieval_faults, said, to_store
from eval.metrics import Share
from eval.questions import load
from eval.runs import run
from rag.errors import ModelError

STORED = ROOT / "eval" / "sets" / "sample.retrieval.json"


def retrieval(out: Path, *values: float) -> Path:
    figures = {q.id: {"fused MRR": Share(value, 1)} for q, value in zip(QUESTIONS, values, strict=False)}
    facts = CONDITIONS | {"mode": "retrieval"}
    run(QUESTIONS, [], out, abstracts=ABSTRACTS, conditions=facts, retrieve=lambda q, folder: figures)
    return out


def edit(run_folder: Path, change: Any) -> None:
    file = run_folder / "answers.jsonl"
    file.write_text("".join(json.dumps(change(n, row)) + "\n" for n, row in enumerate(rows(file))))


@pytest.fixture
def twice(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("first", "second"):
        go(tmp_path / name)
    return tmp_path / "first", tmp_path / "second"


def test_equal_runs_with_exact_quotes_pass(twice: tuple[Path, Path]) -> None:
    edit(twice[1], lambda n, row: row | {"timing": {"total_s": 9}})
    assert answer_faults(*twice) == []
    assert said(read_run(twice[0])[1]) == "right: 2 of 3; rightly refused: 1 of 1 (not gated)"


def test_a_failed_row_stops(twice: tuple[Path, Path], tmp_path: Path) -> None:
    for name in ("a", "b"):
        go(tmp_path / name, Scripted(mole=ModelError("no memory")))
    assert answer_faults(tmp_path / "a", tmp_path / "b") == ["m failed: no memory"]


def test_an_inexact_quote_stops(tmp_path: Path) -> None:
    moved = Scripted()
    kiln = moved.scripts["What does Kiln keep?"]
    cited = kiln.sentences[0].citations[0]  # type: ignore[union-attr]
    object.__setattr__(cited, "start", cited.start + 1)
    for name in ("a", "b"):
        go(tmp_path / name, moved)
    assert answer_faults(tmp_path / "a", tmp_path / "b") == ["1 of 2 quotes are not exact"]


def test_runs_without_any_quote_prove_nothing(tmp_path: Path) -> None:
    for name in ("a", "b"):
        go(tmp_path / name, questions=QUESTIONS[2:3])
    assert answer_faults(tmp_path / "a", tmp_path / "b") == ["no answer has a quote"]


def test_another_second_answer_stops(twice: tuple[Path, Path]) -> None:
    edit(twice[1], lambda n, row: row | {"note": "stopped"} if n == 1 else row)
    assert answer_faults(*twice) == ["m was answered differently the second time"]


def test_other_questions_stop(twice: tuple[Path, Path]) -> None:
    edit(twice[1], lambda n, row: row | {"id": f"x{n}"})
    assert answer_faults(*twice) == ["the two runs asked different questions"]


def test_retrieval_must_be_as_stored(tmp_path: Path) -> None:
    stored = to_store(read_run(retrieval(tmp_path / "before", 1.0, 0.5))[0])
    assert stored == {"set": "s", "figures": {"fused MRR": {"value": 0.75, "n": 2}}}  # (1 + 1/2) / 2
    same = read_run(retrieval(tmp_path / "same", 0.5, 1.0))[0]
    assert retrieval_faults(same, stored) == []
    for values, fault in (
        ((1.0, 1.0), "fused MRR: 0.750000 stored, 1.000000 now"),  # better is also to be told
        ((1.0, 0.499997), "fused MRR: 0.750000 stored, 0.749999 now"),
        ((1.0, 0.5, 0.75), "fused MRR: 0.750000 stored, 0.750000 now"),  # over three questions
    ):
        facts = read_run(retrieval(tmp_path / str(values), *values))[0]
        assert retrieval_faults(facts, stored) == [fault]


def test_another_set_or_figure_stops(tmp_path: Path) -> None:
    facts = read_run(retrieval(tmp_path / "one", 1.0))[0]
    stored = to_store(facts)
    assert "another" in retrieval_faults(facts, stored | {"set": "t"})[0]
    more = {"figures": stored["figures"] | {"fused nDCG@10": {"value": 1.0, "n": 1}}}
    assert retrieval_faults(facts, stored | more) == ["other figures than those stored: fused nDCG@10"]


def test_the_entry_passes_stops_and_renews(tmp_path: Path, twice: tuple[Path, Path]) -> None:
    stored, first = tmp_path / "stored.json", retrieval(tmp_path / "r", 1.0)

    def call(*arguments: object) -> Any:
        return CliRunner().invoke(main, [str(a) for a in arguments])

    assert call(stored, first, "--renew").exit_code == 0
    done = call(stored, first, *twice)
    assert done.exit_code == 0 and "All gates passed" in done.stdout and "right: 2 of 3" in done.stdout
    done = call(stored, retrieval(tmp_path / "worse", 0.5), *twice)
    assert done.exit_code == 1 and "retrieval: fused MRR: 1.000000 stored, 0.500000 now" in done.stderr
    assert "scripts/gates --renew" in done.stdout
    assert call(stored, first).exit_code == 2


def test_the_stored_figures_are_those_of_the_set_that_ships() -> None:
    stored = json.loads(STORED.read_text())
    sample = STORED.with_name("sample.jsonl")
    assert stored["set"] == digest_of([sample]), "the set has changed: scripts/gates --renew"
    assert {one["n"] for one in stored["figures"].values()} == {sum(bool(q.evidence) for q in load(sample))}


def test_the_script_asks_a_question_of_each_kind() -> None:
    script = (ROOT / "scripts" / "gates").read_text()
    ids = (
        next(line for line in script.splitlines() if line.startswith("ids=")).removeprefix("ids=").split(",")
    )
    kinds = {q.id: q.kind for q in load(STORED.with_name("sample.jsonl"))}
    assert len(ids) == 12 == len({kinds[one] for one in ids})
