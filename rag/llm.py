"""The local language model: llama.cpp on a GGUF file."""

from __future__ import annotations

import codecs
import ctypes
import hashlib
import os
import platform
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.cores import usable_cores
from rag.errors import ModelError
from rag.looping import clip
from rag.model import Finish, Message, Reason
from rag.prefixes import PrefixStates
from rag.vocabulary import Prompt, Vocabulary

if TYPE_CHECKING:
    from llama_cpp import Llama

CHUNK = 128  # prompt tokens evaluated at once; `cancel` is heard between chunks; 512 would be 3 % faster
_LOADING = threading.Lock()  # how to load is a setting of the whole library
BUSY_S = 60.0  # longer than a warm-up takes
POLL_S = 0.1
ERROR = 4  # of ggml_log_level


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
        cancel: threading.Event | None = None,
    ) -> Generator[str, None, Finish]:
        prompt = self._prompt(prefix, messages)
        size = sum(map(len, prompt))
        if size + max_tokens > self.context:
            raise ModelError(
                f"The prompt has {size} tokens; with {max_tokens} for the answer that is more than the "
                f"{self.context} of the model's context. Shorten the question or set a larger context."
            )
        return self._stream(prompt, max_tokens, stop, cancel or threading.Event())

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
        self, prompt: Prompt, max_tokens: int, stop: Sequence[str], cancel: threading.Event
    ) -> Generator[str, None, Finish]:
        written: list[int] = []
        reason: Reason = "cancelled"
        with self._alone(cancel) as mine:
            if mine:
                pieces = self._write(prompt, max_tokens, cancel, written)
                reason = yield from clip(pieces, (*stop, *self._vocabulary.control_texts))
        return Finish(reason, sum(map(len, prompt)), len(written))

    def _write(
        self, prompt: Prompt, max_tokens: int, cancel: threading.Event, written: list[int]
    ) -> Generator[str, None, Reason]:
        """Text as it is written, whole characters only; `written` receives its tokens."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        beginning, rest = prompt
        if not (self._restore(beginning, cancel) and self._evaluate(rest, cancel)):
            return "cancelled"
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

    def _likeliest(self) -> int:
        import numpy as np

        logits = self._api.llama_get_logits_ith(self._llama.ctx, -1)
        return int(np.ctypeslib.as_array(logits, shape=(self._llama.n_vocab(),)).argmax())

    def _restore(self, beginning: list[int], cancel: threading.Event) -> bool:
        """Put the context to exactly `beginning`: from its saved state, else by evaluating and saving it."""
        key = self._state_key(beginning)
        self._llama.reset()  # type: ignore[no-untyped-call]
        if state := self._states.get(key):
            buffer = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
            if self._api.llama_state_seq_set_data(self._llama.ctx, buffer, len(state), 0) == len(state):
                self._llama.n_tokens = len(beginning)
                return True
        if not self._evaluate(beginning, cancel):
            return False
        size = self._api.llama_state_seq_get_size(self._llama.ctx, 0)
        buffer = (ctypes.c_uint8 * size)()
        self._api.llama_state_seq_get_data(self._llama.ctx, buffer, size, 0)
        self._states.put(key, bytes(buffer))
        return True

    def _state_key(self, tokens: list[int]) -> str:
        """Names a state by all that its bytes depend on: file, build, processor, settings, tokens."""
        file = self._path.stat()
        build = (self._api.__version__, self._api.llama_print_system_info())
        settings = (self.context, CHUNK, self._llama.n_threads, self._llama.model_params.use_extra_bufts)
        parts = (self.name, file.st_size, file.st_mtime_ns, build, settings, tokens)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


class _Library:
    """llama_cpp, imported so that it neither prints nor burns processor time; and its last error lines."""

    def __init__(self) -> None:
        # How long a waiting thread spins before it sleeps. The usual 300,000 turns keep the thread it waits for
        # off its core whenever another process is busy: a quarter of the speed. 500 cost nothing when none is.
        os.environ.setdefault("GOMP_SPINCOUNT", "500")
        import llama_cpp
        from llama_cpp import _internals

        # Its own way to be quiet sends the output of the whole process to nowhere while a model loads.
        setattr(_internals, "suppress_stdout_stderr", lambda disable: nullcontext())  # noqa: B010
        self.api: Any = llama_cpp
        self._defaults = llama_cpp.llama_model_default_params
        if platform.machine() in ("x86_64", "AMD64"):
            self.api.llama_cpp.llama_model_default_params = self._params
        self.copies = False
        self.errors: deque[str] = deque(maxlen=3)
        self._log = llama_cpp.llama_log_callback(self._heard)  # must live as long as llama.cpp may log
        llama_cpp.llama_log_set(self._log, ctypes.c_void_p(0))

    def _params(self) -> Any:
        """Whether weights are used as they lie in the file, which Llama has no argument for.

        Rearranged copies of Q4_K weights (llama.cpp's "repack") write 1.3 times faster on x86, but read prompts
        1.6 times slower, and prompts are most of the time here; they also take their size in memory again. Of
        Q4_0 weights they read 2.2 times faster.
        """
        params = self._defaults()
        params.use_extra_bufts = self.copies
        return params

    def _heard(self, level: int, text: bytes, _: object) -> None:
        if level == ERROR:
            self.errors.append(text.decode("utf-8", "replace").strip())


@cache
def _library() -> _Library:
    return _Library()


def llama_api() -> Any:
    """The module llama_cpp."""
    return _library().api


def load_llama(path: Path, context: int, threads: int, *, batch: int = CHUNK, copies: bool = False) -> Llama:
    """A GGUF file, loaded; `copies`: with its weights rearranged in memory. Raises ModelError."""
    library = _library()
    workers = {"n_threads": threads, "n_threads_batch": threads}
    sizes = {"n_ctx": context, "n_batch": batch, "n_ubatch": batch, "flash_attn": True}
    try:
        with _LOADING:
            library.errors.clear()
            library.copies = copies
            llama: Llama = library.api.Llama(str(path), **sizes, **workers, verbose=False)
    except (ValueError, RuntimeError) as error:
        raise ModelError(
            f"{path} cannot be loaded: {' '.join(library.errors) or error}. Fetch the file again if it is "
            "missing or damaged, set a smaller context if memory is short, or take another model."
        ) from error
    trained = library.api.llama_model_n_ctx_train(llama.model)
    if context > trained:
        llama.close()
        raise ModelError(
            f"{path.name} takes {trained} tokens of context, not {context}. Set context = {trained}."
        )
    return llama
