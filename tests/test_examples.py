from dataclasses import replace
from pathlib import Path

import pytest
from fake_assistant import made

from rag.examples import _about, examples
from rag.indexing import Quiet, import_file
from rag.library import Library
from rag.sample import sample_files


@pytest.mark.parametrize(
    ("title", "abstract", "question"),
    [
        ("STOAT: Stealing Layers", "We present STOAT. It is fast.", "How does STOAT work?"),
        ("video-HERON: Wading Through Film", "Then video-HERON wades.", "How does video-HERON work?"),
        ("Sparse Nets, Revisited", "We call it TinyVole. TinyVole digs.", "How does TinyVole work?"),
        ("", "We call it TinyVole. TinyVole digs.", "How does TinyVole work?"),
        ("Position: Count Birds", "Counting helps.", ""),
        ("Position: Count Birds", "Position papers say so: Position matters.", ""),
        ("Vision-Language Pre-Training", "Vision-Language is hard.", ""),
        ("SE(3)-Flows for Kites", "The group SE(3) acts on kites; SE(3) is large.", ""),
        ("Sampling Audio", "At 44 kHz and at 8 kHz, LLMs and LLMs on a GPU and a GPU.", ""),
        ("Sparse Nets", "We call it TinyVole, once.", ""),
    ],
)
def test_questions_are_about_names_that_the_authors_gave(title: str, abstract: str, question: str) -> None:
    paper = replace(made("key", title or "x", abstract)[0], title=title)
    assert _about(paper, 1) == question


def test_the_sample_has_four_different_starters_and_an_empty_library_none(tmp_path: Path) -> None:
    library = Library(tmp_path / "sample")
    assert examples(library, 4) == []
    for file in sample_files():
        import_file(library, file, Quiet())
    found = examples(library, 4)
    assert len(set(found)) == 4 and found == examples(library, 4)
    assert examples(library, 0) == []
