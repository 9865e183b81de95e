import os
import threading
from pathlib import Path

import pytest

from rag.errors import ModelError, PinciteError
from rag.nouns import Done, Draft, Filters, Found, Settled, Turn, Waiting
from rag.refusal import REFUSAL
from rag.rows import answer_row
from rag.writing import STRICTER
from tests.desk import GRAFT, TIDAL, assistant_at
from tests.fakes import ScriptedModel

SPEED = "How much faster does TidalNet train on a V100?"


def test_an_answer_is_pinned_to_the_sentence_that_supports_it(tmp_path: Path) -> None:
    model = ScriptedModel(["TidalNet trains 2.6 times faster on one V100 [3]."])
    answer = assistant_at(tmp_path, model).ask(SPEED)
    assert answer.status == "answered"
    (sentence,) = answer.sentences
    assert sentence.text == "TidalNet trains 2.6 times faster on one V100."
    (citation,) = sentence.citations
    assert citation.paper == "roe24"
    assert TIDAL[citation.start : citation.end] == citation.quote
    assert "2.6 times faster on one V100" in citation.quote
    assert answer.text == f"TidalNet trains 2.6 times faster on one V100 [{citation.n}]."


@pytest.mark.parametrize(
    "marker", ["", "[1]", "[7]", "[99]", "【1】", "[Paper 2]", "(see Okafor et al., 2019)"]
)
def test_attribution_does_not_hang_on_the_models_markers(tmp_path: Path, marker: str) -> None:
    model = ScriptedModel([f"TidalNet trains 2.6 times faster on one V100 {marker}."])
    answer = assistant_at(tmp_path, model).ask(SPEED)
    if "Okafor" in marker:
        assert answer.status == "not_found"
        assert answer.dropped[0].reason == "the number 2019 is not in the cited sentences"
        return
    quotes = [c.quote for s in answer.sentences for c in s.citations]
    assert any("2.6 times faster on one V100" in q for q in quotes)
    assert all(c.n <= len(answer.evidence) for s in answer.sentences for c in s.citations)


def test_a_number_that_is_not_in_the_source_is_not_shown(tmp_path: Path) -> None:
    model = ScriptedModel(["TidalNet trains 6.2 times faster on one V100 [3]."])
    answer = assistant_at(tmp_path, model).ask(SPEED)
    assert answer.status == "not_found"
    assert answer.sentences == ()
    assert answer.dropped[0].reason == "the number 6.2 times is not in the cited sentences"
    assert answer.text.startswith(REFUSAL)
    assert "TidalNet: Filters for Sea-Level Forecasting" in answer.text


def test_a_name_that_is_not_in_the_source_is_not_shown(tmp_path: Path) -> None:
    model = ScriptedModel(["TidalNet trains faster than PatchTST on one V100 [3]."])
    answer = assistant_at(tmp_path, model).ask(SPEED)
    assert answer.status == "not_found"
    assert answer.dropped[0].reason == "the name PatchTST is not in the cited papers"


def test_knowledge_from_nowhere_is_not_shown(tmp_path: Path) -> None:
    model = ScriptedModel(["Water boils when vapour pressure equals the surrounding pressure [1]."])
    answer = assistant_at(tmp_path, model).ask("How does TidalNet treat long histories?")
    assert answer.status == "not_found"
    assert answer.dropped[0].reason == "no sentence of the papers says this"


def test_the_models_refusal_is_ours(tmp_path: Path) -> None:
    events = list(assistant_at(tmp_path, ScriptedModel(["NOT", " FO", "UND"])).stream("How big is TidalNet?"))
    assert not [e for e in events if isinstance(e, Draft | Settled)]
    done = events[-1]
    assert isinstance(done, Done)
    assert done.answer.status == "not_found"
    assert [h.paper.key for h in done.answer.nearest][0] == "roe24"


def test_names_that_no_paper_holds_never_reach_the_model(tmp_path: Path) -> None:
    model = ScriptedModel([])
    answer = assistant_at(tmp_path, model).ask("What is the main idea of LoRA?")
    assert answer.status == "not_found"
    assert model.calls == []
    assert answer.timing.first_token_s is None


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("How much faster than a transformer does KelpNet train on one V100 with the Brest gauge?", False),
        ("How much lower is the error of RSLM on the Brest gauge than that of a transformer?", False),
        ("How much faster does TidleNet train on one V100 than a transformer?", True),  # mistyped
        ("How much faster does TidalNet train on one V100 than KelpNet?", True),  # one of two is known
        ("Does FSLN halve the error on the Brest gauge?", True),  # "forecasting sea level needs"
        ("What does my DAG look like beside TidalNet, and how much faster does it train on a V100?", True),
    ],
)
def test_a_coined_name_that_no_paper_holds_is_refused_among_other_words(
    tmp_path: Path, question: str, asked: bool
) -> None:
    model = ScriptedModel(["NOT FOUND"])
    assert assistant_at(tmp_path, model).ask(question).status == "not_found"
    assert bool(model.calls) is asked


def test_an_empty_library_never_reaches_the_model(tmp_path: Path) -> None:
    assistant = assistant_at(tmp_path, ScriptedModel([]))
    answer = assistant.ask(SPEED, filters=Filters(venues=("NeurIPS",)))
    assert answer.status == "not_found"
    assert answer.text == f"{REFUSAL} Only papers from NeurIPS were searched."
    assert answer.searched_for == f"{SPEED} (only: NeurIPS)"


def test_evidence_comes_before_the_first_token_and_done_last(tmp_path: Path) -> None:
    model = ScriptedModel(
        [["TidalNet replaces ", "attention with a bank of ", "learned recurrent filters [2]."]]
    )
    kinds = [
        type(e) for e in assistant_at(tmp_path, model).stream("What does TidalNet replace attention with?")
    ]
    assert kinds[0] is Found
    assert kinds[-1] is Done
    assert kinds.index(Draft) > 0
    assert Settled in kinds


def test_orders_inside_abstracts_stay_data(tmp_path: Path) -> None:
    model = ScriptedModel(["BANANA [7]."])
    assistant = assistant_at(tmp_path, model)
    answer = assistant.ask("What does Mooring align?")
    sent = model.calls[0].messages[-1].content
    assert "Mooring aligns wave spectra" in sent
    assert "BANANA" not in sent  # a sentence that orders the model about is no evidence
    assert "BANANA" not in answer.text
    assert answer.status == "not_found"


def test_a_follow_up_is_searched_with_the_names_of_the_history(tmp_path: Path) -> None:
    model = ScriptedModel(["It halves the size of forests on 12 benchmarks [3]."])
    history = [Turn("What is GraftTree?", "GraftTree prunes forests without data.")]
    answer = assistant_at(tmp_path, model).ask("And how small do they get?", history)
    assert answer.searched_for == "And how small do they get? (about: GraftTree)"
    assert answer.sentences[0].citations[0].paper == "lin23"
    assert GRAFT[answer.sentences[0].citations[0].start :].startswith("It halves")


def test_filters_keep_other_papers_out(tmp_path: Path) -> None:
    model = ScriptedModel(["NOT FOUND"])
    answer = assistant_at(tmp_path, model).ask(SPEED, filters=Filters(without=("roe24",)))
    assert "roe24" not in {e.paper.key for e in answer.evidence} | {h.paper.key for h in answer.nearest}


def test_set_questions_count_over_the_whole_collection(tmp_path: Path) -> None:
    answer = assistant_at(tmp_path, ScriptedModel([])).ask(
        "How many papers merge similar subtrees by their split geometry alone without any data?"
    )
    assert answer.text.startswith("One (1) of 3 papers is about this")
    assert [c.paper for c in answer.sentences[0].citations] == ["lin23"]


def test_closing_the_stream_stops_the_model_and_frees_the_next(tmp_path: Path) -> None:
    model = ScriptedModel([["word "] * 200, "TidalNet trains 2.6 times faster on one V100 [3]."])
    assistant = assistant_at(tmp_path, model)
    stream = assistant.stream(SPEED)
    for event in stream:
        if isinstance(event, Draft):
            break
    produced = model.produced
    stream.close()  # type: ignore[attr-defined]
    assert model.produced <= produced + 1
    assert assistant.ask(SPEED).status == "answered"


def test_cancel_keeps_what_is_settled_and_drops_the_half_sentence(tmp_path: Path) -> None:
    model = ScriptedModel(
        [
            [
                "TidalNet trains 2.6 times faster on one V100 [3].",
                " TidalNet",
                " replaces",
                " attention",
                " with a",
            ]
        ]
    )
    cancel = threading.Event()
    answer = None
    for event in assistant_at(tmp_path, model).stream(SPEED, cancel=cancel):
        if isinstance(event, Settled):
            cancel.set()
        if isinstance(event, Done):
            answer = event.answer
    assert answer is not None
    assert answer.note == "stopped"
    assert [s.text for s in answer.sentences] == ["TidalNet trains 2.6 times faster on one V100."]


def test_a_second_asker_sees_their_place(tmp_path: Path) -> None:
    model = ScriptedModel([["TidalNet replaces ", "attention [2]."], "TidalNet replaces attention [2]."])
    assistant = assistant_at(tmp_path, model)
    first = assistant.stream("What does TidalNet replace?")
    while not isinstance(next(first), Draft):
        pass
    second = assistant.stream("What does TidalNet replace?")
    assert isinstance(next(second), Found)
    assert next(second) == Waiting(1)
    list(first)
    assert isinstance(list(second)[-1], Done)


def test_a_failing_model_is_an_error_of_ours_and_frees_the_turnstile(tmp_path: Path) -> None:
    model = ScriptedModel([["Tidal", ModelError("the server went away")], "TidalNet replaces attention [2]."])
    assistant = assistant_at(tmp_path, model)
    with pytest.raises(ModelError, match="went away"):
        assistant.ask("What does TidalNet replace?")
    assert assistant.ask("What does TidalNet replace?").status == "answered"


def test_rows_are_equal_but_for_timing(tmp_path: Path) -> None:
    text = "TidalNet trains 2.6 times faster on one V100 [3]."
    assistant = assistant_at(tmp_path, ScriptedModel([text, "NOT FOUND", text]))
    one = answer_row(assistant.ask(SPEED), "q1")
    assistant.ask("How big is TidalNet?")
    two = answer_row(assistant.ask(SPEED), "q1")
    assert one.pop("timing").keys() == two.pop("timing").keys()
    assert one == two
    assert str(tmp_path) not in str(one)


@pytest.mark.parametrize("context", [1024, 1100, 1500, 4096])
@pytest.mark.parametrize("words", [10, 600])
@pytest.mark.parametrize("turns", [0, 30])
def test_the_prompt_never_overflows(tmp_path: Path, context: int, words: int, turns: int) -> None:
    model = ScriptedModel(["NOT FOUND"], context=context)
    assistant = assistant_at(tmp_path, model, papers=8, evidence_tokens=8000)
    question = "And does TidalNet " + "really " * words + "replace attention?"
    history = [Turn("What is TidalNet? " * 20, "TidalNet is a bank of filters. " * 40)] * turns
    try:
        assistant.ask(question, history)
    except PinciteError as error:
        assert "too long" in str(error)
    for call in model.calls:
        assert model.prompt_tokens(call.prefix, call.messages) + call.max_tokens <= context


def test_the_prompt_is_pinned_byte_for_byte(tmp_path: Path) -> None:
    model = ScriptedModel(["NOT FOUND"])
    assistant_at(tmp_path, model).ask(SPEED)
    read = "\n".join(
        f"## {m.role}\n{m.content}\n" for m in (*model.calls[0].prefix, *model.calls[0].messages)
    )
    golden = Path(__file__).parent / "golden" / "prompt.txt"
    if os.environ.get("PINCITE_GOLDEN"):  # to renew it: PINCITE_GOLDEN=1 pytest tests/test_assistant.py
        golden.write_text(read, encoding="utf-8")
    assert read == golden.read_text(encoding="utf-8")


def test_a_comparison_with_something_that_is_not_there_is_answered_in_part(tmp_path: Path) -> None:
    model = ScriptedModel(["TidalNet replaces attention with learned recurrent filters [1]."])
    answer = assistant_at(tmp_path, model).ask("Compare the filters of TidalNet with those of PatchTST.")
    assert (answer.status, answer.note) == ("partial", "These papers do not mention PatchTST.")
    assert {c.paper for s in answer.sentences for c in s.citations} == {"roe24"}


def test_a_wrong_premise_is_answered_with_the_sentence_that_contradicts_it(tmp_path: Path) -> None:
    model = ScriptedModel(["It trains slower because of its filters [1]."])
    assistant = assistant_at(tmp_path, model)
    answer = assistant.ask("Why does TidalNet train slower than a transformer on the Brest gauge?")
    assert (answer.status, answer.timing.first_token_s, model.produced) == ("answered", None, 0)
    assert [(s.support, "2.6 times faster" in s.text) for s in answer.sentences] == [("quoted", True)]
    assert answer.note == "The papers say the opposite of what the question takes for granted."


def test_a_model_that_writes_nothing_leaves_the_best_quote(tmp_path: Path) -> None:
    answer = assistant_at(tmp_path, ScriptedModel([""])).ask(SPEED)
    (sentence,) = answer.sentences
    assert (answer.status, sentence.support) == ("answered", "quoted")
    assert "2.6 times faster on one V100" in sentence.text


def test_giving_the_question_back_is_a_refusal(tmp_path: Path) -> None:
    model = ScriptedModel(["TidalNet trains faster on a V100 [3]."])
    answer = assistant_at(tmp_path, model).ask("Does TidalNet train faster on a V100, and by how much?")
    assert (answer.status, answer.dropped[0].reason) == ("not_found", "it only repeats the question")


def test_a_second_attempt_is_made_where_nothing_of_the_first_holds(tmp_path: Path) -> None:
    script = [
        "TidalNet trains 6.2 times faster on one V100 [3].",
        "TidalNet trains 2.6 times faster on one V100 [3].",
    ]
    once, twice = ScriptedModel(list(script)), ScriptedModel(list(script))
    assert assistant_at(tmp_path / "a", once).ask(SPEED).status == "not_found"
    answer = assistant_at(tmp_path / "b", twice, attempts=2).ask(SPEED)
    assert [s.text for s in answer.sentences] == ["TidalNet trains 2.6 times faster on one V100."]
    assert len(answer.dropped) == 1
    assert STRICTER in twice.calls[1].messages[-1].content


def test_a_question_for_a_figure_is_not_answered_without_one(tmp_path: Path) -> None:
    model = ScriptedModel(["TidalNet replaces attention with a bank of learned recurrent filters [2]."])
    assistant = assistant_at(tmp_path, model)
    assert assistant.ask("How many learned recurrent filters does TidalNet have?").status == "not_found"


def test_a_question_that_only_has_a_figure_in_it_needs_none(tmp_path: Path) -> None:
    model = ScriptedModel(["TidalNet replaces attention with a bank of learned recurrent filters [2]."])
    answer = assistant_at(tmp_path, model).ask(
        "With what does the size of a filter bank in TidalNet replace attention?"
    )
    assert answer.status == "answered"


def test_a_vague_word_beside_the_questions_own_is_no_answer(tmp_path: Path) -> None:
    model = ScriptedModel(["TidalNet lowers the error of a transformer on multiple gauges [3]."])
    answer = assistant_at(tmp_path, model).ask(
        "On which gauges does TidalNet lower the error of a transformer?"
    )
    assert answer.dropped[0].reason == "it only repeats the question"


def test_a_coined_name_that_only_papers_left_out_hold_is_refused(tmp_path: Path) -> None:
    model = ScriptedModel([])
    question = "How much faster than a transformer does TidalNet train on one V100 with the Brest gauge?"
    answer = assistant_at(tmp_path, model).ask(question, filters=Filters(without=("roe24",)))
    assert (answer.status, model.calls) == ("not_found", [])
