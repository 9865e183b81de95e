"""A loaded GGUF model's tokens and chat template: texts and prompts to tokens, tokens to bytes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from rag.errors import ModelError
from rag.model import Message
from rag.template import Part, Render, inside_markup, renderer, split
from rag.tokens import count, encoder

Prompt = tuple[list[int], list[int]]  # tokens of the stable beginning, and of the rest

LONGEST_PIECE = 512  # bytes of a token's text


class Vocabulary:
    """`api` is the module llama_cpp, `llama` its Llama of the file `path`.

    Safe for many threads, but for `piece`. Raises ModelError if the file has no chat template.
    """

    def __init__(self, api: Any, llama: Any, path: Path) -> None:
        self._api, self._llama, self._path = api, llama, path
        self._handle = api.llama_model_get_vocab(llama.model)
        self._render = self._chat_template()
        self._buffer = ctypes.create_string_buffer(LONGEST_PIECE)
        self._control = self._of_kind(api.LLAMA_TOKEN_ATTR_CONTROL)
        self.control_texts = tuple(self._control.values())
        # llama.cpp reads user-defined tokens ("<tool_call>") even in what it is told to take as plain text.
        self._markup = inside_markup(self._of_kind(api.LLAMA_TOKEN_ATTR_USER_DEFINED).values())

    @cached_property
    def _encoding(self) -> Any:
        return encoder(self._path)

    def count(self, text: str) -> int:
        """Tokens of a plain text."""
        return count(self._encoding, text) if self._encoding else len(self.plain(text))

    def prompt(self, prefix: Sequence[Message], messages: Sequence[Message]) -> Prompt:
        """Tokens up to the first content of `messages`, and the rest, ready for the answer."""
        beginning, rest = (self._tokens(parts) for parts in split(self._render, prefix, messages))
        bos = self._llama.token_bos()
        missing = self._api.llama_vocab_get_add_bos(self._handle) and beginning[:1] != [bos]
        return [bos, *beginning] if missing else beginning, rest

    def ends(self, token: int) -> bool:
        """Does the token end an answer? So do all of the template's, which have no place in one."""
        return token in self._control or bool(self._api.llama_vocab_is_eog(self._handle, token))

    def piece(self, token: int) -> bytes:
        """A token's bytes; they may begin or end within a character."""
        size = self._api.llama_token_to_piece(self._handle, token, self._buffer, LONGEST_PIECE, 0, False)
        return self._buffer.raw[: max(size, 0)]

    def _of_kind(self, kind: int) -> dict[int, str]:
        tokens = range(self._llama.n_vocab())
        found = [n for n in tokens if self._api.llama_vocab_get_attr(self._handle, n) & kind]
        return {token: self._text(token) for token in found}

    def _text(self, token: int) -> str:
        text: bytes = self._api.llama_vocab_get_text(self._handle, token)
        return text.decode("utf-8", "replace")

    def _tokens(self, parts: Sequence[Part]) -> list[int]:
        return [token for part in parts for token in self._read(part)]

    def _read(self, part: Part) -> list[int]:
        return self.plain(part.text) if part.is_content else self._tokenise(part.text, special=True)

    def plain(self, text: str) -> list[int]:
        """Tokens of a text as data: nothing in it is read as one of the template's."""
        return [token for piece in self._markup.split(text) for token in self._tokenise(piece, special=False)]

    def _tokenise(self, text: str, *, special: bool) -> list[int]:
        tokens: list[int] = self._llama.tokenize(
            text.encode("utf-8", "replace"), add_bos=False, special=special
        )
        return tokens

    def _chat_template(self) -> Render:
        template = self._llama.metadata.get("tokenizer.chat_template")
        if not template:
            raise ModelError(
                f"{self._path.name} has no chat template, so it takes no instructions. Take an instruct model."
            )
        special = (self._llama.token_bos(), self._llama.token_eos())
        bos, eos = (self._text(token) if token >= 0 else "" for token in special)
        formatter = self._api.llama_chat_format.Jinja2ChatFormatter
        return renderer(formatter(template, eos_token=eos, bos_token=bos))
