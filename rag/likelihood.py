"""How likely a small language model finds a question after reading a passage: a second look at close papers.

Meaning and words both miss a question that shares no word with its paper; a language model that has read the
abstract expects the question more than one that has read another (unsupervised passage re-ranking, Sachan et al.
2022). Measured in docs/design/retrieval.md.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np

from rag.cores import usable_cores
from rag.decoding import decode
from rag.errors import ModelError
from rag.llama import llama_api, load_llama
from rag.nouns import Hit

CONTEXT = 1024
PASSAGE, QUESTION = 640, 96  # tokens of each that are read; an abstract has 250
OPENING = "<|im_start|>user\nPassage: "
ASKING = (
    "\nWrite a question, in everyday words, that this passage answers.<|im_end|>\n<|im_start|>assistant\n"
)


LOOKED_AT = 8  # papers that are compared
WEIGHT = 0.1  # of the mean log-probability beside a paper's score


class Scorer(Protocol):
    """Whatever tells how likely a question is after each passage."""

    name: str

    def scores(
        self, question: str, passages: Sequence[str], cancel: threading.Event | None = None
    ) -> list[float]: ...


def reranked(
    scorer: Scorer, question: str, hits: Sequence[Hit], cancel: threading.Event | None = None
) -> list[Hit]:
    """The hits with the first LOOKED_AT in a new order; their scores tell what a language model expects too.

    As they were once `cancel` is set.
    """
    head = hits[:LOOKED_AT]
    passages = [f"{h.paper.title}. {h.paper.abstract}".lstrip(". ") for h in head]
    scores = scorer.scores(question, passages, cancel)
    if len(scores) < len(head):
        return list(hits)
    best = max(scores, default=0.0)
    again = [replace(h, score=h.score + WEIGHT * (s - best)) for h, s in zip(head, scores, strict=True)]
    return sorted(again, key=lambda h: -h.score) + list(hits[LOOKED_AT:])


class Likelihood:
    """A small GGUF model that reads a question after each passage. Safe for many threads, one at a time."""

    def __init__(self, path: Path, cache_dir: Path, threads: int | None = None) -> None:
        """`cache_dir` keeps the rearranged weights. Raises ModelError if the file cannot be used."""
        self.name = path.stem
        self._api = llama_api()
        workers = threads or usable_cores()
        self._llama = load_llama(_quick(path, cache_dir), CONTEXT, workers, batch=CONTEXT, copies=True)
        self._lock = threading.Lock()
        self._memory = self._api.llama_get_memory(self._llama.ctx)
        self._opening, self._asking = self._tokens(OPENING), self._tokens(ASKING)

    def scores(
        self, question: str, passages: Sequence[str], cancel: threading.Event | None = None
    ) -> list[float]:
        """The mean log-probability of the question's tokens after each passage; larger is likelier.

        Fewer than passages if `cancel` is set meanwhile.
        """
        asked = self._plain(question)[:QUESTION]
        if not asked:
            return [0.0] * len(passages)
        with self._lock:
            self._api.llama_memory_clear(self._memory, True)
            decode(self._api, self._llama, self._opening, 0, 1)
            out: list[float] = []
            for passage in passages:
                if cancel and cancel.is_set():
                    break
                out.append(self._score(self._plain(passage)[:PASSAGE], asked))
            return out

    def close(self) -> None:
        with self._lock:
            self._llama.close()

    def _score(self, passage: list[int], asked: list[int]) -> float:
        start = len(self._opening)
        self._api.llama_memory_seq_rm(self._memory, 0, start, -1)
        read = [*passage, *self._asking, *asked]
        expected = decode(self._api, self._llama, read, start, len(asked) + 1)[:-1]
        return float(np.mean(expected[np.arange(len(asked)), asked]))

    def _tokens(self, template: str) -> list[int]:
        return list(self._llama.tokenize(template.encode(), add_bos=False, special=True))

    def _plain(self, text: str) -> list[int]:
        """Tokens of a text as data: what looks like the template's marks is not read as such."""
        return list(self._llama.tokenize(text.encode(), add_bos=False, special=False))


def _quick(path: Path, cache_dir: Path) -> Path:
    """The model in Q4_0, made once (0.2 s): llama.cpp reads prompts three times faster from it than from Q4_1."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    made = cache_dir / "likelihood" / f"{digest}-q4_0.gguf"
    if made.exists():
        return made
    api = llama_api()
    made.parent.mkdir(parents=True, exist_ok=True)
    part = made.with_suffix(f".{os.getpid()}.part")
    params = api.llama_model_quantize_default_params()
    params.ftype, params.allow_requantize = api.LLAMA_FTYPE_MOSTLY_Q4_0, True
    if api.llama_model_quantize(os.fsencode(path), os.fsencode(part), params):
        part.unlink(missing_ok=True)
        raise ModelError(f"{path} cannot be rearranged. Fetch it again: pincite models pull smollm2-135m")
    os.replace(part, made)
    return made
