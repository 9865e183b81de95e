"""Token counts with a model's own vocabulary (pitfalls C39, C58)."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path

import pytest

from rag import tokens
from rag.settings import Settings
from rag.tokens import count, encoder, o200k

SHARED = Path(__file__).parents[2] / "shared"
SMALL = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"

# "Ġ" is how GGUF spells a space, "Ċ" a line break, "Ã©" the two bytes of é.
MERGES = ["t h", "th e", "Ġ the", "Ã ©", "Ċ Ċ", "Ġ Ġ"]


def gguf(path: Path, pre: str = "gpt-2", model: str = "gpt2", merges: list[str] | None = None) -> Path:
    """A vocabulary without weights, with metadata of other kinds around it."""
    writer_of = pytest.importorskip("gguf").GGUFWriter
    writer = writer_of(path, "test")
    writer.add_float32("some.scale", 1.5)
    writer.add_array("some.sizes", [1, 2, 3])
    writer.add_bool("some.flag", True)
    writer.add_uint64("some.size", 2**40)
    writer.add_string("tokenizer.ggml.model", model)
    writer.add_string("tokenizer.ggml.pre", pre)
    writer.add_array("tokenizer.ggml.merges", MERGES if merges is None else merges)
    writer.add_array("some.names", ["a", "b"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def pieces(path: Path, text: str) -> list[str]:
    encoding = encoder(path)
    assert encoding is not None
    return [encoding.decode([token]) for token in encoding.encode_ordinary(text)]


def test_merges_make_the_tokens_and_spelled_bytes_are_decoded(tmp_path: Path) -> None:
    path = gguf(tmp_path / "m.gguf")
    assert pieces(path, "the the tha") == ["the", " the", " ", "th", "a"]
    assert pieces(path, "é\n\n") == ["é", "\n\n"]


def test_merges_are_applied_in_their_order(tmp_path: Path) -> None:
    assert pieces(gguf(tmp_path / "a.gguf", merges=["a b", "b c"]), "abc") == ["ab", "c"]
    assert pieces(gguf(tmp_path / "b.gguf", merges=["b c", "a b"]), "abc") == ["a", "bc"]


@pytest.mark.parametrize(
    ("pre", "words"),
    [
        ("gpt-2", ["a", "2024", "  ", " 1", " b", "'s"]),
        ("smollm", ["a", "2", "0", "2", "4", "   ", "1", " b", "'s"]),
        ("qwen2", ["a", "2", "0", "2", "4", "  ", " ", "1", " b", "'s"]),
        ("llama-bpe", ["a", "202", "4", "  ", " ", "1", " b", "'s"]),
    ],
)
def test_text_is_split_as_the_pre_tokeniser_says(tmp_path: Path, pre: str, words: list[str]) -> None:
    # every prefix of a word is a token, so that only the split decides
    merges = ["2 0", "20 2", "202 4", "Ġ Ġ", "ĠĠ Ġ", "Ġ 1", "Ġ b", "' s"]
    found = pieces(gguf(tmp_path / "m.gguf", pre, merges=merges), "a2024   1 b's")
    assert found == words


@pytest.mark.parametrize("pre", sorted(tokens._PATTERNS))
def test_no_character_is_lost_by_the_split(tmp_path: Path, pre: str) -> None:
    text = "It's 3.5x\t\u2028 faster (p<0.05)…\r\n\n   – 数据 \u0301 \x00\x1f 🙂 \u00a0\u3000x  "
    encoding = encoder(gguf(tmp_path / "m.gguf", pre))
    assert encoding is not None
    assert encoding.decode(encoding.encode_ordinary(text)) == text


def test_a_million_spaces_are_counted(tmp_path: Path) -> None:
    encoding = encoder(gguf(tmp_path / "m.gguf", "qwen2"))
    assert encoding is not None
    assert count(encoding, " " * 10**6) == 10**6 // 2  # by the merge of two spaces
    assert count(encoding, "") == 0


@pytest.mark.parametrize(("pre", "model"), [("tekken", "gpt2"), ("default", "llama"), ("qwen2", "llama")])
def test_other_kinds_of_vocabulary_are_none(tmp_path: Path, pre: str, model: str) -> None:
    assert encoder(gguf(tmp_path / "m.gguf", pre, model)) is None


def test_a_file_that_is_no_gguf_or_cut_short_is_none(tmp_path: Path) -> None:
    whole = gguf(tmp_path / "m.gguf").read_bytes()
    for n, content in enumerate([b"", b"GGUF", b"x" * 100, whole[:60], whole[:200], b"GGUF\1" + whole[5:]]):
        (tmp_path / f"{n}").write_bytes(content)
        assert encoder(tmp_path / f"{n}") is None, n
    assert encoder(tmp_path / "missing") is None


def test_o200k_is_none_without_an_intact_file_and_never_fetched(tmp_path: Path) -> None:
    assert o200k(tmp_path) is None
    (tmp_path / tokens._O200K_FILE).write_bytes(b"IQ== 0\n")
    assert o200k(tmp_path) is None


@pytest.mark.model
def test_o200k_from_disk_is_tiktokens_own() -> None:
    encoding = o200k(Settings().models_dir / "tiktoken-encodings")
    if encoding is None:
        pytest.skip("needs: pincite models pull tiktoken-encodings")
    assert encoding.encode_ordinary("hello world, 12345 tokens") == [24912, 2375, 11, 220, 7633, 2548, 20290]


@pytest.mark.model
def test_the_metadata_read_here_is_what_the_gguf_package_reads() -> None:
    gguf_package = pytest.importorskip("gguf")
    path = Settings().models_dir / "SmolLM2-135M-Instruct.Q4_1.gguf"
    if not path.exists():
        pytest.skip(f"needs {path.name}")
    fields = gguf_package.GGUFReader(path).fields
    found = tokens._strings(path)
    assert found["tokenizer.ggml.merges"] == fields["tokenizer.ggml.merges"].contents()
    assert found["tokenizer.ggml.tokens"] == fields["tokenizer.ggml.tokens"].contents()


@pytest.mark.shared
@pytest.mark.model
@pytest.mark.parametrize("name", [SMALL, "SmolLM2-135M-Instruct.Q4_1.gguf"])
def test_counts_equal_llama_cpps_on_real_abstracts(name: str) -> None:
    llama_cpp = pytest.importorskip("llama_cpp")
    path, corpus = Settings().models_dir / name, SHARED / "corpora" / "icml2024.jsonl.gz"
    if not path.exists() or not corpus.exists():
        pytest.skip(f"needs {name} and the corpora")
    encoding = encoder(path)
    assert encoding is not None
    llama = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["abstract"] for line in islice(lines, 200)]
    assert len(texts) == 200
    for text in [*texts, "a  2 b   3\n\n 4\t5", "It's we'LL <|im_end|> naïve – ∑_{i}"]:
        assert len(encoding.encode_ordinary(text)) == len(llama.tokenize(text.encode(), add_bos=False)), text
