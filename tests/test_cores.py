"""Threads for the model: physical cores, affinity, container quota."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag import cores


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four processors on two cores (0 and 2 are one core, 1 and 3 the other), no quota."""
    for cpu, siblings in enumerate(["0,2", "1,3", "0,2", "1,3"]):
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(siblings)
    monkeypatch.setattr(cores, "_TOPOLOGY", tmp_path)
    monkeypatch.setattr(cores, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    return tmp_path


def test_hyper_threads_of_one_core_count_once(machine: Path) -> None:
    assert cores.usable_cores() == 2


def test_affinity_bounds_the_cores(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2}, raising=False)
    assert cores.usable_cores() == 1


@pytest.mark.parametrize(
    ("quota", "expected"), [("50000 100000", 1), ("150000 100000", 2), ("max 100000", 2), ("", 2)]
)
def test_a_container_quota_bounds_the_cores(machine: Path, quota: str, expected: int) -> None:
    (machine / "cpu.max").write_text(quota)
    assert cores.usable_cores() == expected


def test_an_unknown_topology_counts_processors(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "_TOPOLOGY", machine / "nowhere")
    assert cores.usable_cores() == 4


def test_a_system_without_affinity_counts_processors(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert cores.usable_cores() == 4
