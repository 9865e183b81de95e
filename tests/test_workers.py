"""Several questions at once: rows in the set's order, the same as one by one, resumable."""

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from desk import retriever_at
from test_remote import Fake, Handler, chunk, server  # noqa: F401 - a fixture
from test_runs import ABSTRACTS, CONDITIONS, go, rows

from eval.asking import Stopped
from eval.questions import Question, line_of
from eval.runs import run
from rag.assistant import Assistant
from rag.errors import ModelError
from rag.nouns import Answer
from rag.remote import RemoteModel
from rag.settings import Settings
from ui.commands.evaluate import evaluate

MANY = [Question(f"q{n}", "absent_far", f"Question {n}?", answerable=False) for n in range(24)]


class Slow:
    """Refuses everything: later questions sooner than earlier ones."""

    asked: list[str]

    def __init__(self, shared: list[str], fail: str = "") -> None:
        self.asked, self.fail = shared, fail
        self.busy = threading.Lock()

    def ask(self, question: str, *_: Any) -> Answer:
        assert self.busy.acquire(blocking=False), "one asker had two questions at once"
        try:
            self.asked.append(question)
            time.sleep(0.004 * (24 - int(question.split()[1][:-1])) / 4)
            if question == self.fail:
                raise ModelError("the server is gone")
            return Answer(question, question, "not_found", "Not here.")
        finally:
            self.busy.release()


def at_once(out: Path, askers: Sequence[Any], questions: Sequence[Question] = MANY) -> Any:
    return run(questions, askers, out, abstracts=ABSTRACTS, conditions=CONDITIONS)


def test_rows_are_in_the_sets_order_and_the_same_as_one_by_one(tmp_path: Path) -> None:
    asked: list[str] = []
    at_once(tmp_path / "many", [Slow(asked) for _ in range(5)])
    go(tmp_path / "one", Slow([]), MANY)
    assert sorted(asked) == sorted(q.question for q in MANY)
    assert rows(tmp_path / "many" / "answers.jsonl") == rows(tmp_path / "one" / "answers.jsonl")


def test_so_many_are_asked_at_the_same_time(tmp_path: Path) -> None:
    together = threading.Barrier(4)

    class Meeting:
        def ask(self, question: str, *_: Any) -> Answer:
            together.wait(20)  # nobody goes on before four are here
            return Answer(question, question, "not_found", "Not here.")

    at_once(tmp_path, [Meeting() for _ in range(4)], MANY[:8])
    assert {row["status"] for row in rows(tmp_path / "answers.jsonl")} == {"not_found"}


def test_a_failing_question_stops_neither_the_others_nor_the_run(tmp_path: Path) -> None:
    at_once(tmp_path, [Slow([], "Question 3?") for _ in range(3)])
    status = [row["status"] for row in rows(tmp_path / "answers.jsonl")]
    assert status == ["not_found"] * 3 + ["error"] + ["not_found"] * 20


def test_after_an_interruption_the_rest_is_asked(tmp_path: Path) -> None:
    class Interrupted(Slow):
        def ask(self, question: str, *_: Any) -> Answer:
            if question == "Question 9?":
                raise KeyboardInterrupt
            return super().ask(question)

    with pytest.raises(KeyboardInterrupt):
        at_once(tmp_path / "broken", [Interrupted([]) for _ in range(3)])
    have = [row["id"] for row in rows(tmp_path / "broken" / "answers.jsonl")]
    assert have == [q.id for q in MANY[:9]]
    asked: list[str] = []
    at_once(tmp_path / "broken", [Slow(asked) for _ in range(3)])
    assert sorted(asked) == sorted(q.question for q in MANY[9:])
    at_once(tmp_path / "whole", [Slow([])])
    assert rows(tmp_path / "broken" / "answers.jsonl") == rows(tmp_path / "whole" / "answers.jsonl")


@pytest.mark.parametrize("workers", [1, 3])
def test_a_cancelled_run_ends_at_once_and_writes_no_row_of_what_it_cut(tmp_path: Path, workers: int) -> None:
    stop = threading.Event()

    class Endless:
        """Answers two questions, and the others only when it is told to stop."""

        def ask(self, question: str, history: Any, filters: Any, cancel: threading.Event) -> Answer:
            if question > "Question 1?":
                stop.set()
                assert cancel.wait(20)
            return Answer(question, question, "not_found", "Not here.")

    with pytest.raises(Stopped):
        run(
            MANY[:6],
            [Endless() for _ in range(workers)],
            tmp_path,
            abstracts=ABSTRACTS,
            conditions=CONDITIONS,
            cancel=stop,
        )
    assert [row["id"] for row in rows(tmp_path / "answers.jsonl")] == ["q0", "q1"][: 2 if workers == 1 else 9]


def test_an_interruption_cancels_what_the_others_are_asking(tmp_path: Path) -> None:
    """Ctrl-C must not wait for the answers of a slow server."""
    began = threading.Event()

    class Waiting:
        def ask(self, question: str, history: Any, filters: Any, cancel: threading.Event) -> Answer:
            if question == "Question 0?":
                began.wait(20)
                raise KeyboardInterrupt
            began.set()
            assert cancel.wait(20), "nobody told it to stop"
            return Answer(question, question, "not_found", "Not here.")

    with pytest.raises(KeyboardInterrupt):
        at_once(tmp_path, [Waiting() for _ in range(2)], MANY[:4])
    assert not (tmp_path / "answers.jsonl").exists()


# --- the command, with a model on a server ---


@dataclass
class Context:
    settings: Settings
    assistant: Any
    quiet: bool = True

    def open_assistant(self) -> Any:
        return self.assistant


def set_of(tmp_path: Path) -> Path:
    asked = (
        "By how much does TidalNet lower the error on the Brest gauge?",
        "What does GraftTree merge?",
        "What does Mooring align?",
        "How much faster does TidalNet train?",
    )
    file = tmp_path / "set.jsonl"
    made = [Question(f"q{n}", "lookup", text, reference="r") for n, text in enumerate(asked)]
    file.write_text("".join(line_of(q) + "\n" for q in made))
    return file


def test_a_server_is_asked_by_several_at_once(tmp_path: Path, server: Fake) -> None:  # noqa: F811
    together = threading.Barrier(2)

    def answer(handler: Handler) -> None:
        if waiting:
            together.wait(20)
        handler.send(chunk("TidalNet trains 2.6 times faster [1]."), chunk(finish="stop"), "data: [DONE]\n\n")

    server.answer = answer
    retriever = retriever_at(tmp_path / "desk")
    settings = Settings(home=tmp_path, llm=server.url, llm_name="big")
    assistant = Assistant(retriever, RemoteModel(server.url, "big"), settings)
    found = {}
    for name, options in (("one", []), ("two", ["--workers", "2"])):
        waiting = bool(options)
        arguments = ["run", str(set_of(tmp_path)), "--out", str(tmp_path / name), *options]
        done = CliRunner().invoke(evaluate, arguments, obj=Context(settings, assistant))
        assert done.exit_code == 0, done.exception
        found[name] = [row | {"timing": None} for row in rows(tmp_path / name / "answers.jsonl")]
        assert json.loads((tmp_path / name / "run.json").read_text())["options"].get("workers") == (
            2 if options else None
        )
    assert found["one"] == found["two"]
    assert [row["id"] for row in found["one"]] == ["q0", "q1", "q2", "q3"]
    assert found["one"][3]["status"] == "answered"
    assert len(server.asked) == 8


@pytest.mark.parametrize("options", [["--workers", "2"], ["--workers", "2", "--retrieval-only"]])
def test_a_local_model_is_asked_one_by_one(tmp_path: Path, options: list[str]) -> None:
    arguments = ["run", str(set_of(tmp_path)), "--out", str(tmp_path / "out"), *options]
    done = CliRunner().invoke(evaluate, arguments, obj=Context(Settings(home=tmp_path), None))
    assert done.exit_code == 2
    assert (
        "--workers is for a model on a server (--llm URL). A local model answers one question" in done.stderr
    )
    assert not (tmp_path / "out").exists()
