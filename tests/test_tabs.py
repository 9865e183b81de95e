"""The tabs beside Chat as functions: what they show, add, remove, export and measure."""

import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fake_assistant import (
    ANSWER,
    HARBOUR,
    LANTERN,
    MAGPIE,
    REFUSAL,
    FakeAssistant,
    cite,
    fill,
    made,
    numbered,
    script_of,
)
from payloads import PAYLOADS

from eval.metrics import Abstracts
from eval.questions import load
from eval.runs import run
from rag.errors import InputError, PinciteError
from rag.history import Conversation, Heading, History, Said
from rag.indexing import SourceReport
from rag.nouns import AnswerSentence, Draft, Filters, Problem
from ui.web import adding, evaluating, exports
from ui.web.asking import asked, changed, judged, kept_views, left_off, reopened, what_is_asked
from ui.web.conversation import Talk, Turns
from ui.web.desk import Desk, facets
from ui.web.relay import Running
from ui.web.render import Shown
from ui.web.tables import files_html, papers_html, reports_html
from ui.web.tabs.history import list_html
from ui.web.tabs.library import counts_of
from ui.web.tabs.settings import settings_html

TALK = Conversation("c1", "Lantern and its cost", ((1, Said(ANSWER)), (2, Said(REFUSAL))))


class Tags(HTMLParser):
    """The tags of some HTML with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def harmless(html: str) -> bool:
    """Whether nothing in it runs, loads or restyles."""
    for tag, attrs in Tags(html).found:
        if tag in (
            "script",
            "style",
            "img",
            "svg",
            "iframe",
            "object",
            "embed",
            "form",
            "link",
            "meta",
            "base",
        ):
            return False
        if any(name.startswith("on") or name in ("style", "src", "srcset") for name in attrs):
            return False
        if not (attrs.get("href") or "https://").startswith(("https://", "http://")):
            return False
    return True


@pytest.fixture
def assistant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeAssistant:
    monkeypatch.setattr(adding, "bring_up_to_date", lambda *_: 0)
    return FakeAssistant({ANSWER.question: script_of(ANSWER)}, home=tmp_path)


@pytest.fixture
def desk(assistant: FakeAssistant) -> Desk:
    return Desk(assistant, Running(), History(assistant.settings.collection_dir / "history.sqlite"))


# ------------------------------------------------------------------------------- asking, and keeping


def test_an_answer_is_kept_and_reopened_as_it_was(desk: Desk) -> None:
    *_, last = kept_views(desk, ANSWER.question, (), (), Talk(), threading.Event())
    (heading,) = desk.history.headings()
    kept = desk.history.get(heading.id)
    assert kept is not None
    turns, talk = reopened(kept)
    assert turns == last["turns"] and talk == Talk(heading.id)
    assert turns[0].answer == ANSWER and turns[0].phase == "done" and turns[0].kept == 1


def test_a_retry_replaces_and_a_new_question_follows(desk: Desk) -> None:
    talk, turns = Talk("c"), ()
    for instead in (False, True, False):
        before = turns[:-1] if instead else turns
        asked = replace(talk, editing=instead)
        *_, last = kept_views(desk, ANSWER.question, before, turns, asked, threading.Event())
        turns = last["turns"]
    kept = desk.history.get("c")
    assert kept is not None and [n for n, _ in kept.turns] == [2, 3] == [t.kept for t in turns]


def test_what_is_asked() -> None:
    turns = (Shown(REFUSAL, "done"), Shown(ANSWER, "done", filters=Filters(venues=("ICML",))))
    editing = Talk("c", editing=True)
    assert what_is_asked(" q ", turns, Talk("c"), {}) == ("q", turns, Talk("c"))
    assert what_is_asked("q", turns, editing, {}) == ("q", turns[:1], editing)
    assert what_is_asked("", turns, editing, {"ask": "x"}) == ("x", turns, Talk("c"))
    retried = what_is_asked("", turns, Talk("c"), {"retry": "1"})
    assert retried == (ANSWER.question, turns[:1], Talk("c", Filters(venues=("ICML",)), True))
    assert what_is_asked("", turns, Talk("c"), {"retry": "1", "wide": "1"})[2].filters == Filters()
    assert what_is_asked("q", (), Talk(), {"retry": "1"}) == ("q", (), Talk())


def test_a_question_without_a_seat_is_put_off_and_asked_again(desk: Desk) -> None:
    """A browser has six connections to a server: questions that wait must not hold them all."""
    seats, talk = threading.Semaphore(1), Talk("c", Filters(venues=("ICLR",)), editing=True)
    kept = (Shown(ANSWER, "done", kept=7),)

    def press(text: str, turns: Turns, talk: Talk, **data: str) -> list[dict[str, Any]]:
        return list(asked(seats, desk, text, turns, talk, data, threading.Event()))

    first = asked(seats, desk, ANSWER.question, (), Talk(), {}, threading.Event())
    assert "turns" in next(first)
    (off,) = press(ANSWER.question, kept, talk)
    (turn,) = off["turns"]
    assert (turn.phase, turn.kept, turn.filters) == ("put off", 7, talk.filters) and turn.running
    assert 'class="quiet status again" role="status">waiting, 4 or more ahead' in off["now"]
    assert off["talk"] == replace(talk, editing=False)
    (again,) = press("", off["turns"], off["talk"], retry="1", again="1")
    assert again == {} and press("typed", kept, talk, retry="1", again="1") == [{}]
    assert [list(view) for view in press(" ", off["turns"], Talk())] == [["box"]]  # told without a seat

    (left,) = left_off(off["turns"])
    assert left.phase == "stopped" and left_off((left,)) == (left,)
    assert what_is_asked("next", off["turns"], off["talk"], {}) == ("next", (left,), off["talk"])
    first.close()
    views = press("typed", off["turns"], off["talk"], retry="1", again="1")
    last = views[-1]["turns"]
    assert not any({"box", "source"} & view.keys() for view in views)
    assert [t.phase for t in last] == ["done"] and last[0].filters == talk.filters
    assert seats.acquire(blocking=False), "the seat was not given back"


def test_filters_come_on_and_off() -> None:
    talk = Talk("c", Filters(("ICML", "ICLR"), (2023, 2024), ("a",)))
    assert changed(talk, {"unfilter": "venue", "value": "ICML"}).filters.venues == ("ICLR",)
    assert changed(talk, {"unfilter": "year", "value": "2024"}).filters.years == (2023,)
    assert changed(talk, {"unfilter": "paper", "value": "a"}).filters.papers == ()
    assert changed(talk, {"only": "b"}).filters == Filters(papers=("b",))
    assert not changed(replace(talk, editing=True), {"unfilter": "edit"}).editing
    assert changed(talk, {"unfilter": "nonsense"}) == talk


@pytest.mark.parametrize(
    "data", [{}, {"turn": "0"}, {"turn": "7", "verdict": "good"}, {"turn": "0", "verdict": "bad"}]
)
def test_a_verdict_that_means_nothing_is_not_kept(desk: Desk, data: dict[str, str]) -> None:
    turns = (Shown(ANSWER, "done"),)
    assert judged(desk, turns, data) == turns
    assert not (desk.assistant.settings.collection_dir / "feedback.jsonl").exists()


# ------------------------------------------------------------------------------------------ history


def test_exports_hold_questions_answers_and_sources() -> None:
    text = exports.markdown(TALK)
    assert text.startswith("# Lantern and its cost\n\n## What does Lantern speed up?\n\nLantern prunes")
    assert "I could not find this in these papers." in text
    html = exports.html(TALK)
    assert "<math" in html and "“Accuracy drops by 0.4 points.”" in html and "default-src 'none'" in html
    assert [row["question"] for row in json.loads(exports.as_json(TALK))["turns"]] == [
        ANSWER.question,
        REFUSAL.question,
    ]
    assert re.findall(r"^@\w+{(.*),", exports.bibtex(TALK), re.MULTILINE) == ["lantern2024", "harbour2024"]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_payload_survives_in_lists_tables_reports_and_exports(payload: str) -> None:
    """C55: a place is missed most easily where text is only listed."""
    source = made(payload, payload, payload, authors=(payload,), venue=payload, url=payload)
    evidence = numbered((source, 0))
    answer = replace(
        ANSWER, question=payload, text=payload, evidence=evidence,
        sentences=(AnswerSentence(payload, "weak", (cite(evidence[0]),)),),
    )  # fmt: skip
    report = SourceReport(payload, problems=[Problem(payload, payload, payload, 1, 2, payload)])
    assert harmless(papers_html([source[0]], payload))
    assert harmless(files_html([(payload, 3)])) and harmless(reports_html([report]))
    assert harmless(list_html([Heading(payload, payload, 0.0, 1)], "", False))
    exported = exports.html(Conversation("c", payload, ((1, Said(answer)),)))
    assert harmless(exported.partition("<body>")[2])
    assert exported.count("<script") == 0
    for name in (exports.file_name(payload, "md"), exports.file_name("../../etc/passwd\0", "md")):
        assert re.fullmatch(r"[\w-]+\.md", name)


# ------------------------------------------------------------------------------------------ library


def test_papers_are_found_filtered_sorted_and_paged(assistant: FakeAssistant) -> None:
    library = assistant.library

    def keys(*args: object, **kwargs: object) -> list[str]:
        return [p.key for p in library.listed(*args, **kwargs)[0]]  # type: ignore[arg-type]

    assert keys() == ["magpie2023", "harbour2024", "lantern2024"]
    assert keys(order="title") == ["harbour2024", "lantern2024", "magpie2023"]
    assert keys(order="venue") == ["lantern2024", "magpie2023", "harbour2024"]
    assert keys(order="year") == ["lantern2024", "harbour2024", "magpie2023"]
    assert keys("prun") == ["lantern2024"]  # the beginning of a word, stemmed
    assert keys("dana ferry") == ["harbour2024"]
    assert keys("network weights") == ["magpie2023", "lantern2024"]
    assert keys("", Filters(venues=("ICLR",), years=(2024,))) == ["lantern2024"]
    papers, total = library.listed(start=1, most=1)
    assert ([p.key for p in papers], total) == (["harbour2024"], 3)
    assert keys('" OR * NEAR( ^ %') == []
    assert facets(library) == (["ICLR", "ICML"], [2024, 2023])
    assert library.files() == [("fake.bib", 3)]


@pytest.mark.parametrize("payload", [*PAYLOADS, '"', "'", "a AND", "col:x", "-", "(", "\0"])
def test_no_search_is_an_error(assistant: FakeAssistant, payload: str) -> None:
    assert assistant.library.listed(payload)[1] in (0, 1, 2, 3)


def test_the_plot_puts_small_venues_together() -> None:
    counts = [(f"V{n}", 2024, 10 - n) for n in range(9)] + [("", None, 50)]
    frame = counts_of(counts)
    assert set(frame["venue"]) == {"V0", "V1", "V2", "V3", "V4", "V5", "other"}
    assert frame["papers"].sum() == sum(n for *_, n in counts)
    assert set(frame["year"]) == {"2024", "unknown"}


def test_files_are_added_under_their_names_and_told(assistant: FakeAssistant, tmp_path: Path) -> None:
    good, bad = tmp_path / "new.bib", tmp_path / "empty.txt"
    abstract = (
        "Wrens sing in the reeds at dawn. We count the wrens of one marsh by their songs alone, for a year."
    )
    good.write_text(
        f"@article{{wren, title={{Wren: Counting Birds}}, year={{2025}}, abstract={{{abstract}}}}}"
    )
    bad.write_text("")
    reports: list[SourceReport] = []
    lines = list(adding.watched(lambda progress: adding.add(assistant, [bad, good], progress, reports)))
    assert lines and [r.name for r in reports] == ["empty.txt", "new.bib"]
    assert reports[0].problems and reports[1].counts.added == 1
    assert (assistant.settings.collection_dir / "uploads" / "new.bib").is_file()
    html = reports_html(reports)
    assert "new.bib: 1 new paper" in html and "empty.txt: 0 new papers, 1 problem" in html
    assert assistant.library.size()[0] == 4


def test_a_paper_is_removed_once(assistant: FakeAssistant) -> None:
    for _ in range(2):  # a second tab may press too
        adding.remove(assistant, "magpie2023", adding.Watched())
    assert assistant.library.paper("magpie2023") is None and assistant.library.size()[0] == 2
    fill(assistant.library, [MAGPIE[0]], "again.bib")
    assert assistant.library.size()[0] == 3


def test_what_fails_in_the_thread_is_raised_to_the_page() -> None:
    def work(progress: adding.Watched) -> None:
        raise InputError("No room.")

    with pytest.raises(InputError, match="No room"):
        list(adding.watched(work))


# ------------------------------------------------------------------------ evaluation and settings


def question_set(folder: Path, *questions: str) -> Path:
    path = folder / "small.jsonl"
    rows = [
        {"id": f"q{n}", "question": q, "kind": "numeric", "answerable": True, "facts": [["2.7"]],
         "evidence": [LANTERN[1][2].text]}
        for n, q in enumerate(questions)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def until(true: Callable[[], bool], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    return true()


def test_a_set_is_run_shown_and_compared(assistant: FakeAssistant, tmp_path: Path) -> None:
    path = question_set(tmp_path, ANSWER.question)
    names = [evaluating.evaluate(assistant, path, None, threading.Event(), adding.Watched())]
    assert evaluating.runs(assistant.settings) == names
    html = evaluating.figures_html(names[0], evaluating.read(assistant.settings, names[0])[1])
    assert "right answers</td><td>100.0 %" in html
    compared = evaluating.comparison_html(assistant.settings, names[0], names[0])
    assert "1 questions in both runs; 0 flipped." in compared
    assert ANSWER.question in evaluating.report(assistant.settings, names, tmp_path).read_text("utf-8")
    with pytest.raises(InputError):
        evaluating.read(assistant.settings, "../../etc")


def test_stop_cuts_the_question_it_is_at_and_the_rest_can_be_asked(
    assistant: FakeAssistant, tmp_path: Path
) -> None:
    answers = {q: script_of(replace(ANSWER, question=q)) for q in ("a", "b", "c")}
    assistant.scripts = answers | {"b": [Draft("word")] * 10_000}
    assistant.delay = 0.01
    path, stop = question_set(tmp_path, "a", "b", "c"), threading.Event()
    asker = threading.Thread(target=lambda: (until(lambda: len(assistant.asked) == 2), stop.set()))
    asker.start()
    with pytest.raises(PinciteError, match=r"^Stopped; .* To go on: pincite eval run .*small.jsonl --out"):
        evaluating.evaluate(assistant, path, None, stop, adding.Watched())
    assert until(lambda: assistant.streams == 0), "the model still runs"
    assert evaluating.runs(assistant.settings) == []
    (folder,) = (assistant.settings.home / "runs").iterdir()
    assert [json.loads(line)["question"] for line in (folder / "answers.jsonl").open()] == ["a"]

    assistant.scripts, assistant.asked = answers, []
    facts, asked = json.loads((folder / "run.json").read_text()), load(path)
    run(asked, [evaluating.Asker(assistant)], folder, abstracts=Abstracts({}), conditions=facts)
    assert [q for q, _ in assistant.asked] == ["b", "c"]
    assert [json.loads(line)["status"] for line in (folder / "answers.jsonl").open()] == ["answered"] * 3


def test_sets_of_the_reader_are_found(assistant: FakeAssistant) -> None:
    folder = assistant.settings.home / "sets"
    folder.mkdir()
    question_set(folder, "x")
    assert evaluating.sets(assistant.settings)["small"] == folder / "small.jsonl"


def test_settings_say_what_runs_here(desk: Desk) -> None:
    html = settings_html(desk.assistant, desk.history)
    assert "qwen2.5-coder-1.5b" in html and "not measured yet" in html and "not downloaded" in html
    assert "Nothing leaves this machine" in html
    assert "in the language that is asked in: English, German, French, Spanish or Chinese" in html
    for _ in range(2):
        desk.history.add("c", Said(ANSWER))  # 57 tokens in 4.8 - 3.4 s
    html = settings_html(desk.assistant, desk.history)
    assert "41 tokens a second" in html and "First word after 3.4 s" in html
    assert HARBOUR[0].key not in html
