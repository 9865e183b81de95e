"""The first start as a process: the page before its models, a download that breaks, and the first answer."""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from process import EMBEDDER, ROOT, SMALL, environment, free_port, home_with

from rag.catalog import catalog

pytestmark = [pytest.mark.browser, pytest.mark.model]
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect

WAIT = 600_000  # milliseconds on a busy machine


class Hub:
    """The models of this machine as a hub on loopback; it breaks off in the language model until it is mended."""

    def __init__(self, models: Path) -> None:
        self.mended, self.gate = False, threading.Event()
        outer = self
        paths = {f"/{m.hub.repo}/resolve/main/{m.hub.paths.get(f.name, f.name)}": m.folder(models) / f.name
                 for m in catalog().values() if m.hub for f in m.files}  # fmt: skip

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.send_response(200)
                self.end_headers()

            def do_GET(self) -> None:
                start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
                data = paths[self.path].read_bytes()
                self.send_response(206)
                self.send_header("Content-Length", str(len(data) - start))
                self.end_headers()
                whole = SMALL not in self.path
                half = len(data) if whole else max(start, len(data) // 2)
                self.wfile.write(data[start:half])
                if not whole and (outer.gate.wait(WAIT / 1000) and outer.mended):
                    self.wfile.write(data[half:])
                self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    hub = Hub((home_with(tmp_path / "there", EMBEDDER, SMALL, "smollm2-135m") / "models").resolve())
    yield hub
    hub.gate.set()
    hub.server.shutdown()
    hub.server.server_close()


@pytest.fixture
def process(hub: Hub, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    home = tmp_path / "home"
    home.mkdir()
    env = environment(home, HF_ENDPOINT=f"http://127.0.0.1:{hub.server.server_port}", NO_PROXY="127.0.0.1",
                      PIP_NO_INDEX="1")  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "ui.cli", "--llm", SMALL, "--no-browser", "--port", str(free_port())],
        env=env, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    said: list[str] = []
    assert process.stderr
    threading.Thread(target=lambda: said.extend(process.stderr or ()), daemon=True).start()
    yield process, said
    process.terminate()
    process.wait(20)


def told(said: list[str], pattern: str) -> re.Match[str]:
    """The first line that matches, waited for."""
    end = time.monotonic() + WAIT / 1000
    while time.monotonic() < end:
        if found := re.search(pattern, "".join(said)):
            return found
        time.sleep(0.1)
    raise AssertionError("".join(said))


def test_the_page_is_there_before_its_models(
    browser, hub: Hub, process: tuple[subprocess.Popen[str], list[str]]
) -> None:
    _, said = process
    url = told(said, r"The page is at (http://127\.0\.0\.1:\d+) and shows how far")[1]
    page = browser.new_page()
    page.set_default_timeout(WAIT)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(url)
    page.evaluate("window.same = true")
    expect(page.locator("#models h2")).to_have_text("Fetching the models, once", timeout=WAIT)
    expect(page.locator("#models progress")).to_have_attribute("value", re.compile("49|50"), timeout=WAIT)
    expect(page.locator("#models li").first).to_contain_text("35 MB, here")
    expect(page.locator("#top")).to_contain_text("38 papers")
    page.get_by_role("tab", name="Library").click()
    expect(page.locator("#papers .title").first).to_be_visible(timeout=WAIT)
    page.get_by_role("tab", name="Chat").click()
    page.fill("#question textarea", "What speed-up does SRigL reach on a GPU at batch size 256?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn .status")).to_contain_text("waiting for the models", timeout=WAIT)

    hub.gate.set()  # it breaks off
    expect(page.locator("#models .problem")).to_contain_text("peer closed connection", timeout=WAIT)
    assert "Ready:" not in "".join(said)
    told(said, 'press "Try again" at http')

    hub.mended = True
    page.get_by_role("button", name="Try again").click()
    told(said, rf"Ready: {url}\n")
    expect(page.locator("#models .models")).to_have_count(0, timeout=WAIT)
    expect(page.locator(".turn.done")).to_have_count(1, timeout=WAIT)
    assert page.evaluate("window.same") and errors == []
    assert "Traceback" not in "".join(said)
