"""A language model behind any OpenAI-compatible server (llama-server, vLLM, a provider)."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Generator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rag.errors import ModelError
from rag.model import Finish, Message
from rag.tokens import o200k

if TYPE_CHECKING:
    pass

CONNECT_S, READ_S = 10.0, 300.0  # a slow server may read a long prompt for minutes
POLL_S = 0.1  # how soon `cancel` is heard while the server is silent
MARGIN = 1.1  # other vocabularies need more tokens than the one counted with
TURN_TOKENS, PROMPT_TOKENS = 8, 32  # the chat template's share: of each turn, and once
# Never fewer tokens than a byte-level vocabulary needs on prose, numbers, formulas and other scripts (tested):
# three letters, one digit, one sign or one byte beyond ASCII each; single spaces belong to the next word.
_UNITS = re.compile(r"[A-Za-z]{1,3}|[!-~]|[^\x00-\x7f]|[\t\n\r\x0b\x0c]| {2,}")


class RemoteModel:
    """`url` ends in /v1; `api_key` is sent as a bearer token and appears nowhere else.

    `encodings` is a folder with o200k_base, laid out as TIKTOKEN_CACHE_DIR; without it tokens are counted by a
    cautious rule. Nothing is downloaded. Raises ModelError if `offline` and the server is not on this machine.
    """

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
        if not name:
            raise ModelError(f"The server {url} needs a model name. Set --llm-name (PINCITE_LLM_NAME).")
        self._local = _is_loopback(urlsplit(url).hostname or "")
        if offline and not self._local:
            raise ModelError(f"{url} is not on this machine, and Pincite is offline. Choose a local model.")
        self.name, self.context = name, context
        self._url, self._api_key, self._encodings = url.rstrip("/"), api_key, encodings
        self._closed = threading.Event()

    @cached_property
    def fingerprint(self) -> Mapping[str, object]:
        return {"name": self.name, "server": urlsplit(self._url).hostname, "context": self.context}

    @cached_property
    def _encoding(self) -> Any:
        return o200k(self._encodings) if self._encodings else None

    def count(self, text: str) -> int:
        if self._encoding:
            return math.ceil(MARGIN * len(self._encoding.encode_ordinary(text)))
        return math.ceil(MARGIN * sum(_bytes_beyond_ascii(unit) for unit in _UNITS.findall(text)))

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
        cancel: threading.Event | None = None,
    ) -> Generator[str, None, Finish]:
        size = self.prompt_tokens(prefix, messages)
        if size + max_tokens > self.context:
            raise ModelError(
                f"The prompt has about {size} tokens; with {max_tokens} for the answer that is more than the "
                f"{self.context} of the settings' context. Shorten the question or set a larger context."
            )
        body = {
            "model": self.name,
            "messages": [{"role": turn.role, "content": turn.content} for turn in (*prefix, *messages)],
            "max_tokens": max_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        return self._stream(_Call(self._url, self._api_key, self._local, body), size, stop, cancel)
