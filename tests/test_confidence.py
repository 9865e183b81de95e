"""How far an answer can be relied on."""

import pytest

from rag import confidence as module
from rag.confidence import confidence, features
from rag.nouns import AnswerSentence, Citation, Hit, Paper, Why

FAST = "TidalNet trains 2.6 times faster on one V100."


def said(text: str = FAST, support: str = "supported", paper: str = "p0") -> AnswerSentence:
    return AnswerSentence(text, support, (Citation(1, paper, "T", FAST, 0, len(FAST), support),))


def hits(best: float = 0.7) -> list[Hit]:
    why = Why(text_score=0.5, sentence_score=0.8)
    return [Hit(Paper(i, f"p{i}", "T", FAST), best if i == 0 else 0.5, why) for i in range(30)]


def test_features_of_an_answer():
    seen = features("How much faster does TidalNet train?", [said()], hits(), 30)
    assert seen == {
        "lead": pytest.approx(0.5),
        "score": 0.7,
        "cover": 0.5,
        "sentence": 0.8,
        "asked_told": 1.0,
        "weak": 0.0,
        "one_paper": 1.0,
        "first_paper": 1.0,
        "number": 1.0,
        "counted": 1.0,
    }


def test_features_that_speak_against_an_answer():
    answer = [said(support="weak"), said(paper="p9")]
    seen = features("How many parameters has Mooring?", answer, hits(0.5), 30)
    assert (seen["lead"], seen["weak"], seen["one_paper"], seen["counted"]) == (0.0, 1.0, 0.0, 0.0)
    assert seen["asked_told"] == 0.0
    assert features("Q?", [said(paper="p9")], hits(), 30)["first_paper"] == 0.0
    assert features("Q?", [said()], [], 0)["score"] == 0.0


def test_a_quote_behind_an_answer_does_not_hide_that_it_is_weak():
    assert features("Q?", [said(support="weak"), said(support="quoted")], hits(), 30)["weak"] == 1.0


def test_confidence_is_a_logistic_function_of_the_features(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "COEFFICIENTS", {"bias": -1.0, "lead": 2.0})
    assert confidence({"lead": 0.5, "unknown": 9.0}) == pytest.approx(0.5)
    assert confidence({"lead": 1.0}) == pytest.approx(0.7311, abs=1e-4)
