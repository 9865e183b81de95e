"""ZIP archives: each member unfolded into a file of its own, within bounds, under a name that is ours."""

from __future__ import annotations

import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag.nouns import Problem
from rag.readers.source import GZIP_FREE, GZIP_LIMIT, GZIP_RATIO, Unreadable
from rag.text import printable

MEMBERS = 20_000
_PIECE = 1_000_000
_OFFICE = "[Content_Types].xml"  # in every Word, Excel and PowerPoint file
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)


def is_zip(beginning: bytes) -> bool:
    """Whether a file's first bytes are those of an archive, an empty one included."""
    return beginning.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def members(path: Path, name: str) -> Iterator[tuple[str, Path] | Problem]:
    """Name (`archive!member`) and unfolded file of each member; the file lives until the next is asked for.

    Together they may unfold to no more than a gzip file of this size may. Raises `Unreadable` where the
    archive as a whole cannot be read.
    """
    left = min(max(GZIP_FREE, GZIP_RATIO * path.stat().st_size), GZIP_LIMIT)
    with _opened(path) as archive, tempfile.TemporaryDirectory(prefix="pincite-") as folder:
        for info in _listed(archive):
            shown = f"{name}!{printable(info.filename)}"
            file = Path(folder, "member")  # a member's own name is never a path
            try:
                left -= _unfold(archive, info, file, left)
            except _DAMAGE as error:
                why = "it is locked by a password" if info.flag_bits & 1 else f"it is damaged: {error}"
                yield Problem(shown, why, "Unpack the archive yourself, or make it again")
                continue
            yield shown, file


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(path)
    except _DAMAGE as error:
        raise Unreadable(f"the ZIP archive is damaged: {error}", "Fetch or make it again") from error
    with archive:
        yield archive


def _listed(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The members that may hold papers: no folders, no hidden files, nothing that macOS puts beside them."""
    every = archive.infolist()
    if any(info.filename == _OFFICE for info in every):
        raise Unreadable("a Word, Excel or PowerPoint file", "Save it as text, or the table as CSV")
    if len(every) > MEMBERS:
        raise Unreadable(f"an archive of more than {MEMBERS:,} files", "Unpack it, and name the folder")
    parts = ((info, info.filename.replace("\\", "/").split("/")) for info in every if not info.is_dir())
    return [
        info
        for info, names in parts
        if names[0] != "__MACOSX" and not any(n.startswith(".") and n.strip(".") for n in names)
    ]


def _unfold(archive: zipfile.ZipFile, info: zipfile.ZipInfo, file: Path, most: int) -> int:
    """Write a member to a file; the bytes it has. Raises `Unreadable` where there are more than allowed."""
    size = 0
    with archive.open(info) as packed, file.open("wb") as unfolded:
        while piece := packed.read(_PIECE):
            size += len(piece)
            if size > most:
                limit = (
                    f"{GZIP_FREE // 2**20} MB and {GZIP_RATIO} times its size, or {GZIP_LIMIT // 2**30} GB"
                )
                raise Unreadable(
                    f"the archive unfolds to more than {limit}", "Unpack it yourself if you trust it"
                )
            unfolded.write(piece)
    return size
