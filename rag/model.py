"""What every language model here is: messages in, pieces of text out, and why it ended."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

Reason = Literal["stop", "length", "cancelled", "loop"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation that a model is given."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Finish:
    """Why a stream ended, and what it cost in tokens."""

    reason: Reason
    prompt_tokens: int
    output_tokens: int
    watched: float | None = (
        None  # chance (0 to 1) that the answer began with the watched text; None if unknown
    )


@dataclass(frozen=True, slots=True)
class Read:
    """What a model made of a prompt, without answering it."""

    expected: float  # mean log-probability of the tokens of the text that was asked about
    watched: float  # chance (0 to 1) that the answer would begin with the watched text


class Model(Protocol):
    """A chat model. `prefix` is the stable beginning of a prompt (rules, examples), `messages` the rest."""

    @property
    def name(self) -> str: ...

    @property
    def context(self) -> int:
        """Tokens of prompt and answer together."""
        ...

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """What makes two runs comparable: the model's identity and settings, no path, no clock."""
        ...

    def count(self, text: str) -> int:
        """Tokens of a text in which no template token has a meaning."""
        ...

    def prompt_tokens(self, prefix: Sequence[Message], messages: Sequence[Message]) -> int:
        """Tokens of the whole prompt, the chat template's included; never less than the truth."""
        ...

    def warm(self, prefix: Sequence[Message]) -> None:
        """Do ahead what can be done for prompts that begin with `prefix`."""
        ...

    def stream(
        self,
        prefix: Sequence[Message],
        messages: Sequence[Message],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        watch: str = "",
        cancel: threading.Event | None = None,
    ) -> Generator[str, None, Finish]:
        """The answer in pieces, greedy, without template tokens and stop strings; returns why it ended.

        Closing the generator or setting `cancel` stops the model. Raises ModelError at once if prompt and
        `max_tokens` do not fit the context, and on the way if the model fails.
        """
        ...

    def close(self) -> None:
        """Free the model; an open stream ends."""
        ...


@runtime_checkable
class Reader(Protocol):
    """A model that can also tell what it makes of prompts; servers cannot."""

    def count(self, text: str) -> int: ...

    def read(
        self,
        prefix: Sequence[Message],
        messages: Sequence[Message],
        text: str,
        *,
        watch: str,
        cancel: threading.Event | None = None,
    ) -> Read | None:
        """How much a prompt makes one expect `text`, which stands in its last message, and what answer; None once
        `cancel` is set.

        The last prompts that were read are kept: the stream of one of them starts at once.
        """
        ...
