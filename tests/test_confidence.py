"""How far an answer can be relied on."""

import pytest

from rag import confidence as module
from rag.confidence import at_best, confidence, features
from rag.model import Finish
from rag.nouns import AnswerSentence, Citation, Filters, Hit, Paper, Why
from rag.run import Run
from rag.settings import Settings
from rag.understand import understand

FAST = "TidalNet trains 2.6 times faster on one V100."


def said(text: str = FAST, support: str = "supported", paper: str = "p0") -> AnswerSentence:
    return AnswerSentence(text, support, (Citation(1, paper, "T", FAST, 0, len(FAST), support),))


def hits(best: float = 0.7) -> list[Hit]:
    why = Why(text_score=0.5, sentence_score=0.8)
    return [Hit(Paper(i, f"p{i}", "T", FAST), best if i == 0 else 0.5, why) for i in range(30)]


def run(*sentences: AnswerSentence, best: float = 0.7, chance: float | None = 0.01) -> Run:
    out = Run("Why?", "Why?", understand("Why?", ()), 0.0, Filters())
    out.found, out.hits, out.total = hits(best), hits(best)[:8], 30
    out.sentences = list(sentences)
    out.finishes = [Finish("stop", 9, 9, chance)]
    return out


def test_features_of_an_answer():
    assert features(run(said())) == {
        "lead": pytest.approx(0.5),
        "willing": 0.5,
        "one_paper": 1.0,
        "unsure": 0.0,
        "gap": 0.0,
    }


def test_where_no_paper_stands_out_the_gap_of_the_one_that_was_chosen_counts():
    asked = run(said(), best=0.55)
    asked.sure = False
    assert (features(asked)["unsure"], features(asked)["gap"]) == (1.0, module.MIDDLING)  # a server
    for gap, told in ((0.4, 0.4), (-0.2, 0.0), (1.7, 1.0)):
        asked.gap = gap
        assert features(asked)["gap"] == told
    asked.sides = hits()[:2]  # nothing was chosen between them
    assert (features(asked)["unsure"], features(asked)["gap"]) == (0.0, 0.0)


def test_features_that_speak_against_an_answer():
    seen = features(run(said(), said(paper="p9"), best=0.5))
    assert (seen["lead"], seen["one_paper"]) == (0.0, 0.0)
    beside = run(said(), said(paper="p9"))
    beside.sides = hits()[:2]
    assert features(beside)["one_paper"] == 1.0
    nothing = run(said())
    nothing.found = ()
    assert features(nothing)["lead"] == 0.0


@pytest.mark.parametrize(
    ("chance", "willing"), [(1.0, 0.0), (0.1, 0.25), (1e-9, 1.0), (None, module.UNKNOWN)]
)
def test_how_near_the_model_was_to_refusing(chance: float | None, willing: float):
    assert features(run(said(), chance=chance))["willing"] == pytest.approx(willing)


def test_the_part_that_was_nearest_to_refusing_counts():
    two = run(said(), chance=0.001)
    two.finishes.append(Finish("stop", 9, 9, 0.1))
    assert features(two)["willing"] == pytest.approx(0.25)


def test_confidence_is_a_logistic_function_of_the_features(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "COEFFICIENTS", {"bias": -1.0, "lead": 2.0})
    assert confidence({"lead": 0.5, "unknown": 9.0}) == pytest.approx(0.5)
    assert confidence({"lead": 1.0}) == pytest.approx(0.7311, abs=1e-4)


def test_what_speaks_for_an_answer_raises_its_confidence_and_little_is_refused():
    good = confidence(features(run(said(), chance=1e-4)))
    bad = confidence(features(run(said(paper="p8"), said(paper="p9"), best=0.5, chance=0.5)))
    assert bad < Settings().refuse_below < good


def test_what_an_answer_can_come_to_at_best():
    asked = run()
    assert at_best(asked, 0.01) == pytest.approx(
        confidence({"lead": 0.5, "willing": 0.5, "one_paper": 1.0})
    )
    assert at_best(asked, 0.9) < at_best(asked, 0.01)
