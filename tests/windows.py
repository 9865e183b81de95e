"""Vectors for papers without an embedder's weights and without Chroma: enough for what reads the library alone."""

from __future__ import annotations

from eval.synthetic import ScatteredEmbedder
from rag.chunks import chunks
from rag.library import Library
from rag.stored import keep, name_of

AT_ONCE = 1_000


def store_windows(library: Library, dimension: int = 384) -> None:
    """A made-up vector for each window of each paper, kept in the library."""
    embedder = ScatteredEmbedder(dimension)
    ids = [row[0] for row in library.db.execute("SELECT id FROM papers ORDER BY id")]
    for start in range(0, len(ids), AT_ONCE):
        papers = library.by_id(ids[start : start + AT_ONCE])
        contents = library.contents(papers)
        windows = [
            chunk
            for paper in papers.values()
            for chunk in chunks(paper, library.sentences(paper), embedder.lengths, embedder.max_tokens)
            if chunk.kind == "window"
        ]
        vectors = embedder.documents([chunk.text for chunk in windows])
        with library.writing() as db:
            keep(db, [name_of(chunk, contents[chunk.paper_id]) for chunk in windows], vectors)
