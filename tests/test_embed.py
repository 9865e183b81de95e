"""Texts to vectors: the contract, and the real encoders behind it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fakes import HashEmbedder
from process import EMBEDDER, environment, home_with
from shelf import BITTERN, DUNLIN, GODWIT, numbered

from rag.catalog import catalog
from rag.embed import OnnxEncoder, QueryEmbedder, Vectors, open_embedder
from rag.errors import SettingsError, WeightsError
from rag.opening import embedder_of
from rag.settings import Settings

OTHER = "all-minilm-l6-v2"


# ------------------------------------------------------------------------------------------ contract


def test_documents_and_questions_become_unit_vectors() -> None:
    embedder = HashEmbedder(dim=32)
    vectors = embedder.documents([BITTERN, DUNLIN])
    assert vectors.shape == (2, 32) and vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1])
    assert embedder.query(BITTERN) == pytest.approx(vectors[0])
    assert embedder.documents([]).shape == (0, 32)


def test_vectors_of_another_shape_are_refused() -> None:
    class Wrong(HashEmbedder):
        def _encode(self, texts: Sequence[str]) -> Vectors:
            return np.zeros((len(texts), 31), dtype=np.float32)

    with pytest.raises(WeightsError, match=r"hash gave \(1, 31\), not \(1, 32\).*pincite models pull"):
        Wrong(dim=32).documents([BITTERN])


def test_only_a_question_carries_the_prefix_and_may_lose_its_end() -> None:
    seen: list[str] = []

    class Seeing(HashEmbedder):
        query_prefix = "query: "

        def _encode(self, texts: Sequence[str]) -> Vectors:
            seen.extend(texts)
            return super()._encode(texts)

    embedder = Seeing(max_tokens=20)
    embedder.documents(["some text"])
    embedder.query("a question")
    embedder.query("word " * 500)
    assert seen[:2] == ["some text", "query: a question"]
    assert seen[2].startswith("query: word word") and embedder.lengths([seen[2]])[0] <= 20


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "model_quantized.onnx").write_bytes(b"no model")
    with pytest.raises(WeightsError, match=f"embedder in {tmp_path} cannot be loaded"):
        OnnxEncoder(tmp_path)


def test_an_unknown_embedder_is_told_with_those_that_are_known(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, embedder="qwen2.5-coder-0.5b")  # a model, but no embedder
    with pytest.raises(SettingsError, match=f"no embedder 'qwen2.5-coder-0.5b'. Known: {EMBEDDER}, {OTHER}"):
        embedder_of(settings)


# -------------------------------------------------------------------------------------- real encoders


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return home_with(tmp_path_factory.mktemp("home"), EMBEDDER) / "models" / EMBEDDER


@pytest.fixture(scope="module")
def quick(folder: Path) -> QueryEmbedder:
    opened = open_embedder(folder, EMBEDDER)
    assert isinstance(opened, QueryEmbedder)
    return opened


def two_hundred() -> list[str]:
    """Texts of all lengths, from one letter to the limit."""
    long = [" ".join([BITTERN, DUNLIN, GODWIT] * 2)[: 40 * n] for n in range(1, 36)]
    odd = [
        "a",
        "?",
        "√2 ≤ ∞",
        "静かな湿地",
        "$\\alpha^2$",
        "naïve Erdős",
        "X" * 90,
        "e.g. 3.5%",
        "tab\tnew\nline",
    ]
    return [*long, *odd, *(numbered(n) for n in range(200 - len(long) - len(odd)))]


@pytest.mark.model
def test_both_ways_of_embedding_are_equal(folder: Path, quick: QueryEmbedder) -> None:
    texts = two_hundred()
    library = open_embedder(folder, EMBEDDER, for_documents=True)
    assert len(texts) == 200 and library.lengths(texts) == quick.lengths(texts)
    assert (library.name, library.fingerprint, library.dimension) == (EMBEDDER, quick.fingerprint, 384)
    one, two = quick.documents(texts), library.documents(texts)
    assert np.abs(one - two).max() <= 1e-5
    assert np.linalg.norm(one, axis=1) == pytest.approx(np.ones(200), abs=1e-5)
    assert np.abs(quick.query("What wakes Bittern?") - library.query("What wakes Bittern?")).max() <= 1e-5


@pytest.mark.model
def test_a_vector_does_not_depend_on_its_neighbours(quick: QueryEmbedder) -> None:
    """int8 scores move with padding and batch."""
    alone = quick.documents([numbered(7)])[0]
    assert (quick.documents([BITTERN * 2, numbered(7), "a"])[1] == alone).all()


@pytest.mark.model
def test_the_limit_is_the_models_and_nothing_is_cut(folder: Path, quick: QueryEmbedder) -> None:
    assert quick.max_tokens == 512 and quick.query_prefix.startswith("Represent this sentence")
    fits, over = "reed " * 510, "reed " * 511  # and two special tokens
    assert quick.lengths([fits, over]) == [512, 513]
    library = open_embedder(folder, EMBEDDER, for_documents=True)
    for embedder in (quick, library):
        assert embedder.documents([fits]).shape == (1, 384)
        with pytest.raises(ValueError, match="513 word pieces is over the embedder's 512"):
            embedder.documents([over])
        assert embedder.query(over).shape == (384,), "a question may lose its end"


@pytest.mark.model
def test_near_in_meaning_is_near(quick: QueryEmbedder) -> None:
    papers = quick.documents([BITTERN, DUNLIN, GODWIT])
    questions = (
        "a wireless device that uses little energy",
        "charting coastlines",
        "unmanned aircraft endurance",
    )
    assert [int(np.argmax(papers @ quick.query(question))) for question in questions] == [0, 1, 2]


@pytest.mark.model
def test_the_way_of_a_question_leaves_the_heavy_libraries_out(tmp_path: Path) -> None:
    home = home_with(tmp_path / "home", EMBEDDER)
    code = (
        "import sys, rag.retrieve\n"
        "from rag.opening import retriever_of; from rag.settings import load\n"
        "assert retriever_of(load(offline=True)).search(['What wakes Bittern?']) == []\n"
        "print(sorted({'torch', 'sentence_transformers', 'transformers', 'gradio'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(home), capture_output=True, text=True, timeout=120
    )
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


@pytest.mark.model
def test_all_minilm_is_selectable(tmp_path: Path) -> None:
    home = home_with(tmp_path / "home", OTHER)
    embedder = embedder_of(Settings(home=home, embedder=OTHER, offline=True))
    assert (embedder.name, embedder.dimension, embedder.max_tokens) == (OTHER, 384, 256)
    assert embedder.fingerprint != catalog()[EMBEDDER].files[0].sha256[:16]  # type: ignore[index]
    assert embedder.lengths(["reed " * 254, "a", ""]) == [256, 3, 2] and embedder.lengths([]) == []
    assert embedder.documents([]).shape == (0, 384)
    with pytest.raises(ValueError, match="257 word pieces is over the embedder's 256"):
        embedder.documents(["reed " * 255])
    papers = embedder.documents([BITTERN, DUNLIN, GODWIT])
    assert np.linalg.norm(papers, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    assert int(np.argmax(papers @ embedder.query("charting coastlines"))) == 1
