"""Text to vectors: one small ONNX encoder for questions, the same through sentence-transformers for papers.

Importing torch and sentence-transformers costs seconds and hundreds of MB, so the way of a question
uses `OnnxEncoder` directly; both ways run the same arithmetic (a test pins them equal).
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.catalog import catalog
from rag.cores import usable_cores
from rag.errors import WeightsError

Vectors = NDArray[np.float32]


class OnnxEncoder:
    """A BERT encoder in ONNX: CLS pooling, L2 norm. `max_tokens` counts word pieces with [CLS] and [SEP]."""

    def __init__(self, folder: Path, max_tokens: int = 512, threads: int | None = None) -> None:
        # Its native code looks up Microsoft's event collector from a thread of its own unless told before.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime  # type: ignore[import-untyped]
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or usable_cores()
        options.log_severity_level = 3
        try:
            self.session = onnxruntime.InferenceSession(str(folder / "model_quantized.onnx"), options)
            self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # noqa: BLE001 - both libraries raise bare Exception subclasses
            raise WeightsError(f"The embedder in {folder} cannot be loaded: {error}") from error
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.max_tokens = max_tokens
        self.inputs = {i.name for i in self.session.get_inputs()}
        self.dimension = int(self.session.get_outputs()[0].shape[-1])

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Word pieces of each text, special tokens included."""
        return [len(e.ids) for e in self.tokenizer.encode_batch(list(texts))]

    def token_features(self, ids: Sequence[Sequence[int]]) -> Vectors:
        """(n, dimension) unit vectors of already tokenised texts, padded to the longest."""
        width = max(map(len, ids))
        tokens = np.zeros((len(ids), width), dtype=np.int64)
        mask = np.zeros_like(tokens)
        for row, one in enumerate(ids):
            tokens[row, : len(one)] = one
            mask[row, : len(one)] = 1
        feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        hidden = self.session.run(None, {k: v for k, v in feed.items() if k in self.inputs})[0]
        cls = hidden[:, 0, :].astype(np.float32)
        return np.asarray(cls / np.linalg.norm(cls, axis=1, keepdims=True), dtype=np.float32)

    def tokenise(self, texts: Sequence[str]) -> list[list[int]]:
        """Word-piece ids; raises ValueError for a text that is too long (nothing is cut silently)."""
        ids = [list(e.ids) for e in self.tokenizer.encode_batch(list(texts))]
        longest = max(map(len, ids), default=0)
        if longest > self.max_tokens:
            raise ValueError(f"a text of {longest} word pieces is over the embedder's {self.max_tokens}")
        return ids

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension) unit vectors. Each text is run alone: int8 scores move with padding and batch."""
        ids = self.tokenise(texts)
        if not ids:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.concatenate([self.token_features([one]) for one in ids])


class Embedder(ABC):
    """Texts to unit vectors. `documents` and `query` hold the contract, a backend writes `_encode`.

    `fingerprint` names the model by its bytes; vectors of different fingerprints never mix.
    """

    name: str
    dimension: int
    max_tokens: int
    fingerprint: str
    query_prefix: str = ""

    @abstractmethod
    def _encode(self, texts: Sequence[str]) -> Vectors: ...

    @abstractmethod
    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Word pieces of each text, special tokens included."""

    def documents(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension) unit vectors; raises ValueError if a text is over `max_tokens`."""
        vectors = self._encode(texts)
        if vectors.shape != (len(texts), self.dimension):
            raise WeightsError(
                f"The embedder {self.name} gave {vectors.shape}, not {(len(texts), self.dimension)}: "
                "its files do not belong together. Run: pincite models pull"
            )
        return vectors

    def query(self, text: str) -> Vectors:
        """(dimension,) unit vector of a question, with the model's query prefix; a long one loses its end."""
        text = self.query_prefix + text
        while self.lengths([text])[0] > self.max_tokens:
            text = text[: len(text) * 9 // 10]
        return np.asarray(self._encode([text])[0], dtype=np.float32)


class QueryEmbedder(Embedder):
    """The ONNX encoder alone: starts in a third of a second and needs neither torch nor sentence-transformers."""

    def __init__(self, folder: Path, name: str, fingerprint: str, max_tokens: int, query_prefix: str) -> None:
        self.encoder = OnnxEncoder(folder, max_tokens)
        self.name, self.fingerprint = name, fingerprint
        self.max_tokens, self.query_prefix = max_tokens, query_prefix
        self.dimension = self.encoder.dimension

    def lengths(self, texts: Sequence[str]) -> list[int]:
        return self.encoder.lengths(texts)

    def _encode(self, texts: Sequence[str]) -> Vectors:
        return self.encoder.encode(texts)


def open_embedder(folder: Path, name: str, *, for_documents: bool = False) -> Embedder:
    """The embedder of a catalogue name, with its files in `folder`; torch is imported only if need be."""
    model = catalog()[name]
    fingerprint = (model.files[0].sha256 or "unknown")[:16]
    prefix = model.query_prefix
    max_tokens = model.max_word_pieces or 512
    onnx = any(file.name.endswith(".onnx") for file in model.files)
    if onnx and not for_documents:
        return QueryEmbedder(folder, name, fingerprint, max_tokens, prefix)
    from rag.embed_library import LibraryEmbedder, open_folder, wrap

    # One text a core at a time is faster than all cores on one short text.
    loaded = wrap(OnnxEncoder(folder, max_tokens, threads=1)) if onnx else open_folder(folder)
    return LibraryEmbedder(loaded, name, fingerprint, max_tokens, prefix)
