"""The installed `pincite` as a process, with a home of its own and none of the user's settings; and papers
of ours for it to read."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from rag.catalog import catalog
from rag.settings import Settings

COMMAND = Path(sys.executable).with_name("pincite")
ROOT = Path(__file__).parents[1]
SAMPLE = (ROOT / "sample" / "iclr2024.bib", ROOT / "sample" / "icml2024.bib")
SMALL = "qwen2.5-coder-0.5b"
EMBEDDER = "bge-small-en-v1.5"

BIB = r"""@inproceedings{vole24,
  title = {Vole: Burrowing Caches for Long Songs},
  author = {Petra Vole and Iwan Reed},
  booktitle = {International Conference on Machine Learning},
  year = {2024},
  url = {https://papers.example/vole},
  abstract = {Long songs overflow the memory of a music transformer. Vole keeps every ninth key in a burrow
    and forgets the others. On the Fiddle corpus the burrow halves the memory at a cost of 0.2 points.}
}
@inproceedings{pipit24,
  title = {Pipit: Counting Birds from Roof Microphones},
  author = {Sol Pipit},
  booktitle = {International Conference on Learning Representations},
  year = {2024},
  abstract = {Roof microphones hear many birds at once. Pipit separates up to 14 voices with a sparse mask. It
    counts a dawn chorus with an error of 3.1 percent.}
}
"""


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a process that knows no home but this one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PINCITE_", "HF_"))}
    own = {"PINCITE_HOME": str(home), "HOME": str(home), "COLUMNS": "80"}
    own |= {"XDG_CONFIG_HOME": str(home / "config"), "XDG_CACHE_HOME": str(home / ".cache")}
    return kept | own | more


def pincite(
    home: Path, *arguments: str | Path, stdin: str = "", seconds: float = 180, env: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        env=environment(home, **env),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=seconds,
        cwd=home,
    )


def home_with(folder: Path, *models: str) -> Path:
    """A fresh home that has the machine's models; skips the test where one of them is missing."""
    there = Settings().models_dir.absolute()
    for name in models:
        model = catalog()[name]
        if not all((model.folder(there) / file.name).is_file() for file in model.files):
            pytest.skip(f"needs the weights of {name} in {there}: pincite models pull {name}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "models").symlink_to(there, target_is_directory=True)
    return folder


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Served:
    """A page that is served by a process of its own."""

    url: str
    process: subprocess.Popen[str]
    errors: list[str] = field(default_factory=list)  # lines of stderr, as they come

    def cpu_seconds(self) -> float:
        """Processor time of the process so far, all threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(home: Path, *options: str, seconds: float = 180, env: Mapping[str, str] = {}) -> Iterator[Served]:
    """The page, from its `Ready:` line until the end of the block."""
    process = subprocess.Popen(
        [COMMAND, *options, "--no-browser", "--port", str(free_port())],
        env=environment(home, **env),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home,
    )
    page = Served("", process)
    reader = threading.Thread(target=_read, args=(page,), daemon=True)
    reader.start()
    try:
        end = time.monotonic() + seconds
        while not page.url and process.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        assert page.url, f"no Ready line; exit {process.poll()}; stderr: {''.join(page.errors)}"
        yield page
    finally:
        process.terminate()
        process.wait(20)
        reader.join(5)


def _read(page: Served) -> None:
    assert page.process.stderr
    for line in page.process.stderr:
        page.errors.append(line)
        if found := re.match(r"Ready: (http://127\.0\.0\.1:\d+)\s*$", line):
            page.url = found[1]


def ask_endpoint(url: str, question: str, seconds: float = 180) -> dict[str, Any]:
    """The answer row from the page's `/ask` endpoint, over plain HTTP as Gradio documents it."""
    with httpx.Client(base_url=f"{url}/gradio_api/call/ask", timeout=seconds, trust_env=False) as client:
        event = client.post("", json={"data": [question]}).raise_for_status().json()["event_id"]
        text = client.get(f"/{event}").raise_for_status().text
    found = re.search(r"^event: complete\ndata: (.*)$", text, re.M)
    assert found, text
    row: dict[str, Any] = json.loads(found[1])[0]
    return row
