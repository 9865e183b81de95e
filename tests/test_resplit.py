"""A new splitter reaches what is stored: sentences, and the vectors made of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import HashEmbedder
from shelf import put, record

from rag.indexing import Quiet, embed_pending
from rag.library import Library
from rag.resplit import resplit
from rag.sentences import SPLITTER
from rag.vectors import VectorStore

BITTERN = "Bitterns hide in reeds. They boom at night. Nobody sees them."
DUNLIN = "Dunlins probe the mud."


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = Library(tmp_path / "collection")
    put(library, [record(BITTERN, citekey="bittern"), record(DUNLIN, citekey="dunlin")])
    return library


def as_if_split_before(library: Library) -> None:
    """The first paper as another splitter left it: two sentences, the first of them two in truth."""
    with library.writing() as db:
        db.execute("DELETE FROM sentences WHERE paper_id = 1 AND ordinal = 2")
        db.execute("UPDATE sentences SET stop = 43 WHERE paper_id = 1 AND ordinal = 0")
        db.execute("UPDATE sentences SET start = 44, stop = 61 WHERE paper_id = 1 AND ordinal = 1")
        db.execute("UPDATE papers SET content = 'before' WHERE id = 1")
        library.put("splitter", "before")


def texts(library: Library) -> list[str]:
    return [s.text for paper in library.papers() for s in library.sentences(paper)]


def test_sentences_of_another_splitter_are_found_anew(library: Library) -> None:
    wanted = texts(library)
    as_if_split_before(library)
    assert texts(library)[0] == "Bitterns hide in reeds. They boom at night."
    assert resplit(library, Quiet().step) == 1
    assert texts(library) == wanted and len(wanted) == 4
    assert library.get("splitter") == SPLITTER


def test_the_same_splitter_looks_at_nothing(library: Library) -> None:
    resplit(library, Quiet().step)
    with library.writing() as db:
        db.execute("DELETE FROM sentences")
    assert resplit(library, Quiet().step) == 0 and texts(library) == []


def test_only_papers_whose_sentences_differ_are_embedded_anew(library: Library, tmp_path: Path) -> None:
    as_if_split_before(library)
    vectors = VectorStore(tmp_path / "vectors")
    assert embed_pending(library, vectors, HashEmbedder(), Quiet()) == 2
    before, generation = vectors.count("sentence"), library.generation()
    resplit(library, Quiet().step)
    assert library.pending() == 1 and library.generation() == generation + 1
    assert embed_pending(library, vectors, HashEmbedder(), Quiet()) == 1
    assert (
        vectors.count("sentence") == before + 1
    )  # three sentences where there were two; no stale vector is left


def test_a_kill_before_the_end_changes_nothing(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.resplit.PAGE", 1)  # so that progress is told, and can be interrupted
    as_if_split_before(library)
    old = texts(library)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        resplit(library, killed)
    assert texts(library) == old and library.get("splitter") == "before"
    assert resplit(library, Quiet().step) == 1
