"""Evaluated prefixes in memory and on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag.prefixes import KEPT, KEPT_ON_DISK, PrefixStates


def test_a_state_is_found_again_by_another_process(tmp_path: Path) -> None:
    PrefixStates(tmp_path / "new").put("key", b"state")
    assert PrefixStates(tmp_path / "new").get("key") == b"state"
    assert PrefixStates(tmp_path / "new").get("other") is None


def test_without_a_folder_states_live_in_memory_only(tmp_path: Path) -> None:
    states = PrefixStates(None)
    states.put("key", b"state")
    assert states.get("key") == b"state"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 100])
def test_a_damaged_file_counts_as_missing(tmp_path: Path, damage: bytes) -> None:
    PrefixStates(tmp_path).put("key", b"state")
    (tmp_path / "key").write_bytes(damage)
    assert PrefixStates(tmp_path).get("key") is None


def test_a_truncated_file_counts_as_missing(tmp_path: Path) -> None:
    PrefixStates(tmp_path).put("key", b"state" * 100)
    content = (tmp_path / "key").read_bytes()
    (tmp_path / "key").write_bytes(content[:-1])
    assert PrefixStates(tmp_path).get("key") is None


def test_memory_keeps_the_states_used_last() -> None:
    states = PrefixStates(None)
    for n in range(KEPT):
        states.put(str(n), b"%d" % n)
    assert states.get("0") == b"0"
    states.put("one more", b"x")
    assert states.get("0") == b"0"
    assert states.get("1") is None


def test_the_oldest_files_are_removed(tmp_path: Path) -> None:
    states = PrefixStates(tmp_path)
    for n in range(KEPT_ON_DISK):
        states.put(str(n), b"x")
        os.utime(tmp_path / str(n), (n, n))
    states.put("new", b"x")
    assert {file.name for file in tmp_path.iterdir()} == {"new", *map(str, range(1, KEPT_ON_DISK))}


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    states = PrefixStates(tmp_path / "file")
    states.put("key", b"state")
    assert states.get("key") == b"state"
