"""Sentences that say the opposite of each other."""

import pytest

from rag.opposites import opposite

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
