"""Doubles with the real interfaces, for tests that need no weights."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag.embed import Embedder, Vectors
from rag.errors import ModelError
from rag.looping import TEMPLATE_TEXTS, clip
from rag.model import Finish, Message, Reason
from rag.words import STOP, words

Script = str | Sequence[str | ModelError]


@dataclass(frozen=True)
class Call:
    """What a model was asked."""

    prefix: tuple[Message, ...]
    messages: tuple[Message, ...]
    max_tokens: int
    stop: tuple[str, ...]


class ScriptedModel:
    """Gives one scripted answer a call: a string (a word a piece), or its pieces; a ModelError is raised.

    A token is a word. `produced` counts the pieces asked of the model, over all calls; `running` tells whether
    a stream holds it.
    """

    name = "scripted"

    def __init__(self, answers: Sequence[Script], context: int = 4096) -> None:
        self.context = context
        self.calls: list[Call] = []
        self.warmed: list[tuple[Message, ...]] = []
        self.produced = 0
        self.running = False
        self.closed = False
        self._answers = list(answers)

    @property
    def fingerprint(self) -> Mapping[str, object]:
        return {"name": self.name, "context": self.context}

    def count(self, text: str) -> int:
        return len(text.split())

    def prompt_tokens(self, prefix: Sequence[Message], messages: Sequence[Message]) -> int:
        return sum(4 + self.count(message.content) for message in (*prefix, *messages))

    def warm(self, prefix: Sequence[Message]) -> None:
        self.warmed.append(tuple(prefix))

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
        size = self.prompt_tokens(prefix, messages)
        if size + max_tokens > self.context:
            raise ModelError(f"{size} + {max_tokens} tokens are more than {self.context}")
        assert self._answers, "the script has no answer left"
        self.calls.append(Call(tuple(prefix), tuple(messages), max_tokens, tuple(stop)))
        return self._stream(self._answers.pop(0), size, max_tokens, stop, cancel or threading.Event())

    def close(self) -> None:
        self.closed = True

    def _stream(
        self, script: Script, size: int, max_tokens: int, stop: Sequence[str], cancel: threading.Event
    ) -> Generator[str, None, Finish]:
        assert not self.running, "the model was used by two streams at once"
        before = self.produced
        self.running = True
        try:
            reason = yield from clip(self._pieces(script, max_tokens, cancel), (*stop, *TEMPLATE_TEXTS))
            return Finish(reason, size, self.produced - before)
        finally:
            self.running = False

    def _pieces(
        self, script: Script, max_tokens: int, cancel: threading.Event
    ) -> Generator[str, None, Reason]:
        pieces = re.findall(r"\s*\S+|\s+$", script) if isinstance(script, str) else script
        for n, piece in enumerate(pieces):
            if cancel.is_set():
                return "cancelled"
            if n == max_tokens:
                return "length"
            if isinstance(piece, ModelError):
                raise piece
            self.produced += 1
            yield piece
        return "stop"


class HashEmbedder(Embedder):
    """A bag of words: texts that share words are near, all others are not. Deterministic, no weights."""

    def __init__(self, dim: int = 32, name: str = "hash", max_tokens: int = 64) -> None:
        self.dimension, self.name, self.max_tokens = dim, name, max_tokens
        self.fingerprint = f"{name}-{dim}"
        self.encoded = 0  # texts so far: tests count what was embedded anew

    def lengths(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 2 for text in texts]

    def _encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded += len(texts)
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in set(words(text)) - STOP:
                place = int(hashlib.sha256(word.encode()).hexdigest(), 16)
                out[row, place % self.dimension] += 1.0 if place // self.dimension % 2 else -1.0
            out[row, 0] += 1e-3  # no text is the zero vector
            out[row] /= np.linalg.norm(out[row])
        return out
