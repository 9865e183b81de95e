import pytest

from rag.quantities import quantities, stands_in


def values(text: str) -> list[tuple[str, str, bool]]:
    return [(q.value, q.unit, q.negative) for q in quantities(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a speed-up of 1.7x", [("1.7", "times", False)]),
        ("a speed-up of 1.7$\\times$", [("1.7", "times", False)]),
        ("1.70 times", [("1.7", "times", False)]),
        ("lower by 12.6%", [("12.6", "percent", False)]),
        ("lower by 12.6 percent", [("12.6", "percent", False)]),
        ("1,200 hours", [("1200", "h", False)]),
        ("a loss of -3.5 dB", [("3.5", "db", True)]),
        ("between 3-5 layers", [("3", "", False), ("5", "", False)]),
        ("in eleven tasks", [("11", "", False)]),
        ("20 ms and 95 sec", [("20", "ms", False), ("95", "s", False)]),
        ("GPT-4 and ResNet50", []),
        ("one of the two", []),
    ],
)
def test_quantities(text: str, expected: list[tuple[str, str, bool]]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize(
    ("claim", "source", "agrees"),
    [
        ("1.7 times", "a 1.7x speed-up", True),
        ("17 times", "a 1.7x speed-up", False),
        ("12 percent", "12 hours", False),
        ("11 tasks", "eleven tasks", True),
        ("-3 points", "3 points", False),
        ("1200 hours", "1,200 hours", True),
        ("95 seconds", "up to 95 sec", True),
        ("20 seconds", "20 ms", False),
    ],
)
def test_stands_in(claim: str, source: str, agrees: bool) -> None:
    assert stands_in(quantities(claim)[0], quantities(source)) is agrees
