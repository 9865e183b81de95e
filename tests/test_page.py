import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from fake_assistant import ANSWER, EVIDENCE, HARBOUR, REFUSAL, SENTENCES, FakeAssistant, script_of

from rag.errors import ModelError, PinciteError
from rag.nouns import Answer, Done, Draft, Event, Found, Settled, Turn, Waiting
from rag.rows import answer_row
from ui.web import page as page_module
from ui.web.asking import views
from ui.web.conversation import advance, answer_to, converse, opened
from ui.web.desks import Desks
from ui.web.page import build, launch, serve
from ui.web.relay import Running, relay
from ui.web.render import Shown
from ui.web.tabs import chat

QUESTION = ANSWER.question
ENDLESS = [Found("x", EVIDENCE, ()), Settled(SENTENCES[0]), *(Draft("word " * n) for n in range(1, 1000))]


def until(true: object, seconds: float = 5.0) -> bool:
    """Whether the callable comes true in that time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():  # type: ignore[operator]
            return True
        time.sleep(0.005)
    return False


# ----------------------------------------------------------------------------------- conversation


def test_the_events_of_an_answer_build_the_turn() -> None:
    shown = Shown(Answer("q", "", "partial", ""))
    phases = []
    for event in [Waiting(2), Found("s", EVIDENCE, ()), Draft("Lan"), Settled(SENTENCES[0]), Done(ANSWER)]:
        shown = advance(shown, event)
        phases.append((shown.phase, shown.draft, len(shown.answer.evidence), len(shown.answer.sentences)))
    assert phases == [
        ("waiting", "", 0, 0),
        ("reading", "", 5, 0),
        ("writing", "Lan", 5, 0),
        ("writing", "", 5, 1),
        ("done", "", 5, 3),
    ]
    assert shown.answer == ANSWER


def test_converse_ends_with_the_answer_and_hands_on_the_history() -> None:
    assistant = FakeAssistant({QUESTION: script_of(ANSWER), "And then?": script_of(REFUSAL)})
    *_, first = converse(assistant, QUESTION, (), threading.Event())
    *_, second = converse(assistant, "And then?", first, threading.Event())
    assert [shown.phase for shown in second] == ["done", "done"]
    assert assistant.asked == [(QUESTION, ()), ("And then?", (Turn(QUESTION, ANSWER.text),))]


def test_an_error_is_a_plain_message_and_no_part_of_the_history() -> None:
    assistant = FakeAssistant(
        {"a": [Found("a", EVIDENCE, ()), Draft("Hal"), ModelError("No model.")], "b": script_of(ANSWER)}
    )
    *_, turns = converse(assistant, "a", (), threading.Event())
    assert (turns[0].phase, turns[0].error, turns[0].draft) == ("failed", "No model.", "")
    list(converse(assistant, "b", turns, threading.Event()))
    assert assistant.asked[1] == ("b", ())


def test_a_fault_reaches_the_terminal_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class Faulty(FakeAssistant):
        def stream(self, *args: object, **kwargs: object) -> Iterator[Event]:
            yield Found("x", EVIDENCE, ())
            raise ZeroDivisionError("in the model")

    seen: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args.exc_type))
    *_, turns = converse(Faulty({}), "q", (), threading.Event())
    assert turns[0].phase == "failed" and "The terminal" in turns[0].error
    assert until(lambda: seen == [ZeroDivisionError])


def test_stop_ends_the_stream_within_one_step_and_keeps_what_was_checked() -> None:
    """C51: not only the page stops, the model does."""
    assistant = FakeAssistant({"q": ENDLESS}, delay=0.01)
    cancel = threading.Event()
    for turns in converse(assistant, "q", (), cancel):
        if turns[-1].draft and not cancel.is_set():
            steps = assistant.steps
            cancel.set()
    assert turns[-1].phase == "stopped"
    assert turns[-1].answer.text == f"{SENTENCES[0].text} [1]"
    assert turns[-1].answer.note == "stopped"
    assert until(lambda: assistant.streams == 0)
    assert assistant.steps <= steps + 1


def test_stop_does_not_wait_for_a_model_that_is_slow_to_answer() -> None:
    assistant = FakeAssistant({"q": ENDLESS}, delay=0.5)
    cancel = threading.Event()
    threading.Timer(0.1, cancel.set).start()
    begun = time.monotonic()
    *_, turns = converse(assistant, "q", (), cancel)
    assert time.monotonic() - begun < 0.4
    assert turns[-1].phase == "stopped" and assistant.streams == 1
    assert until(lambda: assistant.streams == 0)


def test_a_reader_who_leaves_frees_the_model_for_the_next() -> None:
    assistant = FakeAssistant({"q": ENDLESS, QUESTION: script_of(ANSWER)}, delay=0.01)
    running = Running()
    with running.question("tab") as cancel, closing(converse(assistant, "q", (), cancel)) as turns:
        next(turns), next(turns)
    assert until(lambda: assistant.streams == 0)
    *_, after = converse(assistant, QUESTION, (), threading.Event())
    assert after[-1].phase == "done"


def test_two_askers_share_one_model_and_nothing_else() -> None:
    assistant = FakeAssistant({"a": script_of(ANSWER), "b": script_of(REFUSAL)}, delay=0.02)
    seen: dict[str, list[tuple[Shown, ...]]] = {"a": [], "b": []}

    def ask(question: str) -> None:
        seen[question] += converse(assistant, question, (), threading.Event())

    threads = [threading.Thread(target=ask, args=(q,)) for q in seen]
    for thread in threads:
        thread.start()
        time.sleep(0.05)
    for thread in threads:
        thread.join(timeout=10)
    assert [turn.answer for turn in seen["a"][-1]] == [ANSWER]
    assert [turn.answer for turn in seen["b"][-1]] == [REFUSAL]
    assert any(turns[0].phase == "waiting" and turns[0].ahead == 1 for turns in seen["b"])


def test_relay_keeps_the_order_and_batches_what_the_page_is_too_slow_for() -> None:
    events = [Draft(str(n)) for n in range(500)]
    batches = list(relay(lambda: iter(events), threading.Event()))
    assert [event for batch in batches for event in batch] == events
    assert len(batches) < 50


def test_running_stops_only_the_questions_of_that_session() -> None:
    running = Running()
    with running.question("a") as first, running.question("a") as second, running.question("b") as other:
        running.stop("a")
        assert running.busy("a") and not running.busy("c")
        assert (first.is_set(), second.is_set(), other.is_set()) == (True, True, False)
    assert other.is_set()
    running.stop("a")  # nothing runs: nothing to do
    assert not running.busy("a")


# ------------------------------------------------------------------------------- views of the page


def test_an_empty_question_asks_nothing() -> None:
    assistant = FakeAssistant({})
    assert list(views(assistant, "", (), threading.Event())) == [{"box": ""}]
    assert assistant.asked == []


def test_a_question_that_is_too_long_is_refused_in_words_and_stays_in_the_box() -> None:
    assistant = FakeAssistant({})
    (view,) = views(assistant, "why " * 600, (Shown(ANSWER, "done"),), threading.Event())
    assert "2,400 characters; 2,000 is the most" in view["now"]
    assert set(view) == {"past", "now"} and assistant.asked == []


def test_evidence_is_on_the_page_before_the_first_word() -> None:
    assistant = FakeAssistant({QUESTION: script_of(ANSWER)}, delay=0.06)
    now, evidence = "", ""
    for view in views(assistant, QUESTION, (), threading.Event()):
        now, evidence = view.get("now", now), view.get("evidence", evidence)
        if "draft" in now or "pincite" in now:
            break
        if "2.7 times faster" in evidence:
            return
    pytest.fail("the answer came first")


def test_a_view_is_never_empty() -> None:
    same = [Waiting(1)] * 5 + [Found("x", EVIDENCE, ())] * 5 + [Draft("a")] * 5
    assistant = FakeAssistant({"q": [*same, Done(ANSWER)]}, delay=0.05)
    got = list(views(assistant, "q", (), threading.Event()))
    assert all(got) and len(got) < 10


@pytest.mark.parametrize(
    ("called", "path", "shown"),
    [
        (".venv/bin/pincite", "/nowhere", ".venv/bin/pincite index FILE"),
        ("/usr/bin/pytest", "/nowhere", "<code>pincite index FILE"),
        (
            sys.executable.replace("python", "pincite"),
            str(Path(sys.executable).parent),
            "<code>pincite index FILE",
        ),
    ],
)
def test_the_hint_shows_a_command_that_works(
    monkeypatch: pytest.MonkeyPatch, called: str, path: str, shown: str
) -> None:
    monkeypatch.setattr(sys, "argv", [called])
    monkeypatch.setenv("PATH", path)
    assistant = FakeAssistant({}, is_sample=True)
    assert shown in chat._welcome(Desks(assistant, assistant.beside, Running()).first)


def test_only_what_changed_is_sent_and_old_turns_once() -> None:
    assistant = FakeAssistant({QUESTION: script_of(ANSWER)}, delay=0.05)
    got = list(views(assistant, QUESTION, (Shown(REFUSAL, "done"),), threading.Event()))
    assert [set(view) for view in got[:1]] == [{"past", "source", "box", "turns", "now", "evidence"}]
    assert got[0]["box"] == "" and 'data-turn="0"' in got[0]["past"]
    drafts = [view for view in got[1:-1] if "draft" in view["now"]]
    assert drafts and all(set(view) <= {"turns", "now", "evidence"} for view in drafts[1:])
    assert 'data-turn="1"' in got[-1]["now"]


# ------------------------------------------------------------------------------------ source panel


def test_a_number_opens_what_it_meant_in_its_turn() -> None:
    """C7: [2] of the first turn is not [2] of the second."""
    other = replace(ANSWER, evidence=tuple(replace(e, n=6 - e.n) for e in EVIDENCE), sentences=())
    turns = (Shown(ANSWER, "done"), Shown(other, "done"))
    assistant = FakeAssistant({})
    assert "2.7 times faster" in opened(assistant, turns, {"n": "2", "turn": "0"}).split('class="lit"')[1]
    assert "Harbour" in opened(assistant, turns, {"n": "2", "turn": "1"}).split("</h2>")[0]


def test_a_running_turn_opens_too() -> None:
    shown = Shown(replace(ANSWER, sentences=()), "reading")
    assert 'class="lit"' in opened(FakeAssistant({}), (shown,), {"n": 4, "turn": 0})


def test_a_near_paper_opens_with_its_best_sentence_lit() -> None:
    html = opened(FakeAssistant({}), (Shown(REFUSAL, "done"),), {"paper": "magpie2023", "turn": "0"})
    assert '<mark class="lit">Magpie picks the layers to borrow by a bandit.</mark>' in html


def test_a_near_paper_that_has_been_removed_says_so() -> None:
    assistant = FakeAssistant({})
    del assistant.papers["magpie2023"]
    html = opened(assistant, (Shown(REFUSAL, "done"),), {"paper": "magpie2023", "turn": "0"})
    assert "Magpie" in html and "no longer in the collection" in html


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"n": "2"},
        {"n": "9", "turn": "0"},
        {"n": "2", "turn": "5"},
        {"n": "-1", "turn": "0"},
        {"n": "2", "turn": "-1"},
        {"n": ["2"], "turn": {"a": 1}},
        {"n": "²", "turn": "0"},
        {"paper": "../../etc", "turn": "0"},
        {"alike": "../../etc"},
    ],
)
def test_a_press_that_means_nothing_opens_nothing(data: dict[str, object]) -> None:
    assert opened(FakeAssistant({}), (Shown(ANSWER, "done"),), data) == ""


# -------------------------------------------------------------------------------------- the server


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    scripts: dict[str, Sequence[Event | PinciteError]] = {
        QUESTION: script_of(ANSWER),
        "broken": [ModelError("No model. Run: pincite models pull")],
    }
    page = build(FakeAssistant(scripts))
    yield launch(page, 0)
    page.close(verbose=False)


def ask(address: str, *question: str) -> tuple[str, object]:
    """The last event of the /ask endpoint and its data."""
    called = (
        httpx.post(f"{address}/gradio_api/call/ask", json={"data": list(question)}).raise_for_status().json()
    )
    events = httpx.get(f"{address}/gradio_api/call/ask/{called['event_id']}", timeout=10).text.strip()
    event, data = events.split("\n\n")[-1].split("\n")
    return event.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_the_endpoint_returns_the_answer_row(address: str) -> None:
    event, data = ask(address, QUESTION)
    assert event == "complete"
    assert data == [json.loads(json.dumps(answer_row(ANSWER)))]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("broken", "No model. Run: pincite models pull"),
        (" ", "The question is empty"),
        ("x" * 2_001, "2,001 characters"),
    ],
)
def test_the_endpoint_fails_with_the_plain_message(
    address: str, question: str, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    event, data = ask(address, question)
    assert event == "error" and message in str(data)
    assert "Traceback" not in capfd.readouterr().err


def test_ask_is_the_only_endpoint(address: str) -> None:
    info = httpx.get(f"{address}/gradio_api/info").json()
    assert list(info["named_endpoints"]) == ["/ask"] and not info["unnamed_endpoints"]


def test_the_page_names_no_other_machine_to_load_from(address: str) -> None:
    html = httpx.get(address).text
    assert "<title>Pincite</title>" in html or '"title":"Pincite"' in html.replace('": "', '":"')
    assert "fonts.googleapis" not in html and "cdnjs" not in html
    assert os.environ["GRADIO_ANALYTICS_ENABLED"] == "False"


def test_the_server_calls_no_other_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """C60: from building the page to an answer."""
    called: list[object] = []
    connect = socket.socket.connect
    monkeypatch.setattr(
        socket.socket, "connect", lambda self, to: (called.append(to[0]), connect(self, to))[1]
    )
    page = build(FakeAssistant({QUESTION: script_of(ANSWER)}))
    assert ask(launch(page, 0), QUESTION)[0] == "complete"
    page.close(verbose=False)
    assert set(called) == {"127.0.0.1"}


def test_only_this_machine_can_connect(address: str) -> None:
    port = int(address.rsplit(":", 1)[1])
    listening = [line.split()[1] for line in open("/proc/net/tcp") if line.split()[3] == "0A"]
    assert [a for a in listening if a.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]


def test_a_taken_port_is_an_error_that_names_the_option() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(PinciteError, match=rf"Port {port} .* --port {port + 1}"):
            launch(build(FakeAssistant({})), port)


def test_serve_is_ready_when_it_answers_and_closes_on_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    opened_urls: list[str] = []
    seen: list[int] = []

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(page_module.webbrowser, "open", opened_urls.append)
    monkeypatch.setattr(page_module, "time", type("Clock", (), {"sleep": staticmethod(interrupt)}))
    with pytest.raises(KeyboardInterrupt):
        serve(
            FakeAssistant({}), 0, open_browser=True, ready=lambda url: seen.append(httpx.get(url).status_code)
        )
    assert seen == [200]
    assert opened_urls[0].startswith("http://127.0.0.1:")
    with pytest.raises(httpx.ConnectError):
        httpx.get(opened_urls[0])


def test_a_machine_without_a_browser_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(url: str) -> bool:
        raise page_module.webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(page_module.webbrowser, "open", none)
    page_module._open("http://127.0.0.1:1")


def test_a_proxy_of_the_environment_does_not_come_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "intranet")
    monkeypatch.delenv("no_proxy", raising=False)
    page = build(FakeAssistant({}))
    assert launch(page, 0).startswith("http://127.0.0.1:")
    page.close(verbose=False)
    assert os.environ["NO_PROXY"] == "intranet,127.0.0.1"


def test_a_machine_too_busy_to_show_the_page_at_once_serves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradio.networking.url_ok", lambda url: False)
    page = build(FakeAssistant({}))
    assert httpx.get(launch(page, 0)).status_code == 200
    page.close(verbose=False)


def test_the_endpoint_of_a_stopped_stream_is_an_error() -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(PinciteError, match="stopped before it was done"):
        answer_to(FakeAssistant({QUESTION: script_of(ANSWER)}), QUESTION, cancel)


def test_a_second_paper_keeps_its_own_marks() -> None:
    html = opened(FakeAssistant({}), (Shown(ANSWER, "done"),), {"n": 4, "turn": 0})
    assert HARBOUR[0].label in html and 'class="also"' not in html
