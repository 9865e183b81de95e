"""The map is the same every time, names its topics, and says when there is too little to map."""

from pathlib import Path

import pytest

from rag.errors import PinciteError
from rag.importing import Importer
from rag.indexing import Quiet, embed_pending
from rag.nouns import Record
from tests.desk import retriever_at
from ui.web.topics import topic_map

SUBJECTS = ("Tidal waves in harbour basins", "Grafting of apple trees in spring")


def test_papers_of_one_subject_lie_together(tmp_path: Path) -> None:
    retriever = retriever_at(tmp_path)
    importer = Importer(retriever.library, tmp_path / "more.bib")
    for n in range(12):
        subject = SUBJECTS[n % 2]
        abstract = (
            f"{subject} are studied here. {subject} matter for place {n}. We measure {subject.lower()} again."
        )
        importer.add([Record("more.bib", n + 1, abstract, abstract, title=f"{subject}, part {n}")])
    importer.finish("sum")
    embed_pending(retriever.library, retriever.vectors, retriever.embedder, Quiet())
    points = topic_map(retriever.library)
    assert points == topic_map(retriever.library)
    assert len(points) == 15
    ours = [p for p in points if "part" in p.paper.label]
    topics = [{p.topic for p in ours if p.paper.label.startswith(subject)} for subject in SUBJECTS]
    assert [len(t) for t in topics] == [1, 1] and topics[0] != topics[1]


def test_too_few_papers_are_told(tmp_path: Path) -> None:
    with pytest.raises(PinciteError, match="at least 4 papers with vectors; there are 3"):
        topic_map(retriever_at(tmp_path).library)
