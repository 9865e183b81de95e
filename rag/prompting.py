"""The prompt: rules and examples (the stable prefix), evidence, history, question; within budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import prompts
from rag.errors import PinciteError
from rag.evidence import name_of
from rag.model import Message, Model
from rag.nouns import Evidence, Turn
from rag.settings import Settings
from rag.text import plain

_FORMULA = re.compile(r"\$[^$\n]{1,60}\$")
_MACRO = re.compile(r"\\\w+|[\^_]")
_SIMPLE = {"\\times", "\\sim", "\\approx", "\\pm", "\\leq", "\\geq", "\\le", "\\ge", "\\cdot"} | {
    f"\\{style}" for style in ("textbf", "textit", "text", "texttt", "textsc", "emph", "mathrm", "mathbf")
}

HISTORY_TURNS = 2  # earlier turns the model is shown
HISTORY_TOKENS = 120  # of each of them at the most
MARGIN = 16  # tokens kept free beside the sum: a tokenizer may merge across a joint


def prefix_of(prompt: prompts.Prompt) -> tuple[Message, ...]:
    """The stable prefix as messages, byte for byte the same for every question."""
    return tuple(Message(role, text) for role, text in prompt.prefix)  # type: ignore[arg-type]


def messages_of(
    prompt: prompts.Prompt, evidence: Sequence[Evidence], question: str, history: Sequence[Turn]
) -> tuple[Message, ...]:
    """The user's turn of a question."""
    asked = f"{history_text(history)}{inline(question)}"
    return (Message("user", prompt.fill(evidence=evidence_text(evidence), question=asked)),)


def evidence_text(evidence: Sequence[Evidence]) -> str:
    """Numbered sentences under their paper's name; every sentence is one line, whatever it holds."""
    lines: list[str] = []
    paper = ""
    for e in evidence:
        if e.paper.key != paper:
            paper = e.paper.key
            lines += ["", f"Paper: {inline(name_of(e.paper))}"]
        lines.append(f"[{e.n}] {inline(e.sentence.text)}")
    return "\n".join(lines).strip()


def history_text(history: Sequence[Turn]) -> str:
    """The last turns as one line in front of the question, or nothing."""
    turns = [f"{inline(t.question)} {inline(t.answer)}" for t in history[-HISTORY_TURNS:]]
    return f"(Said before: {' '.join(turns)}) " if turns else ""


def inline(text: str) -> str:
    """Text as data on one line: no line that looks like ours, no bracket that looks like a marker.

    Formulas that say no more than Unicode can ("32$\\times$32") are put as Unicode: small models copy it
    without loss.
    """
    text = _FORMULA.sub(lambda m: plain(m[0]) if set(_MACRO.findall(m[0])) <= _SIMPLE else m[0], text)
    return re.sub(r"[\[【]([^\]】\n]{0,20})[\]】]", _round, " ".join(text.split()))


def _round(m: re.Match[str]) -> str:
    return f"({m[1]})" if re.search(r"\d", m[1]) else m[0]


def shortened(history: Sequence[Turn], count: Callable[[str], int]) -> tuple[Turn, ...]:
    """The last turns, each cut to HISTORY_TOKENS at a word."""
    out = []
    for turn in history[-HISTORY_TURNS:]:
        answer = turn.answer
        while answer and count(turn.question) + count(answer) > HISTORY_TOKENS:
            answer = answer.rsplit(" ", max(1, len(answer.split()) // 5))[0] if " " in answer else ""
        question = turn.question
        while question and count(question) > HISTORY_TOKENS:
            question = question[: len(question) * 9 // 10]
        out.append(Turn(question, answer))
    return tuple(out)


def room(
    model: Model, prompt: prompts.Prompt, question: str, history: Sequence[Turn], settings: Settings
) -> int:
    """Tokens that the evidence may take: the context less prefix, history, question and answer, at most the
    setting. Raises PinciteError if the question alone leaves no room."""
    without = model.prompt_tokens(prefix_of(prompt), messages_of(prompt, (), question, history))
    left = model.context - without - settings.answer_tokens - MARGIN
    if left < 100:
        raise PinciteError(
            f"The question is too long: it leaves {max(left, 0)} of {model.context} tokens for evidence. "
            "Shorten it, or choose a larger context (PINCITE_CONTEXT)."
        )
    return min(left, settings.evidence_tokens)
