"""Embedding through sentence-transformers: the only file that imports it and torch (seconds, 450 MB)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import InputModule
from transformers.utils import logging

from rag.cores import usable_cores
from rag.embed import Embedder, OnnxEncoder, Vectors


class OnnxModule(InputModule):
    """`OnnxEncoder` as a sentence-transformers module, the library's documented extension point.

    Texts run one by one (int8 scores move with padding and batch), as many at a time as there are cores.
    """

    def __init__(self, encoder: OnnxEncoder) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.encoder = encoder
        self.tokenizer = encoder.tokenizer
        self.max_seq_length = encoder.max_tokens
        self.pool = ThreadPoolExecutor(usable_cores())

    def preprocess(self, inputs: Sequence[Any], prompt: str | None = None, **_: Any) -> dict[str, Any]:
        return {"ids": self.encoder.tokenise([(prompt or "") + str(text) for text in inputs])}

    def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
        rows = list(self.pool.map(lambda one: self.encoder.token_features([one]), features["ids"]))
        features["sentence_embedding"] = torch.from_numpy(np.concatenate(rows))
        return features

    def get_embedding_dimension(self) -> int:
        return self.encoder.dimension

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("Pincite's weights are files of the catalogue; there is nothing to save")


def wrap(encoder: OnnxEncoder) -> SentenceTransformer:
    return SentenceTransformer(modules=[OnnxModule(encoder)], device="cpu")


def open_folder(folder: Path) -> SentenceTransformer:
    """A sentence-transformers folder; nothing is fetched, and no bar is drawn."""
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


class LibraryEmbedder(Embedder):
    """Any sentence-transformers model: used for indexing, and for models that are not ONNX."""

    def __init__(
        self, model: SentenceTransformer, name: str, fingerprint: str, max_tokens: int, query_prefix: str
    ) -> None:
        self.model = model
        self.name, self.fingerprint = name, fingerprint
        self.max_tokens, self.query_prefix = max_tokens, query_prefix
        self.dimension = int(model.get_embedding_dimension() or 0)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        tokenizer = self.model.tokenizer
        if hasattr(tokenizer, "encode_batch"):
            return [len(e.ids) for e in tokenizer.encode_batch(list(texts))]
        return [len(ids) for ids in tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]]

    def _encode(self, texts: Sequence[str]) -> Vectors:
        over = [n for n in self.lengths(texts) if n > self.max_tokens]
        if over:
            raise ValueError(f"a text of {max(over)} word pieces is over the embedder's {self.max_tokens}")
        vectors = self.model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32).reshape(len(texts), self.dimension)
