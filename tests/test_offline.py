"""Nothing even tries to leave the machine: every connection and look-up of a name beyond it fails, and is
written down."""

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from process import (
    BIB,
    EMBEDDER,
    SMALL,
    ask_endpoint,
    environment,
    free_port,
    home_with,
    pincite,
    served,
)

QUESTION = "How many voices does Pipit separate?"
GUARD = """
import ipaddress, os, socket

def local(host):
    if host in (None, "", "localhost", b"localhost"):
        return True
    try:
        return ipaddress.ip_address(host.decode() if isinstance(host, bytes) else host).is_loopback
    except ValueError:
        return False

def guarded(name, function, host_of):
    def call(*args, **kwargs):
        host = host_of(*args, **kwargs)
        if not local(host):
            with open(os.environ["TRIED"], "a") as log:
                log.write(f"{name} {host}\\n")
            raise OSError(101, f"the test has cut the network: {name} {host}")
        return function(*args, **kwargs)
    return call

def host_of_address(sock, *args):
    address = args[-1]
    return None if sock.family == socket.AF_UNIX else address[0]

class Socket(socket.socket):
    connect = guarded("connect", socket.socket.connect, host_of_address)
    connect_ex = guarded("connect_ex", socket.socket.connect_ex, host_of_address)
    sendto = guarded("sendto", socket.socket.sendto, host_of_address)

for name in "getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr":
    setattr(socket, name, guarded(name, getattr(socket, name), lambda host, *_, **__: host))
socket.socket = Socket
"""


@pytest.fixture
def cut(tmp_path: Path) -> dict[str, str]:
    """Variables that cut a process, and those it starts, off from all other machines."""
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard" / "sitecustomize.py").write_text(GUARD)
    return {"PYTHONPATH": str(tmp_path / "guard"), "TRIED": str(tmp_path / "tried")}


def tried(cut: dict[str, str]) -> str:
    log = Path(cut["TRIED"])
    return log.read_text() if log.exists() else ""


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("socket.create_connection(('192.0.2.1', 80))", "getaddrinfo 192.0.2.1"),
        ("socket.socket().connect(('192.0.2.1', 80))", "connect 192.0.2.1"),
        ("socket.getaddrinfo('papers.example', 80)", "getaddrinfo papers.example"),
        ("import httpx; httpx.get('http://192.0.2.1')", "getaddrinfo 192.0.2.1"),
        ("import asyncio; asyncio.run(asyncio.open_connection('192.0.2.1', 80))", "connect 192.0.2.1"),
    ],
)
def test_the_guard_sees_what_tries(tmp_path: Path, cut: dict[str, str], code: str, seen: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import socket; {code}"],
        env=environment(tmp_path, **cut),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1 and "the test has cut the network" in done.stderr
    assert seen in tried(cut)


@pytest.mark.parametrize("command", ["index", "ask", "search", "page"])
def test_without_weights_offline_says_what_to_put_where(
    tmp_path: Path, cut: dict[str, str], command: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "ours.bib").write_text(BIB)
    arguments = {
        "index": ["index", "ours.bib"],
        "ask": ["ask", QUESTION],
        "search": ["search", QUESTION],
        "page": ["--no-browser", "--port", str(free_port())],
    }[command]
    done = pincite(home, "--offline", *arguments, env=cut)
    assert done.returncode == 1
    said = " ".join(done.stderr.split())
    folder = home / "models" / EMBEDDER
    assert f"Put into {folder}: model" in said and "sha256" in said, done.stderr
    assert f"pincite models pull {EMBEDDER}" in said and "Traceback" not in done.stderr
    assert tried(cut) == ""


@pytest.mark.model
def test_without_the_language_model_offline_names_it(tmp_path: Path, cut: dict[str, str]) -> None:
    there = home_with(tmp_path / "there", EMBEDDER) / "models"
    home = tmp_path / "home"
    (home / "models").mkdir(parents=True)
    (home / "models" / EMBEDDER).symlink_to(there / EMBEDDER, target_is_directory=True)
    done = pincite(home, "--offline", "--llm", SMALL, "ask", QUESTION, env=cut)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert f"{SMALL}-instruct-q4_k_m.gguf" in done.stderr and str(home / "models") in done.stderr
    assert tried(cut) == ""


@pytest.mark.model
@pytest.mark.parametrize("options", [["--offline"], []], ids=["offline", "online"])
def test_with_weights_everything_works_and_nothing_is_tried(
    tmp_path: Path, cut: dict[str, str], options: list[str]
) -> None:
    home = home_with(tmp_path / "home", EMBEDDER, SMALL)
    (home / "ours.bib").write_text(BIB)
    options = [*options, "--llm", SMALL]

    indexed = pincite(home, *options, "index", "ours.bib", env=cut)
    assert indexed.returncode == 0, indexed.stderr

    asked = pincite(home, *options, "ask", "--json", QUESTION, env=cut)
    assert asked.returncode == 0, asked.stderr
    row = json.loads(asked.stdout)
    assert "Pipit separates up to 14 voices with a sparse mask." in [e["quote"] for e in row["evidence"]]
    assert row["timing"]["first_token_s"] is not None, "the model was not asked"

    with served(home, *options, env=cut) as page:
        got = httpx.get(page.url, trust_env=False)
        assert got.status_code == 200 and "Pincite" in got.text
        again = ask_endpoint(page.url, QUESTION)
    assert {**again, "timing": None} == {**row, "timing": None}
    assert "Traceback" not in indexed.stderr + asked.stderr + "".join(page.errors)
    assert tried(cut) == ""
