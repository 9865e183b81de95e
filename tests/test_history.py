"""Conversations survive a restart with their papers as they were."""

import sqlite3
import threading
from dataclasses import replace

import pytest
from fake_assistant import ANSWER, HARBOUR, REFUSAL

from rag.errors import LibraryError
from rag.history import History, Said
from rag.nouns import Filters, Hit, Why

HITS = (Hit(HARBOUR[0], 0.5, Why(terms=("late",), text_rank=1, vector_rank=3), 2),)


def test_a_turn_comes_back_exactly_as_it_was_kept(tmp_path):
    said = Said(ANSWER, HITS, Filters(venues=("ICML",), years=(2024,)))
    number = History(tmp_path / "new" / "history.sqlite").add("c1", said)
    reopened = History(tmp_path / "new" / "history.sqlite").get("c1")
    assert reopened is not None and reopened.turns == ((number, said),)
    assert reopened.title == ANSWER.question


def test_turns_stay_in_order_and_a_repeated_one_replaces(tmp_path):
    history = History(tmp_path / "h")
    first = history.add("c", Said(ANSWER))
    second = history.add("c", Said(REFUSAL))
    third = history.add("c", Said(replace(REFUSAL, text="again")), instead_of=second)
    history.add("other", Said(ANSWER), instead_of=first)  # a turn of another conversation stays
    kept = history.get("c")
    assert kept is not None
    assert [(n, said.answer.text) for n, said in kept.turns] == [(first, ANSWER.text), (third, "again")]


def test_search_finds_all_words_in_title_question_or_answer(tmp_path):
    history = History(tmp_path / "h")
    history.add("a", Said(ANSWER))
    history.add("b", Said(REFUSAL))
    history.rename("b", "Physics\n50%  of ÄRGER")
    assert [h.id for h in history.headings()] == ["b", "a"]
    assert [h.id for h in history.headings("LANTERN laptop")] == ["a"]
    assert [h.id for h in history.headings("quantum physics")] == ["b"]
    assert [h.id for h in history.headings("%")] == ["b"]  # no wildcard
    assert history.headings("lantern quantum") == []
    assert history.headings()[0].title == "Physics 50% of ÄRGER"
    assert [h.turns for h in history.headings()] == [1, 1]


def test_the_latest_answers_of_all_conversations(tmp_path):
    history = History(tmp_path / "h")
    history.add("a", Said(ANSWER))
    history.add("b", Said(REFUSAL))
    assert history.latest(5) == [REFUSAL, ANSWER]
    assert history.latest(1) == [REFUSAL]


def test_rename_and_delete(tmp_path):
    history = History(tmp_path / "h")
    history.add("a", Said(ANSWER))
    history.rename("a", "  ")
    assert history.headings()[0].title == ANSWER.question
    history.rename("a", "x" * 500)
    assert len(history.headings()[0].title) == 120
    history.delete("a")
    assert history.headings() == [] and history.get("a") is None
    history.add("a", Said(ANSWER))  # a tab that still shows it goes on
    assert [h.turns for h in history.headings()] == [1]


def test_ids_are_not_guessable_and_fit_an_address():
    ids = {History.new_id() for _ in range(100)}
    assert len(ids) == 100 and all(
        len(i) == 12 and i.replace("-", "").replace("_", "").isalnum() for i in ids
    )


def test_many_threads_write(tmp_path):
    history = History(tmp_path / "h")
    threads = [threading.Thread(target=history.add, args=(f"c{n % 3}", Said(ANSWER))) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(h.turns for h in history.headings()) == [4, 4, 4]


def test_a_damaged_or_newer_file_is_told_in_words(tmp_path):
    (tmp_path / "bad").write_bytes(b"no database" * 100)
    with pytest.raises(LibraryError, match="conversations at .*bad cannot be read"):
        History(tmp_path / "bad")
    with sqlite3.connect(tmp_path / "new") as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(LibraryError, match="newer Pincite"):
        History(tmp_path / "new")
