"""Runs made by hand, through the door that real ones use: every verdict once, and texts that attack a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from payloads import PAYLOADS

from eval.metrics import Abstracts
from eval.questions import Question
from eval.runs import run
from rag.errors import ModelError
from rag.nouns import (
    Answer,
    AnswerSentence,
    Citation,
    Dropped,
    Evidence,
    Filters,
    Grade,
    Hit,
    Paper,
    Sentence,
    Timing,
    Turn,
    Why,
)

KILN = (
    "Kiln trains sparse networks in one pass. It keeps 12.5% of the weights and runs 3.4 times faster than "
    "the dense network on a laptop. Accuracy falls by 0.2 points."
)
PAPER = Paper(1, "kiln", "Kiln: Sparse in One Pass", KILN, title="Kiln: Sparse in One Pass")
SPANS = tuple(m.span() for m in re.finditer(r"\S.*?\.(?= |$)", KILN))  # of its three sentences
EVIDENCE = tuple(
    Evidence(n, PAPER, Sentence("kiln", n - 1, start, end, KILN[start:end]))
    for n, (start, end) in enumerate(SPANS, 1)
)
FAST, SAME, FALLS, GPUS, CUP, BREAKS = (
    "How much faster is Kiln?",
    "And on a laptop?",
    "How much accuracy does it lose?",
    "On how many GPUs?",
    "Who won the cup?",
    "What breaks?",
)
QUESTIONS = (
    Question("fast", "numeric", FAST, evidence=(KILN[slice(*SPANS[1])],), facts=(("3.4 times",),),
             reference="3.4 times."),
    Question("same", "followup", SAME, history=(Turn(FAST, "3.4 times."),), evidence=(KILN[slice(*SPANS[1])],),
             facts=(("laptop",), ("3.4 times", "3.4x")), forbidden=("12.5 times",), reference="3.4 times."),
    Question("falls", "numeric", FALLS, evidence=(KILN[slice(*SPANS[2])],), facts=(("0.2 points",),),
             reference="By 0.2 points."),
    Question("gpus", "absent_near", GPUS, answerable=False, reference="It does not say."),
    Question("cup", "absent_far", CUP, answerable=False, reference="Not in these papers."),
    Question("breaks", "lookup", BREAKS, evidence=(KILN[slice(*SPANS[0])],), facts=(("nothing",),),
             reference="Nothing."),
)  # fmt: skip
CONDITIONS: dict[str, Any] = {
    "mode": "answers",
    "set": {"name": "made.jsonl", "sha256": "s"},
    "fingerprint": {"llm": "small"},
    "code": "abc",
    "command": "pincite eval run made.jsonl --out made",
}


def said(question: str, text: str, n: int, grade: Grade = "supported", **changes: Any) -> Answer:
    """An answer of one sentence that cites sentence `n`."""
    e = EVIDENCE[n - 1]
    start, end = SPANS[n - 1]
    cited = Citation(n, "kiln", PAPER.title, e.sentence.text, start, end, grade)
    sentence = AnswerSentence(text, grade, (cited,))
    made = Answer(question, question, "answered", f"{text} [{n}]", (sentence,), evidence=EVIDENCE,
                  timing=Timing(0.1, 0.5, 2.0, 100, 9))  # fmt: skip
    return replace(made, **changes)


def refused(question: str) -> Answer:
    return Answer(question, question, "not_found", "Not in these papers.", nearest=(Hit(PAPER, 1.0, Why()),),
                  evidence=EVIDENCE, timing=Timing(0.1, None, 0.1))  # fmt: skip


ANSWERS: dict[str, Answer | Exception] = {
    FAST: said(FAST, "Kiln is 3.4 times faster.", 2),
    SAME: said(SAME, "On a laptop it is 12.5 times faster.", 1, "weak", note="cut at the length limit",
               dropped=(Dropped("It flies.", "no support"),)),
    FALLS: refused(FALLS),
    GPUS: said(GPUS, "On 8 GPUs.", 1, "quoted"),
    CUP: refused(CUP),
    BREAKS: ModelError("The model file is broken."),
}  # fmt: skip


class Scripted:
    """An assistant that says what stands in a script; without its papers it refuses."""

    def __init__(self, answers: dict[str, Answer | Exception]) -> None:
        self.answers = answers

    def ask(
        self, question: str, history: Sequence[Turn] = (), filters: Filters | None = None, *_: Any
    ) -> Answer:
        one = self.answers[question]
        if isinstance(one, BaseException):
            raise one
        return refused(question) if filters and question != SAME else one


def made(
    folder: Path,
    questions: Sequence[Question] = QUESTIONS,
    answers: dict[str, Answer | Exception] | None = None,
    **options: Any,
) -> Path:
    """A finished run in a folder."""
    abstracts = Abstracts({"kiln": KILN})
    conditions = CONDITIONS | options.pop("conditions", {})
    run(
        questions,
        [Scripted(answers or ANSWERS)],
        folder,
        abstracts=abstracts,
        conditions=conditions,
        **options,
    )
    return folder


def attacked(folder: Path) -> Path:
    """A run in which every text of a question or an answer is an attack."""
    questions, answers = [], {}
    for number, payload in enumerate(PAYLOADS):
        asked = f"{number} {payload}"
        questions.append(
            Question(f"{payload}{number}", payload, asked, history=(Turn(payload, payload),),
                     evidence=(payload * 3,), facts=((payload, "x"),), forbidden=(payload,),
                     reference=payload)
        )  # fmt: skip
        answers[asked] = _attack(asked, payload)
    questions.append(Question("broken", "lookup", "breaks?", facts=(("x",),)))
    answers["breaks?"] = ModelError("".join(PAYLOADS))
    facts = {"command": PAYLOADS[0], "code": PAYLOADS[1], "machine": {PAYLOADS[2]: PAYLOADS[3]}}
    return made(folder, questions, answers, conditions=facts)


def _attack(asked: str, payload: str) -> Answer:
    paper = Paper(1, payload, payload, payload * 3, title=payload)
    sentence = Sentence(payload, 0, 0, len(payload), payload)
    cited = Citation(1, payload, payload, payload, 0, len(payload), "quoted")
    return Answer(asked, payload, "answered", f"{payload} [1]", (AnswerSentence(payload, "quoted", (cited,)),),
                  (Dropped(payload, payload),), (Evidence(1, paper, sentence),), note=payload)  # fmt: skip
