import pytest

from rag.markers import Draft, drafts, numbers_in, settled, tail


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It halves the cost [1].", (1,)),
        ("It halves the cost. [1]", (1,)),
        ("It halves the cost [1, 2].", (1, 2)),
        ("It halves the cost [1][2].", (1, 2)),
        ("It halves the cost [1-3].", (1, 2, 3)),
        ("It halves the cost [1–3].", (1, 2, 3)),
        ("It halves the cost 【1】.", (1,)),
        ("It halves the cost `[1]`.", (1,)),
        ("It halves the cost [Paper 1].", (1,)),
        ("It halves the cost [sentence 4 and 5].", (4, 5)),
        ("It halves the cost [#2].", (2,)),
        ("It halves the cost [^3].", (3,)),
        ("[1] It halves the cost.", (1,)),
        ("It halves the cost.", ()),
    ],
)
def test_every_form_models_write(text: str, numbers: tuple[int, ...]) -> None:
    assert drafts(text) == [Draft("It halves the cost.", numbers)]


def test_a_marker_belongs_to_the_sentence_it_follows() -> None:
    text = "Alpha is fast. [2] Beta is slow [3][4]. Gamma is unknown."
    assert drafts(text) == [
        Draft("Alpha is fast.", (2,)),
        Draft("Beta is slow.", (3, 4)),
        Draft("Gamma is unknown.", ()),
    ]


def test_brackets_that_are_no_markers_stay() -> None:
    assert drafts("The weight lies in [0, 1] for all inputs [2].") == [
        Draft("The weight lies in [0, 1] for all inputs.", (2,))
    ]
    assert drafts("The index $x_{[1]}$ is kept [3].") == [Draft("The index $x_{[1]}$ is kept.", (3,))]


@pytest.mark.parametrize(("marker", "numbers"), [("1, 3-5", [1, 3, 4, 5]), ("7-200", [7, 200]), ("2;2", [2])])
def test_numbers_in(marker: str, numbers: list[int]) -> None:
    assert numbers_in(marker) == numbers


def test_streamed_marker_never_shows_in_pieces() -> None:
    pieces = ["It halves", " the cost ", "[", "1", "]", ".", " Then", " it stops", " `[2", "]`", "."]
    text, shown, done = "", [], []
    for piece in pieces:
        text += piece
        shown.append(tail(text))
        done.append(len(settled(text)))
    assert not any("[" in s or "`" in s for s in shown)
    assert done == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert drafts(text) == [Draft("It halves the cost.", (1,)), Draft("Then it stops.", (2,))]


def test_settled_sentences_do_not_change_while_more_arrives() -> None:
    whole = "It is 1.7 times faster, e.g. on a V100 [1]. It needs 3.4 GB [2]. It was tested on two sets [3]."
    final = drafts(whole)
    for cut in range(len(whole)):
        assert settled(whole[:cut]) == final[: len(settled(whole[:cut]))]
