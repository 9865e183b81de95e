import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.binding import misbound, used_twice

SPEED = (
    "The kernel runs 1.7 times faster than the dense layer and 13.0 times faster than the unstructured layer."
)
TASKS = "TidalNet reaches 84.1% on HarborBench, 71.5% on ReefBench (61.0% without the filters)."
LEADING = "Error falls on calm seas by 12%, and on rough seas by 30%."
ORDERED = "It gains 3.1% and 4.2% on HarborBench and ReefBench, respectively."
LISTED = "It gains 3.1%, 4.2% and 5.5% on HarborBench, ReefBench and DuneBench."
ELLIPTIC = "It gains 1.1 TER and 1.4 BLEU points over the baseline for Tern, and 0.4 TER and 0.6 BLEU points for Gull."
FRACTION = "It keeps 95% of the accuracy with 10% of the labels."


@pytest.mark.parametrize(
    ("claim", "source", "number"),
    [
        ("It is 13.0 times faster than the dense layer.", SPEED, "13.0 times"),
        ("It is 1.7 times faster than the unstructured layer.", SPEED, "1.7 times"),
        ("The speed-up over unstructured layers is 1.7 times and over dense ones 13.0 times.", SPEED, "1.7 times"),
        ("Compared with the dense layer, it is 13.0× faster.", SPEED, "13.0×"),
        ("TidalNet reaches 71.5% on HarborBench.", TASKS, "71.5%"),
        ("TidalNet reaches 84.1% on ReefBench.", TASKS, "84.1%"),
        ("TidalNet reaches 84.1% without the filters.", TASKS, "84.1%"),
        ("On rough seas the error falls by 12%.", LEADING, "12%"),
    ],
)  # fmt: skip
def test_a_number_of_another_clause(claim: str, source: str, number: str) -> None:
    found = misbound(claim, source)
    assert found is not None
    assert found.text == number


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        (
            "It is 1.7 times faster than the dense layer and 13.0 times faster than the unstructured one.",
            SPEED,
        ),
        ("It runs 13.0 times faster than unstructured layers and 1.7 times faster than dense ones.", SPEED),
        ("The kernel is up to 13.0 times faster.", SPEED),
        ("The kernel is 1.7 to 13.0 times faster than the dense and the unstructured layer.", SPEED),
        ("TidalNet reaches 84.1%.", TASKS),
        ("On ReefBench TidalNet reaches 71.5%.", TASKS),
        ("Without the filters it drops from 71.5% to 61.0%.", TASKS),
        ("The error on rough seas falls by 30%.", LEADING),
        ("It gains 4.2% on ReefBench.", ORDERED),
        ("It gains 4.2% on ReefBench.", LISTED),
        ("With 10% of the labels it keeps 95% of the accuracy.", FRACTION),
        ("It keeps 95% of the accuracy.", FRACTION),
        ("For Tern it gains 1.1 TER points over the baseline.", ELLIPTIC),
        ("It is 40 times faster than the dense layer.", SPEED),  # not in the source: another check's matter
    ],
)
def test_a_number_of_its_own_clause(claim: str, source: str) -> None:
    assert misbound(claim, source) is None


def test_the_question_tells_what_an_only_number_is_of() -> None:
    claim = "It speeds up the dense layer's sibling by 13.0 times."
    assert misbound(claim, SPEED, "How much faster than unstructured layers?") is None
    assert misbound(claim, SPEED) is not None


def test_numbers_of_the_question_are_nobodys() -> None:
    source = (
        "At batch size 1 it is 3.4 times faster, at batch size 256 it is 1.7 times faster on dense layers."
    )
    assert misbound("At 256 on dense layers it is 1.7 times faster.", source, "How fast at 256?") is None


@pytest.mark.parametrize(
    ("claim", "number"),
    [
        ("It is 13.0 times faster than dense and 13.0 times faster than unstructured layers.", "13.0 times"),
        ("It is 13.0 times faster than unstructured and 1.7 times faster than dense layers.", None),
        ("The 13.0 times faster kernel is faster than unstructured layers by 13.0 times.", None),
        ("It is 5 times faster and 5 times smaller.", None),  # not in the source at all
    ],
)
def test_one_number_does_not_serve_two_comparisons(claim: str, number: str | None) -> None:
    found = used_twice(claim, [SPEED])
    assert (found.text if found else None) == number


_WORDS = st.sampled_from(
    [
        "13.0×",
        "1.7",
        "12%",
        "three",
        "SE(3)",
        "and",
        "while",
        "(",
        ")",
        ",",
        ";",
        "on",
        "dense",
        "ReefBench",
        "$x^2$",
    ]
)


@given(st.lists(_WORDS, max_size=25), st.lists(_WORDS, max_size=25))
def test_no_text_is_too_odd(claim: list[str], source: list[str]) -> None:
    misbound(" ".join(claim), " ".join(source))
    assert used_twice(" ".join(claim), [" ".join(claim)]) is None


SLASHED = (
    "We see 3.4x/2.5x on CPU and 1.7x/13.0x on GPU against dense/unstructured (CSR) layers, respectively."
)
AFTER = "On the coast, it gains 3%, 4% and 5% on wave, tide and current forecasts, respectively."
BEFORE = "The error on the Brest and Honolulu gauges falls by 18% and 11%, respectively."


@pytest.mark.parametrize(
    ("claim", "source", "number"),
    [
        ("It reaches a speed-up of 1.7x over unstructured layers.", SLASHED, "1.7x"),
        ("It reaches a speed-up of 13.0x over dense layers.", SLASHED, "13.0x"),
        ("It is 3.4x faster than dense layers.", SLASHED, ""),
        ("It is 1.7x faster than dense and 13.0x faster than unstructured layers.", SLASHED, ""),
        ("On GPU the speed-up is 1.7x/13.0x against dense/unstructured layers.", SLASHED, ""),
        ("It gains 4% on current forecasts.", AFTER, "4%"),
        ("It gains 4% on tide forecasts.", AFTER, ""),
        ("It gains 3% on waves and 4% on currents.", AFTER, "4%"),
        ("On the Brest gauge the error falls by 11%.", BEFORE, "11%"),
        ("The error falls by 18% on Brest and by 11% on Honolulu.", BEFORE, ""),
        ("The errors on Brest and Honolulu fall by 18% and 11%, respectively.", BEFORE, ""),
        ("About 171 of 182 directions improve.", "It wins 171/182 directions and/or ties.", ""),
    ],
)
def test_a_number_of_another_item_of_a_series(claim: str, source: str, number: str) -> None:
    found = misbound(claim, source)
    assert (found.text if found else "") == number
