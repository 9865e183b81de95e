"""What is embedded: nothing is over the limit, and nothing is left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from fakes import HashEmbedder
from hypothesis import given, settings
from hypothesis import strategies as st
from process import EMBEDDER, home_with
from shelf import numbered, put, record

from rag.chunks import chunks, pieces, windows
from rag.embed import open_embedder
from rag.indexing import Quiet, embed_pending
from rag.library import Library
from rag.nouns import Chunk, Paper, Sentence
from rag.retrieve import Retriever
from rag.vectors import VectorStore


def lengths(texts: Sequence[str]) -> list[int]:
    """A word piece for every four characters of a word, and two special tokens."""
    return [2 + sum(-(-len(word) // 4) for word in text.split()) for text in texts]


def cut(*sentences: str, title: str = "", limit: int = 20) -> list[Chunk]:
    made = [Sentence("k", n, 0, 0, text) for n, text in enumerate(sentences)]
    paper = Paper(id=5, key="k", label="label", abstract=" ".join(sentences), title=title)
    return chunks(paper, made, lengths, limit)


def of(kind: str, made: Sequence[Chunk]) -> list[tuple[int, int, int, str]]:
    return [(c.first, c.last, c.part, c.text) for c in made if c.kind == kind]


def test_a_short_abstract_is_one_window_under_its_title_and_each_sentence_alone() -> None:
    made = cut("One two.", "Three.", title="Tale", limit=24)
    assert made == [
        Chunk(5, "window", 0, 1, "Tale. One two. Three."),
        Chunk(5, "sentence", 0, 0, "One two."),
        Chunk(5, "sentence", 1, 1, "Three."),
    ]


def test_without_a_title_a_window_is_the_sentences_alone() -> None:
    assert of("window", cut("One two.", "Three.")) == [(0, 1, 0, "One two. Three.")]


def test_neighbouring_windows_share_a_sentence() -> None:
    """Each sentence takes 2 pieces and, counted with its special tokens, 4; three fit into 12."""
    made = cut("aaaa a.", "bbbb b.", "cccc c.", "dddd d.", "eeee e.", limit=12)
    assert [(first, last) for first, last, _, _ in of("window", made)] == [(0, 2), (2, 4)]


def test_a_long_title_takes_a_quarter_of_a_window_at_the_most() -> None:
    made = cut("One two.", title="word " * 40 + "end", limit=40)
    (window,) = of("window", made)
    title, _, rest = window[3].partition(". ")
    assert rest == "One two." and 0 < lengths([title])[0] <= 10


def test_a_sentence_over_the_limit_becomes_parts() -> None:
    long = " ".join(f"w{n}" for n in range(30))
    made = cut("Short one.", long, limit=12)
    parts = [(part, text) for first, _, part, text in of("sentence", made) if first == 1]
    assert [part for part, _ in parts] == list(range(len(parts))) and len(parts) > 1
    assert " ".join(text for _, text in parts) == long
    assert " ".join(text for first, _, _, text in of("window", made) if first == 1) == long


def test_a_word_over_the_limit_is_cut_and_no_other_word_is() -> None:
    giant = "x" * 200
    text = f"{giant} short words follow here"
    made = list(pieces(text, lengths, 12))
    assert "".join(made).replace(" ", "") == text.replace(" ", "")
    assert max(lengths(made)) <= 12
    assert {"short", "words", "follow", "here"} <= set(" ".join(made).split())


def test_a_long_first_word_that_fits_is_kept_whole() -> None:
    text = "antidisestablishmentarianism " + "a b c d e f g h"
    made = list(pieces(text, lengths, 12))
    assert made[0].split()[0] == "antidisestablishmentarianism"


def test_nothing_makes_nothing() -> None:
    assert cut() == [] and list(pieces("", lengths, 12)) == [] and list(windows([], lengths, 12)) == []


WORDS = st.text("abc é漢$\\{}", min_size=1, max_size=60)


@given(
    st.lists(st.lists(WORDS, min_size=1, max_size=30).map(" ".join), max_size=12), WORDS, st.integers(12, 80)
)
@settings(max_examples=150, deadline=None)
def test_nothing_is_over_the_limit_and_no_word_is_lost(sentences: list[str], title: str, limit: int) -> None:
    sentences = [" ".join(text.split()) for text in sentences if text.split()]
    made = cut(*sentences, title=title.strip(), limit=limit)
    assert all(n <= limit for n in lengths([c.text for c in made]))
    joined = "".join("".join(c.text.split()) for c in made if c.kind == "sentence")
    assert joined == "".join("".join(text.split()) for text in sentences)
    covered = {n for c in made if c.kind == "window" for n in range(c.first, c.last + 1)}
    assert covered == set(range(len(sentences)))
    for first, last, _, text in of("window", made):
        if lengths([text])[0] < limit and first != last:
            assert all(sentence in text for sentence in sentences[first : last + 1])
    names = [(c.kind, c.first, c.part) for c in made]
    assert len(names) == len(set(names)), "each chunk has a name of its own"


# --------------------------------------------------------------- the end of a very long abstract (C23)

FACT = "The flutter of the seventh kingfisher was measured at 613 hertz."
QUESTION = "At how many hertz does the seventh kingfisher flutter?"


def long_abstract() -> str:
    """About 1,500 words on other things, and the fact as the last sentence."""
    sentences = [
        f"Shelf {n} of the archive holds jars of red clay that were dug near a brook in the year {1700 + n}."
        for n in range(75)
    ]
    return " ".join([*sentences, FACT])


def test_the_last_sentence_of_a_long_abstract_is_in_a_window_and_alone(tmp_path: Path) -> None:
    library = Library(tmp_path)
    put(library, [record(long_abstract())])
    (paper,) = library.papers()
    assert len(paper.abstract.split()) > 1_400
    embedder = HashEmbedder(max_tokens=256)
    made = chunks(paper, library.sentences(paper), embedder.lengths, embedder.max_tokens)
    assert max(embedder.lengths([c.text for c in made])) <= 256
    assert [c.kind for c in made if FACT in c.text] == ["window", "sentence"]


@pytest.mark.model
@pytest.mark.parametrize("name", [EMBEDDER, "all-minilm-l6-v2"])
def test_the_last_sentence_of_a_long_abstract_is_found(tmp_path: Path, name: str) -> None:
    folder = home_with(tmp_path / "home", name) / "models" / name
    embedder = open_embedder(folder, name)
    library, vectors = Library(tmp_path), VectorStore(tmp_path / "vectors")
    put(library, [record(numbered(n), n) for n in range(30)] + [record(long_abstract(), 31)])
    embed_pending(library, vectors, embedder, Quiet())
    hit = Retriever(library, vectors, embedder).search([QUESTION], 3)[0]
    assert library.sentences(hit.paper)[hit.best_sentence].text == FACT
    near = vectors.nearest(embedder.query(QUESTION), "sentence", 1)
    assert (near[0][0].paper_id, near[0][0].first) == (hit.paper.id, hit.best_sentence), (
        "by meaning alone, too"
    )
