"""Vectors in the library: names, precision, order, and which of them are stale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fakes import HashEmbedder
from shelf import BITTERN, DUNLIN, mark_embedded, put, record

from rag import stored
from rag.embed import Vectors
from rag.keeping import remove
from rag.library import Library
from rag.nouns import Chunk
from rag.stored import VectorName, name_of, parse


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = Library(tmp_path)
    put(library, [record(BITTERN, citekey="b"), record(DUNLIN, citekey="d")])
    mark_embedded(library)
    return library


def unit(n: int, dim: int = 384) -> Vectors:
    made = np.random.default_rng(0).normal(size=(n, dim)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def names(library: Library, paper: int) -> list[str]:
    content = library.contents([paper])[paper]
    return [
        str(VectorName(paper, content, "window", 0)),
        *(str(VectorName(paper, content, "sentence", n)) for n in range(2)),
    ]


def keep(library: Library, wanted: list[str], vectors: Vectors) -> None:
    with library.writing() as db:
        stored.keep(db, wanted, vectors)


@pytest.mark.parametrize(
    "parsed", [VectorName(12, "ab12", "window", 3, 1), VectorName(7, "ff", "sentence", 21)], ids=str
)
def test_a_name_is_taken_apart_as_it_was_put_together(parsed: VectorName) -> None:
    assert parse(str(parsed)) == parsed


def test_a_chunk_is_named_by_paper_text_and_place() -> None:
    assert name_of(Chunk(12, "sentence", 3, 3, "text", part=2), "ab12") == "12.ab12.s3.2"


def test_what_is_kept_comes_back_nearly_as_it_was_in_half_the_room(library: Library) -> None:
    vectors = unit(3)
    keep(library, names(library, 1), vectors)
    back = dict(stored.of_papers(library, [1]))
    assert [str(name) for name in back] == sorted(names(library, 1))
    for name, vector in zip(names(library, 1), vectors, strict=True):
        assert back[parse(name)].dtype == np.float32
        assert float(back[parse(name)] @ vector) == pytest.approx(1, abs=2e-4)
    assert library.db.execute("SELECT max(length(numbers)) FROM chunks").fetchone() == (768,)


def test_only_the_kind_and_the_papers_asked_for_come_back(library: Library) -> None:
    assert not stored.any_stored(library)
    keep(library, names(library, 1) + names(library, 2), unit(6))
    assert stored.any_stored(library)
    assert {str(name) for name, _ in stored.of_papers(library, [2], "sentence")} == set(names(library, 2)[1:])
    assert stored.of_papers(library, []) == [] and stored.of_papers(library, [99]) == []


def test_vectors_come_in_the_order_they_were_stored_and_a_number_is_never_used_again(
    library: Library,
) -> None:
    keep(library, names(library, 1), unit(3))
    last, page, vectors = stored.after(library, 0, 2)
    assert (last, page, vectors.shape) == (2, names(library, 1)[:2], (2, 384))
    assert stored.after(library, 2, 99)[:2] == (3, names(library, 1)[2:])
    with library.writing() as db:
        stored.forget(db, names(library, 1))
    keep(library, names(library, 1)[:1], unit(1))
    assert stored.after(library, 3, 99)[:2] == (4, names(library, 1)[:1]), "else Chroma would never get it"
    assert stored.after(library, 4, 99)[:2] == (4, []) and stored.number_after(library, 3) == 1


def test_a_vector_stored_again_is_new(library: Library) -> None:
    keep(library, names(library, 1), unit(3))
    keep(library, names(library, 1)[:1], unit(1))
    assert stored.after(library, 3, 99)[:2] == (4, names(library, 1)[:1])
    assert stored.number_after(library, 0) == 3


def test_vectors_of_other_texts_and_of_papers_that_are_gone_are_stale(library: Library) -> None:
    one, two = names(library, 1), names(library, 2)
    keep(library, [*one, *two, "1.0123456789abcdef.w0.0"], unit(7))
    assert stored.stale(library) == ["1.0123456789abcdef.w0.0"]
    assert stored.count(library, 7) == (6, 7) and stored.count(library, 3) == (3, 7)
    remove(library, "d")
    assert sorted(stored.stale(library)) == ["1.0123456789abcdef.w0.0", *sorted(two)]
    assert set(stored.sample(library, 7, 50, seed=1)) <= set(one), "stale ones are not looked for"
    assert set(stored.sample(library, 2, 50, seed=1)) <= set(one[:2])
    assert stored.sample(library, 0, 50, seed=1) == {}


def test_embedders_of_any_size_are_kept(library: Library) -> None:
    embedder = HashEmbedder(dim=7)
    keep(library, names(library, 1)[:1], embedder.documents(["reeds"]))
    assert stored.of_papers(library, [1])[0][1].shape == (7,)
