"""What people see and do, in headless Chromium, over a scripted assistant."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from fake_assistant import (
    ANSWER,
    EVIDENCE,
    HARBOUR,
    LANTERN,
    MAGPIE,
    REFUSAL,
    SENTENCES,
    FakeAssistant,
    cite,
    made,
    numbered,
    script_of,
)
from payloads import PAYLOADS

from rag.errors import ModelError
from rag.nouns import Answer, AnswerSentence, Done, Draft, Dropped, Filters, Found, Hit, Settled, Why

pytestmark = pytest.mark.browser
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
Page = sync_api.Page
expect = sync_api.expect

FAST, REFUSED, LONG, ENDLESS, BROKEN, OTHER = "fast", "refused", "long", "endless", "broken", "other"
OTHER_EVIDENCE = numbered((MAGPIE, 0), (HARBOUR, 2))
OTHER_ANSWER = Answer(
    OTHER,
    OTHER,
    "answered",
    "x",
    (AnswerSentence("Fewer messages.", "supported", (cite(OTHER_EVIDENCE[1]),)),),
)
SCRIPTS = {
    FAST: script_of(replace(ANSWER, question=FAST, searched_for=FAST), step=4),
    REFUSED: script_of(replace(REFUSAL, question=REFUSED)),
    OTHER: script_of(replace(OTHER_ANSWER, evidence=OTHER_EVIDENCE)),
    BROKEN: [ModelError("The model file is missing. Run: pincite models pull")],
    LONG: [
        Found(LONG, EVIDENCE, ()),
        Settled(SENTENCES[0]),
        *(Draft("word " * (n % 60) + str(n)) for n in range(200)),
        Done(replace(ANSWER, question=LONG, searched_for=LONG)),
    ],
    ENDLESS: [
        Found(ENDLESS, EVIDENCE, ()),
        Settled(SENTENCES[0]),
        *(Draft(f"word {n}") for n in range(2_000)),
    ],
}


@pytest.fixture(scope="module")
def serving() -> Iterator[Callable[[FakeAssistant], str]]:
    from ui.web.page import build, launch

    pages = []

    def start(assistant: FakeAssistant) -> str:
        pages.append(build(assistant))
        return launch(pages[-1], 0)

    yield start
    for page in pages:
        page.close(verbose=False)


@pytest.fixture(scope="module")
def assistant() -> FakeAssistant:
    return FakeAssistant(SCRIPTS, delay=0.02, is_sample=True)


@pytest.fixture(scope="module")
def address(serving: Callable[[FakeAssistant], str], assistant: FakeAssistant) -> str:
    return serving(assistant)


@pytest.fixture
def page(browser, address: str) -> Iterator[Page]:
    with_page = new_page(browser, address)
    yield with_page
    with_page.context.close()


def new_page(browser, address: str, width: int = 1400, height: int = 900, **options: object) -> Page:
    page = browser.new_context(viewport={"width": width, "height": height}, **options).new_page()
    page.set_default_timeout(30_000)
    page.goto(address)
    page.wait_for_selector("#answer .welcome")
    return page


def ask(page: Page, question: str, state: str = "done") -> None:
    """Ask and wait until the new turn is in that state."""
    before = page.locator(".turn").count()
    page.fill("#question textarea", question)
    page.keyboard.press("Enter")
    page.wait_for_function(f"document.querySelectorAll('.turn').length > {before}")
    expect(page.locator(".turn").last).to_contain_class(state, timeout=30_000)
    page.wait_for_timeout(100)  # between the last word and the end of its stream a press is not heard


def until(true: Callable[[], bool], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.02)
    return False


# ------------------------------------------------------------------------------------ the main way


def test_from_question_to_the_lit_sentence(page: Page) -> None:
    assert page.title() == "Pincite"
    for selector in ("#question", "#send", "#answer", "#source", "#evidence", "#stop"):
        assert page.locator(selector).count() == 1
    ask(page, FAST)
    assert page.locator("#answer .pincite[data-n]").count() == 4
    page.click("#answer .pincite[data-n='2']")
    expect(page.locator("#source mark.lit")).to_have_text(EVIDENCE[1].sentence.text)
    expect(page.locator("#source mark.lit")).to_be_in_viewport()
    expect(page.locator("#source mark.also")).to_have_count(2)
    expect(page.locator("#source a")).to_have_attribute("rel", "noopener noreferrer")
    page.click("#source .close")
    expect(page.locator("#source .panel")).to_have_count(0)


def test_evidence_comes_before_the_first_word(page: Page) -> None:
    page.evaluate(
        """() => {
            window.order = [];
            const parts = ['#evidence .number', '#answer .draft', '#answer .pincite'];
            new MutationObserver(() => {
                for (const part of parts) {
                    if (document.querySelector(part) && !order.includes(part)) order.push(part);
                }
            }).observe(document.body, {childList: true, subtree: true, attributes: true});
        }"""
    )
    ask(page, FAST)
    order = page.evaluate("order")
    assert order[0] == "#evidence .number" and "#answer .pincite" in order


def test_formulas_are_mathematics(page: Page) -> None:
    ask(page, FAST)
    assert page.locator("#evidence math msup").count() == 2
    assert "\\" not in page.locator("#evidence").inner_text()
    box = page.locator("#evidence math").first.bounding_box()
    assert box and box["width"] > 10 and box["height"] > 8
    page.click("#evidence [data-n='4']")
    expect(page.locator("#source mark.lit math")).to_have_count(1)


def test_keys_reach_everything(page: Page) -> None:
    ask(page, FAST)
    page.locator("#answer .pincite[data-n='4']").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#source h2")).to_be_focused()
    assert page.locator("#source h2").inner_text().startswith("4 Harbour")
    page.keyboard.press("Escape")
    expect(page.locator("#source .panel")).to_have_count(0)
    expect(page.locator("#answer .pincite[data-n='4']")).to_be_focused()
    page.keyboard.press("Space")
    page.wait_for_selector("#source mark.lit")
    page.keyboard.press("/")
    expect(page.locator("#question textarea")).to_be_focused()
    page.keyboard.type("a/b")
    page.keyboard.press("Shift+Enter")
    expect(page.locator("#question textarea")).to_have_value("a/b\n")


def test_a_refusal_opens_its_closest_papers(page: Page) -> None:
    ask(page, REFUSED)
    expect(page.locator("#answer .refusal")).to_have_text("I could not find this in these papers.")
    page.click("#answer .near >> nth=0")
    expect(page.locator("#source mark.lit")).to_have_text("Magpie picks the layers to borrow by a bandit.")


def test_old_turns_keep_their_numbers(page: Page) -> None:
    """C7, C53: [2] of the first turn stays what it was."""
    ask(page, FAST)
    ask(page, OTHER)
    page.click(".turn >> nth=1 >> .pincite[data-n='2']")
    expect(page.locator("#source mark.lit")).to_have_text("It needs 38% fewer messages than plain averaging.")
    page.click(".turn >> nth=0 >> .pincite[data-n='2']")
    expect(page.locator("#source mark.lit")).to_have_text(EVIDENCE[1].sentence.text)


def test_an_ended_answer_is_set_in_the_colour_of_text(page: Page) -> None:
    ask(page, FAST)
    for part in (".asked", ".sentence >> nth=0", ".sources li >> nth=0"):
        expect(page.locator(f".turn.done {part}")).to_have_css("color", "rgb(31, 35, 40)")


def test_examples_ask_and_new_chat_starts_again(page: Page, assistant: FakeAssistant) -> None:
    expect(page.locator("#answer")).to_contain_text("pincite index FILE")
    page.click(".ask >> nth=0")
    page.wait_for_selector(".turn.done")
    ask(page, OTHER)
    assert [turn.question for turn in assistant.asked[-1][1]] == [FAST]
    page.click("#new")
    page.wait_for_selector(".welcome")
    assert page.locator(".turn").count() == 0
    ask(page, REFUSED)
    assert assistant.asked[-1] == (REFUSED, ())


def test_problems_are_plain_words(page: Page) -> None:
    ask(page, BROKEN, "failed")
    expect(page.locator(".problem")).to_have_text("The model file is missing. Run: pincite models pull")
    page.fill("#question textarea", "why " * 501)
    page.click("#send")
    expect(page.locator(".problem").last).to_contain_text("2,003 characters; 2,000 is the most")
    assert page.locator("#question textarea").input_value().startswith("why why")
    assert "Traceback" not in page.content()


def test_an_empty_question_does_nothing(page: Page, assistant: FakeAssistant) -> None:
    asked = len(assistant.asked)
    page.fill("#question textarea", "  ")
    page.click("#send")
    page.wait_for_timeout(300)
    expect(page.locator(".welcome")).to_be_visible()
    assert len(assistant.asked) == asked
    ask(page, FAST)


def test_a_citation_shows_quote_and_paper_before_it_is_pressed(page: Page) -> None:
    ask(page, FAST)
    tip = page.locator("#answer .pincite[data-n='2']").get_attribute("title")
    assert tip == f"“{EVIDENCE[1].sentence.text}”\n{LANTERN[0].title}\nword for word"
    footer = page.locator(".turn footer").inner_text()
    assert footer == (
        "1 word for word, 1 supported, 1 weakly supported · 4.8 s · 612 tokens read, 57 written"
    )


def test_arrows_walk_the_citations(page: Page) -> None:
    ask(page, FAST)
    page.locator("#answer .pincite[data-n='1']").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#answer .pincite[data-n='2']")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#source h2")).to_be_focused()
    page.keyboard.press("ArrowRight")  # with the source open the next source opens
    expect(page.locator("#source h2")).to_contain_text("4 Harbour")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#source h2")).to_contain_text("2 Lantern")


def test_retry_and_edit_replace_the_last_turn(page: Page, assistant: FakeAssistant) -> None:
    ask(page, OTHER)
    ask(page, FAST)
    asked = len(assistant.asked)
    page.click("[data-retry]")
    assert until(lambda: len(assistant.asked) == asked + 1)
    page.wait_for_selector(".turn.done >> nth=1 >> [data-edit]")
    assert assistant.asked[-1][0] == FAST and [t.question for t in assistant.asked[-1][1]] == [OTHER]
    page.click("[data-edit]")
    expect(page.locator("#question textarea")).to_have_value(FAST)
    expect(page.locator("#chips")).to_contain_text("Replaces your last question")
    page.fill("#question textarea", REFUSED)
    page.keyboard.press("Enter")
    expect(page.locator(".asked").last).to_have_text(REFUSED)
    page.wait_for_selector(".turn.done .refusal")
    expect(page.locator(".turn")).to_have_count(2)
    assert [t.question for t in assistant.asked[-1][1]] == [OTHER]
    expect(page.locator("#chips .filter")).to_have_count(0)


def test_copies_are_on_the_clipboard(browser, address: str) -> None:
    page = new_page(browser, address, permissions=["clipboard-read", "clipboard-write"])
    ask(page, FAST)
    for label, part in (
        ("Copy", "[1] Ada Quill"),
        ("Markdown", "\\[1\\]."),
        ("LaTeX", "~\\cite{lantern2024}"),
    ):
        page.locator(".turn .act", has_text=label).first.click()
        page.wait_for_selector(".act.copied")
        assert part in page.evaluate("navigator.clipboard.readText()")
    page.context.close()


def test_a_reload_keeps_the_conversation_and_its_citations(page: Page, assistant: FakeAssistant) -> None:
    """C7: after a reload every number opens what it opened before."""
    ask(page, FAST)
    ask(page, OTHER)
    assert until(lambda: "c=" in page.url)
    page.reload()
    expect(page.locator(".turn.done")).to_have_count(2)
    page.click(".turn >> nth=0 >> .pincite[data-n='2']")
    expect(page.locator("#source mark.lit")).to_have_text(EVIDENCE[1].sentence.text)
    ask(page, REFUSED)
    assert [turn.question for turn in assistant.asked[-1][1]] == [FAST, OTHER]
    page.click("#new")
    page.wait_for_selector(".welcome")
    assert until(lambda: "c=" not in page.url)


def test_filters_are_chips_that_come_off(page: Page, assistant: FakeAssistant) -> None:
    page.click("#filters > button")
    page.click("#venues input")
    expect(page.locator("#filters .form")).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    page.get_by_role("option", name="ICML").click()
    expect(page.locator("#chips .filter")).to_have_text(["ICML ✕"])
    ask(page, REFUSED)
    assert assistant.filters[-1] == Filters(venues=("ICML",))
    expect(page.locator(".turn .searched")).to_contain_text("Only in: ICML")
    page.click("[data-wide]")
    assert until(lambda: assistant.filters[-1] == Filters())
    expect(page.locator("[data-wide]")).to_have_count(0)
    page.wait_for_selector(".turn.done .actions")
    expect(page.locator("#chips .filter")).to_have_count(0)
    ask(page, FAST)
    page.click(".pincite >> nth=0")
    page.click("#source [data-only]")
    expect(page.locator("#chips .filter")).to_contain_text(["Lantern"])
    ask(page, OTHER)
    assert assistant.filters[-1] == Filters(papers=("lantern2024",))
    page.click("#chips .filter")
    expect(page.locator("#chips .filter")).to_have_count(0)


def test_more_like_this_opens_near_papers(page: Page) -> None:
    ask(page, FAST)
    page.click(".pincite >> nth=0")
    page.click("#source [data-alike]")
    expect(page.locator("#source .near")).to_have_count(2)
    page.click("#source .near >> nth=0")
    expect(page.locator("#source h2")).to_contain_text("Harbour")


def test_feedback_is_kept_beside_the_collection(page: Page, assistant: FakeAssistant) -> None:
    ask(page, FAST)
    page.click("[data-verdict=good]")
    expect(page.locator(".noted")).to_have_text("Noted: a good answer")
    ask(page, OTHER)
    page.click(".turn >> nth=1 >> summary.act")
    page.fill(".comment", "38 is wrong")
    page.click(".turn >> nth=1 >> [data-verdict=wrong_citation]")
    expect(page.locator(".noted")).to_have_count(2)
    file = assistant.settings.collection_dir / "feedback.jsonl"
    good, bad = map(json.loads, file.read_text("utf-8").splitlines())
    assert (good["verdict"], good["row"]["question"], good["history"]) == ("good", FAST, [])
    assert (bad["verdict"], bad["comment"]) == ("wrong_citation", "38 is wrong")
    assert [turn["question"] for turn in bad["history"]] == [FAST]


# --------------------------------------------------------------------------------------- streaming


def test_two_hundred_updates_leave_scroll_focus_and_selection_alone(browser, address: str) -> None:
    page = new_page(browser, address, height=500)
    ask(page, FAST)
    ask(page, ENDLESS, "running")
    page.wait_for_selector(".turn.running .pincite")
    page.evaluate(
        """() => {
            window.updates = 0;
            const said = document.querySelector('.turn.running .said');
            new MutationObserver(() => updates++).observe(said, {subtree: true, characterData: true});
            window.chip = document.querySelector('.turn.running .pincite');
            chip.focus({preventScroll: true});
            const text = document.querySelector('.turn.running .sentence').firstChild;
            getSelection().setBaseAndExtent(text, 2, text, 9);
            document.querySelector('#evidence summary').click();
            scrollTo(0, 40);
        }"""
    )
    page.wait_for_function("updates >= 200", timeout=60_000)
    assert page.evaluate("scrollY") == 40
    assert page.evaluate("document.activeElement === chip && chip.isConnected")
    assert page.evaluate("getSelection().toString()") == SENTENCES[0].text[2:9]
    assert page.evaluate("document.querySelector('#evidence details').open") is False
    page.click("#stop")
    page.wait_for_selector(".turn.stopped")
    assert page.evaluate("document.querySelector('#evidence details').open") is False
    page.context.close()


def test_typing_goes_on_while_an_answer_streams(page: Page) -> None:
    ask(page, LONG, "running")
    page.keyboard.type("my next question", delay=20)
    page.wait_for_selector(".turn.done", timeout=30_000)
    assert page.locator("#question textarea").input_value() == "my next question"


@pytest.mark.parametrize("how", ["button", "key"])
def test_stop_stops_the_model(page: Page, assistant: FakeAssistant, how: str) -> None:
    """C51: counted at the model, not read off the page."""
    before = assistant.steps
    ask(page, ENDLESS, "running")
    page.wait_for_selector(".draft")
    expect(page.locator("#send")).to_be_hidden()
    if how == "button":
        page.click("#stop")
    else:
        page.keyboard.press("Escape")
    page.wait_for_selector(".turn.stopped")
    assert until(lambda: assistant.streams == 0, seconds=1)
    steps = assistant.steps
    page.wait_for_timeout(300)
    assert assistant.steps == steps < before + 200
    expect(page.locator(".turn.stopped")).to_contain_text("stopped; the grey text was not checked")
    expect(page.locator(".turn.stopped .pincite")).to_have_count(1)
    ask(page, FAST)
    assert assistant.asked[-1][1][0].answer == f"{SENTENCES[0].text} [1]"


def test_a_closed_tab_frees_the_model(browser, address: str, assistant: FakeAssistant) -> None:
    page = new_page(browser, address)
    before = assistant.steps
    ask(page, ENDLESS, "running")
    page.wait_for_selector(".draft")
    page.close()
    assert until(lambda: assistant.streams == 0, seconds=3)
    assert assistant.steps < before + 200


def test_tabs_share_the_model_and_nothing_else(browser, address: str) -> None:
    """C43, C53: both stream at once; the second waits for the model, says so, and gets its own answer."""
    first = new_page(browser, address)
    second = first.context.new_page()
    second.goto(address)
    second.wait_for_selector(".welcome")
    ask(first, LONG, "running")
    ask(second, OTHER, "running")
    expect(second.locator(".status")).to_contain_text("waiting, 1 ahead")
    first.bring_to_front()
    first.wait_for_selector(".turn.done", timeout=30_000)
    second.bring_to_front()
    second.wait_for_selector(".turn.done")
    assert "Fewer messages." in second.locator("#answer").inner_text()
    assert "Fewer messages." not in first.locator("#answer").inner_text()
    second.click(".pincite[data-n='2']")
    expect(second.locator("#source mark.lit")).to_contain_text("38% fewer messages")
    assert first.locator("#source .panel").count() == 0
    first.context.close()


# ------------------------------------------------------------------------------------------ safety


def test_nothing_leaves_the_machine(browser, address: str) -> None:
    """C60: every request of a whole visit goes to this machine, and no error is logged."""
    page = browser.new_context().new_page()
    requests: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(address)
    page.wait_for_selector(".welcome")
    ask(page, FAST)
    page.click(".pincite >> nth=0")
    page.wait_for_selector("#source mark.lit")
    hosts = {urlsplit(url).hostname for url in requests if not url.startswith(("data:", "blob:"))}
    assert hosts == {"127.0.0.1"} and len(requests) > 10
    assert errors == []
    page.context.close()


def test_payloads_do_nothing(browser, serving: Callable[[FakeAssistant], str]) -> None:
    """C55: in title, authors, venue, abstract, question, answer, draft, dropped, note, error, evidence."""
    scripts = {payload: hostile_script(payload) for payload in PAYLOADS}
    page = new_page(browser, serving(FakeAssistant(scripts)))
    requests: list[str] = []
    dialogs: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    for number, payload in enumerate(PAYLOADS):
        ask(page, payload)
        page.click(f".pincite[data-turn='{number}'][data-n='1']")
        page.wait_for_selector("#source mark.lit")
        page.locator("#source .abstract").hover()
        assert page.evaluate("window.pwned") is None, payload
    page.click("#new")
    page.wait_for_selector(".welcome")
    assert page.evaluate("window.pwned") is None and dialogs == []
    expect(page.locator("#send")).to_be_visible()
    assert {urlsplit(url).netloc for url in requests} == {urlsplit(page.url).netloc}
    page.context.close()


def hostile_script(text: str) -> list[object]:
    paper, sentences = made(
        text, text, text, text, authors=(text,), venue=text, venue_as_found=text, note=text
    )
    evidence = numbered(((replace(paper, url=text), sentences), 0), ((paper, sentences), 1), (MAGPIE, 0))
    sentence = AnswerSentence(text, "weak", (cite(evidence[0]),))
    near = (Hit(paper, 1.0, Why(terms=(text,))),)
    answer = Answer(
        text, text + "!", "answered", text, (sentence,), (Dropped(text, text),), evidence, near, note=text
    )
    return [Found(text + "!", evidence, near), Draft(text), Settled(sentence), Done(answer)]


# ------------------------------------------------------------------------------------------- looks

CONTRAST = """() => {
    const parse = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => {
        const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        const [x, y, z] = [r, g, b].map((v) => linear(v / 255));
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const ground = (element) => {
        for (let e = element; e; e = e.parentElement) {
            const colour = parse(getComputedStyle(e).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) return colour;
        }
        return [255, 255, 255];
    };
    const bad = [];
    for (const element of document.querySelectorAll('#page *')) {
        if (![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
        if (!element.checkVisibility()) continue;
        const colours = [parse(getComputedStyle(element).color), ground(element)];
        const [a, b] = colours.map(light).sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.5) bad.push(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
    }
    return bad;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 1400])
def test_readable_narrow_and_wide_light_and_dark(browser, address: str, scheme: str, width: int) -> None:
    page = new_page(browser, address, width=width, color_scheme=scheme)
    assert page.evaluate(CONTRAST) == []
    ask(page, REFUSED)
    ask(page, FAST)
    page.click(".turn >> nth=-1 >> .pincite[data-n='2']")
    expect(page.locator("#source mark.lit")).to_be_in_viewport()
    expect(page.locator("#source .close")).to_be_in_viewport()
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    background = page.evaluate(
        "getComputedStyle(document.querySelector('.gradio-container')).backgroundColor"
    )
    assert background == {"light": "rgb(252, 252, 250)", "dark": "rgb(21, 24, 27)"}[scheme]
    page.context.close()


def test_long_words_and_formulas_do_not_widen_a_narrow_page(
    browser, serving: Callable[[FakeAssistant], str]
) -> None:
    wide = "supercalifragilistic" * 12 + " $" + "x_{i} + " * 60 + "y$"
    source = made("wide", wide, wide, "Short.")
    evidence = numbered((source, 0))
    answer = Answer(wide, wide, "answered", wide, (AnswerSentence(wide, "supported", (cite(evidence[0]),)),))
    script = script_of(replace(answer, evidence=evidence))
    page = new_page(browser, serving(FakeAssistant({wide: script})), width=380)
    ask(page, wide)
    page.click(".pincite")
    page.wait_for_selector("#source mark.lit")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.context.close()


def test_the_lit_sentence_of_a_long_abstract_is_scrolled_to(
    browser, serving: Callable[[FakeAssistant], str]
) -> None:
    source = made(
        "tall", "Tall", *(f"Sentence {n} says the same as all others do, at length." for n in range(80))
    )
    evidence = numbered((LANTERN, 1), (source, 70))
    sentence = AnswerSentence("Seventy.", "supported", (cite(evidence[1]),))
    answer = Answer("tall", "tall", "answered", "x", (sentence,), evidence=evidence)
    address = serving(FakeAssistant({"tall": script_of(answer)}))
    for width in (380, 1400):
        page = new_page(browser, address, width=width, height=700)
        ask(page, "tall")
        page.click(".pincite")
        expect(page.locator("#source mark.lit")).to_be_in_viewport(ratio=1)
        expect(page.locator("#source mark.lit")).to_have_text(source[1][70].text)
        page.context.close()
