"""Names that abstracts give to what they present."""

import pytest

from rag.coined import called, coined
from rag.nouns import Paper


def nobody(word: str) -> int:
    """No other paper holds a word."""
    return 1


@pytest.mark.parametrize(
    ("abstract", "names"),
    [
        ("We propose TidalNet, a bank of recurrent filters.", ("TidalNet",)),
        ("In this paper, we further introduce a benchmark of buoys (Buoy-Bench) for gulls.", ("Buoy-Bench",)),
        ("Our system, called *Tern*Flow, wins.", ()),
        ("The second, named *Zero-shot UnSeen (ZEUS)* editing, is new.", ("ZEUS",)),
        (
            "The proposed learning with gull feedback (LWGF) framework is simple.",
            ("learning with gull feedback", "LWGF"),
        ),
        ("Our goal is to establish a simple filter of tides (TideSieve).", ("TideSieve",)),
        ("We present GraftTree and its variant. GraftTree-2 is faster.", ("GraftTree",)),
        # not introduced, but said three times; the words that it stands for come along
        ("Rough seas (RS) hurt. RS models fail, RS gauges too.", ("Rough seas", "RS")),
        ("It costs 44.1 kHz and 3 MB per buoy.", ()),
        ("Transformers are slow. We study them.", ()),
    ],
)
def test_names(abstract: str, names: tuple[str, ...]) -> None:
    assert coined(abstract, nobody) == names


def test_what_many_papers_say_is_nobodys_own_name() -> None:
    assert coined("We propose TidalNet, a bank of filters.", lambda word: 4) == ()


def test_a_name_that_is_shown_already_is_not_said_again() -> None:
    paper = Paper(1, "k", "Filters", "We propose TidalNet, a bank of filters.", title="Filters")
    assert called(paper, "Filters", nobody) == "TidalNet"
    assert called(paper, "Tidal-Net: Filters", nobody) == ""
