import pytest

from eval.confidence import (
    BY_GRADES,
    OWN,
    Bin,
    Outcome,
    calibration,
    calibration_error,
    confidences,
    risk_coverage,
)
from eval.latency import Spread, spreads, timings


def outcomes(*pairs: tuple[float, int]) -> list[Outcome]:
    return [Outcome(confidence, bool(right)) for confidence, right in pairs]


def graded(*grades: str) -> dict[str, object]:
    return {"sentences": [{"support": grade} for grade in grades]}


def test_confidence_is_the_rows_own_or_the_share_of_good_grades_but_never_both() -> None:
    rows = [graded("quoted", "weak"), graded("supported"), graded()]
    assert confidences(rows) == (BY_GRADES, [0.5, 1.0, None])
    assert confidences([*rows, graded("weak") | {"confidence": 0.3}]) == (OWN, [None, None, None, 0.3])
    assert confidences([graded("weak") | {"confidence": 0.0}]) == (OWN, [0.0])


def test_risk_against_coverage() -> None:
    curve = risk_coverage(outcomes((0.9, 1), (0.5, 0), (0.7, 1), (0.2, 0)), asked=5)
    assert curve is not None
    assert curve.coverage == (0.2, 0.4, 0.6, 0.8)  # one of the five was refused
    assert curve.risk == (0, 0, pytest.approx(1 / 3), 0.5)
    assert curve.area == pytest.approx((0 + 0 + 1 / 3 + 2 / 4) / 4)
    assert curve.by_chance == 0.5
    assert curve.best == curve.area  # both right ones come first already


def test_answers_of_the_same_confidence_are_shown_together() -> None:
    curve = risk_coverage(outcomes((1.0, 1), (1.0, 0), (0.5, 0), (1.0, 1)), asked=4)
    assert curve is not None
    assert (curve.coverage, curve.risk) == ((0.75, 1.0), (pytest.approx(1 / 3), 0.5))
    # of the three, after 1 and 2 answers 1/3 and 2/3 wrong ones are to be expected
    assert curve.area == pytest.approx((1 / 3 + 1 / 3 + 1 / 3 + 2 / 4) / 4)
    alike = risk_coverage(outcomes((0.5, 1), (0.5, 0)), asked=2)
    assert alike is not None and alike.area == alike.by_chance == 0.5
    assert alike.best == 0.25  # (0 + 1/2) / 2


def test_without_answers_there_is_no_curve() -> None:
    assert risk_coverage([], asked=3) is None
    assert calibration([]) == []
    assert calibration_error([]) is None


def test_calibration_in_bins() -> None:
    first, second = calibration(outcomes((0.0, 0), (0.1, 1), (1.0, 1), (0.9, 1), (0.8, 0)))
    assert (first.n, first.confidence, first.right) == (2, 0.05, 0.5)
    assert (second.n, second.confidence, second.right) == (3, pytest.approx(0.9), pytest.approx(2 / 3))
    # Wilson, 1 of 2: (1/2 + z^2/4) / (1 + z^2/2) -+ z / (1 + z^2/2) x sqrt(1/8 + z^2/16), z = 1.96
    assert (first.low, first.high) == (pytest.approx(0.0945, abs=1e-4), pytest.approx(0.9055, abs=1e-4))
    # 2/5 x |0.05 - 0.5| + 3/5 x |0.9 - 2/3|
    assert calibration_error([first, second]) == pytest.approx(0.18 + 0.14)


def test_a_perfect_forecast_has_no_error() -> None:
    assert calibration_error([Bin(0.5, 0.5, 0, 1, 2), Bin(1, 1, 0, 1, 3)]) == 0


def test_latency_over_the_rows_that_have_it() -> None:
    rows = [
        {"timing": {"total_s": float(n), "first_token_s": None, "prompt_tokens": 0, "output_tokens": 0}}
        for n in (1, 2)
    ]
    rows += [{"timing": {"total_s": 9.0, "first_token_s": 4.0, "prompt_tokens": 100, "output_tokens": 7}}]
    rows += [{"status": "error"}]
    found = spreads(rows)
    assert found["total_s"] == Spread(2.0, pytest.approx(8.3), 3)  # 2 + 0.9 x (9 - 2)
    assert found["first_token_s"] == Spread(4.0, 4.0, 1)
    assert (found["prompt_tokens"].n, found["output_tokens"].median) == (1, 7.0)  # where a model ran
    assert "evidence_s" not in found
    assert timings(rows, "evidence_s") == []
