"""Invented papers with authors, venues, years and files, for questions about the collection itself."""

from __future__ import annotations

from pathlib import Path

from rag.importing import Importer
from rag.indexing import Quiet, embed_pending
from rag.library import Library
from rag.nouns import Record
from rag.retrieve import Retriever
from rag.vectors import VectorStore
from tests.fakes import HashEmbedder

_ROWS = (
    ("harbor.bib", "KELP: Seaweed Maps From Kayak Sonar", ("Ada Roe", "Bo Lin"), "ICML", 2024,
     "Divers count seaweed by hand. KELP draws seaweed maps from the sonar of a kayak. It errs by 4 percent."),
    ("harbor.bib", "Counting Gulls by the Sound of Their Feet", ("Jürgen Müller", "Cy Kay", "Ada Roe"), "ICML", 2023,
     "Gulls walk on roofs. They are counted by footsteps with diffusion. Eleven sang."),
    ("harbor.bib", "TidalNet: Filters for Sea-Level Forecasting", ("Léa Dupont-Moreau",), "ICLR", 2024,
     "Sea levels need histories. TidalNet replaces attention with recurrent filters. Training is 2.6 times faster."),
    ("harbor.bib", "Ferries That Learn Their Timetable", ("Wei Zhang", "Bo Lin"), "NeurIPS", 2022,
     "Ferries wait for late trains. A bandit learns when a ferry should wait. Passengers lose 3 minutes less."),
    ("orchard.bib", "A Neural Brenier Map for Apple Sorting", ("Aaron van den Oord",), "ICLR", 2023,
     "Apples are sorted by colour. A convex network moves every apple once. It uses Flan-T5 for the labels."),
    ("orchard.bib", "Pruning Pear Trees With GraftTree", ("Wei Zhang",), "ICLR", 2024,
     "Pear trees need pruning. GraftTree finds branches to cut without data. SawBot cuts what it proposes."),
    ("orchard.bib", "Frost Warnings Without a Weather Station", ("Ola Ørsted",), "Journal of Orchard Studies", 2021,
     "Frost kills blossom in one night. Phones sense falling temperature. A warning comes two hours early."),
    ("orchard.bib", "", (), "", None,
     "We introduce BeeLine, a planner for pollination flights. BeeLine visits each tree twice. Hives grow by a fifth."),
)  # fmt: skip
LINKS = {
    0: {"url": "https://example.org/kelp", "doi": "10.1234/kelp.7"},
    2: {"url": "https://example.org/tidalnet", "arxiv": "2401.00077"},
    6: {"pmid": "31207604"},
}


def records(source: str) -> list[Record]:
    rows = [(n, row) for n, row in enumerate(_ROWS) if row[0] == source]
    return [
        Record(
            file, n + 1, text, text, title=title, authors=authors, venue=venue, year=year, **LINKS.get(n, {})
        )
        for n, (file, title, authors, venue, year, text) in rows
    ]


def retriever_at(folder: Path) -> Retriever:
    """The collection, opened with real SQLite and a vector store."""
    library = Library(folder)
    for name in ("harbor.bib", "orchard.bib"):
        importer = Importer(library, folder / name)
        importer.add(records(name))
        importer.finish(name)
    embedder = HashEmbedder(dim=256, max_tokens=512)
    vectors = VectorStore(folder / "vectors")
    embed_pending(library, vectors, embedder, Quiet())
    return Retriever(library, vectors, embedder)
