"""Close papers, read one at a time by the answering model."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import prompts
from rag.assistant import Assistant
from rag.model import Message, Read
from rag.nouns import Done, Found, Hit
from rag.reading import TOKENS, read_closest
from tests.desk import assistant_at
from tests.fakes import ScriptedModel

QUESTION = "What does it use in place of attention?"


class ReadingModel(ScriptedModel):
    """A scripted model that finds the question likelier after some papers: by a word of their prompt."""

    def __init__(self, answers: Sequence[str], made_of: dict[str, Read]) -> None:
        super().__init__(answers)
        self.made_of = made_of
        self.asked: list[tuple[str, str]] = []
        self.turns: list[str] = []

    def read(
        self,
        prefix: Sequence[Message],
        messages: Sequence[Message],
        text: str,
        *,
        watch: str,
        cancel: threading.Event | None = None,
    ) -> Read | None:
        self.turns.append(messages[-1].content)
        self.asked.append((text, watch))
        if cancel and cancel.is_set():
            return None
        return next((r for word, r in self.made_of.items() if word in self.turns[-1]), Read(-9.0, 0.5))


def closest(assistant: Assistant, model: ReadingModel, cancel: threading.Event) -> tuple[list[Hit], object]:
    hits = assistant.retriever.search([QUESTION], 3)
    hits = [replace(hit, score=0.5) for hit in hits]
    return hits, read_closest(
        model, prompts.load("answer"), assistant.retriever, hits, [QUESTION], QUESTION, (), 380, cancel
    )


def test_the_paper_that_makes_the_question_likeliest_comes_first(tmp_path: Path) -> None:
    model = ReadingModel([], {"GraftTree": Read(-6.0, 0.001), "TidalNet": Read(-4.0, 0.001)})
    hits, reading = closest(assistant_at(tmp_path, model), model, threading.Event())
    assert [h.paper.key for h in reading.hits][:2] == ["roe24", "lin23"]
    assert {e.paper.key for e in reading.evidence} == {"roe24"}
    assert [e.n for e in reading.evidence] == list(range(1, len(reading.evidence) + 1))
    assert model.asked == [(QUESTION, "NOT FOUND")] * 3
    assert len(model.turns) == len(hits) == 3
    assert all(model.count(turn) < TOKENS + 60 for turn in model.turns)


def test_a_paper_that_the_model_would_refuse_over_comes_later(tmp_path: Path) -> None:
    model = ReadingModel([], {"GraftTree": Read(-4.0, 0.9), "TidalNet": Read(-4.0, 0.0001)})
    _, reading = closest(assistant_at(tmp_path, model), model, threading.Event())
    assert reading.hits[0].paper.key == "roe24"


def test_no_more_are_read_if_the_model_would_refuse_over_the_first_two(tmp_path: Path) -> None:
    model = ReadingModel([], {"": Read(-4.0, 0.6)})
    hits, reading = closest(assistant_at(tmp_path, model), model, threading.Event())
    assert len(model.asked) == 2
    assert [h.paper.key for h in reading.hits] == [h.paper.key for h in hits]


def test_nothing_is_chosen_once_stop_was_pressed(tmp_path: Path) -> None:
    stopped = threading.Event()
    stopped.set()
    model = ReadingModel([], {})
    assert closest(assistant_at(tmp_path, model), model, stopped)[1] is None


@pytest.mark.parametrize("sure", [True, False])
def test_only_where_no_paper_stands_out_are_papers_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sure: bool
) -> None:
    monkeypatch.setattr("rag.assistant.SURE", -1.0 if sure else 9.0)
    answer = "It is a bank of learned recurrent filters [2]."
    model = ReadingModel([answer], {"TidalNet": Read(-4.0, 0.001)})
    events = list(assistant_at(tmp_path, model).stream(QUESTION))
    found = [e for e in events if isinstance(e, Found)]
    assert len(found) == (1 if sure else 2)
    assert len(model.asked) == (0 if sure else 3)
    if not sure:
        assert {e.paper.key for e in found[-1].evidence} == {"roe24"}
        done = events[-1]
        assert isinstance(done, Done)
        assert done.answer.evidence == found[-1].evidence
        assert [h.paper.key for h in done.answer.nearest][0] == "roe24"


def test_a_model_that_cannot_read_answers_from_several_papers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.assistant.SURE", 9.0)
    model = ScriptedModel(["It is a bank of learned recurrent filters [2]."])
    events = list(assistant_at(tmp_path, model).stream(QUESTION))
    assert len([e for e in events if isinstance(e, Found)]) == 1


def test_nothing_is_written_where_the_answer_would_be_refused_anyway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.assistant.SURE", 9.0)
    monkeypatch.setattr("rag.confidence.lead", lambda hits, total: 0.0)
    model = ReadingModel([], {"": Read(-4.0, 0.6)})
    answer = assistant_at(tmp_path, model).ask(QUESTION)
    assert (answer.status, answer.timing.first_token_s, model.calls) == ("not_found", None, [])
