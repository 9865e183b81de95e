"""Invented papers, and a collection to put them into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rag.importing import Counts, Importer, import_stream
from rag.library import Library
from rag.nouns import Record

BITTERN = (
    "Marsh sensors fall silent when their batteries freeze. We present Bittern, a radio that wakes by the boom of "
    "a bird. In three winters Bittern lost 2 of 140 messages. Its antenna is a reed of copper."
)
DUNLIN = (
    "Tides move mudflats faster than maps can follow. Dunlin redraws a shore from ship logs alone. On the Wadden "
    "coast it errs by 11 metres. A map takes nine seconds on a laptop."
)
GODWIT = (
    "Long flights need rest that small drones cannot find. Godwit lets a drone sleep on warm air above roads. "
    "It flew 41 hours over Lapland without landing. Its code has 900 lines."
)


def record(abstract: str = BITTERN, number: int = 1, source: str = "list.txt", **fields: object) -> Record:
    """A record as a reader makes it."""
    made = Record(source=source, number=number, abstract=abstract, abstract_found=abstract)
    return replace(made, **fields)  # type: ignore[arg-type]


def numbered(n: int) -> str:
    """An abstract with words of its own: no two resemble each other."""
    own = [f"{stem}{n}" for stem in ("krell", "vosk", "tamin", "orril", "quent", "zabu", "hemm", "ludra")]
    return (
        f"The {own[0]} of {own[1]} was never weighed. We weigh {own[2]} by {own[3]} and {own[4]}. "
        f"It comes to {n} grams of {own[5]}, {own[6]} and {own[7]}."
    )


def put(library: Library, records: Sequence[Record], name: str = "list.txt", digest: str = "") -> Counts:
    """One reading of a file that holds `records`, to its end."""
    importer = Importer(library, Path("/files") / name)
    import_stream(importer, [replace(one, source=name) for one in records])
    importer.finish(digest)
    return importer.counts


def pending(library: Library) -> list[str]:
    """Keys of the papers whose vectors are missing or stale."""
    return [
        row[0] for row in library.db.execute("SELECT key FROM papers WHERE embedded <> content ORDER BY id")
    ]


def mark_embedded(library: Library) -> None:
    library.db.execute("UPDATE papers SET embedded = content")
