"""Where a model's text ends: stop strings and loops (pitfall C40)."""

from __future__ import annotations

from collections.abc import Generator, Iterable

import pytest

from rag.looping import LoopGuard, StopFilter, clip
from rag.model import Reason


def looped_after(pieces: Iterable[str]) -> int | None:
    """The number of the piece at which the guard speaks, from 1."""
    guard = LoopGuard()
    return next((n for n, piece in enumerate(pieces, 1) if guard.feed(piece)), None)


def test_the_third_time_a_sentence_is_said_is_a_loop() -> None:
    sentence = "Layer dropping halves the training time of small models. "
    assert looped_after([sentence] * 200) == 3


def test_a_sentence_counts_as_said_again_with_other_markers_layout_and_case() -> None:
    said = [
        "Layer dropping halves the time [1]. ",
        "layer dropping halves the time [2]. ",
        "So it is used often. ",
        "Layer dropping halves  the time [1][3].\n",
    ]
    assert looped_after(said) == 4


def test_sentences_that_differ_in_a_number_or_are_short_are_no_loop() -> None:
    assert looped_after(f"The model with {n} layers is fast. " for n in range(50)) is None
    assert looped_after(["Yes. ", "No. "] * 4) is None


def test_chinese_sentences_without_spaces_are_seen() -> None:
    assert looped_after(["这个模型在小数据集上训练得更快更好。"] * 5) == 3


@pytest.mark.parametrize(
    ("run", "times"),
    [("the model and ", 5), ("a", 60), ("[1]", 20), ("\n", 60), ("0.5, ", 12), ("x" * 150 + " ", 3)],
)
def test_a_run_repeated_to_sixty_characters_and_three_times_is_a_loop(run: str, times: int) -> None:
    assert looped_after(["Start: " + run * times]) == 1
    assert looped_after(["Start: " + run * (times - 1)]) is None


def test_a_loop_is_seen_however_the_text_is_cut() -> None:
    text = "It is so. " + "We drop every second layer of the network. " * 9
    pieces = [text[n : n + 3] for n in range(0, len(text), 3)]
    assert looped_after(pieces) is not None
    assert (
        looped_after(pieces) <= len("It is so. " + "We drop every second layer of the network. " * 3) / 3 + 1
    )


def test_a_table_rule_and_a_normal_answer_are_no_loop() -> None:
    assert looped_after(["|---|---|---|---|\n| a | b | c | d |\n"]) is None
    assert (
        looped_after(["The method is 2.0000000000 times faster [1], and [2] says that it needs 10% less."])
        is None
    )


def cut(pieces: Iterable[str], stop: list[str]) -> tuple[list[str], str, bool]:
    stops = StopFilter(stop)
    return [stops.feed(piece) for piece in pieces], stops.held, stops.stopped


def test_a_stop_string_is_found_across_pieces_and_nothing_after_it_passes() -> None:
    assert cut(["Yes<", "|im", "_end|", "> more"], ["<|im_end|>"]) == (["Yes", "", "", ""], "", True)


def test_what_only_looked_like_a_stop_string_passes_in_the_end() -> None:
    assert cut(["a <", "|", "b| c"], ["<|im_end|>"]) == (["a ", "", "<|b| c"], "", False)


def test_the_longest_possible_beginning_is_held_back() -> None:
    assert cut(["x\n\n"], ["\n\nQ:", "\nA"]) == (["x"], "\n\n", False)


def test_the_first_of_several_stop_strings_counts() -> None:
    assert cut(["one END two STOP"], ["STOP", "END"])[0] == ["one "]


def test_without_stop_strings_everything_passes_at_once() -> None:
    assert cut(["a", "<"], ["", ""]) == (["a", "<"], "", False)


class Source:
    """A scripted stream that notes how far it was read and whether it was closed."""

    def __init__(self, pieces: Iterable[str], reason: Reason = "stop") -> None:
        self.read = 0
        self.closed = False
        self._pieces, self._reason = pieces, reason

    def __call__(self) -> Generator[str, None, Reason]:
        try:
            for piece in self._pieces:
                self.read += 1
                yield piece
            return self._reason
        finally:
            self.closed = True


def drained(stream: Generator[str, None, Reason]) -> tuple[str, Reason]:
    text = ""
    while True:
        try:
            text += next(stream)
        except StopIteration as end:
            return text, end.value


def test_clip_ends_at_a_stop_string_and_closes_the_source() -> None:
    source = Source(["Good", " answer", "<|im_end", "|>", "junk", "junk"])
    assert drained(clip(source(), ["<|im_end|>"])) == ("Good answer", "stop")
    assert (source.read, source.closed) == (4, True)


def test_clip_ends_a_loop_and_says_so() -> None:
    source = Source(["The layers are dropped at random. "] * 200)
    text, reason = drained(clip(source(), []))
    assert (reason, source.read, source.closed) == ("loop", 3, True)
    assert text == "The layers are dropped at random. " * 2


@pytest.mark.parametrize(("reason", "text"), [("stop", "p <"), ("length", "p "), ("cancelled", "p ")])
def test_a_held_back_beginning_is_shown_only_if_the_model_itself_ended(reason: Reason, text: str) -> None:
    assert drained(clip(Source(["p <"], reason)(), ["<|im_end|>"])) == (text, reason)


def test_closing_clip_closes_the_source() -> None:
    source = Source(["a", "b", "c"])
    stream = clip(source(), [])
    assert next(stream) == "a"
    stream.close()
    assert (source.read, source.closed) == (1, True)
