"""Counting tokens with tiktoken: a model's own vocabulary from its GGUF file, or o200k_base from disk."""

from __future__ import annotations

import base64
import hashlib
import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken

# How llama.cpp splits text before merging, by `tokenizer.ggml.pre` (src/llama-vocab.cpp), each as one pattern
# that leaves no character out, because tiktoken drops what no branch matches.
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s"
# llama.cpp cuts single digits out first, so white space before a digit stays in one piece.
_DIGITS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?![^\s\p{N}])|\s"
_MODERN = (
    r"'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,DIGITS}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_PATTERNS = {
    **dict.fromkeys(("gpt-2", "mpt", "olmo"), _GPT2),
    **dict.fromkeys(("smollm", "starcoder", "refact", "command-r", "codeshell"), _DIGITS),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen", "stablelm2"), _MODERN.replace("DIGITS", "1")),
    **dict.fromkeys(("llama-bpe", "dbrx", "smaug-bpe"), _MODERN.replace("DIGITS", "3")),
}
_O200K_FILE = (
    "fb374d419588a4632f3f557e76b4b70aebbca790"  # tiktoken's cache names files by sha1 of their address
)
_O200K_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_O200K_PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

SLICE = 50_000  # characters

_STRING, _ARRAY = 8, 9
_WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # bytes by GGUF value type


def encoder(path: Path) -> tiktoken.Encoding | None:
    """The byte-level BPE vocabulary of a GGUF model; None where its kind is not one of those known here.

    Counts are the model's; the token numbers are not (they are the order of merges).
    """
    import tiktoken

    try:
        fields = _strings(path)
    except (OSError, ValueError, struct.error):
        return None
    pattern = _PATTERNS.get(str(fields.get("tokenizer.ggml.pre", "")))
    merges = fields.get("tokenizer.ggml.merges")
    if fields.get("tokenizer.ggml.model") != "gpt2" or pattern is None or not isinstance(merges, list):
        return None
    return tiktoken.Encoding(path.stem, pat_str=pattern, mergeable_ranks=_ranks(merges), special_tokens={})


def o200k(folder: Path) -> tiktoken.Encoding | None:
    """o200k_base from a folder laid out as TIKTOKEN_CACHE_DIR; None if it is not there or not intact."""
    import tiktoken

    try:
        content = (folder / _O200K_FILE).read_bytes()
    except OSError:
        return None
    if hashlib.sha256(content).hexdigest() != _O200K_SHA256:
        return None
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, content.splitlines())}
    return tiktoken.Encoding("o200k_base", pat_str=_O200K_PATTERN, mergeable_ranks=ranks, special_tokens={})


def count(encoding: tiktoken.Encoding, text: str) -> int:
    """Tokens of a text, taken in slices: tiktoken panics on a run of a million spaces."""
    slices = range(0, len(text), SLICE)
    return sum(len(encoding.encode_ordinary(text[start : start + SLICE])) for start in slices)


def _ranks(merges: list[str]) -> dict[bytes, int]:
    """Ranks by order of merges. GGUF spells bytes as printable characters, as GPT-2's encoder.json does."""
    plain = [byte for byte in range(256) if chr(byte).isprintable() and chr(byte) != " "]
    others = [byte for byte in range(256) if byte not in plain]
    spelled = {byte: chr(byte) for byte in plain} | {byte: chr(256 + n) for n, byte in enumerate(others)}
    to_byte = {ord(char): chr(byte) for byte, char in spelled.items()}
    to_byte[ord(" ")] = ""  # separates the two sides of a merge
    ranks = {bytes([byte]): n for n, byte in enumerate(spelled)}
    for n, merge in enumerate(merges, start=len(ranks)):
        ranks.setdefault(merge.translate(to_byte).encode("latin-1"), n)
    return ranks


def _strings(path: Path) -> dict[str, str | list[str]]:
    """The metadata of a GGUF file that is text. (The gguf package needs seconds for it, this 0.1 s.)

    Raises OSError, ValueError or struct.error if the file is not readable as GGUF version 2 or 3.
    """
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        magic, version, _, count = struct.unpack_from("<4sIQQ", data, 0)
        if magic != b"GGUF" or version not in (2, 3):
            raise ValueError(f"{path} is not a GGUF file of version 2 or 3")
        return dict(_fields(data, count))


def _fields(data: mmap.mmap, count: int) -> Iterator[tuple[str, str | list[str]]]:
    at = struct.calcsize("<4sIQQ")
    for _ in range(count):
        key, at = _string(data, at)
        (kind,) = struct.unpack_from("<I", data, at)
        at += 4
        if kind == _STRING:
            value, at = _string(data, at)
            yield key, value
        elif kind == _ARRAY:
            (kind, length), at = struct.unpack_from("<IQ", data, at), at + 12
            if kind == _STRING:
                values = []
                for _ in range(length):
                    value, at = _string(data, at)
                    values.append(value)
                yield key, values
            else:
                at += length * _width(kind)
        else:
            at += _width(kind)


def _string(data: mmap.mmap, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<Q", data, at)
    end = at + 8 + length
    return data[at + 8 : end].decode("utf-8"), end


def _width(kind: int) -> int:
    if kind not in _WIDTHS:
        raise ValueError(f"unknown GGUF value type {kind}")
    return _WIDTHS[kind]
