"""The page before its models are here: what it shows of them, what can be done, and that questions wait."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from fake_assistant import ANSWER, FakeAssistant, script_of

from rag.catalog import File, Hub, Model, catalog
from rag.errors import ModelError, WeightsError
from rag.nouns import Done, Waiting
from rag.settings import Settings
from rag.weights import lacking
from ui.cli import Context
from ui.commands import page as command
from ui.commands.page import _downloads
from ui.web.fetching import fetching_html
from ui.web.starting import Download, Starting

DATA = bytes(range(256)) * 16_000  # 4 MB; what arrives is told by the MiB
ON_HUB = Hub(repo="lab/repo")


class Source:
    """A hub on loopback that sends half of a file, and the rest once `gate` is set; or what `deed` says."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.deed = ""  # "cut": half and no more; "wrong": other bytes; "down": 503
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.send_response(503 if outer.deed == "down" else 200)
                self.end_headers()

            def do_GET(self) -> None:
                start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
                data = DATA[::-1] if outer.deed == "wrong" else DATA
                half = max(start, len(data) // 2)
                self.send_response(206)
                self.send_header("Content-Length", str(len(data) - start))
                self.end_headers()
                self.wfile.write(data[start:half])
                self.wfile.flush()
                if outer.deed == "cut" or not outer.gate.wait(30):
                    self.close_connection = True
                    return
                self.wfile.write(data[half:])

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Iterator[Source]:
    source = Source()
    monkeypatch.delenv("PINCITE_WEIGHTS_PATH", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("rag.fetch.PROBE_SECONDS", 60)
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{source.server.server_port}")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    threading.Thread(target=source.server.serve_forever, args=(0.01,), daemon=True).start()
    yield source
    source.gate.set()
    source.server.shutdown()
    source.server.server_close()


class Terminal:
    """Progress that keeps what it is told."""

    def __init__(self) -> None:
        self.started: list[tuple[str, int]] = []

    def start(self, file: str, total: int) -> None:
        self.started.append((file, total))

    def advance(self, n: int) -> None: ...
    def done(self) -> None: ...


class Said:
    """What the starting page has told the terminal."""

    def __init__(self) -> None:
        self.ready = 0
        self.failed: list[str] = []

    def then(self) -> None:
        self.ready += 1


def model(name: str = "tiny") -> Model:
    file = File(name=f"{name}.gguf", bytes=len(DATA), sha256=hashlib.sha256(DATA).hexdigest())
    facts = {"role": "llm", "description": "d", "licence": "MIT", "hub": ON_HUB}
    return Model.model_validate({"name": name, "files": (file,), **facts})


def starting(home: Path, *downloads: Download) -> Starting:
    opened = FakeAssistant({ANSWER.question: script_of(ANSWER)}, home=home)
    wanted = downloads or (Download(model(), "writes the answers"),)
    return Starting(opened.settings, opened.library, wanted, lambda: opened, Terminal())


def until(true: Callable[[], object], seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(true())


def test_the_page_shows_how_far_a_model_is_and_a_question_waits_for_it(
    source: Source, tmp_path: Path
) -> None:
    page, said = starting(tmp_path), Said()
    assert "tiny</b>" in fetching_html(page) and "4 MB, to come" in fetching_html(page)
    page.begin(said.then, said.failed.append)
    (download,) = page.downloads
    assert until(lambda: download.have)
    html = fetching_html(page)
    assert "Fetching the models, once" in html and '<progress max="100" value="25"' in html
    assert "1 of 4 MB, " in html and " MB a second, about " in html

    events = page.stream(ANSWER.question)
    assert next(events) == Waiting(0)
    assert page.size()[0] == 3 and page.examples() and page.paper("lantern2024")
    for early in (page.fingerprint, lambda: page.retriever):
        with pytest.raises(ModelError, match="not here yet"):
            early()
    assert said.ready == 0
    source.gate.set()
    *_, last = events
    assert isinstance(last, Done) and last.answer == ANSWER
    assert until(lambda: said.ready == 1) and page.ready and fetching_html(page) == ""
    assert page.fingerprint() == {"model": "scripted"} and not said.failed
    assert next(page.stream(ANSWER.question)) != Waiting(0)


def test_a_waiting_question_can_be_stopped(source: Source, tmp_path: Path) -> None:
    page, cancel = starting(tmp_path), threading.Event()
    events = page.stream(ANSWER.question, cancel=cancel)
    next(events)
    cancel.set()
    assert list(events) == []


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("cut", "hub: tiny.gguf: peer closed connection"),
        ("wrong", "wrong bytes came for tiny.gguf: its sha256 is"),
        ("down", "hub: no answer from http://127.0.0.1:"),
        ("full", "disk: 4096000 bytes are needed"),
    ],
)
def test_a_failed_download_says_what_to_do_and_is_tried_again(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: str, reason: str
) -> None:
    page, said = starting(tmp_path), Said()
    source.deed = deed
    source.gate.set()
    with monkeypatch.context() as patch:
        if deed == "full":
            patch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 7}))
        page.begin(said.then, said.failed.append)
        assert until(lambda: said.failed)
    html = fetching_html(page)
    assert 'role="alert"' in html and reason in html and 'data-press="again"' in html
    folder = page.settings.models_dir
    assert f"Put into {folder}:" in html and f"tiny.gguf  {len(DATA)} bytes  sha256" in html
    assert said.failed == [page.error] and said.ready == 0
    waiting = page.stream(ANSWER.question)
    assert next(waiting) == Waiting(0)

    source.deed = ""
    until(lambda: not page._thread.is_alive())  # type: ignore[union-attr]
    page.again()
    assert until(lambda: said.ready == 1), page.error
    assert (folder / "tiny.gguf").read_bytes() == DATA and fetching_html(page) == ""
    assert list(waiting)[-1] == Done(ANSWER)


def test_a_file_put_there_by_hand_is_taken(source: Source, tmp_path: Path) -> None:
    page, said = starting(tmp_path), Said()
    source.deed = "down"
    page.begin(said.then, said.failed.append)
    assert until(lambda: said.failed)
    (page.settings.models_dir / "tiny.gguf").write_bytes(DATA)
    until(lambda: not page._thread.is_alive())  # type: ignore[union-attr]
    page.again()
    assert until(lambda: said.ready == 1)


def test_an_optional_model_does_not_hold_the_page_up(source: Source, tmp_path: Path) -> None:
    source.gate.set()
    nowhere = Model.model_validate(model("small").model_dump() | {"hub": None})
    page, said = starting(tmp_path, Download(nowhere, "x", optional=True), Download(model(), "y")), Said()
    page.begin(said.then, said.failed.append)
    assert until(lambda: said.ready == 1), page.error
    assert [d.state for d in page.downloads] == ["left out", "here"]


def test_closing_ends_a_download_and_keeps_what_has_arrived(source: Source, tmp_path: Path) -> None:
    page, said = starting(tmp_path), Said()
    page.begin(said.then, said.failed.append)
    until(lambda: page.downloads[0].have)
    threading.Timer(0.2, source.gate.set).start()
    page.close()
    assert not said.failed and not said.ready
    (part,) = (page.settings.models_dir / ".partial").rglob("*.part")
    assert part.read_bytes() == DATA[: part.stat().st_size] and part.stat().st_size >= 1 << 20


def test_a_fault_while_opening_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, seen = starting(tmp_path), []
    monkeypatch.setattr(threading, "excepthook", seen.append)
    monkeypatch.setattr(page, "_finish", lambda: 1 / 0)
    page.downloads = ()
    page.begin(Said().then, Said().failed.append)
    assert until(lambda: page.error) and "the terminal shows why" in fetching_html(page)
    assert until(lambda: seen)


def test_what_is_lacking(tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF")
    assert lacking(str(own), tmp_path) is None
    small = lacking("smollm2-135m", tmp_path)
    assert small is not None and small.name == "smollm2-135m"
    (tmp_path / small.files[0].name).touch()
    assert lacking("smollm2-135m", tmp_path) is None
    with pytest.raises(WeightsError, match="Did you mean smollm2-135m"):
        lacking("smollm-135m", tmp_path)


# --- the command ---


@pytest.mark.parametrize(
    ("told", "fetched"),
    [
        ({}, ["bge-small-en-v1.5", "qwen2.5-coder-1.5b", "smollm2-135m"]),
        ({"llm": "qwen2.5-coder-0.5b", "scorer": "none"}, ["bge-small-en-v1.5", "qwen2.5-coder-0.5b"]),
        ({"llm": "http://127.0.0.1:8080/v1"}, ["bge-small-en-v1.5"]),
        ({"llm": "hf:lab/repo/new.gguf"}, ["bge-small-en-v1.5", "hf:lab/repo/new.gguf", "smollm2-135m"]),
        ({"offline": True}, []),
    ],
)
def test_what_is_fetched_while_the_page_is_open(
    tmp_path: Path, told: dict[str, object], fetched: list[str]
) -> None:
    ctx = Context({}, quiet=True)
    ctx.settings = Settings(home=tmp_path, **told)  # type: ignore[arg-type]
    assert [download.model.name for download in _downloads(ctx)] == fetched


def test_nothing_is_fetched_where_answers_need_nothing(tmp_path: Path) -> None:
    ctx = Context({}, quiet=True)
    ctx.settings = Settings(home=tmp_path)
    for name in ("bge-small-en-v1.5", "qwen2.5-coder-1.5b"):  # a scorer alone is no reason
        for file in catalog()[name].files:
            place = catalog()[name].folder(tmp_path / "models") / file.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
    assert _downloads(ctx) == []


def test_ready_is_printed_when_questions_are_answered_and_not_before(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ctx, opened = Context({}, quiet=False), FakeAssistant({}, home=tmp_path)
    ctx.settings = opened.settings
    monkeypatch.setattr(command, "_downloads", lambda ctx: [Download(model(), "writes the answers")])
    monkeypatch.setattr(command, "_opened", lambda *_: opened)
    said: list[str] = []

    def serve(
        page: Starting, port: int, *, open_browser: bool, ready: Callable[[str], None], **_: object
    ) -> None:
        ready("http://127.0.0.1:1")
        assert page.size() == (3, 9)
        assert until(lambda: said.append(capsys.readouterr().err) or "Try again" in "".join(said))
        source.deed = ""
        source.gate.set()
        until(lambda: not page._thread.is_alive())  # type: ignore[union-attr]
        page.again()
        assert until(lambda: page.ready)
        until(lambda: not page._thread.is_alive())  # type: ignore[union-attr]

    monkeypatch.setattr("ui.web.page.serve", serve)
    opened.library  # noqa: B018 - filled, so that no sample comes in
    source.deed = "cut"
    command.page(ctx, 0, open_browser=False)
    said.append(capsys.readouterr().err)
    lines = "".join(said).splitlines()
    assert lines[0] == "The page is at http://127.0.0.1:1 and shows how far the models are."
    assert "pincite: Model tiny is not complete." in lines
    assert 'The page goes on: press "Try again" at http://127.0.0.1:1, or end it with Ctrl-C.' in lines
    assert [n for n, line in enumerate(lines) if line.startswith("Ready: ")] == [len(lines) - 1]
