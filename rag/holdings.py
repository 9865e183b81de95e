"""The collections of a home: which there are, how many papers each holds, and new ones."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from rag.errors import LibraryError, SettingsError
from rag.library import FILE, Library
from rag.settings import Settings, collection_name

DEFAULT = "default"  # the collection that is there without being made


def holdings(settings: Settings) -> dict[str, int | None]:
    """The collections there are, by name, and how many papers each holds; None where it cannot be read."""
    files = settings.collection_dir.parent.glob(f"*/{FILE}")
    found = {file.parent.name: file for file in files if _is_name(file.parent.name)}
    return {name: _papers(found[name]) for name in sorted(found, key=str.casefold)}


def exists(settings: Settings) -> bool:
    """Whether somebody has made the collection of these settings."""
    return (settings.collection_dir / FILE).is_file()


def missing(settings: Settings) -> str:
    """What to say of the collection of these settings where it does not exist."""
    folder, name = settings.collection_dir.parent, settings.collection
    return f"There is no collection {name!r} in {folder} (there: {', '.join(holdings(settings)) or 'none'})."


def of_collection(settings: Settings, name: str) -> Settings:
    """The same settings for another collection; raises SettingsError for a name that cannot be one."""
    try:
        return settings.model_copy(update={"collection": collection_name(name)})
    except ValueError as error:
        raise SettingsError(f"{error}.") from None


def create(settings: Settings, name: str) -> Settings:
    """Make a new, empty collection; its settings.

    Raises SettingsError for a name that cannot be one, LibraryError for one that is taken.
    """
    new = of_collection(settings, name)
    if exists(new):
        raise LibraryError(f"There is a collection {name!r} already. Choose it, or another name.")
    Library(new.collection_dir).close()
    return new


def _is_name(name: str) -> bool:
    try:
        return bool(collection_name(name))
    except ValueError:
        return False


def _papers(file: Path) -> int | None:
    """How many papers a library holds; it is not opened for that, as a damaged or newer one would not let it."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT count(*) FROM papers").fetchone()[0])
    except sqlite3.DatabaseError:
        return None
