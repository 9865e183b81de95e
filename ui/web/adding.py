"""Files and papers into and out of the collection, told step by step to whoever looks on."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rag.errors import InputError, PinciteError
from rag.indexing import SourceReport, bring_up_to_date, import_file, writer_lock
from rag.keeping import remove as forget
from rag.nouns import Problem
from rag.sample import is_sample_only, leave_sample
from ui.web.desk import Assistant

PACE = 0.25  # seconds between two looks at how far it is
FOLDER = "uploads"  # in the collection's folder: a file that comes again under its name replaces itself


class Watched:
    """Progress as one line of text, written by the thread that works and read by the page."""

    def __init__(self) -> None:
        self.line = "starting"
        self._file = ""
        self._total = self._bytes = 0

    def step(self, what: str, done: int, total: int) -> None:
        self.line = f"{what}: {done:,} of {total:,}" if total else what

    def start(self, file: str, total: int) -> None:
        self._file, self._total, self._bytes = file, total, 0

    def advance(self, n: int) -> None:
        self._bytes += n
        self.line = f"fetching {self._file}: {self._bytes / 1e6:,.0f} of {self._total / 1e6:,.0f} MB"

    def done(self) -> None:
        self.line = f"fetched {self._file}"


def watched(work: Callable[[Watched], object]) -> Iterator[str]:
    """Do the work in a thread of its own; yields each new line of its progress, raises what it raises."""
    progress, failed = Watched(), list[PinciteError]()

    def run() -> None:
        try:
            work(progress)
        except PinciteError as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="adding", daemon=True)
    thread.start()
    seen = ""
    while thread.is_alive():
        if progress.line != seen:
            yield (seen := progress.line)
        thread.join(PACE)
    if failed:
        raise failed[0]


def add(assistant: Assistant, files: Sequence[Path], progress: Watched, reports: list[SourceReport]) -> None:
    """Read the files into the collection and embed what is new; `reports` gets what each file brought."""
    folder, library = assistant.settings.collection_dir, assistant.library
    with writer_lock(folder, lambda who: progress.step(f"waiting: {who} is writing", 0, 0)):
        sample_before = is_sample_only(library)
        for file in files:
            try:
                reports.append(import_file(library, _kept(folder, file), progress))
            except InputError as error:  # one bad file hides no other
                problem = Problem(file.name, str(error).rstrip("."), "Check the file and its format")
                reports.append(SourceReport(file.name, problems=[problem]))
        if sample_before and any(r.counts.added for r in reports):
            leave_sample(library)
        bring_up_to_date(assistant.settings, library, progress)


def remove(assistant: Assistant, key: str, progress: Watched) -> None:
    """Take a paper out of the collection, and its vectors."""
    folder, library = assistant.settings.collection_dir, assistant.library
    with writer_lock(folder, lambda who: progress.step(f"waiting: {who} is writing", 0, 0)):
        if library.paper(key) is not None:  # another tab may have been quicker
            forget(library, key)
            bring_up_to_date(assistant.settings, library, progress)


def _kept(folder: Path, file: Path) -> Path:
    """The uploaded file in the collection's own folder, where it is known by its name."""
    try:
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(file, folder / FOLDER / file.name))
    except OSError as error:
        raise InputError(f"{file.name} cannot be stored: {error.strerror}. Check the free space.") from error
