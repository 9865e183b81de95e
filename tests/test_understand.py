import pytest

from rag.nouns import Turn
from rag.understand import leans_on_history, names_in, strong_names, understand

HISTORY = [
    Turn(
        "What is TidalNet?", "TidalNet is a recurrent filter bank for sea-level forecasts on the Brest gauge."
    )
]


@pytest.mark.parametrize(
    "question",
    [
        "And on which data sets?",
        "what about Mooring?",
        "Is it faster than a transformer?",
        "Which of the two is older?",
        "What does that imply for storms?",
        "why?",
        "Where does it fail then?",
        "and its weaknesses?",
    ],
)
def test_questions_that_lean(question: str) -> None:
    assert leans_on_history(question)


@pytest.mark.parametrize(
    "question",
    [
        "Which paper shows that pruning needs no data?",
        "How large is the speed-up of GraftTree on twelve benchmarks?",
        "What loss does contrastive pretraining for buoy sensors use?",
    ],
)
def test_questions_that_stand_alone_are_never_rewritten(question: str) -> None:
    search = understand(question, HISTORY)
    assert search.text == question
    assert search.forms == (question,)
    assert not search.follow_up


def test_a_follow_up_keeps_the_names_and_shows_what_is_searched() -> None:
    search = understand("And on which gauges was it tested?", HISTORY)
    assert search.text == "And on which gauges was it tested? (about: TidalNet Brest)"
    assert search.forms == (
        "And on which gauges was it tested?",
        "TidalNet Brest And on which gauges was it tested?",
    )
    assert search.follow_up


def test_without_history_nothing_is_rewritten() -> None:
    assert understand("And its weaknesses?", []).forms == ("And its weaknesses?",)


def test_names() -> None:
    text = "TidalNet beats ResNet50 and GPT-4 on Brest by 12x in 2024. Then LoRA, k-NN and SE(3) fail."
    assert names_in(text) == ["TidalNet", "ResNet50", "GPT-4", "Brest", "LoRA", "k-NN", "SE"]
    assert strong_names("Which Method beats GPT-4 on Brest?") == ["GPT-4"]
