"""The sample collection: fills an empty library, and makes room for the user's own files."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from rag.keeping import remove
from rag.library import Library


def sample_files() -> list[Path]:
    """The files of the sample that ships with the program."""
    folder = Path(str(files("sample"))).resolve()  # as `rag.readers.sources` names them
    return sorted(folder.glob("*.bib"))


def is_sample_only(library: Library) -> bool:
    """Whether the collection holds the sample and nothing else."""
    rows = library.db.execute(
        "SELECT DISTINCT s.path FROM sources s JOIN records r ON r.source_id = s.id"
    ).fetchall()
    return bool(rows) and {row[0] for row in rows} <= {str(p) for p in sample_files()}


def leave_sample(library: Library) -> int:
    """Take the sample's papers out, unless another file holds them too; how many went."""
    return sum(remove(library, str(path))[0] for path in sample_files())
