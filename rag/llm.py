"""The local language model: llama.cpp on a GGUF file."""

from __future__ import annotations

import codecs
import ctypes
import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import numpy as np

from rag.cores import usable_cores
from rag.decoding import decode
from rag.errors import ModelError
from rag.llama import CHUNK, llama_api, load_llama
from rag.looping import clip
from rag.model import Finish, Message, Read, Reason
from rag.prefixes import PrefixStates
from rag.vocabulary import Prompt, Vocabulary

KEPT = 4  # prompts that were read; a state of 1,400 tokens has 40 MB
BUSY_S = 60.0  # longer than a warm-up takes
POLL_S = 0.1


class LlamaModel:
    """A GGUF file run by llama.cpp, one stream at a time.

    Every stream starts from exactly the evaluated prefix and nothing after it, so the same prompt gives the
    same bytes whatever was asked before.
    """

    def __init__(
        self,
        path: Path,
        *,
        context: int = 4096,
        threads: int | None = None,
        cache_dir: Path | None = None,
        sha256: str = "",
    ) -> None:
        """`cache_dir` keeps evaluated prefixes between starts; `sha256`: the file's sum, if it is known.

        Raises ModelError if the file cannot be loaded, has no chat template, or was trained for less context.
        """
        self.name = path.stem
        self.context = context
        self._path, self._sha256 = path, sha256
        self._llama = load_llama(path, context, threads or usable_cores())
        self._api = llama_api()
        self._vocabulary = Vocabulary(self._api, self._llama, path)
        self._states = PrefixStates(cache_dir / "prefixes" if cache_dir else None)
        self._kept: OrderedDict[str, bytes] = OrderedDict()  # states of the prompts that were read last
        self._lock = threading.Lock()
        self._closed = threading.Event()

    @cached_property
    def fingerprint(self) -> Mapping[str, object]:
        if not self._sha256:
            with self._path.open("rb") as stream:
                self._sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        build = {"llama_cpp": self._api.__version__, "context": self.context}
        return {"name": self.name, "sha256": self._sha256, **build}

    def count(self, text: str) -> int:
        return self._vocabulary.count(text)

    def prompt_tokens(self, prefix: Sequence[Message], messages: Sequence[Message]) -> int:
        return sum(map(len, self._prompt(prefix, messages)))

    def warm(self, prefix: Sequence[Message]) -> None:
        beginning, _ = self._prompt(prefix, [Message("user", "")])
        with self._alone(never := threading.Event()):
            self._restore(beginning, never)

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
        prompt = self._prompt(prefix, messages)
        size = sum(map(len, prompt))
        if size + max_tokens > self.context:
            raise ModelError(
                f"The prompt has {size} tokens; with {max_tokens} for the answer that is more than the "
                f"{self.context} of the model's context. Shorten the question or set a larger context."
            )
        return self._stream(prompt, max_tokens, stop, watch, cancel or threading.Event())

    def read(
        self,
        prefix: Sequence[Message],
        messages: Sequence[Message],
        text: str,
        *,
        watch: str,
        cancel: threading.Event | None = None,
    ) -> Read | None:
        cancel = cancel or threading.Event()
        prompt = self._prompt(prefix, messages)
        before, _, behind = messages[-1].content.rpartition(text)
        without = [*messages[:-1], Message(messages[-1].role, before + behind)]
        place = _place(prompt[1], self._prompt(prefix, without)[1])
        with self._alone(cancel) as mine:
            return self._read(prompt, place, watch, cancel) if mine else None

    def bare_seconds(self, prefix: Sequence[Message], messages: Sequence[Message], tokens: int) -> float:
        """Seconds in which llama.cpp's own greedy loop writes `tokens` after the first one: no text is made and
        nothing is looked at. What `stream` is measured against."""
        with self._alone(threading.Event()):
            prompt = [token for part in self._prompt(prefix, messages) for token in part]
            self._llama.reset()  # type: ignore[no-untyped-call]
            written = self._llama.generate(prompt, temp=0.0, repeat_penalty=1.0)
            next(written)
            start = time.perf_counter()
            for _ in range(tokens):
                next(written)
            return time.perf_counter() - start

    def close(self) -> None:
        self._closed.set()
        if self._lock.acquire(blocking=False):  # else the open stream ends, and frees the model
            self._llama.close()
            self._lock.release()

    def _prompt(self, prefix: Sequence[Message], messages: Sequence[Message]) -> Prompt:
        if self._closed.is_set():
            raise ModelError(f"{self.name} is closed. Start again.")
        return self._vocabulary.prompt(prefix, messages)

    @contextmanager
    def _alone(self, cancel: threading.Event) -> Iterator[bool]:
        """The model for this caller alone; False if `cancel` was set before it was free.

        The last guard: askers queue before they come here, so what is waited for is a warm-up.
        """
        until = time.monotonic() + BUSY_S
        while not self._lock.acquire(timeout=POLL_S):
            if cancel.is_set():
                yield False
                return
            if time.monotonic() > until:
                raise ModelError(f"{self.name} is busy with another answer. Ask again.")
        try:
            yield not self._closed.is_set()
        finally:
            self._lock.release()
            if self._closed.is_set():
                self.close()

    def _stream(
        self, prompt: Prompt, max_tokens: int, stop: Sequence[str], watch: str, cancel: threading.Event
    ) -> Generator[str, None, Finish]:
        written: list[int] = []
        reason: Reason = "cancelled"
        watched = None
        with self._alone(cancel) as mine:
            if mine and self._begin(prompt, cancel):
                watched = self._chance(watch) if watch else None
                pieces = self._write(max_tokens, cancel, written)
                reason = yield from clip(pieces, (*stop, *self._vocabulary.control_texts))
        return Finish(reason, sum(map(len, prompt)), len(written), watched)

    def _begin(self, prompt: Prompt, cancel: threading.Event) -> bool:
        """Put the context to exactly `prompt`; False if `cancel` was set before it was."""
        beginning, rest = prompt
        if state := self._kept.get(self._state_key([*beginning, *rest])):
            self._load(state, len(beginning) + len(rest) - 1)  # a state has no scores: its last token again
            return self._evaluate(rest[-1:], cancel)
        return self._restore(beginning, cancel) and self._evaluate(rest, cancel)

    def _read(self, prompt: Prompt, place: slice, watch: str, cancel: threading.Event) -> Read | None:
        """What is made of a prompt, `place` being what is asked about of its rest; None if cancelled."""
        beginning, rest = prompt
        if not (self._restore(beginning, cancel) and self._evaluate(rest[: place.start - 1], cancel)):
            return None
        behind = rest[place.start - 1 :]
        at = len(beginning) + place.start - 1
        expected = decode(self._api, self._llama, behind, at, len(behind))
        tokens = rest[place]
        chances = expected[np.arange(len(tokens)), tokens]
        self._kept[self._state_key([*beginning, *rest])] = self._saved()
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        first = self._vocabulary.plain(watch)[0]
        return Read(float(chances.mean()) if tokens else 0.0, float(np.exp(expected[-1, first])))

    def _write(
        self, max_tokens: int, cancel: threading.Event, written: list[int]
    ) -> Generator[str, None, Reason]:
        """Text as it is written, whole characters only; `written` receives its tokens."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while len(written) < max_tokens:
            if written and not self._evaluate(written[-1:], cancel):
                return "cancelled"
            token = self._likeliest()
            if self._vocabulary.ends(token):
                return "stop"
            written.append(token)
            if text := decoder.decode(self._vocabulary.piece(token)):
                yield text
        return "length"

    def _evaluate(self, tokens: list[int], cancel: threading.Event) -> bool:
        """Add tokens to the context; False if `cancel` was set before all were in."""
        for start in range(0, len(tokens), CHUNK):
            if cancel.is_set() or self._closed.is_set():
                return False
            try:
                self._llama.eval(tokens[start : start + CHUNK])
            except RuntimeError as error:
                raise ModelError(
                    f"{self.name} failed: {error}. Ask again; if it fails again, restart."
                ) from error
        return True

    def _scores(self) -> np.ndarray:
        """float32 (vocabulary): what is expected next, not normed."""
        logits = self._api.llama_get_logits_ith(self._llama.ctx, -1)
        scores: np.ndarray = np.ctypeslib.as_array(logits, shape=(self._llama.n_vocab(),))
        return scores

    def _likeliest(self) -> int:
        return int(self._scores().argmax())

    def _chance(self, text: str) -> float:
        """That the first token of `text` comes next."""
        scores = self._scores()
        above = scores - scores[self._vocabulary.plain(text)[0]]
        return float(1 / np.exp(above).sum())

    def _restore(self, beginning: list[int], cancel: threading.Event) -> bool:
        """Put the context to exactly `beginning`: from its saved state, else by evaluating and saving it."""
        key = self._state_key(beginning)
        self._llama.reset()  # type: ignore[no-untyped-call]
        if state := self._states.get(key):
            if self._load(state, len(beginning)):
                return True
        if not self._evaluate(beginning, cancel):
            return False
        self._states.put(key, self._saved())
        return True

    def _load(self, state: bytes, tokens: int) -> bool:
        """Put the context to the first `tokens` of a saved state; False if llama.cpp does not take it."""
        self._llama.reset()  # type: ignore[no-untyped-call]
        buffer = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        taken: int = self._api.llama_state_seq_set_data(self._llama.ctx, buffer, len(state), 0)
        self._llama.n_tokens = tokens if taken == len(state) else 0
        return taken == len(state)

    def _saved(self) -> bytes:
        size = self._api.llama_state_seq_get_size(self._llama.ctx, 0)
        buffer = (ctypes.c_uint8 * size)()
        self._api.llama_state_seq_get_data(self._llama.ctx, buffer, size, 0)
        return bytes(buffer)

    def _state_key(self, tokens: list[int]) -> str:
        """Names a state by all that its bytes depend on: file, build, processor, settings, tokens."""
        file = self._path.stat()
        build = (self._api.__version__, self._api.llama_print_system_info())
        settings = (self.context, CHUNK, self._llama.n_threads, self._llama.model_params.use_extra_bufts)
        parts = (self.name, file.st_size, file.st_mtime_ns, build, settings, tokens)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


def _place(rest: list[int], without: list[int]) -> slice:
    """Which tokens of a prompt are not in the same prompt without a text."""
    most = min(len(rest), len(without))
    start = next((i for i in range(most) if rest[i] != without[i]), most)
    end = next((i for i in range(most - start) if rest[-1 - i] != without[-1 - i]), most - start)
    return slice(max(1, start), len(rest) - end)
