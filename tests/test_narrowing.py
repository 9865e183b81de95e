"""Venues, years and authors in a question: when they restrict it, and what is searched for then."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.assistant import Assistant
from rag.facets import facets_of
from rag.narrowing import narrow, together, told
from rag.nouns import Filters, Turn
from rag.people import same_person
from rag.records import records_of
from rag.retrieve import Retriever
from rag.settings import Settings
from rag.understand import understand
from tests.fakes import ScriptedModel
from tests.shelf_of_authors import retriever_at


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    return retriever_at(tmp_path_factory.mktemp("shelf"))


def narrowed(retriever: Retriever, question: str) -> tuple[str, str]:
    """What is left of a question, and the filters in words."""
    found = narrow(question, understand(question, ()), Filters(), retriever.library)
    return found.question, told(found.filters)


@pytest.mark.parametrize(
    ("question", "rest", "only"),
    [
        ("In ICML 2024 papers, which methods map seaweed?", "which methods map seaweed?", "ICML 2024"),
        ("Which ICML papers use diffusion?", "Which papers use diffusion?", "ICML"),
        ("which icml papers use diffusion", "which papers use diffusion", "ICML"),
        ("How many of the ICLR'24 papers prune trees?", "How many of the papers prune trees?", "ICLR 2024"),
        ("Which papers from ICML or ICLR use filters?", "Which papers use filters?", "ICML or ICLR"),
        ("Among the NIPS papers, which learn timetables?", "which papers learn timetables?", "NeurIPS"),
        ("Among the ICML papers, which methods count gulls?", "which methods count gulls?", "ICML"),
        ("What is there at ICLR on apples?", "What is there on apples?", "ICLR"),
        ("what does ICML 2024 have on seaweed", "which papers are on seaweed", "ICML 2024"),
        ("summarise what ICML has on gulls", "summarise the papers on gulls", "ICML"),
        ("In ICLR papers, how many prune trees?", "how many papers prune trees?", "ICLR"),
        ("Which papers from the International Conference on Machine Learning count gulls?",
         "Which papers count gulls?", "ICML"),
        ("Which papers in the Journal of Orchard Studies warn of frost?", "Which papers warn of frost?",
         "Journal of Orchard Studies"),
        ("Which papers from 2023 are about apples?", "Which papers are about apples?", "2023"),
        ("Which 2024 papers are about apples?", "Which papers are about apples?", "2024"),
        ("Which works published in 2021 or 2022 help ferries?", "Which works help ferries?", "2021–2022"),
        ("Which papers since 2022 help ferries?", "Which papers help ferries?", "2022–2024"),
        ("Which papers before 2023 help ferries?", "Which papers help ferries?", "2021–2022"),
        ("Which papers between 2022 and 2023 help ferries?", "Which papers help ferries?", "2022–2023"),
        ("In 2021, which papers warned of frost?", "which papers warned of frost?", "2021"),
        ("Which papers by Zhang prune trees?", "Which papers prune trees?", "by Wei Zhang"),
        ("What is proposed by Dupont-Moreau et al.?", "What is proposed?", "by Léa Dupont-Moreau"),
        ("What do papers by Roe and Kay count?", "What do papers count?", "by Ada Roe or Cy Kay"),
        ("Which ICML 2023 papers by Müller count gulls?", "Which papers count gulls?", "ICML 2023, by Jürgen Müller"),
        ("Was sagt das Paper von van den Oord zu Äpfeln?", "Was sagt das Paper zu Äpfeln?",
         "by Aaron van den Oord"),
        ("Welche Arbeiten bei ICLR nutzen Filter?", "Welche Arbeiten nutzen Filter?", "ICLR"),
        ("Welche Arbeiten von 2023 zählen Möwen?", "Welche Arbeiten zählen Möwen?", "2023"),
        ("Quels articles de ICML 2024 parlent d'algues ?", "Quels articles parlent d'algues?", "ICML 2024"),
        ("¿Qué artículos de ICLR usan filtros?", "¿Qué artículos usan filtros?", "ICLR"),
        ("Which CVPR papers count gulls?", "Which papers count gulls?", "CVPR"),
        ("Which papers from 2019 count gulls?", "Which papers count gulls?", "2019"),
        ("Which papers by Geoffrey Hinton count gulls?", "Which papers count gulls?", "by Geoffrey Hinton"),
    ],
)  # fmt: skip
def test_a_name_in_a_restricting_role_is_a_filter(
    retriever: Retriever, question: str, rest: str, only: str
) -> None:
    assert narrowed(retriever, question) == (rest, only)


@pytest.mark.parametrize(
    "question",
    [
        "What does Brenier's 2023 result say about apples?",
        "Was it trained on ImageNet 2021?",
        "How does it compare with GPT-4 (2023)?",
        "In which city was ICML 2024 held?",
        "What is ICLR?",
        "How did Müller count gulls?",
        "Is it faster than the filters by Zhang et al.?",
        "Does KELP use log 2024 data?",
        "In 2024, how fast did TidalNet train?",
        "Which model was released for CoNLL-2023?",
        "What did Oberon prove in 2023?",
        "Which data from 2022 does the bandit use?",
        "Who wrote “Which ICML Papers Age Well”?",
        "How many submissions to SemEval-2022 Task 5 are there?",
        "What do NeurIPS reviewers say about gulls at CVPR?",
    ],
)
def test_a_name_in_another_role_is_none(retriever: Retriever, question: str) -> None:
    assert narrowed(retriever, question) == (question, "")


def test_small_letters_of_common_words_name_no_venue(retriever: Retriever) -> None:
    records = records_of(retriever.library)
    assert facets_of("papers in log space", records, loose=True).venues == ()
    assert facets_of("papers in LoG", records, loose=True).venues == ("LoG",)


def test_given_filters_and_those_of_the_question_must_both_pass() -> None:
    icml = Filters(venues=("ICML",), without=("k",))
    assert together(icml, Filters(venues=("ICML", "ICLR"), years=(2024,))) == Filters(
        venues=("ICML",), years=(2024,), without=("k",)
    )
    assert told(together(icml, Filters(venues=("ICLR",)))) == "no venue"


def test_a_filter_that_leaves_nothing_is_named_by_the_refusal(retriever: Retriever, tmp_path: Path) -> None:
    assistant = Assistant(retriever, ScriptedModel([]), Settings(home=tmp_path))
    answer = assistant.ask("Which CVPR papers count gulls by footsteps?")
    assert answer.question == "Which CVPR papers count gulls by footsteps?"
    assert answer.searched_for == "Which papers count gulls by footsteps? (only: CVPR)"
    assert answer.text == "I could not find this in these papers. Only papers from CVPR were searched."


def test_both_searches_stay_within_the_filter(retriever: Retriever, tmp_path: Path) -> None:
    model = ScriptedModel(["NOT FOUND"])
    answer = Assistant(retriever, model, Settings(home=tmp_path)).ask(
        "In ICLR papers, what is counted by footsteps?"
    )
    assert "ICLR" not in model.calls[0].messages[-1].content
    assert {h.paper.venue for h in answer.nearest} == {"ICLR"}
    assert answer.text.startswith(
        "I could not find this in these papers. Only papers from ICLR were searched. Closest:"
    )


def test_a_follow_up_is_narrowed_in_both_its_forms(retriever: Retriever) -> None:
    history = [Turn("How does TidalNet forecast sea level?", "With recurrent filters.")]
    question = "And in ICML papers?"
    found = narrow(question, understand(question, history), Filters(), retriever.library)
    assert told(found.filters) == "ICML"
    assert all("ICML" not in form for form in found.search.forms)
    assert found.search.text.endswith("(only: ICML)")


@pytest.mark.parametrize(
    ("author", "asked", "same"),
    [
        ("Ada Roe", "Roe", True),
        ("Ada Roe", "roe", True),
        ("Ada Roe", "Ada Roe", True),
        ("Ada Roe", "Roe, Ada", True),
        ("Ada Roe", "Roe Ada", True),
        ("Ada Roe", "A. Roe", True),
        ("Ada Maria Roe", "A.M. Roe", True),
        ("Ada Maria Roe", "AM Roe", True),
        ("Ada Maria Roe", "Maria Roe", True),
        ("Ada Roe", "Ada", False),
        ("Ada Roe", "B. Roe", False),
        ("Ada Roe", "Monroe", False),
        ("Jürgen Müller", "Muller", True),
        ("Ola Ørsted", "orsted", True),
        ("Aaron van den Oord", "van den Oord", True),
        ("Aaron van den Oord", "Oord", True),
        ("Léa Dupont-Moreau", "Moreau", True),
        ("Martin King Jr.", "King", True),
        ("Ada Roe", "", False),
    ],
)
def test_a_name_means_an_author(author: str, asked: str, same: bool) -> None:
    assert same_person(author, asked) is same


def test_authors_are_a_filter_of_the_library(retriever: Retriever) -> None:
    def papers(*names: str) -> set[str]:
        allowed = retriever.library.allowed(Filters(authors=names))
        assert allowed is not None
        return {p.label[:5] for p in retriever.library.by_id(allowed).values()}

    assert papers("Roe") == {"KELP:", "Count"}
    assert papers("muller", "Ørsted") == {"Count", "Frost"}
    assert papers("Hinton") == set()
    assert len(retriever.library.allowed(Filters(venues=("iclr",), authors=("Zhang",))) or ()) == 1
