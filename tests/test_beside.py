"""What the page, `ask` and `search` do while another process writes to the collection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fakes import HashEmbedder
from shelf import numbered, pending, put, record
from test_indexing import indexer, until

import rag.opening
from rag.indexing import writer_lock, writer_of
from rag.library import Library
from rag.sample import is_sample_only
from rag.settings import Settings
from ui.cli import Context
from ui.commands.page import prepare


@pytest.fixture
def ctx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    """A fresh home, and a bag of words for an embedder."""
    monkeypatch.setattr(rag.opening, "embedder_of", lambda *_, **__: HashEmbedder())
    ctx = Context({}, quiet=False)
    ctx.settings = Settings(home=tmp_path / "home", offline=True)
    return ctx


@contextmanager
def writer(ctx: Context, papers: int) -> Iterator[None]:
    """Another process writes, for the length of the block."""
    with indexer(ctx.settings.collection_dir, str(papers), "--slow") as process:
        until(process, "embedding 0")
        yield


def test_nobody_is_writing(tmp_path: Path) -> None:
    assert writer_of(tmp_path) == ""
    with writer_lock(tmp_path, print):
        pass
    assert writer_of(tmp_path) == ""


def test_the_page_opens_at_once_with_what_is_there_and_says_who_is_at_it(
    ctx: Context, capsys: pytest.CaptureFixture[str]
) -> None:
    with writer(ctx, 300):
        library = ctx.open_library(new=True)
        prepare(ctx, library)
        retriever = ctx.open_retriever()
        left = library.pending()
        assert 0 < left <= 300, "the writer goes on"
        assert retriever.search(["grams of krell9"])
        told = capsys.readouterr().err
    assert "is writing to this collection: " in told and told.startswith("Process ")
    assert "of 300 papers have no vectors yet, only their words are searched." in told


def test_an_empty_library_that_is_being_filled_does_not_get_the_sample(
    ctx: Context, capsys: pytest.CaptureFixture[str]
) -> None:
    """A user who indexes own papers and opens the page meanwhile waits for those, not for ours."""
    library = ctx.open_library(new=True)
    with writer_lock(ctx.settings.collection_dir, print):
        prepare(ctx, library)
        assert library.size() == (0, 0)
        retriever = ctx.open_retriever()
        assert "is writing to this collection: 0 papers are here so far." in capsys.readouterr().err
        assert retriever.search(["krell1"]) == []
        put(library, [record(numbered(1), 1)])
        assert len(retriever.search(["krell1"])) == 1, "what comes is found by the next question"


def test_an_empty_library_gets_the_sample_where_nobody_writes(ctx: Context) -> None:
    library = ctx.open_library(new=True)
    prepare(ctx, library)
    assert is_sample_only(library) and library.pending() == 0


def test_the_page_embeds_what_a_killed_run_left(ctx: Context, capsys: pytest.CaptureFixture[str]) -> None:
    with writer(ctx, 40):
        pass
    library = Library(ctx.settings.collection_dir)
    put(library, [record(numbered(n), n) for n in range(40, 50)], "more.txt")
    assert pending(library)
    ctx.open_retriever()
    assert "papers have no vectors yet, only their words are searched. To finish: pincite index" in (
        capsys.readouterr().err
    )
    prepare(ctx, library)
    assert not pending(library)
