"""llama.cpp, loaded quietly: its library and its GGUF files."""

from __future__ import annotations

import ctypes
import os
import platform
import threading
from collections import deque
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.errors import ModelError

if TYPE_CHECKING:
    from llama_cpp import Llama

CHUNK = 128  # prompt tokens evaluated at once; `cancel` is heard between chunks; 512 would be 3 % faster
_LOADING = threading.Lock()  # how to load is a setting of the whole library
ERROR = 4  # of ggml_log_level


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
