"""How many processor cores this process may really use."""

from __future__ import annotations

import math
import os
from pathlib import Path

_TOPOLOGY = Path("/sys/devices/system/cpu")
_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # "200000 100000": microseconds of processor time in each period


def usable_cores() -> int:
    """Physical cores within this process's affinity and its container's quota, at least 1.

    Threads beyond that only wait for each other. Where the system does not tell, its count of processors.
    """
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    cores = {_siblings(cpu) for cpu in os.sched_getaffinity(0)}
    return max(1, min(len(cores), _quota()))


def _siblings(cpu: int) -> str:
    """The hyper-threads of a processor's core, as one name."""
    try:
        return (_TOPOLOGY / f"cpu{cpu}/topology/thread_siblings_list").read_text()
    except OSError:
        return str(cpu)


def _quota() -> int:
    try:
        limit, period = _QUOTA.read_text().split()
        return math.ceil(int(limit) / int(period))
    except (OSError, ValueError):  # no container, or "max"
        return os.cpu_count() or 1
