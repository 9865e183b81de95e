"""Nothing even tries to leave the machine: every connection and look-up of a name beyond it fails, and is
written down."""

import json
import shutil
import subprocess
import sys
import time
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
GUARD = Path(__file__).parent / "cut_network.cpp"
LATE = 15  # seconds of a page's life; onnxruntime's native code used to call home after nine


@pytest.fixture(scope="session")
def guard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that cuts a process off, compiled."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if sys.platform != "linux" or not compiler:
        pytest.skip("needs Linux and a C++ compiler")
    built = tmp_path_factory.mktemp("guard") / "cut_network.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", built, GUARD, "-ldl"], check=True, timeout=60)
    return built


@pytest.fixture
def cut(guard: Path, tmp_path: Path) -> dict[str, str]:
    """Variables that cut a process, and those it starts, off from all other machines."""
    return {"LD_PRELOAD": str(guard), "TRIED": str(tmp_path / "tried")}


def tried(cut: dict[str, str]) -> str:
    log = Path(cut["TRIED"])
    return log.read_text() if log.exists() else ""


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("socket.create_connection(('192.0.2.1', 80))", "look-up 192.0.2.1"),
        ("socket.socket().connect(('192.0.2.1', 80))", "connect 192.0.2.1"),
        ("socket.socket(socket.AF_INET6).connect(('2001:db8::1', 80))", "connect 2001:db8::1"),
        ("socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))", "sendto 192.0.2.1"),
        ("socket.getaddrinfo('papers.example', 80)", "look-up papers.example"),
        ("import httpx; httpx.get('http://192.0.2.1', trust_env=False)", "look-up 192.0.2.1"),
        (
            "import subprocess; subprocess.run(['getent', 'ahosts', 'x.example'], check=True)",
            "look-up x.example",
        ),
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
    assert done.returncode == 1, done.stderr
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

    started = time.monotonic()
    with served(home, *options, env=cut) as page:
        got = httpx.get(page.url, trust_env=False)
        assert got.status_code == 200 and "Pincite" in got.text
        again = ask_endpoint(page.url, QUESTION)
        time.sleep(max(0, started + LATE - time.monotonic()))
    assert {**again, "timing": None} == {**row, "timing": None}
    assert "Traceback" not in indexed.stderr + asked.stderr + "".join(page.errors)
    assert tried(cut) == ""
    assert sorted(f.name for f in (home / ".cache").glob("*")) == [], "a library keeps records of its own"
