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
    assert features([said()], hits(), 30) == {
        "lead": pytest.approx(0.5),
        "cover": 0.5,
        "one_paper": 1.0,
        "first_paper": 1.0,
    }


def test_features_that_speak_against_an_answer():
    seen = features([said(), said(paper="p9")], hits(0.5), 30)
    assert (seen["lead"], seen["one_paper"], seen["first_paper"]) == (0.0, 0.0, 1.0)
    assert features([said(), said(paper="p9")], hits(0.5), 30, True)["one_paper"] == 1.0  # a comparison
    assert features([said(paper="p9")], hits(), 30)["first_paper"] == 0.0
    assert features([said()], [], 0) == {"lead": 0.0, "cover": 0.0, "one_paper": 1.0, "first_paper": 0.0}


def test_confidence_is_a_logistic_function_of_the_features(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "COEFFICIENTS", {"bias": -1.0, "lead": 2.0})
    assert confidence({"lead": 0.5, "unknown": 9.0}) == pytest.approx(0.5)
    assert confidence({"lead": 1.0}) == pytest.approx(0.7311, abs=1e-4)


def test_what_speaks_for_an_answer_raises_its_confidence_and_little_is_refused():
    good = confidence(features([said()], hits(), 30))
    bad = confidence(features([said(paper="p8"), said(paper="p9")], hits(0.5), 30))
    assert bad < module.REFUSED_BELOW < good
