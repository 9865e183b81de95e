"""Several collections: what there is, what can be made, and a page that keeps them apart."""

from __future__ import annotations

import gc
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from desk import assistant_at
from fake_assistant import ANSWER, LANTERN, FakeAssistant, fill, script_of
from fakes import ScriptedModel

from rag.errors import LibraryError, PinciteError, SettingsError
from rag.history import Said
from rag.holdings import create, exists, holdings, missing, of_collection
from rag.indexing import Quiet, embed_pending
from rag.library import Library
from rag.nouns import Waiting
from rag.opening import beside
from rag.settings import Settings
from ui.web.desks import KEPT, Desks
from ui.web.page import build, launch
from ui.web.relay import Running
from ui.web.tabs import chat

UNFIT = ["", " ", "../up", "a/b", "my papers", "-x", ".x", "x" * 49, "bücher", "<img src=x>", "a\n"]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path)


# ------------------------------------------------------------------------------- what there is


def test_collections_are_listed_with_their_papers(settings: Settings) -> None:
    assert holdings(settings) == {}
    create(settings, "birds")
    fill(Library(create(settings, "Ants").collection_dir), [LANTERN[0]])
    (settings.home / "collections" / "no library").mkdir()
    torn = create(settings, "torn")
    (torn.collection_dir / "library.sqlite").write_bytes(b"not a library, and long enough to be read as one")
    odd = settings.home / "collections" / "odd name"
    create(settings, "odd").collection_dir.rename(odd)
    assert holdings(settings) == {"Ants": 1, "birds": 0, "torn": None}
    assert list(holdings(settings)) == ["Ants", "birds", "torn"]


def test_counting_makes_and_changes_nothing(settings: Settings, tmp_path: Path) -> None:
    made = create(settings, "birds")
    before = {file.name for file in made.collection_dir.iterdir() if not file.name.endswith(("-wal", "-shm"))}
    assert holdings(settings) == {"birds": 0}
    after = {file.name for file in made.collection_dir.iterdir() if not file.name.endswith(("-wal", "-shm"))}
    assert before == after == {"library.sqlite"}
    assert not exists(settings) and "there: birds" in missing(settings)


@pytest.mark.parametrize("name", UNFIT)
def test_a_bad_name_makes_nothing_and_is_told(settings: Settings, name: str) -> None:
    with pytest.raises(SettingsError, match="cannot be the name of a collection: use 1 to 48 of"):
        create(settings, name)
    assert not (settings.home / "collections").exists()


def test_a_name_that_is_taken_is_told(settings: Settings) -> None:
    create(settings, "birds")
    with pytest.raises(LibraryError, match="There is a collection 'birds' already"):
        create(settings, "birds")


def test_another_collection_has_the_same_settings_otherwise(settings: Settings) -> None:
    other = of_collection(settings, "birds")
    assert other.model_dump() == settings.model_dump() | {"collection": "birds"}


# ------------------------------------------------------------------------------------ desks


@pytest.fixture
def first(tmp_path: Path) -> FakeAssistant:
    return FakeAssistant({ANSWER.question: script_of(ANSWER)}, home=tmp_path)


def test_a_desk_is_opened_once_and_the_first_is_always_there(first: FakeAssistant) -> None:
    create(first.settings, "birds")
    opened: list[str] = []

    def opener(settings: Settings) -> FakeAssistant:
        opened.append(settings.collection)
        return first.beside(settings)

    desks = Desks(first, opener, Running())
    assert desks.named("") is desks.named("default") is desks.first
    assert desks.named("birds") is desks.named("birds")
    assert desks.named("birds").name == "birds" and opened == ["birds"]
    assert desks.named("birds").running is desks.first.running


def test_many_readers_at_once_open_a_collection_once(first: FakeAssistant) -> None:
    create(first.settings, "birds")
    opened: list[str] = []

    def opener(settings: Settings) -> FakeAssistant:
        time.sleep(0.05)
        opened.append(settings.collection)
        return first.beside(settings)

    desks = Desks(first, opener, Running())
    threads = [threading.Thread(target=desks.named, args=("birds",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opened == ["birds"]


def test_a_slow_opening_holds_up_no_other_collection(first: FakeAssistant) -> None:
    names = ("slow", "quick")
    for name in names:
        create(first.settings, name)
    go_on = threading.Event()

    def opener(settings: Settings) -> FakeAssistant:
        assert settings.collection != "slow" or go_on.wait(10)
        return first.beside(settings)

    desks = Desks(first, opener, Running())
    slow = threading.Thread(target=desks.named, args=("slow",))
    slow.start()
    assert desks.named("quick").name == "quick" and slow.is_alive()
    go_on.set()
    slow.join()


def test_the_desk_used_least_lately_makes_room(first: FakeAssistant) -> None:
    names = [f"c{n}" for n in range(KEPT + 1)]
    for name in names:
        create(first.settings, name)
    opened: list[str] = []

    def opener(settings: Settings) -> FakeAssistant:
        opened.append(settings.collection)
        return first.beside(settings)

    desks = Desks(first, opener, Running())
    for name in [*names[:KEPT], names[0], names[KEPT], names[0], names[1]]:
        desks.named(name)
    assert opened == [*names, names[1]]


@pytest.mark.parametrize("name", [*UNFIT[1:], "nowhere"])
def test_a_collection_that_is_not_there_is_neither_opened_nor_made(first: FakeAssistant, name: str) -> None:
    desks = Desks(first, first.beside, Running())
    with pytest.raises(PinciteError, match="collection"):
        desks.named(name)
    folders = [folder.name for folder in (first.settings.home / "collections").iterdir()]
    assert folders == ["default"] and not list((first.settings.home / "collections" / "..").glob("up*"))


def test_desks_share_no_papers_questions_and_conversations(first: FakeAssistant) -> None:
    made = create(first.settings, "birds")
    desks = Desks(first, first.beside, Running())
    one, other = desks.first, desks.named("birds")
    one.history.add("c1", Said(ANSWER))
    assert other.history.get("c1") is None and other.history.headings() == []
    assert one.assistant.size()[0] == 3 and other.assistant.size() == (0, 0)
    assert other.history.file.parent == other.assistant.library.folder == made.collection_dir
    assert other.address("c1") == "collection=birds&c=c1" and one.address() == "collection=default&c="


def test_an_empty_collection_has_a_first_step_instead_of_questions(first: FakeAssistant) -> None:
    create(first.settings, "birds")
    desks = Desks(first, first.beside, Running())
    assert 'data-ask="What does Lantern speed up?"' in chat._welcome(desks.first)
    empty = chat._welcome(desks.named("birds"))
    assert "birds has no papers yet" in empty and "--collection birds index FILE" in empty
    assert "data-ask" not in empty


# ------------------------------------------------------------- real parts: one model, several collections


def other_collection(settings: Settings) -> Settings:
    """A second collection with one paper, its vectors made by the first one's embedder."""
    made = create(settings, "birds")
    fill(Library(made.collection_dir), [LANTERN[0]])
    return made


def test_the_models_and_their_queue_are_shared(tmp_path: Path) -> None:
    model = ScriptedModel(["The papers do not say."])
    first = assistant_at(tmp_path, model)
    settings = other_collection(first.settings)
    other = beside(first, settings)
    assert (other.model, other.writer.turnstile) == (first.model, first.writer.turnstile)
    assert other.retriever.embedder is first.retriever.embedder
    assert other.settings is settings and other.library.folder == settings.collection_dir
    embed_pending(other.library, other.retriever.vectors, other.retriever.embedder, Quiet())
    with first.writer.turnstile.enter():
        question = "What does Lantern remove in blocks of weights during training?"
        waiting = [event for event in _until(other.stream(question), Waiting)]
    assert waiting[-1] == Waiting(1), "a question to one collection waits for that to another"
    assert {hit.paper.key for hit in other.retriever.search(["weights"])} == {"lantern2024"}
    assert {hit.paper.key for hit in first.retriever.search(["weights"])} == {"roe24", "lin23", "kay24"}


def _until(events: Iterator[object], kind: type) -> Iterator[object]:
    for event in events:
        yield event
        if isinstance(event, kind):
            return


def test_what_makes_room_is_closed_once_nobody_uses_it(tmp_path: Path) -> None:
    first = assistant_at(tmp_path, ScriptedModel([]))
    closed: list[str] = []

    def opener(settings: Settings) -> object:
        other = beside(first, settings)
        close = other.retriever.vectors._close
        other.retriever.vectors._close = lambda: (closed.append(settings.collection), close())[1]
        return other

    for name in (names := [f"c{n}" for n in range(KEPT + 1)]):
        create(first.settings, name)
    desks = Desks(first, opener, Running())  # type: ignore[arg-type]
    streaming = desks.named("c0").assistant.stream("What does a wren weigh?")
    next(streaming)
    for name in names[1:]:
        desks.named(name)
    gc.collect()
    assert closed == [], "a question is being answered"
    list(streaming)
    del streaming
    gc.collect()
    assert closed == ["c0"]
    assert desks.named("c0").assistant.size() == (0, 0), "and can be opened again"


# ------------------------------------------------------------------------------------- the server


@pytest.fixture
def address(first: FakeAssistant) -> Iterator[str]:
    create(first.settings, "birds")
    question = "What do wrens weigh?"

    def opener(settings: Settings) -> FakeAssistant:
        other = first.beside(settings)
        other.scripts = {question: script_of(ANSWER)}
        return other

    page = build(first, opener=opener)
    yield launch(page, 0)
    page.close(verbose=False)


def ask(address: str, question: str, query: str = "") -> tuple[str, object]:
    url = f"{address}/gradio_api/call/ask"
    called = httpx.post(url + query, json={"data": [question]}).raise_for_status().json()
    events = httpx.get(f"{url}/{called['event_id']}", timeout=10).text.strip()
    event, data = events.split("\n\n")[-1].split("\n")
    return event.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_the_endpoint_asks_the_collection_that_its_address_names(address: str) -> None:
    assert ask(address, ANSWER.question)[0] == "complete"
    assert ask(address, "What do wrens weigh?", "?collection=birds")[0] == "complete"
    event, data = ask(address, ANSWER.question, "?collection=nowhere")
    assert event == "error" and "There is no collection 'nowhere'" in str(data)
