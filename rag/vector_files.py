"""The files of an embedded Chroma: touched by one process at a time, and known to be whole.

Chroma writes its index in place and reads it with native code: what a kill leaves half written can crash every
process that opens it. So a note beside the folder says that the files are whole. It is taken away while files
are written or loaded, and comes back only if that ended; where it is missing, nobody opens the folder.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from rag.errors import LibraryError

WAIT_S = 60.0  # longest wait for a process that writes; a write takes a second or two
POLL_S = 0.005  # a writer gives the files free only for moments
DATA = (".sqlite3", ".bin", ".pickle")


class VectorFiles:
    """The folder of one embedded store, its lock and its note."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.note = folder.with_name(f"{folder.name}.whole")
        self._lock = FileLock(folder.with_name(f"{folder.name}.lock"))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """No other process (or thread) writes or loads the files meanwhile."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=WAIT_S, poll_interval=POLL_S)
        except Timeout:
            raise LibraryError(
                f"The vectors at {self.folder} are being written by another process; try again."
            ) from None
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def touching(self) -> Iterator[None]:
        """Alone, and without the note: it comes back at the end, unless Chroma failed or the process died."""
        with self.alone():
            self.note.unlink(missing_ok=True)
            try:
                yield
            except Exception:
                raise
            except BaseException:  # Ctrl-C comes between Chroma's calls, never into one
                self._write_note()
                raise
            self._write_note()
        time.sleep(2 * POLL_S)  # whoever waits gets its turn, even on one busy core

    def whole(self) -> bool:
        """Whether the last touch ended well and no file has lost its end since. A new folder is whole."""
        if not self.folder.exists():
            return True
        try:
            noted: dict[str, int] = json.loads(self.note.read_text("utf-8"))
            return all((self.folder / name).stat().st_size >= size for name, size in noted.items())
        except (OSError, ValueError):
            return False

    def discard(self) -> None:
        """Delete the store, even one that cannot be opened; the library has all to make it anew."""
        self.note.unlink(missing_ok=True)
        if self.folder.is_dir():
            shutil.rmtree(self.folder)
        else:
            self.folder.unlink(missing_ok=True)

    def _write_note(self) -> None:
        sizes = {
            str(file.relative_to(self.folder)): file.stat().st_size
            for file in sorted(self.folder.rglob("*"))
            if file.suffix in DATA
        }
        fresh = self.note.with_suffix(".new")
        fresh.write_text(json.dumps(sizes), "utf-8")
        fresh.replace(self.note)
