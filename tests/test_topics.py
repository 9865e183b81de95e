"""The map is the same every time, names its topics, and says when there is too little to map."""

import json
from pathlib import Path

import pytest
from payloads import PAYLOADS

from rag.errors import PinciteError
from rag.importing import Importer
from rag.indexing import Quiet, embed_pending
from rag.nouns import Record
from tests.desk import retriever_at
from ui.web import topics
from ui.web.mapping import COLOURS, LISTED, OTHER, groups_html, points_json
from ui.web.topics import Mapped, Point, topic_map

SUBJECTS = ("Tidal waves in harbour basins", "Grafting of apple trees in spring")


def filled(folder: Path):
    """Two subjects with six papers each, beside the three of the desk."""
    retriever = retriever_at(folder)
    importer = Importer(retriever.library, folder / "more.bib")
    for n in range(12):
        subject = SUBJECTS[n % 2]
        abstract = (
            f"{subject} are studied here. {subject} matter for place {n}. We measure {subject.lower()} again."
        )
        importer.add([Record("more.bib", n + 1, abstract, abstract, title=f"{subject}, part {n}")])
    importer.finish("sum")
    embed_pending(retriever.library, retriever.vectors, retriever.embedder, Quiet())
    return retriever.library


def topics_of(points: list[Point]) -> list[set[str]]:
    ours = [p for p in points if "part" in p.title]
    return [{p.topic for p in ours if p.title.startswith(subject)} for subject in SUBJECTS]


def test_papers_of_one_subject_lie_together(tmp_path: Path) -> None:
    library = filled(tmp_path)
    points = topic_map(library)
    assert points == topic_map(library)
    assert len(points) == 15
    assert {min(p.x for p in points), max(p.x for p in points)} == {0.0, 1.0}
    one, other = topics_of(points)
    assert len(one) == len(other) == 1 and one != other


def test_papers_between_landmarks_lie_with_their_subject(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topics, "LANDMARKS", 8)
    points = topic_map(filled(tmp_path))
    assert len(points) == 15 and len({(p.x, p.y) for p in points}) > 8
    assert [len(t) for t in topics_of(points)] == [1, 1]


def test_a_map_is_kept_until_the_collection_changes(tmp_path: Path) -> None:
    library, mapped = filled(tmp_path), Mapped()
    of, points = mapped.points(library)
    assert mapped.points(library)[1] is points
    with library.writing():
        library.raise_generation()
    again, redrawn = mapped.points(library)
    assert again != of and redrawn == points and redrawn is not points


def test_too_few_papers_are_told(tmp_path: Path) -> None:
    with pytest.raises(PinciteError, match="at least 4 papers with vectors; there are 3"):
        topic_map(retriever_at(tmp_path).library)


def point(n: int, **fields: object) -> Point:
    facts = {"key": f"k{n}", "title": f"Paper {n}", "venue": "", "year": None, "x": 0.5, "y": 1.0}
    return Point(**(facts | {"topic": "tides"} | fields))  # type: ignore[arg-type]


def test_points_go_to_the_page_with_their_groups() -> None:
    points = [point(0, venue="ICML", year=2024), point(1, venue="ICML"), point(2)]
    data = json.loads(points_json(points))
    assert data["keys"] == ["k0", "k1", "k2"] and data["y"] == [data["scale"]] * 3
    assert data["where"] == ["ICML 2024", "ICML", ""]
    assert data["topic"] == {"names": ["tides"], "of": [0, 0, 0]}
    assert data["venue"] == {"names": ["ICML", OTHER], "of": [0, 0, 1]}


def test_small_venues_share_a_colour_and_long_lists_end() -> None:
    points = [point(n, venue=f"V{n % 12}") for n in range(12 * LISTED)]
    venue = json.loads(points_json(points))["venue"]
    assert len(venue["names"]) == COLOURS + 1 and venue["names"][-1] == OTHER
    html = groups_html(points)
    assert html.count('class="group c8"') == 1  # of venues; there is one topic
    assert "… and 1,100 more" in html and html.count("data-press") == LISTED * (1 + COLOURS + 1)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_payloads_stay_text_on_the_map(payload: str) -> None:
    points = [point(0), point(1, key=payload, title=payload, venue=payload, topic=payload)]
    data = points_json(points)
    assert "<" not in data and json.loads(data)["titles"][1] == payload
    html, plain = groups_html(points), groups_html([point(0), point(1, venue="A", topic="b")])
    assert html.count("<button") == plain.count("<button") == 4
    assert "<img" not in html and "<script" not in html and "<svg" not in html
