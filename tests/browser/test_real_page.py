"""The whole product: `pincite` as a process with the small real model, and headless Chromium as its reader."""

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from process import BIB, EMBEDDER, SMALL, Served, ask_endpoint, home_with, pincite, served

pytestmark = [pytest.mark.browser, pytest.mark.model]
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
Page = sync_api.Page
expect = sync_api.expect

# The small model may refuse one of them; what is tested is what the page does with an answer.
QUESTIONS = (
    "What speed-up does SRigL reach on a GPU at batch size 256?",
    "By how much does STELLA improve zero-shot retrieval?",
    "What does SRigL achieve with neuron ablation?",
)
FORMULA = re.compile(r"\$[^$]*\$|\\\(.*?\\\)|\\\[.*?\\\]", re.S)
WAIT = 120_000  # milliseconds for an answer on a busy machine
# The small model writes some 200 tokens about this: time enough for a press to arrive.
LONG = (
    "What does SRigL do, how does it work, what is it compared with, "
    "and what speed-ups does it reach on CPU and GPU?"
)


class Site(NamedTuple):
    """A served page, its home, and everything the browser has asked for."""

    page: Served
    home: Any
    open: Callable[[], Page]
    requests: list[str]
    errors: list[str]


@pytest.fixture(scope="module")
def site(browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = home_with(tmp_path_factory.mktemp("real") / "home", EMBEDDER, SMALL)
    requests: list[str] = []
    errors: list[str] = []
    contexts = []

    def tab() -> Page:
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.set_default_timeout(20_000)
        page.goto(running.url)
        page.wait_for_selector("#answer .welcome .ask")
        return page

    with served(home, "--llm", SMALL, "--offline") as running:
        yield Site(running, home, tab, requests, errors)
        for context in contexts:
            context.close()


@pytest.fixture(scope="module")
def answered(site: Site) -> list[dict[str, Any]]:
    """The rows of the questions that the small model answers, as the `/ask` endpoint gives them."""
    rows = [ask_endpoint(site.page.url, question) for question in QUESTIONS]
    rows = [row for row in rows if row["status"] == "answered" and row["timing"]["first_token_s"]]
    assert len(rows) >= 2, "the small model refuses nearly everything"
    return rows


def ask(page: Page, question: str) -> None:
    """Ask, and wait until the turn is there."""
    before = page.locator(".turn").count()
    page.fill("#question textarea", question)
    page.keyboard.press("Enter")
    page.wait_for_function(f"document.querySelectorAll('.turn').length > {before}")


def wait_for(page: Page, state: str) -> None:
    expect(page.locator(".turn").last).to_contain_class(state, timeout=WAIT)


def papers(site: Site) -> dict[str, dict[str, Any]]:
    rows = map(json.loads, pincite(site.home, "papers", "--json").stdout.splitlines())
    return {row["key"]: row for row in rows}


def test_the_endpoint_gives_the_answer_row(site: Site, answered: list[dict[str, Any]]) -> None:
    abstracts = {key: paper["abstract"] for key, paper in papers(site).items()}
    assert len(abstracts) == 38
    for row in answered:
        cited = [citation for sentence in row["sentences"] for citation in sentence["citations"]]
        assert cited and row["text"] and row["timing"]["total_s"] > 0
        for c in [*cited, *row["evidence"]]:
            assert abstracts[c["paper"]][c["start"] : c["end"]] == c["quote"]
        command = pincite(site.home, "--llm", SMALL, "--offline", "ask", "--json", row["question"])
        assert json.loads(command.stdout) | {"timing": 0} == row | {"timing": 0}


def test_a_question_to_the_lit_sentence(site: Site, answered: list[dict[str, Any]]) -> None:
    row, page = answered[0], site.open()
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
    ask(page, row["question"])
    wait_for(page, "done")
    order = page.evaluate("order")
    assert order[0] == "#evidence .number" and order[-1] == "#answer .pincite"
    assert page.locator("#evidence .number").count() == len(row["evidence"])

    citation = row["sentences"][0]["citations"][0]
    page.click(f"#answer .pincite[data-n='{citation['n']}'] >> nth=0")
    lit = page.locator("#source mark.lit")
    expect(lit).to_have_count(1)
    expect(lit).to_be_in_viewport()
    shown = lit.evaluate(
        "mark => { const c = mark.cloneNode(true); c.querySelectorAll('math').forEach(m => m.remove());"
        " return c.textContent; }"
    )
    assert shown == FORMULA.sub("", citation["quote"])

    paper = papers(site)[citation["paper"]]
    panel = page.locator("#source .panel")
    assert panel.locator("h2").inner_text().endswith(paper["title"])
    for fact in (", ".join(paper["authors"]), paper["note"]):
        expect(panel).to_contain_text(fact)
    expect(panel.locator("a")).to_have_attribute("href", paper["url"])


def test_stop_stops_the_model_in_the_middle(site: Site, answered: list[dict[str, Any]]) -> None:
    page = site.open()
    page.evaluate(
        """() => new MutationObserver((_, observer) => {
            const draft = document.querySelector('.turn.running .draft');
            if (!draft?.textContent.includes(' ')) return;
            observer.disconnect();
            document.querySelector('#stop').click();
        }).observe(document.querySelector('#answer'), {childList: true, subtree: true, characterData: true})"""
    )
    ask(page, LONG)
    wait_for(page, "stopped")
    time.sleep(0.5)
    before, said = site.page.cpu_seconds(), page.locator(".turn .said").inner_text()
    time.sleep(1.5)
    assert site.page.cpu_seconds() - before < 0.3, "the process is still busy"
    assert page.locator(".turn .said").inner_text() == said
    started = time.monotonic()
    ask(page, answered[1]["question"])
    wait_for(page, "done")
    assert time.monotonic() - started < 60
    assert page.locator(".turn.done .pincite").count() > 0


def test_two_tabs_do_not_mix(site: Site, answered: list[dict[str, Any]]) -> None:
    first, second, known = site.open(), site.open(), papers(site)
    ask(first, answered[0]["question"])
    ask(second, answered[1]["question"])
    for page, row in ((first, answered[0]), (second, answered[1])):
        page.bring_to_front()
        wait_for(page, "done")
        expect(page.locator(".turn")).to_have_count(1)
        expect(page.locator(".asked")).to_have_text(row["question"])
        assert page.locator("#answer .sentence").count() == len(row["sentences"])
        chips = [chip.get_attribute("data-n") for chip in page.locator("#answer .pincite").all()]
        assert chips == [str(c["n"]) for sentence in row["sentences"] for c in sentence["citations"]]
        titles = page.locator("#evidence h3").all_inner_texts()
        assert len(titles) == len({e["paper"] for e in row["evidence"]})
        for title, key in zip(titles, dict.fromkeys(e["paper"] for e in row["evidence"]), strict=True):
            assert title.startswith(known[key]["title"].split("$")[0])


def test_new_papers_are_found_without_a_restart(site: Site) -> None:
    """Last but one: the sample leaves when the first papers of the reader's own come."""
    page = site.open()
    (site.home / "ours.bib").write_text(BIB)
    done = pincite(site.home, "--offline", "index", "ours.bib")
    indexed = time.monotonic()
    assert done.returncode == 0, done.stderr
    ask(page, "How many voices does Pipit separate?")
    found = page.locator("#evidence").get_by_text("Pipit separates up to 14 voices with a sparse mask.")
    expect(found).to_be_visible(timeout=5_000)
    assert time.monotonic() - indexed < 5
    expect(page.locator("#top")).to_contain_text("2 papers")
    wait_for(page, "done")


def test_every_request_of_all_these_visits_went_to_this_machine(site: Site) -> None:
    hosts = {urlsplit(url).hostname for url in site.requests if not url.startswith(("data:", "blob:"))}
    assert len(site.requests) > 20 and hosts == {"127.0.0.1"}
    assert site.errors == []
    assert "Traceback" not in "".join(site.page.errors)
