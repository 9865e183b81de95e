"""Ctrl-C and Ctrl-D in a conversation in the terminal."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Generator, Sequence

import pytest
from fakes import Script, ScriptedModel
from test_cli import QUESTION, Run, run  # noqa: F401 - a fixture

import rag.opening
from rag.model import Finish

GOOD = "Pipit separates up to 14 voices with a sparse mask [2]."


class Interrupted(ScriptedModel):
    """Somebody presses Ctrl-C when the model has written so many pieces, over all its answers."""

    def __init__(self, answers: Sequence[Script], at: int) -> None:
        super().__init__(answers)
        self.at = at

    def _stream(self, *arguments: object) -> Generator[str, None, Finish]:
        stream = super()._stream(*arguments)  # type: ignore[arg-type]
        while True:
            try:
                piece = next(stream)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            if self.produced == self.at:
                os.kill(os.getpid(), signal.SIGINT)
            yield piece


@pytest.fixture
def filled(run: Run) -> Run:  # noqa: F811
    assert run("index", "ours.bib").code == 0
    return run


def conversation(monkeypatch: pytest.MonkeyPatch, model: ScriptedModel, *lines: str) -> None:
    monkeypatch.setattr(rag.opening, "model_of", lambda *_, **__: model)
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_ctrl_c_stops_the_answer_within_a_token_and_the_conversation_goes_on(
    filled: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Interrupted([f"{GOOD} {GOOD} {GOOD}", GOOD], at=3)
    before = signal.getsignal(signal.SIGINT)
    conversation(monkeypatch, model, QUESTION, QUESTION, "")
    done = filled("chat")
    assert done.code == 0 and len(model.calls) == 2
    assert model.produced == 3 + len(GOOD.split()), "nothing was written after Ctrl-C, then the next answer"
    assert "(stopped)" in done.err and "do not" not in done.out.partition("Pipit")[0], "no refusal is shown"
    assert done.out.count("Pipit separates up to 14 voices with a sparse mask. [") == 1
    assert not model.calls[1].messages[0].content.count("Previous"), (
        "a stopped answer that said nothing is no turn"
    )
    assert signal.getsignal(signal.SIGINT) is before


def test_of_a_stopped_answer_what_was_checked_stays_with_its_sources(
    filled: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Interrupted([f"{GOOD} It counts a dawn chorus with an error of 3.1 percent [3]."], at=14)
    conversation(monkeypatch, model, QUESTION, "")
    done = filled("chat")
    assert done.code == 0 and model.produced == 14
    assert "Pipit separates up to 14 voices with a sparse mask. [" in done.out
    assert "Pipit: Counting Birds from Roof Microphones" in done.out and "3.1" not in done.out
    assert done.err.rstrip().endswith("(stopped)")


def test_ctrl_c_at_the_prompt_is_130(filled: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pressed(io.StringIO):
        def readline(self, *_: object) -> str:
            raise KeyboardInterrupt

    conversation(monkeypatch, ScriptedModel([]))
    monkeypatch.setattr(sys, "stdin", Pressed())
    done = filled("chat")
    assert done.code == 130 and "Traceback" not in done.err


def test_ctrl_d_at_the_prompt_is_0(filled: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation(monkeypatch, ScriptedModel([]))
    assert filled("chat").code == 0
