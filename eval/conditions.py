"""What a run was made with: settings, code, packages, machine. Kept beside its rows in `run.json`."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from eval.bootstrap import SEED

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    *("llama-cpp-python", "tiktoken", "chromadb", "sentence-transformers", "onnxruntime", "tokenizers"),
    *("numpy", "scipy", "ir-measures", "pytrec-eval-terrier"),
)
_USER_IN_URL = re.compile(r"(?<=://)[^/@\s]+@")


def conditions(
    name: str,
    files: Sequence[Path],
    *,
    mode: str,
    fingerprint: Mapping[str, Any],
    command: str,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """The conditions of a run over a named set of files; `mode`: "answers" or "retrieval"."""
    return {
        "mode": mode,
        "set": {"name": name, "sha256": digest_of(files)},
        "options": dict(options),
        "fingerprint": dict(fingerprint),
        "code": revision(ROOT) or f"version {installed('pincite')}",
        "packages": {name: found for name in PACKAGES if (found := installed(name))},
        "machine": machine(),
        "seed": SEED,
        "command": _USER_IN_URL.sub("", command),
    }


def digest_of(files: Iterable[Path]) -> str:
    """One sha256 of several files, their order aside."""
    sums = sorted(hashlib.sha256(file.read_bytes()).hexdigest() for file in files)
    return hashlib.sha256("".join(sums).encode()).hexdigest()


def revision(root: Path) -> str:
    """The commit of a working copy, with "-changed" if files differ from it; "" where there is no git."""
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return ""
    # Without optional locks: a look must never get in the way of someone's commit.
    base = [git, "--no-optional-locks", "-C", str(root)]
    head = _said([*base, "rev-parse", "HEAD"])
    return f"{head}-changed" if head and _said([*base, "status", "--porcelain"]) else head


def _said(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def installed(package: str) -> str:
    """The version of an installed package, or ""."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def machine() -> dict[str, Any]:
    """Cores this process may use, the processor's name, system and Python."""
    return {
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "cpu": _cpu(Path("/proc/cpuinfo")),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _cpu(cpuinfo: Path) -> str:
    """The model name that Linux tells, else what Python knows."""
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor()
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.processor()
