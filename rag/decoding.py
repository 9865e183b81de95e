"""Tokens read by llama.cpp, with what it expected at each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rag.errors import ModelError


def decode(api: Any, llama: Any, tokens: list[int], position: int, wanted: int) -> np.ndarray:
    """Read tokens at `position` and behind; float32 (wanted, vocabulary): the log-probabilities of what follows
    each of the last `wanted` of them.

    Raises ModelError if llama.cpp fails.
    """
    size = llama.n_batch
    out = []
    for start in range(0, len(tokens), size):
        part = tokens[start : start + size]
        first = max(0, len(tokens) - wanted - start)  # of the part, from which scores are wanted
        _read(api, llama, part, position + start, first)
        if first < len(part):
            shape = (len(part) - first, llama.n_vocab())
            out.append(np.ctypeslib.as_array(api.llama_get_logits(llama.ctx), shape=shape).copy())
    return _normed(np.concatenate(out))


def _read(api: Any, llama: Any, tokens: list[int], position: int, first: int) -> None:
    batch = api.llama_batch_init(len(tokens), 0, 1)
    try:
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i] = token, position + i
            batch.n_seq_id[i], batch.seq_id[i][0] = 1, 0
            batch.logits[i] = i >= first
        if api.llama_decode(llama.ctx, batch):
            raise ModelError("The model failed while reading. Ask again; if it fails again, restart.")
    finally:
        api.llama_batch_free(batch)


def _normed(logits: np.ndarray) -> np.ndarray:
    highest = logits.max(axis=1, keepdims=True)
    normed: np.ndarray = logits - (highest + np.log(np.exp(logits - highest).sum(axis=1, keepdims=True)))
    return normed
