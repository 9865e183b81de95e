"""The question sets that ship with Pincite are right about the sample collection that ships with it."""

from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from eval.metrics import Abstracts, score_row
from eval.questions import KINDS, Question, check, load
from rag.duplicates import explain
from rag.importing import Importer, import_stream
from rag.library import Library
from rag.nouns import Paper
from rag.readers import read
from rag.sample import sample_files

SETS = Path(str(files("eval"))) / "sets"
SAMPLE = load(SETS / "sample.jsonl")
ABOUT = {q.question: q for q in load(SETS / "about.jsonl")}
LANGUAGES = load(SETS / "languages.jsonl")
ALL = [*SAMPLE, *ABOUT.values(), *LANGUAGES]
ANSWERABLE = [pytest.param(q, id=q.id) for q in ALL if q.answerable]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The sample, by the ordinary way in, without vectors."""
    library = Library(tmp_path_factory.mktemp("sample"))
    for path in sample_files():
        importer = Importer(library, path)
        assert import_stream(importer, read(path)) == []
        importer.finish("")
    return library


@pytest.fixture(scope="module")
def papers(library: Library) -> list[Paper]:
    return list(library.papers())


@pytest.fixture(scope="module")
def abstracts(papers: list[Paper]) -> Abstracts:
    return Abstracts({paper.key: paper.abstract for paper in papers})


def answers_right(question: Question, text: str, abstracts: Abstracts) -> bool:
    right = score_row(question, {"status": "answered", "text": text, "sentences": []}, abstracts).right
    assert right is not None
    return right.hits == 1


def test_the_sets_are_sound_and_ask_nothing_twice(papers: list[Paper]) -> None:
    assert check(ALL, [paper.abstract for paper in papers]) == []


def test_the_sample_set_has_enough_of_every_kind() -> None:
    kinds = Counter(q.kind for q in SAMPLE)
    assert set(kinds) == KINDS - {"about"}
    assert len(SAMPLE) >= 100 and min(kinds.values()) >= 6
    assert 4 * sum(not q.answerable for q in SAMPLE) >= len(SAMPLE)
    assert {q.kind for q in ABOUT.values()} == {"about"} and len(ABOUT) >= 25


def test_each_language_is_asked_alike() -> None:
    assert Counter(q.id[:2] for q in LANGUAGES) == {"de": 8, "fr": 8, "es": 8, "zh": 8}
    assert {
        sum(not q.answerable for q in LANGUAGES if q.id[:2] == code) for code in ("de", "fr", "es", "zh")
    } == {1}


def test_every_paper_is_asked_for(abstracts: Abstracts) -> None:
    gold = Counter(key for q in SAMPLE for key in abstracts.gold(q))
    assert [key for key in abstracts.keys if gold[key] < 2] == []


def test_quotes_stand_in_the_files_letter_by_letter(library: Library, abstracts: Abstracts) -> None:
    found = [" ".join(explain(library, key)[0].record.abstract_found.split()) for key in abstracts.keys]
    quotes = [quote for q in (*SAMPLE, *LANGUAGES) for quote in q.evidence]
    assert [quote for quote in quotes if sum(quote in text for text in found) != 1] == []


@pytest.mark.parametrize("question", ANSWERABLE)
def test_the_reference_is_counted_right_and_the_question_is_not(
    question: Question, abstracts: Abstracts
) -> None:
    assert answers_right(question, question.reference, abstracts)
    assert not answers_right(question, question.question, abstracts)


def test_records_bear_out_what_is_said_about_the_collection(
    papers: list[Paper], abstracts: Abstracts
) -> None:
    venues = Counter(paper.venue for paper in papers)
    huangs = [p for p in papers if any(name.split()[-1] == "Huang" for name in p.authors)]
    said = {
        "How many papers are in this collection?": len(papers),
        "How many of the papers are from ICML?": venues["ICML"],
        "Wie viele Paper sind von der ICLR?": venues["ICLR"],
        "How many papers here are from 2024?": sum(paper.year == 2024 for paper in papers),
        "How many papers were published in 2023?": sum(paper.year == 2023 for paper in papers),
        "How many papers did somebody called Huang work on?": len(huangs),
        "How many authors does the UniMP paper have?": len(
            next(p for p in papers if p.key == "wei24a").authors
        ),
        "How many people wrote Dynamic Sparse Training with Structured Sparsity?": len(
            next(p for p in papers if p.title.startswith("Dynamic Sparse")).authors
        ),
    }
    assert [
        text for text, number in said.items() if not answers_right(ABOUT[text], str(number), abstracts)
    ] == []


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("Who wrote the SILVER paper?", "oko24a"),
        ("Who are the authors of How to Escape Sharp Minima with Random Perturbations?", "ahn24a"),
        ("Qui a écrit l'article Fast Timing-Conditioned Latent Audio Diffusion ?", "evans24a"),
    ],
)
def test_all_authors_are_wanted(question: str, key: str, library: Library, abstracts: Abstracts) -> None:
    paper = library.paper(key)
    assert paper is not None and len(ABOUT[question].facts) == len(paper.authors)
    assert answers_right(ABOUT[question], ", ".join(paper.authors), abstracts)
    assert not answers_right(ABOUT[question], ", ".join(paper.authors[1:]), abstracts)


def test_links_are_those_of_the_records(library: Library, abstracts: Abstracts) -> None:
    links = {
        "Give me the link to the L-MAC paper.": "paissan24a",
        "Where can I find What's in a Prior? Learned Proximal Networks for Inverse Problems online?": "fang24a",
    }
    for question, key in links.items():
        paper = library.paper(key)
        assert paper is not None and answers_right(ABOUT[question], paper.url, abstracts)


def test_who_is_not_there_is_not_there(papers: list[Paper]) -> None:
    names = {name.split()[-1] for paper in papers for name in paper.authors}
    assert "Bengio" not in names and {"Cuturi", "Zenke", "Bronstein"} <= names
    assert not any("attention is all" in paper.title.lower() for paper in papers)
