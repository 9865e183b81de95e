import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval import conditions as made_with
from eval.folder import open_run, read_run
from eval.metrics import Abstracts, Share
from eval.progress import counted
from eval.questions import Question
from eval.runs import ALL, GOLD_REMOVED, chosen, gold_removed, run, summary
from rag.errors import InputError, ModelError, PinciteError
from rag.nouns import Answer, AnswerSentence, Citation, Filters, Timing, Turn

KILN = "Kiln trains sparse networks in one pass. It keeps one weight in eight of the dense network."
MOLE = "Mole digs for causal links in streams. It needs little memory and no labels at all, on nine streams."
ABSTRACTS = Abstracts({"kiln": KILN, "mole": MOLE})
QUESTIONS = [
    Question(
        id="k",
        kind="numeric",
        question="What does Kiln keep?",
        evidence=(KILN[41:],),
        facts=(("one weight in eight",),),
        reference="One weight in eight.",
    ),
    Question(
        id="m",
        kind="followup",
        question="Does it need labels?",
        history=(Turn("What is Mole?", "A method for streams."), Turn("Fast?", "Yes.")),
        evidence=(MOLE[39:],),
        facts=(("no labels",),),
        reference="No, it needs no labels.",
    ),
    Question("far", "absent_far", "Who won the cup?", answerable=False, reference="Not in these papers."),
    Question("about", "about", "How many papers are there?", facts=(("two",),), reference="Two."),
]
CONDITIONS: dict[str, Any] = {
    "mode": "answers",
    "set": {"sha256": "s"},
    "fingerprint": {"llm": "x"},
    "code": "c",
}


def answer(question: str, key: str, text: str, start: int) -> Answer:
    quote = text[start:]
    cited = Citation(1, key, key, quote, start, len(text), "quoted")
    sentence = AnswerSentence(quote, "quoted", (cited,))
    return Answer(
        question, question, "answered", f"{quote} [1]", (sentence,), timing=Timing(0.1, 0.5, 1.0, 9, 9)
    )


class Scripted:
    """An assistant that says what the question's script says, or nothing if a filter hides the paper."""

    def __init__(self, **scripts: Answer | BaseException | Callable[[], None]) -> None:
        self.scripts: dict[str, Answer | BaseException | Callable[[], None]] = {
            "What does Kiln keep?": answer("What does Kiln keep?", "kiln", KILN, 41),
            "Does it need labels?": answer("Does it need labels?", "mole", MOLE, 39),
        }
        names = {"kiln": "What does Kiln keep?", "mole": "Does it need labels?", "cup": "Who won the cup?"}
        self.scripts |= {names[name]: script for name, script in scripts.items()}
        self.asked: list[tuple[str, Sequence[Turn], Filters | None]] = []

    def ask(
        self, question: str, history: Sequence[Turn] = (), filters: Filters | None = None, *_: Any
    ) -> Answer:
        self.asked.append((question, history, filters))
        said = self.scripts.get(question)
        if isinstance(said, BaseException):
            raise said
        if callable(said):
            said()
        if not isinstance(said, Answer) or (
            filters and said.sentences[0].citations[0].paper in filters.without
        ):
            return Answer(question, question, "not_found", "I could not find this in these papers.")
        return said


def go(out: Path, assistant: Any = None, questions: Sequence[Question] = QUESTIONS, **more: Any) -> Any:
    settings = {"abstracts": ABSTRACTS, "conditions": CONDITIONS} | more
    return run(questions, [assistant or Scripted()], out, **settings)


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_run_leaves_a_row_a_question_in_the_sets_order(tmp_path: Path) -> None:
    assistant = Scripted()
    scored = go(tmp_path, assistant)
    written = rows(tmp_path / "answers.jsonl")
    assert [(row["id"], row["status"]) for row in written] == [
        ("k", "answered"),
        ("m", "answered"),
        ("far", "not_found"),
        ("about", "not_found"),
    ]
    assert written[0]["sentences"][0]["citations"][0]["quote"] == KILN[41:]
    assert assistant.asked[1] == ("Does it need labels?", list(QUESTIONS[1].history), None)
    assert [one.figures.get("right") for one in scored] == [Share(1, 1), Share(1, 1), None, Share(0, 1)]


def test_the_run_file_holds_conditions_and_figures(tmp_path: Path) -> None:
    go(tmp_path)
    facts, scored = read_run(tmp_path)
    assert facts["fingerprint"] == {"llm": "x"} and facts["started"] <= facts["finished"]
    assert facts["figures"][ALL]["right"]["value"] == 2 / 3  # k, m; about was refused
    assert facts["figures"][ALL]["refok"] == {"value": 1.0, "low": 1.0, "high": 1.0, "n": 1}
    assert facts["figures"] == json.loads(json.dumps(summary(scored)))


def test_a_failing_question_does_not_stop_the_run(tmp_path: Path) -> None:
    scored = go(tmp_path, Scripted(kiln=ModelError("The server is gone."), mole=ValueError("odd \ud800")))
    written = rows(tmp_path / "answers.jsonl")
    assert written[0] == {"id": "k", "status": "error", "error": "The server is gone."}
    assert written[1] == {"id": "m", "status": "error", "error": "ValueError: odd ?"}
    assert [row["status"] for row in written[2:]] == ["not_found", "not_found"]
    assert [one.figures["dead"].hits for one in scored] == [1, 1, 0, 0]


def test_an_answer_that_no_file_can_hold_is_a_failed_row(tmp_path: Path) -> None:
    bad = replace(answer("What does Kiln keep?", "kiln", KILN, 41), text="half a pair: \ud83d")
    go(tmp_path, Scripted(kiln=bad))
    assert [row["status"] for row in rows(tmp_path / "answers.jsonl")][:2] == ["error", "answered"]


# --- stopping and going on ---


def without_clock(out: Path) -> tuple[bytes, bytes]:
    return (out / "answers.jsonl").read_bytes(), (out / "scores.jsonl").read_bytes()


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    go(tmp_path / "unbroken")
    with pytest.raises(KeyboardInterrupt):
        go(tmp_path / "broken", Scripted(mole=KeyboardInterrupt()))
    assert [row["id"] for row in rows(tmp_path / "broken" / "answers.jsonl")] == ["k"]
    with pytest.raises(InputError, match="is not finished"):
        read_run(tmp_path / "broken")
    assistant = Scripted()
    go(tmp_path / "broken", assistant)
    assert [question for question, _, _ in assistant.asked] == [q.question for q in QUESTIONS[1:]]
    assert without_clock(tmp_path / "broken") == without_clock(tmp_path / "unbroken")


def test_kill_9_in_the_middle_of_a_line_costs_that_question_only(tmp_path: Path) -> None:
    go(tmp_path / "unbroken", without_gold=True)
    out = tmp_path / "killed"
    dies = f"import sys; sys.path[:0] = {sys.path!r}; import test_runs; test_runs.die({str(out)!r})"
    child = subprocess.run([sys.executable, "-c", dies], cwd=Path(__file__).parent, timeout=60)
    assert child.returncode == -signal.SIGKILL
    with (out / "answers.jsonl").open("ab") as file:
        file.write((tmp_path / "unbroken" / "answers.jsonl").read_bytes().split(b"\n")[2][:70])
    go(out, without_gold=True)
    assert without_clock(out) == without_clock(tmp_path / "unbroken")
    assert (out / "without_gold.jsonl").read_bytes() == (
        tmp_path / "unbroken" / "without_gold.jsonl"
    ).read_bytes()


def die(out: str) -> None:
    go(Path(out), Scripted(cup=lambda: os.kill(os.getpid(), signal.SIGKILL)), without_gold=True)


def test_a_half_written_line_is_cut_at_any_byte(tmp_path: Path) -> None:
    go(tmp_path)
    whole = (tmp_path / "answers.jsonl").read_bytes()
    first = whole.index(b"\n") + 1
    for cut in (0, 1, first - 1, first, first + 40, len(whole) - 1):
        (tmp_path / "answers.jsonl").write_bytes(whole[:cut])
        go(tmp_path)
        assert (tmp_path / "answers.jsonl").read_bytes() == whole, cut


def test_a_longer_run_goes_on_from_a_shorter_one(tmp_path: Path) -> None:
    go(tmp_path, questions=QUESTIONS[:2])
    assistant = Scripted()
    go(tmp_path, assistant)
    assert len(assistant.asked) == 2
    assert len(rows(tmp_path / "answers.jsonl")) == 4


def test_other_questions_in_the_folder_are_refused(tmp_path: Path) -> None:
    go(tmp_path, questions=QUESTIONS[1:])
    with pytest.raises(InputError, match="holds other questions than the first 3 of this run"):
        go(tmp_path)


@pytest.mark.parametrize("name", ["mode", "set", "fingerprint", "code"])
def test_rows_of_other_conditions_are_never_mixed(tmp_path: Path, name: str) -> None:
    go(tmp_path)
    before = (tmp_path / "run.json").read_bytes()
    with pytest.raises(InputError, match=f"was begun with another {name}"):
        go(tmp_path, conditions=CONDITIONS | {name: "other"})
    assert (tmp_path / "run.json").read_bytes() == before


def test_one_run_a_folder_at_a_time(tmp_path: Path) -> None:
    with open_run(tmp_path, CONDITIONS), pytest.raises(PinciteError, match="Another run is writing"):
        go(tmp_path)
    go(tmp_path)


def test_a_folder_without_a_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no run: there is no run\.json"):
        read_run(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(InputError, match=r"run\.json cannot be read"):
        read_run(tmp_path)


# --- without the gold papers ---


def test_gold_removed_copies_are_to_be_refused(tmp_path: Path) -> None:
    leaky = Scripted(
        mole=replace(answer("Does it need labels?", "kiln", KILN, 41), question="Does it need labels?")
    )
    scored = go(tmp_path, leaky, without_gold=True)
    copies = [one for one in scored if one.kind == GOLD_REMOVED]
    assert [(one.id, one.figures["refok"]) for one in copies] == [
        ("k without gold", Share(1, 1)),
        ("m without gold", Share(0, 1)),  # answered from another paper
    ]
    assert leaky.asked[4][2] == Filters(without=("kiln",))
    assert [row["id"] for row in rows(tmp_path / "without_gold.jsonl")] == ["k", "m"]
    figures = summary(scored)
    assert figures[GOLD_REMOVED]["refok"]["value"] == 0.5  # 1 of 2
    assert figures[ALL]["refok"]["n"] == 1  # the copies are no part of ALL


def test_questions_without_gold_papers_have_no_copy() -> None:
    assert [(q.id, papers) for q, papers in gold_removed(QUESTIONS, ABSTRACTS)] == [
        ("k", ("kiln",)),
        ("m", ("mole",)),
    ]


# --- choosing, progress, retrieval ---


def test_kinds_first_then_the_limit() -> None:
    assert [q.id for q in chosen(QUESTIONS, ("about", "numeric"), 1)] == ["k"]
    assert [q.id for q in chosen(QUESTIONS, (), None)] == ["k", "m", "far", "about"]
    with pytest.raises(
        InputError, match="no questions of kind lookup. It has: about, absent_far, followup, numeric"
    ):
        chosen(QUESTIONS, ("lookup",))
    with pytest.raises(InputError, match="the set is empty"):
        chosen([])


def test_an_id_used_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'k' is used twice"):
        go(tmp_path, questions=[QUESTIONS[0], QUESTIONS[0]])


def test_progress_counts_what_an_earlier_run_has_done(tmp_path: Path) -> None:
    go(tmp_path, questions=QUESTIONS[:1])
    told: list[tuple[int, int]] = []
    go(tmp_path, report=lambda done, total, left: told.append((done, total)))
    assert told == [(2, 4), (3, 4), (4, 4)]


def test_seconds_left_come_from_this_session(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 110.0, 130.0])
    monkeypatch.setattr("eval.progress.time.monotonic", lambda: next(clock))
    told: list[float] = []
    assert list(counted("ab", 2, lambda done, total, left: told.append(left), before=7)) == ["a", "b"]
    assert told == [10.0, 0.0]  # 10 s for one, one to go; nothing to go


def test_retrieval_alone_asks_nobody(tmp_path: Path) -> None:
    def retrieve(questions: Sequence[Question], out: Path) -> dict[str, dict[str, Share]]:
        (out / "run.trec").write_text("")
        return {"k": {"fused MRR": Share(0.5, 1)}}

    facts = CONDITIONS | {"mode": "retrieval"}
    scored = run(QUESTIONS, [], tmp_path, abstracts=ABSTRACTS, conditions=facts, retrieve=retrieve)
    assert scored[0].figures == {"fused MRR": Share(0.5, 1)} and scored[1].figures == {}
    assert not (tmp_path / "answers.jsonl").exists()
    assert read_run(tmp_path)[1] == scored


# --- conditions ---


def test_conditions_name_set_settings_code_packages_and_machine(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text("{}")
    made = made_with.conditions(
        "set.jsonl",
        [file],
        mode="answers",
        fingerprint={"llm": "small"},
        command="pincite --llm http://me:secret@server/v1 eval run set.jsonl",
        options={"limit": 3},
    )
    assert made["set"]["name"] == "set.jsonl" and len(made["set"]["sha256"]) == 64
    assert made["fingerprint"] == {"llm": "small"} and made["options"] == {"limit": 3} and made["seed"] == 0
    assert made["machine"]["cores"] >= 1 and made["machine"]["python"] == sys.version.split()[0]
    assert "numpy" in made["packages"] and made["code"]
    assert made["command"] == "pincite --llm http://server/v1 eval run set.jsonl"
    file.write_text("{} ")
    assert made_with.digest_of([file]) != made["set"]["sha256"]


@pytest.mark.parametrize(("status", "revision"), [("", "abc123"), (" M eval/runs.py", "abc123-changed")])
def test_the_code_is_named_by_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: str, revision: str
) -> None:
    git = tmp_path / "git"
    git.write_text(f'#!/bin/sh\ncase "$*" in *rev-parse*) echo abc123;; *status*) echo "{status}";; esac\n')
    git.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert made_with.revision(tmp_path) == ""  # no working copy
    (tmp_path / ".git").mkdir()
    assert made_with.revision(tmp_path) == revision


def test_without_git_there_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert made_with.revision(tmp_path) == ""
