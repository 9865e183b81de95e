"""What people said of answers becomes items of a set."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from desk import GRAFT, ORDERS, TIDAL, assistant_at
from fakes import ScriptedModel

from eval.from_feedback import items, read
from eval.questions import Question, check, load
from rag.errors import InputError
from rag.feedback import FILE, VERDICTS, append
from rag.nouns import Turn
from rag.rows import answer_row
from ui.commands.evaluate import evaluate

ABSTRACTS = [TIDAL, GRAFT, ORDERS]
QUOTE = TIDAL[TIDAL.index("On the Brest") :]
SAID = "On the Brest gauge, TidalNet lowers the error by 18% [2]."


def row(question: str = "How much better is TidalNet?", quote: str = QUOTE, **more: Any) -> dict[str, Any]:
    cited = [{"n": 2, "paper": "roe24", "title": "TidalNet", "quote": quote, "start": 0, "end": 9}]
    read_by_model = [
        {"n": 1, "paper": "lin23", "title": "GraftTree", "quote": GRAFT[-58:], "start": 0, "end": 9}
    ]
    made = {"question": question, "status": "answered", "text": SAID, "evidence": read_by_model}
    return made | {"sentences": [{"text": SAID, "citations": cited}]} | more


def refusal(question: str = "How much better is TidalNet?") -> dict[str, Any]:
    return row(question, status="not_found", text="I could not find this.", sentences=[])


def made(tmp_path: Path, *entries: tuple[Any, ...], history: Any = (), comment: str = "") -> list[Question]:
    for verdict, said in entries:
        append(tmp_path, verdict, said, history=history, comment=comment)
    return items(read(tmp_path / FILE)[0], ABSTRACTS)


def test_a_good_answer_becomes_a_regression_item(tmp_path: Path) -> None:
    (q,) = made(tmp_path, ("good", row()))
    assert q.answerable and not q.reviewed and q.kind == "lookup"
    assert q.evidence == (QUOTE,)
    assert q.facts == (("18%", "18 %", "18 percent"),)
    assert q.reference == "On the Brest gauge, TidalNet lowers the error by 18% ."
    assert check([q], ABSTRACTS) == []


def test_what_should_have_been_refused_is_to_be_refused(tmp_path: Path) -> None:
    (q,) = made(tmp_path, ("should_have_refused", row()))
    assert (q.answerable, q.kind, q.evidence, q.facts) == (False, "absent_near", (), ())
    assert check([q], ABSTRACTS) == []


def test_a_good_refusal_is_to_be_refused_again(tmp_path: Path) -> None:
    (q,) = made(tmp_path, ("good", refusal()))
    assert not q.answerable and q.kind == "absent_near"


@pytest.mark.parametrize("verdict", ["wrong_answer", "wrong_citation"])
def test_a_wrong_answer_keeps_its_quotes_as_suggestions(tmp_path: Path, verdict: str) -> None:
    (q,) = made(tmp_path, (verdict, row()), comment="it is the Honolulu gauge")
    assert q.answerable and q.evidence == (QUOTE,) and q.facts == () and q.reference == ""
    assert q.note == f"{verdict}: it is the Honolulu gauge | answer: {SAID}"
    faults = check([q], ABSTRACTS)  # what a person still has to write
    assert [fault.split(": ")[1] for fault in faults] == [
        "the reference is empty",
        "answerable, but it has no facts",
    ]


def test_a_refusal_that_was_wrong_suggests_what_the_model_read(tmp_path: Path) -> None:
    (q,) = made(tmp_path, ("should_have_answered", refusal()))
    assert q.answerable and q.evidence == (GRAFT[-58:],) and not q.reviewed


def test_quotes_that_are_not_in_the_collection_are_left_out(tmp_path: Path) -> None:
    (q,) = made(tmp_path, ("wrong_answer", row(quote="A sentence of a paper that has been removed since.")))
    assert q.evidence == ()
    assert items(read(tmp_path / FILE)[0], [TIDAL, TIDAL])[0].evidence == ()  # nor those in two papers


def test_a_follow_up_keeps_its_history_and_three_turns_of_it(tmp_path: Path) -> None:
    turns = [(f"Question {n}?", f"Answer {n}.") for n in range(5)]
    (q,) = made(tmp_path, ("good", row("And on Brest?")), history=turns)
    assert q.kind == "followup" and q.history == tuple(Turn(*turn) for turn in turns[2:])


def test_a_question_is_one_item_and_the_last_word_counts(tmp_path: Path) -> None:
    found = made(tmp_path, ("good", row()), ("good", row("Other?")), ("should_have_refused", row()))
    assert [(q.question, q.answerable) for q in found] == [
        ("How much better is TidalNet?", False),
        ("Other?", True),
    ]


def test_a_set_question_keeps_its_kind(tmp_path: Path) -> None:
    (q,) = made(tmp_path, ("wrong_answer", row("How many papers are about buoys?")))
    assert q.kind == "count"


def test_damaged_lines_are_told_and_skipped(tmp_path: Path) -> None:
    append(tmp_path, "good", row())
    with (tmp_path / FILE).open("ab") as file:
        for line in (
            b'{"verdict": "good", "row": {"quest',
            b"[]",
            b'{"verdict": "fine", "row": {"question": "Q?"}}',
            b'{"verdict": "good", "row": {"question": 3}}',
            b'{"verdict": "good", "row": {"question": "Q?", "sentences": [{"citations": [7]}]}}',
            b'{"verdict": "good", "row": {"question": "Q?", "sentences": ["x"]}}',
            b'{"verdict": "good", "history": [{"question": "Q?"}], "row": {"question": "Q?"}}',
            b"\xff\xfe",
            b"",
        ):
            file.write(line + b"\n")
    append(tmp_path, "good", row("The last?"))
    entries, damaged = read(tmp_path / FILE)
    assert [entry.row["question"] for entry in entries] == ["How much better is TidalNet?", "The last?"]
    assert [problem.split(":")[0] for problem in damaged] == [f"{FILE}, line {n}" for n in range(2, 10)]


def test_without_feedback_one_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no feedback yet"):
        read(tmp_path / FILE)


@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_on_a_real_answer_makes_an_item(tmp_path: Path, verdict: Any) -> None:
    assistant = assistant_at(
        tmp_path, ScriptedModel(["TidalNet lowers the error of a transformer by 18% [1]."])
    )
    answer = assistant.ask("By how much does TidalNet lower the error on the Brest gauge?")
    assert answer.status == "answered"
    (q,) = made(tmp_path, (verdict, answer_row(answer)))
    assert q.answerable == (verdict != "should_have_refused")
    assert q.evidence == ((QUOTE,) if q.answerable else ())


# --- the command ---


@dataclass
class Settings:
    collection_dir: Path


@dataclass
class Ctx:
    settings: Settings
    library: Any

    def open_library(self) -> Any:
        return self.library


@pytest.fixture
def ctx(tmp_path: Path) -> Ctx:
    return Ctx(Settings(tmp_path), assistant_at(tmp_path, ScriptedModel([])).library)


def call(ctx: Ctx, *arguments: str) -> Any:
    done = CliRunner().invoke(evaluate, ["from-feedback", *arguments], obj=ctx)
    assert done.exit_code == 0, done.output
    return done


def test_items_are_printed(ctx: Ctx, tmp_path: Path) -> None:
    append(tmp_path, "good", row())
    (tmp_path / FILE).open("a").write("{\n")
    done = call(ctx)
    assert json.loads(done.stdout)["reviewed"] is False
    assert "skipped feedback.jsonl, line 2" in done.stderr
    assert "1 new items from 1 entries, 0 of them to be refused." in done.stderr


def test_a_set_is_added_to_and_what_was_reviewed_stays(ctx: Ctx, tmp_path: Path) -> None:
    out = tmp_path / "set.jsonl"
    append(tmp_path, "good", row())
    call(ctx, "--out", str(out))
    reviewed = json.loads(out.read_text()) | {"reviewed": True, "reference": "By 18%."}
    out.write_text(json.dumps(reviewed))  # as some editors leave it: without a line end
    append(tmp_path, "should_have_refused", row("What does it cost?"))
    done = call(ctx, "--out", str(out))
    assert "1 new items from 2 entries, 1 of them to be refused; 1 questions were in" in done.stderr
    first, second = load(out)
    assert first.reviewed and first.reference == "By 18%."
    assert second.question == "What does it cost?" and not second.answerable
