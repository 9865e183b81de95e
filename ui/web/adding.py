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


class Work:
    """Something done in a thread of its own, to its end, whoever looks on or leaves."""

    def __init__(self, do: Callable[[Watched], object]) -> None:
        self._do, self._progress = do, Watched()
        self._failed: PinciteError | None = None
        self._thread = threading.Thread(target=self._run, name="adding", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._do(self._progress)
        except PinciteError as error:
            self._failed = error

    def lines(self) -> Iterator[str]:
        """Each new line of its progress until it ends; raises what it raised."""
        seen = ""
        while self._thread.is_alive():
            if self._progress.line != seen:
                yield (seen := self._progress.line)
            self._thread.join(PACE)
        if self._failed:
            raise self._failed


def watched(do: Callable[[Watched], object]) -> Iterator[str]:
    """Do it in a thread of its own; yields each new line of its progress, raises what it raises."""
    yield from Work(do).lines()


class Addition(Work):
    """Files on their way into a collection, and what each of them has brought so far."""

    def __init__(self, assistant: Assistant, files: Sequence[Path]) -> None:
        self.reports: list[SourceReport] = []
        self.told = False  # to its end, to somebody
        super().__init__(lambda progress: add(assistant, files, progress, self.reports))


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
