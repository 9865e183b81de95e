"""Sentences that say the opposite of each other."""

import pytest

from rag.opposites import denied, negated, opposite

SOURCE = "TidalNet models are more stable and faster to train than transformer models."


@pytest.mark.parametrize(
    "claim",
    [
        "Why is TidalNet less stable than transformer models to train?",
        "TidalNet is slower to train than transformer models.",
    ],
)
def test_the_other_direction_contradicts(claim):
    assert opposite(claim, SOURCE) and opposite(SOURCE, claim)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("TidalNet is faster to train than transformer models.", SOURCE),
        ("TidalNet is not slower to train than transformer models.", SOURCE),  # negated: no rule decides
        ("Mooring is slower on buoy data.", SOURCE),  # another subject
        (
            "TidalNet trains models with less memory and faster than transformer models.",
            SOURCE,
        ),  # agrees once
        ("TidalNet trains transformer models.", SOURCE),  # no direction
    ],
)
def test_agreement_negation_and_other_subjects_do_not(claim, source):
    assert not opposite(claim, source)


def test_a_negation_turns_a_direction_round():
    claim = "Why is Mooring better than TidalNet at wave forecasts?"
    assert opposite(claim, "On wave forecasts, Mooring was not able to outperform TidalNet.")
    assert opposite(claim, "Kiln was best, while Mooring did not beat TidalNet at wave forecasts.")
    assert not opposite(claim, "Mooring outperforms TidalNet at wave forecasts.")


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("Which noise schedule does Kiln use?", "Kiln does not use any noise schedule.", True),
        ("How many noise schedules does Kiln use?", "Kiln works without a noise schedule.", True),
        ("Which noise schedule does Kiln use?", "Kiln uses a cosine noise schedule.", False),
        (
            "Which noise schedule does Kiln use?",
            "It tunes itself without raising noise schedule costs.",
            False,
        ),
        ("Why does Kiln not use a noise schedule?", "Kiln does not use any noise schedule.", False),
        ("Which noise does Kiln use?", "Kiln has no schedule.", False),
    ],
)
def test_what_a_source_says_is_not_there(claim, source, expected):
    assert denied(claim, source) is expected


QUALITY = (
    "In most cases TidalNet attains an even higher reconstruction quality than its transformer baseline."
)


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("Why does TidalNet attain a worse reconstruction than its transformer baseline?", QUALITY, True),
        ("Why does TidalNet attain a better reconstruction than its transformer baseline?", QUALITY, False),
        ("By how much does TidalNet fall behind the transformer on gauges?",
         "On gauges TidalNet brings significant improvements over the transformer.", True),
    ],
)  # fmt: skip
def test_better_in_other_words(claim, source, expected):
    assert opposite(claim, source) is expected


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("How does Kiln use the source domain while it adapts?",
         "Kiln adapts without access to source domain data.", True),
        ("For how many steps does Kiln fine-tune its encoder?", "Kiln is entirely training-free.", True),
        ("How long does Kiln train?", "Kiln is a training free method.", True),
        ("Which gradient-free method does Kiln use?", "Kiln is a gradient-free method.", False),
        ("How long does Kiln bake?", "Kiln is a training-free method.", False),
    ],
)  # fmt: skip
def test_what_a_source_does_without(claim, source, expected):
    assert denied(claim, source) is expected


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("Why is the tide score so consistent at ranking gauges?",
         "The inconsistency of the tide score in ranking gauges is what we study.", True),
        ("Why is the tide score so inconsistent at ranking gauges?",
         "The inconsistency of the tide score in ranking gauges is what we study.", False),
        ("Why do tide networks only work for convex harbours?",
         "Tide networks give exact operators of nonconvex harbours.", True),
        ("Why do tide networks work for convex and nonconvex harbours?",
         "Tide networks give exact operators of nonconvex harbours.", False),
        ("How do tide networks treat variant harbours?", "Tide networks are invariant.", False),  # too little shared
    ],
)  # fmt: skip
def test_negating_prefixes(claim, source, expected):
    assert negated(claim, source) is expected
