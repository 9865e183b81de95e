"""Papers for a question: what the words say, what the vectors say, and what is filtered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from fakes import HashEmbedder
from process import EMBEDDER, home_with
from shelf import BITTERN, DUNLIN, GODWIT, numbered, put, record

from rag.embed import open_embedder
from rag.indexing import Quiet, embed_pending
from rag.keeping import remove
from rag.library import Library
from rag.nouns import Filters, Hit
from rag.retrieve import Retriever
from rag.vectors import VectorStore

PAPERS = [
    record(BITTERN, citekey="bittern", title="Radios That Sleep", venue="MARSH", year=2023),
    record(DUNLIN, citekey="dunlin", title="Maps of Mud", venue="MARSH", year=2024),
    record(GODWIT, citekey="godwit", title="Drones at Rest", venue="AIR", year=2024),
    record(
        "People study how people learn to read. Many people read every day, and people who read learn more. "
        "We ask 90 people.",
        citekey="people",
        venue="AIR",
        year=2023,
    ),
    *(record(numbered(n), citekey=f"n{n}") for n in range(30)),
]


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = Library(tmp_path)
    put(library, PAPERS)
    return library


@pytest.fixture
def vectors(tmp_path: Path) -> Iterator[VectorStore]:
    store = VectorStore(tmp_path / "vectors")
    yield store
    store.close()


@pytest.fixture
def retriever(library: Library, vectors: VectorStore) -> Retriever:
    embedder = HashEmbedder(dim=1024)  # so wide that hardly two words share a place
    embed_pending(library, vectors, embedder, Quiet())
    return Retriever(library, vectors, embedder)


def keys(hits: Sequence[Hit]) -> list[str]:
    return [hit.paper.key for hit in hits]


def test_the_best_paper_comes_with_its_score_its_sentence_and_why(retriever: Retriever) -> None:
    hit, *others = retriever.search(["How many messages did Bittern lose in three winters?"])
    assert hit.paper == retriever.library.paper("bittern")
    assert retriever.library.sentences(hit.paper)[hit.best_sentence].text == (
        "In three winters Bittern lost 2 of 140 messages."
    )
    assert hit.why.terms == ("messages", "bittern", "three", "winters"), (
        "in the question's order; lose is not lost"
    )
    assert (hit.why.text_rank, hit.why.vector_rank) == (1, 1)
    assert 0 < hit.why.text_score < 1, "it holds some of the question's words"
    assert 0 < hit.why.abstract_score < hit.why.sentence_score <= 1
    scores = [one.score for one in (hit, *others)]
    assert scores == sorted(scores, reverse=True) and 0 <= scores[-1] and scores[0] <= 1


def test_a_score_is_the_three_witnesses_weighed(retriever: Retriever) -> None:
    for hit in retriever.search(["drone landing on warm roads"], 5):
        why = hit.why
        weighed = (why.abstract_score + 0.5 * why.sentence_score + 0.25 * why.text_score) / 1.75
        assert hit.score == pytest.approx(weighed, abs=1e-5)


def test_a_rare_name_outweighs_everyday_words(library: Library, vectors: VectorStore) -> None:
    """By the words alone: no vectors here."""
    put(library, [record(f"{numbered(n)} People learn to read.", n) for n in range(100, 130)], "more.txt")
    hits = Retriever(library, vectors, HashEmbedder()).search(["Do people learn to read about Godwit?"], 3)
    assert hits[0].paper.key == "godwit" and hits[0].why.terms == ("godwit",)
    assert hits[1].why.terms == ("people", "learn", "read")
    assert hits[0].why.text_score > hits[1].why.text_score


def test_filters_reach_every_witness(retriever: Retriever) -> None:
    """A paper that does not pass is not found even if it is by far the best, and the others still are."""
    question = ["How many messages did Bittern lose in three winters?"]
    found = {
        (): retriever.search(question, 99),
        ("air",): retriever.search(question, 99, Filters(venues=("AIR",))),
        ("2024",): retriever.search(question, 99, Filters(years=(2024,))),
        ("without",): retriever.search(question, 99, Filters(without=("bittern",))),
        ("papers",): retriever.search(question, 99, Filters(papers=("n3", "dunlin"))),
    }
    assert len(found[()]) == len(PAPERS)
    assert sorted(keys(found[("air",)])) == ["godwit", "people"]
    assert sorted(keys(found[("2024",)])) == ["dunlin", "godwit"]
    assert len(found[("without",)]) == len(PAPERS) - 1 and "bittern" not in keys(found[("without",)])
    assert sorted(keys(found[("papers",)])) == ["dunlin", "n3"]
    assert all(hit.why.vector_rank for hits in found.values() for hit in hits)
    assert retriever.search(question, 9, Filters(venues=("NONE",))) == []


def test_no_more_papers_than_asked_for_and_none_for_nothing(retriever: Retriever) -> None:
    assert len(retriever.search(["radio"], 2)) == 2
    assert retriever.search([], 2) == []
    assert len(retriever.search(["?!"], 2)) == 2, "no word to look for: the vectors alone"
    assert retriever.search(['"NEAR( OR * -'], 1)


def test_an_empty_collection_finds_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    retriever = Retriever(Library(folder), VectorStore(folder / "vectors"), HashEmbedder())
    assert retriever.search(["radio"]) == []


def test_papers_without_vectors_are_found_by_their_words(retriever: Retriever) -> None:
    """Whatever has not been embedded yet must not sink below all that has."""
    put(retriever.library, [record("The Plover of Kvitsand folds napkins.", citekey="plover")], "new.bib")
    assert retriever.library.pending() == 1
    assert retriever.search(["Who folds the napkins of Kvitsand?"])[0].paper.key == "plover"
    hits = retriever.search(["Who folds the napkins of Kvitsand in Lapland?"], 99)
    (plover,) = (hit for hit in hits if hit.paper.key == "plover")
    assert plover.why.terms == ("folds", "napkins", "kvitsand")
    assert plover.why.vector_rank is None and plover.why.abstract_score == 0, "nothing is made up"
    others = [hit.why for hit in hits if hit is not plover]
    assert all(why.vector_rank for why in others)
    near = [why.abstract_score + 0.5 * why.sentence_score for why in others]
    as_near_as_the_others = (sum(near) / len(near) + 0.25 * plover.why.text_score) / 1.75
    assert sum(near) > 0.1 and plover.score == pytest.approx(as_near_as_the_others, abs=1e-5)


def test_words_alone_do_when_there_are_no_vectors_at_all(library: Library, vectors: VectorStore) -> None:
    hits = Retriever(library, vectors, HashEmbedder()).search(["mudflats and ship logs"], 3)
    assert keys(hits) == ["dunlin"] and hits[0].why.vector_rank is None


def test_a_very_common_word_makes_no_paper_a_candidate_but_counts_for_those_that_are(
    library: Library, vectors: VectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the 30 numbered papers holds "weigh", whichever of them come first in the library."""
    monkeypatch.setattr("rag.retrieve.COMMON", 10)
    monkeypatch.setattr("rag.retrieve.TEXTS", 3)
    hits = Retriever(library, vectors, HashEmbedder()).search(["weigh the grams of krell29"], 40)
    assert hits[0].paper.key == "n29" and set(hits[0].why.terms) == {"weigh", "grams", "krell29"}
    assert hits[0].why.text_score == 1
    assert len(hits) <= 4


def test_an_earlier_text_of_a_paper_is_not_found_by_its_old_vectors(retriever: Retriever) -> None:
    put(
        retriever.library,
        [record("Now about cheese and rind.", citekey="bittern", title="Radios That Sleep")],
    )
    assert retriever.library.pending() == 1
    hits = {hit.paper.key: hit for hit in retriever.search(["battery radio antenna copper"], 99)}
    assert hits.get("bittern") is None or hits["bittern"].why.vector_rank is None
    assert "bittern" in keys(retriever.search(["cheese and its rind"], 3))


def test_a_removed_paper_is_not_found_by_its_old_vectors(retriever: Retriever) -> None:
    remove(retriever.library, "bittern")
    assert "bittern" not in keys(retriever.search(["How many messages did Bittern lose?"], 99))


def test_of_two_forms_the_one_with_the_topic_counts_more(retriever: Retriever) -> None:
    drones, maps = "drone air roads Lapland hours", "mudflats shore ship coast"
    one, two = retriever.search([drones], 9), retriever.search([maps], 9)
    assert (one[0].paper.key, two[0].paper.key) == ("godwit", "dunlin")
    both = retriever.search([drones, maps], 9)
    assert keys(both)[:2] == ["dunlin", "godwit"]
    by_key = {hit.paper.key: hit.score for hit in both}
    score = {hit.paper.key: hit.score for hit in retriever.search([drones], 99)}
    other = {hit.paper.key: hit.score for hit in retriever.search([maps], 99)}
    assert by_key["godwit"] == pytest.approx(0.35 * score["godwit"] + 0.65 * other["godwit"])
    assert keys(retriever.search([drones, drones], 9)) == keys(one), "the same form twice is one form"


def test_more_candidates_than_are_completed_are_left_out_from_the_tail(
    retriever: Retriever, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.retrieve.WINDOWS", 2)
    monkeypatch.setattr("rag.retrieve.SENTENCES", 2)
    monkeypatch.setattr("rag.retrieve.TEXTS", 2)
    hits = retriever.search(["weigh the grams of krell7"], 99)
    assert hits[0].paper.key == "n7" and len(hits) <= 2 + 2 + 2 * 2
    assert all(hit.why.abstract_score > 0 and hit.why.sentence_score > 0 for hit in hits), (
        "all three witnesses"
    )


@pytest.mark.model
def test_meaning_and_names_with_the_real_embedder(
    library: Library, vectors: VectorStore, tmp_path: Path
) -> None:
    folder = home_with(tmp_path / "home", EMBEDDER) / "models" / EMBEDDER
    embedder = open_embedder(folder, EMBEDDER)
    embed_pending(library, vectors, embedder, Quiet())
    retriever = Retriever(library, vectors, embedder)
    paraphrase = retriever.search(["wireless devices that survive cold weather without power"])[0]
    assert paraphrase.paper.key == "bittern" and paraphrase.why.terms == ()
    named = retriever.search(["Tell me something interesting about Dunlin"])[0]
    assert named.paper.key == "dunlin" and "dunlin" in named.why.terms
    put(library, [record("The Plover of Kvitsand folds napkins.", citekey="plover")], "new.bib")
    assert retriever.search(["Who folds the napkins of Kvitsand?"])[0].paper.key == "plover", (
        "not embedded yet"
    )
