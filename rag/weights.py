"""The model files on this machine: find them, fetch what is missing, and never load a wrong one.

Files are checked by size and sum. A sum that was found right is remembered beside the models
(`.verified/NAME.json`) with the file's size and time, so that a start reads no weights to check them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from pydantic import BaseModel, TypeAdapter, ValidationError

from rag.catalog import File, Model, catalog, hub_model
from rag.errors import WeightsError
from rag.fetch import Progress, Source, from_folders, from_hub, from_index, sha256_of

__all__ = ["Model", "Progress", "Status", "catalog", "lacking", "locate", "obtain", "status", "verify"]

REMOTE: tuple[Source, ...] = (from_hub, from_index)


class _Seen(BaseModel):
    """A file as it was when its sum was taken."""

    size: int
    mtime_ns: int
    sha256: str


_SIDECAR = TypeAdapter(dict[str, _Seen])


@dataclass(frozen=True, slots=True)
class Status:
    """A model of the catalogue on this machine; `verified`: every sum was checked and no file has changed."""

    name: str
    role: str
    present: bool
    verified: bool
    bytes: int | None  # of all files; None: not known before the download
    folder: Path


class _Silent:
    def start(self, file: str, total: int) -> None: ...
    def advance(self, n: int) -> None: ...
    def done(self) -> None: ...


def locate(name_or_path: str, models_dir: Path, *, offline: bool, progress: Progress | None = None) -> Path:
    """The model's folder, or the GGUF file of a language model, complete and checked.

    Takes a name of the catalogue, a path to a .gguf file, or hf:OWNER/REPO/FILE.gguf. Fetches what is missing
    unless `offline`. Raises WeightsError if a file is wrong, or missing and not to be had.
    """
    model = _resolve(name_or_path)
    if isinstance(model, Path):
        return model
    return obtain(model, models_dir, remote=() if offline else REMOTE, progress=progress)


def obtain(
    model: Model, models_dir: Path, *, remote: Sequence[Source], progress: Progress | None = None
) -> Path:
    """`locate` for a model; `remote` are the sources after the folders of this machine (none: offline)."""
    missing, reasons = list(model.files), list[str]()
    try:
        missing = _missing(model, models_dir)
        if missing:
            reasons = _fetch(model, models_dir, (from_folders, *remote), progress or _Silent())
            missing = _missing(model, models_dir)
    except OSError as error:
        reasons = [str(error)]
    if missing:
        raise WeightsError(_how_to_place(model, models_dir, missing, reasons, offline=not remote))
    return model.place(models_dir)


def lacking(name_or_path: str, models_dir: Path) -> Model | None:
    """The model, if a file of it is not there; None if all are, and for a file of the reader's own.

    Reads no weights. Raises WeightsError for what names no model.
    """
    model = _resolve(name_or_path)
    if isinstance(model, Path) or all(
        (model.folder(models_dir) / file.name).is_file() for file in model.files
    ):
        return None
    return model


def status(models_dir: Path) -> list[Status]:
    """Every model of the catalogue, in its order; reads no weights."""
    return [_status(model, models_dir) for model in catalog().values()]


def verify(name_or_path: str, models_dir: Path) -> None:
    """Read and hash every file of a model anew; raises WeightsError if one is missing or wrong."""
    model = _resolve(name_or_path)
    if isinstance(model, Path):
        return
    if missing := _missing(model, models_dir, anew=True):
        raise WeightsError(_how_to_place(model, models_dir, missing, [], offline=False))


def _resolve(name_or_path: str) -> Model | Path:
    if name_or_path in catalog():
        return catalog()[name_or_path]
    if name_or_path.startswith("hf:"):
        return hub_model(name_or_path)
    if name_or_path.endswith(".gguf"):
        return _own_gguf(Path(name_or_path).expanduser())
    close = get_close_matches(name_or_path, catalog(), n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    raise WeightsError(
        f"There is no model {name_or_path!r}.{hint} Give one of {', '.join(catalog())}, "
        "a path that ends in .gguf, or hf:OWNER/REPO/FILE.gguf."
    )


def _own_gguf(path: Path) -> Path:
    try:
        with path.open("rb") as stream:
            magic = stream.read(4)
    except OSError as error:
        raise WeightsError(f"The model file {path} cannot be read: {error.strerror}.") from error
    if magic != b"GGUF":
        raise WeightsError(
            f"{path} is not a GGUF model: it begins with {magic!r}. Convert it, or choose another."
        )
    return path


def _missing(model: Model, models_dir: Path, *, anew: bool = False) -> list[File]:
    """The files that are not there; raises WeightsError if one is there with other bytes than it must have.

    Hashes only files that have changed since their last check, or all of them `anew`.
    """
    seen = _read_sidecar(model, models_dir)
    missing, checked = [], dict(seen)
    for file in model.files:
        path = model.folder(models_dir) / file.name
        if not path.is_file():
            missing.append(file)
            continue
        known = seen.get(file.name)
        now = _look(path, None if anew else known, file.bytes)
        if fault := _fault(file, now, known):
            raise WeightsError(
                f"{path} is not the file that {model.name} needs: {fault}. "
                f"Delete it and run: pincite models pull {model.name}"
            )
        checked[file.name] = now
    if checked != seen:
        _write_sidecar(model, models_dir, checked)
    return missing


def _look(path: Path, known: _Seen | None, size: int | None) -> _Seen:
    """The file as it is; not hashed (sha256 is "") if its size is already wrong."""
    stat = path.stat()
    if known and (known.size, known.mtime_ns) == (stat.st_size, stat.st_mtime_ns):
        return known
    right = size in (None, stat.st_size)
    return _Seen(size=stat.st_size, mtime_ns=stat.st_mtime_ns, sha256=sha256_of(path) if right else "")


def _fault(file: File, now: _Seen, known: _Seen | None) -> str:
    """What is wrong with a file, or "". If the catalogue has no sum, the first one seen is the right one."""
    if file.bytes not in (None, now.size):
        return f"it has {now.size} bytes instead of {file.bytes}"
    expected = file.sha256 or (known.sha256 if known else now.sha256)
    return "" if now.sha256 == expected else f"its sha256 is {now.sha256} instead of {expected}"


def _status(model: Model, models_dir: Path) -> Status:
    seen = _read_sidecar(model, models_dir)
    folder = model.folder(models_dir)
    present = all((folder / file.name).is_file() for file in model.files)
    size, verified = model.size, present
    if present:
        stats = {file: (folder / file.name).stat() for file in model.files}
        size = sum(stat.st_size for stat in stats.values())
        for file, stat in stats.items():
            known = seen.get(file.name)
            unchanged = known and (known.size, known.mtime_ns) == (stat.st_size, stat.st_mtime_ns)
            verified = verified and bool(known and unchanged and not _fault(file, known, known))
    return Status(model.name, model.role, present, verified, size, folder)


def _sidecar(model: Model, models_dir: Path) -> Path:
    return models_dir / ".verified" / f"{model.slug}.json"


def _read_sidecar(model: Model, models_dir: Path) -> dict[str, _Seen]:
    try:
        return _SIDECAR.validate_json(_sidecar(model, models_dir).read_bytes())
    except (OSError, ValidationError):
        return {}  # never checked, or not readable: check again


def _write_sidecar(model: Model, models_dir: Path, seen: dict[str, _Seen]) -> None:
    path = _sidecar(model, models_dir)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError):  # a models directory that is mounted read-only is hashed at every start
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(_SIDECAR.dump_json(seen))
        os.replace(part, path)


def _fetch(model: Model, models_dir: Path, sources: Sequence[Source], progress: Progress) -> list[str]:
    """Try the sources in order until no file is missing; returns why each of those tried did not suffice."""
    import filelock

    staging = models_dir / ".partial" / model.slug
    (models_dir / ".locks").mkdir(parents=True, exist_ok=True)
    reasons: list[str] = []
    with filelock.FileLock(models_dir / ".locks" / f"{model.slug}.lock"):
        missing = _missing(model, models_dir)  # another process may have fetched it while this one waited
        for source in sources if missing else ():
            staging.mkdir(parents=True, exist_ok=True)
            try:
                source(model, missing, staging, progress)
            except (WeightsError, OSError) as error:
                reasons.append(str(error))
            reasons += _settle(model, models_dir, missing, staging)
            missing = _missing(model, models_dir)
            if not missing:
                break
        if not missing:
            shutil.rmtree(staging, ignore_errors=True)
    return reasons


def _settle(model: Model, models_dir: Path, missing: Sequence[File], staging: Path) -> list[str]:
    """Move complete files into place; wrong bytes clear the staging folder, and the reason is returned."""
    seen = _read_sidecar(model, models_dir)
    for file in missing:
        staged = staging / file.name
        if not staged.is_file():
            continue
        now = _look(staged, None, file.bytes)
        if fault := _fault(file, now, None):
            shutil.rmtree(staging)
            return [f"wrong bytes came for {file.name}: {fault}"]
        target = model.folder(models_dir) / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(staged, target)
        seen[file.name] = now
        _write_sidecar(model, models_dir, seen)
    return []


def _how_to_place(
    model: Model, models_dir: Path, missing: Sequence[File], reasons: Sequence[str], *, offline: bool
) -> str:
    lines = [
        f"Model {model.name} is not complete" + (", and offline nothing is downloaded." if offline else ".")
    ]
    lines += [f"  {reason}" for reason in reasons]
    lines.append(f"Put into {model.folder(models_dir)}:")
    for file in missing:
        size = "size not known" if file.bytes is None else f"{file.bytes} bytes"
        lines.append(f"  {file.name}  {size}  sha256 {file.sha256 or 'not known'}")
    lines.append(f"or run{' without --offline' if offline else ' again'}: pincite models pull {model.name}")
    return "\n".join(lines)
