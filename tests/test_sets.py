from dataclasses import replace

import pytest

from rag.nouns import Evidence, Hit, Paper, Sentence, Why
from rag.sets import kind_of, members, paper_named, sentences_of
from rag.standing import background, depth, lead


def hits(*scores: float) -> list[Hit]:
    return [Hit(Paper(i, f"p{i}", f"Paper {i}", "A."), score, Why()) for i, score in enumerate(scores)]


def evidence(n: int, title: str = "", label: str = "List #1: a phrase") -> Evidence:
    text = "Stacked filters halve the cost."
    return Evidence(
        n, Paper(n, f"p{n}", title or label, text, title=title), Sentence(f"p{n}", 0, 0, len(text), text)
    )


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Which papers edit audio without training?", "list"),
        ("Which one of the papers studies clustering?", "which"),
        ("Which sampler rests on mean estimation?", "which"),
        ("List all papers on federated learning.", "list"),
        ("what work is there on diffusion for music", "list"),
        ("Give me every paper about speech", "list"),
        ("list the shared task system description papers", "list"),
        ("How many papers deal with counterfactuals?", "count"),
        ("How many of the papers are about protein design?", "count"),
        ("count the papers involving planning", "count"),
        ("what do you have on speech", "list"),
        ("Is there anything on speech here?", "list"),
        ("Anything about optimal transport?", "list"),
        ("summarise the papers on speech", "list"),
        ("Summarize the work on planning.", "list"),
        ("What is common to the audio papers?", "list"),
        ("What do the diffusion papers have in common?", "list"),
        ("Summarise the SILVER paper", "other"),
        ("Summarise what SILVER says about memory", "other"),
        ("What do SILVER and FedDA have in common?", "other"),
        ("Does it say anything about memory?", "other"),
        ("How many GPU hours did it take?", "other"),
        ("Which paper asks users what they like best?", "which"),
        ("Which method was tested on lattice proteins?", "which"),
        ("Is there an opinion piece about what the field rewards?", "which"),
        ("there's one on recovering a terrain - which?", "which"),
        ("Who proves convergence of the wrong model?", "which"),
        ("Who wrote the paper on audio editing?", "other"),
        ("Who funded the research on FoldFlow?", "other"),
        ("Which optimization technique sits at the core of FedDA?", "other"),
        ("Which method does LPN use to recover the prior?", "other"),
        ("Who marks the replies, people or a chatbot?", "other"),
        ("What speed-up does SRigL reach?", "other"),
    ],
)
def test_kinds(question: str, kind: str) -> None:
    assert kind_of(question) == kind


def nobody(word: str) -> int:
    """No paper holds a word."""
    return 0


FLAT = [0.5] * 20


def test_background_is_the_mean_of_ranks_16_to_20() -> None:
    found = hits(*[0.8] * 15, 0.40, 0.42, 0.44, 0.46, 0.48)
    assert background(found, 38) == pytest.approx(0.44)  # (.40 + .42 + .44 + .46 + .48) / 5
    assert lead(found, 38) == pytest.approx(0.36)


def test_few_papers_have_no_background() -> None:
    assert lead(hits(0.6, 0.5), 2) == 1.0
    assert lead([], 0) == 0.0


def test_a_dense_collection_is_looked_at_deeper() -> None:
    assert depth(38) == depth(300) == 20
    assert depth(1200) == 35  # 15 * sqrt(1200 / 300) + 5
    assert depth(1_000_000) == 105


def test_members_are_nearer_to_the_best_than_to_the_background() -> None:
    # background .50, best .80: the edge lies at .65
    found = hits(0.80, 0.70, 0.66, 0.64, *[0.55] * 11, *[0.50] * 5)
    assert [h.score for h in members(found, 38)] == [0.80, 0.70, 0.66]


def test_whether_there_is_anything_is_asked_of_what_stands_out_more() -> None:
    found = hits(0.62, *FLAT)  # leads by 0.12
    assert len(members(found, 38, "Which papers are about kites?")) == 1
    assert members(found, 38, "Is there anything about kites?") == []


def holding(hit: Hit, *terms: str) -> Hit:
    return replace(hit, why=Why(terms=terms))


def test_a_question_that_comes_down_to_a_word_is_about_the_papers_that_hold_it() -> None:
    # background .50, best .80: the edge is .575 for holders of the words, .74 for others
    found = hits(0.80, 0.75, 0.70, 0.60, 0.57, *[0.55] * 10, *[0.50] * 5)
    found[3], found[4] = holding(found[3], "kites"), holding(found[4], "kites")
    question = "How many papers deal with kites?"
    assert [h.score for h in members(found, 38, question)] == [0.80, 0.75, 0.60]
    assert [h.score for h in members(found, 38, "Which papers deal with kites, buoys and gulls?")] == [
        0.80, 0.75, 0.70,
    ]  # fmt: skip


def test_either_word_will_do_if_the_question_says_or() -> None:
    found = hits(0.80, 0.60, 0.60, *[0.55] * 12, *[0.50] * 5)
    found[1], found[2] = holding(found[1], "kites"), holding(found[2], "kites", "buoys")
    assert len(members(found, 38, "Which papers report experiments on kites or on buoys?")) == 3
    assert len(members(found, 38, "Which papers report experiments on kites and on buoys?")) == 2
    assert len(members(found, 38, "Do any papers list or have kites with buoys?")) == 2


def test_more_papers_than_are_named_are_counted() -> None:
    (first, *_) = sentences_of([evidence(1, "Filters"), evidence(2, "Kites")], 63, 900, nobody)
    assert first.text == "63 of 900 papers are about this; the first 2:"


def test_nothing_stands_out_of_a_flat_list() -> None:
    assert members(hits(0.55, *FLAT), 38) == []
    assert members([], 38) == []


def test_a_set_answer_counts_first_and_pins_every_paper() -> None:
    sentences = sentences_of([evidence(1, "Filters"), evidence(2)], 2, 38, nobody)
    assert [s.text for s in sentences] == [
        "Two (2) of 38 papers are about this:",
        "Filters",
        "a phrase: Stacked filters halve the cost.",
    ]
    assert [[c.n for c in s.citations] for s in sentences] == [[1, 2], [1], [2]]


def test_the_one_paper_is_named_with_what_it_says() -> None:
    (sentence,) = paper_named(hits(0.8, *FLAT), [evidence(1, "Filters")], 38, nobody)
    assert sentence.text == "Filters: Stacked filters halve the cost."
    assert paper_named(hits(0.55, *FLAT), [evidence(1, "Filters")], 38, nobody) == []
