"""Evaluated prompt prefixes: the last few in memory, and on disk so that a start need not evaluate them."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

KEPT = 8  # states in memory; one takes 10 to 30 kB a token
KEPT_ON_DISK = 16
_DIGEST = hashlib.sha256().digest_size


class PrefixStates:
    """States by key. `folder` None: memory only. A file that is not intact counts as missing."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._states: OrderedDict[str, bytes] = OrderedDict()

    def get(self, key: str) -> bytes | None:
        state = self._states.get(key) or self._read(key)
        if state is not None:
            self._remember(key, state)
        return state

    def put(self, key: str, state: bytes) -> None:
        self._remember(key, state)
        if self._folder is not None:
            with suppress(OSError):  # a full or read-only disk costs the next start a second, nothing else
                self._write(self._folder, key, state)

    def _remember(self, key: str, state: bytes) -> None:
        self._states[key] = state
        self._states.move_to_end(key)
        while len(self._states) > KEPT:
            self._states.popitem(last=False)

    def _read(self, key: str) -> bytes | None:
        if self._folder is None:
            return None
        try:
            content = (self._folder / key).read_bytes()
        except OSError:
            return None
        digest, state = content[:_DIGEST], content[_DIGEST:]
        return state if hashlib.sha256(state).digest() == digest else None

    @staticmethod
    def _write(folder: Path, key: str, state: bytes) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{key}.{os.getpid()}.part"
        part.write_bytes(hashlib.sha256(state).digest() + state)
        os.replace(part, folder / key)
        files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime, reverse=True)
        for old in files[KEPT_ON_DISK:]:
            old.unlink()
