"""A prompt cut into the chat template's own text and the contents of its messages.

The two are tokenised apart, so that no content ("<|im_end|>" in an abstract) can pose as template.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rag.errors import ModelError
from rag.model import Message

Turns = list[dict[str, str]]  # role and content
Render = Callable[[Turns], str]  # the prompt up to where the answer begins; ValueError: the template refuses

_STAND_IN = re.compile(r"@@content-(\d+)@@")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a prompt: a message's content, or text of the template."""

    text: str
    is_content: bool


def split(
    render: Render, prefix: Sequence[Message], messages: Sequence[Message]
) -> tuple[list[Part], list[Part]]:
    """The parts before the first content of `messages`, and the rest.

    A template without a system role gets the system message at the head of the first turn. Raises ModelError
    if the template refuses the turns, or does not show each of them exactly once.
    """
    turns = [*prefix, *messages]
    cut = _cut(render, turns)
    first = next(n for n in range(1, len(cut), 2) if int(cut[n]) >= len(prefix))
    found = [
        Part(turns[int(text)].content, True) if n % 2 else Part(text, False) for n, text in enumerate(cut)
    ]
    return found[:first], found[first:]


def _cut(render: Render, messages: Sequence[Message]) -> list[str]:
    """Template text and message numbers in turn, as they stand in the rendered prompt."""
    turns = [{"role": m.role, "content": f"@@content-{n}@@"} for n, m in enumerate(messages)]
    for attempt in (turns, _without_system(turns)):
        try:
            cut = _STAND_IN.split(render(attempt))
        except ValueError:
            continue
        if sorted(map(int, cut[1::2])) == list(range(len(messages))):
            return cut
    roles = ", ".join(message.role for message in messages)
    raise ModelError(f"The model's chat template does not take these turns: {roles}. Choose another model.")


def _without_system(turns: Turns) -> Turns:
    if len(turns) < 2 or turns[0]["role"] != "system":
        return turns
    system, first, *others = turns
    return [{**first, "content": f"{system['content']}\n\n{first['content']}"}, *others]


def renderer(formatter: Callable[..., Any]) -> Render:
    """A Render from llama_cpp's formatter. No clock: templates that print a date get a fixed one."""
    import jinja2

    def render(turns: Turns) -> str:
        try:
            return str(formatter(messages=turns, date_string="26 Jul 2024", enable_thinking=False).prompt)
        except jinja2.TemplateError as error:
            raise ValueError(str(error)) from error

    return render


def inside_markup(tokens: Iterable[str]) -> re.Pattern[str]:
    """Matches the empty string after the first character of each token that looks like markup.

    A text split there holds none of them in one piece.
    """
    markup = (text for text in tokens if re.fullmatch(r"<.+>|\[.+\]", text))
    return re.compile("|".join(f"(?<={re.escape(t[0])})(?={re.escape(t[1:])})" for t in markup) or "(?!)")
