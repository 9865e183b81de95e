"""A language model behind any OpenAI-compatible server (llama-server, vLLM, a provider)."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any

from rag.errors import ModelError
from rag.looping import TEMPLATE_TEXTS, clip
from rag.model import Finish, Message, Reason
from rag.server import Server, read_ahead
from rag.tokens import count, o200k

MARGIN = 1.1  # other vocabularies need more tokens than the one counted with
TURN_TOKENS, PROMPT_TOKENS = 8, 32  # the chat template's share: of each turn, and once
# No byte-level vocabulary needs more on prose, numbers and formulas: one token for four letters, a digit, a
# sign, a line break, more than one space; and one for each byte beyond ASCII.
_UNITS = re.compile(r"[A-Za-z]{1,4}|[!-~]|[^\x00-\x7f]|[\t\n\r\x0b\x0c]| {2,}")


class RemoteModel:
    """A model `name` of the server at `url` (which ends in /v1)."""

    def __init__(
        self,
        url: str,
        name: str,
        *,
        context: int = 4096,
        api_key: str = "",
        encodings: Path | None = None,
        offline: bool = False,
    ) -> None:
        """`encodings` is a folder with o200k_base, laid out as TIKTOKEN_CACHE_DIR; without it, tokens are
        counted by a cautious rule. Nothing is downloaded.

        Raises ModelError if `url` is no address, `name` is empty, or `offline` and the server is elsewhere.
        """
        self._server = Server(url.rstrip("/"), api_key)
        if not name:
            raise ModelError(f"The server {url} needs a model's name. Give --llm-name.")
        if offline and not self._server.is_local:
            raise ModelError(f"{url} is not on this machine, and Pincite is offline. Choose a local model.")
        self.name, self.context = name, context
        self._encodings = encodings
        self._closed = threading.Event()

    @cached_property
    def fingerprint(self) -> Mapping[str, object]:
        return {"name": self.name, "server": self._server.host, "context": self.context}

    @cached_property
    def _encoding(self) -> Any:
        return o200k(self._encodings) if self._encodings else None

    def count(self, text: str) -> int:
        if self._encoding:
            return math.ceil(MARGIN * count(self._encoding, text))
        units: list[str] = _UNITS.findall(text)
        return math.ceil(
            MARGIN * sum(len(unit.encode("utf-8", "replace")) if unit > "~" else 1 for unit in units)
        )

    def prompt_tokens(self, prefix: Sequence[Message], messages: Sequence[Message]) -> int:
        turns = [*prefix, *messages]
        return PROMPT_TOKENS + sum(TURN_TOKENS + self.count(turn.content) for turn in turns)

    def warm(self, prefix: Sequence[Message]) -> None:
        """Nothing to do ahead: the server keeps its own cache."""

    def close(self) -> None:
        self._closed.set()

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
            raise ModelError(
                f"The prompt has about {size} tokens; with {max_tokens} for the answer that is more than the "
                f"{self.context} of the settings' context. Shorten the question or set a larger context."
            )
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": turn.role, "content": turn.content} for turn in (*prefix, *messages)],
            "max_tokens": max_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        return self._stream(body, size, stop, cancel or threading.Event())

    def _stream(
        self, body: dict[str, Any], size: int, stop: Sequence[str], cancel: threading.Event
    ) -> Generator[str, None, Finish]:
        usage = {"prompt_tokens": size, "completion_tokens": 0}
        reason = yield from clip(self._pieces(body, usage, cancel), (*stop, *TEMPLATE_TEXTS))
        return Finish(reason, usage["prompt_tokens"], usage["completion_tokens"])

    def _pieces(
        self, body: dict[str, Any], usage: dict[str, int], cancel: threading.Event
    ) -> Generator[str, None, Reason]:
        """Text as it arrives; `usage` receives the server's counts, or else that of the pieces."""
        reason: Reason | None = None
        with closing(read_ahead(self._server.events(body))) as events:
            for event in events:
                if cancel.is_set() or self._closed.is_set():
                    return "cancelled"
                if event is None:  # nothing yet
                    continue
                for choice in event.choices[:1]:
                    if choice.delta.content:
                        usage["completion_tokens"] += 1
                        yield choice.delta.content
                    if choice.finish_reason:
                        reason = "length" if choice.finish_reason == "length" else "stop"
                if event.usage:
                    usage.update(event.usage.model_dump())
        if reason is None:
            raise ModelError(
                f"The server {self._server.url} broke off before the answer was complete. Ask again."
            )
        return reason
