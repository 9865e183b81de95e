"""A second look at close papers by a small language model."""

import os
import threading
from pathlib import Path

import pytest

from rag.likelihood import LOOKED_AT, WEIGHT, Likelihood, reranked
from rag.nouns import Hit, Paper, Why

MODEL = Path(os.environ.get("PINCITE_HOME", "")) / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"


class Fixed:
    """Scores by key words of the passage."""

    name = "fixed"

    def __init__(self, **scores: float) -> None:
        self.by_word, self.asked = scores, []

    def scores(self, question, passages, cancel=None):
        self.asked.append((question, list(passages)))
        return [next((v for k, v in self.by_word.items() if k in passage), -3.0) for passage in passages]


def hits(n: int) -> list[Hit]:
    return [
        Hit(Paper(i, f"p{i}", f"L{i}", f"Abstract w{i}x.", title="T"), 0.9 - i / 100, Why()) for i in range(n)
    ]


def test_the_likeliest_of_the_first_papers_comes_first():
    scorer = Fixed(w2x=-1.0, w0x=-2.0)
    order = reranked(scorer, "Q?", hits(LOOKED_AT + 2))
    assert [h.paper.key for h in order[:2]] == ["p2", "p0"]
    assert [h.paper.key for h in order[LOOKED_AT:]] == ["p8", "p9"]  # not looked at: as they were
    assert order[0].score == hits(3)[2].score  # the likeliest keeps its score, the others lose
    assert order[1].score == pytest.approx(0.9 - WEIGHT)
    assert scorer.asked == [("Q?", [f"T. Abstract w{i}x." for i in range(LOOKED_AT)])]


def test_a_stopped_look_leaves_the_order():
    class Stopped(Fixed):
        def scores(self, question, passages, cancel=None):
            return [-1.0]

    assert reranked(Stopped(), "Q?", hits(3)) == hits(3)


def test_nothing_found_is_nothing_to_compare():
    assert reranked(Fixed(), "Q?", []) == []


@pytest.mark.model
@pytest.mark.skipif(not MODEL.exists(), reason="smollm2-135m is not here: pincite models pull smollm2-135m")
def test_a_real_model_finds_the_abstract_that_shares_no_word(tmp_path):
    scorer = Likelihood(MODEL, tmp_path)
    passages = [
        "Forecasting sea level needs long histories. We replace attention with recurrent filters.",
        "Robots forget old grasps. We replay a small buffer of past grasps during training.",
    ]
    question = "how do you stop machines from unlearning how to pick things up?"
    first = scorer.scores(question, passages)
    assert first[1] > first[0] + 0.1
    assert scorer.scores(question, passages) == first
    assert scorer.scores(question, passages[::-1]) == first[::-1]
    assert scorer.scores("", passages) == [0.0, 0.0]
    stopped = threading.Event()
    stopped.set()
    assert scorer.scores(question, passages, stopped) == []
    assert Likelihood(MODEL, tmp_path).scores(question, passages) == first  # from the kept weights
    assert [f.suffix for f in (tmp_path / "likelihood").iterdir()] == [".gguf"]


def test_a_scorer_that_is_not_here_is_done_without_and_never_fetched(tmp_path, monkeypatch):
    from rag import weights
    from rag.errors import SettingsError
    from rag.opening import scorer_of
    from rag.settings import load

    monkeypatch.setattr(weights, "REMOTE", (lambda *_: pytest.fail("fetched"),))
    monkeypatch.delenv("PINCITE_WEIGHTS_PATH", raising=False)
    assert scorer_of(load(home=tmp_path)) is None
    assert scorer_of(load(home=tmp_path, scorer="none")) is None
    with pytest.raises(SettingsError, match="no scorer 'other'"):
        scorer_of(load(home=tmp_path, scorer="other"))
