"""Several collections on the page, and doubtful pairs of papers, in headless Chromium."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from fake_assistant import ANSWER, EVIDENCE, LANTERN, FakeAssistant, fill, made, script_of
from payloads import PAYLOADS
from test_page_browser import CONTRAST
from test_tabs_browser import BIB, ask, go

from rag.duplicates import doubts
from rag.history import FILE, History
from rag.holdings import create, holdings
from rag.library import Library
from rag.nouns import Draft, Found, Record
from rag.settings import Settings

pytestmark = pytest.mark.browser
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
Page = sync_api.Page
expect = sync_api.expect

QUESTION = "What does a wren weigh?"
WREN = made(
    "wren25",
    "Wren: Counting Birds",
    "Wrens sing in the reeds at dawn.",
    "We count the wrens of one marsh by their songs alone.",
    authors=("Iwan Reed",),
    year=2025,
    venue="BIRDS",
)
SCRIPTS = {
    ANSWER.question: script_of(ANSWER),
    "slow": [Found("slow", EVIDENCE, ()), *map(Draft, "abc" * 999)],
}
OTHER_SCRIPTS = {QUESTION: script_of(replace(ANSWER, question=QUESTION, searched_for=QUESTION))}
RADIO = (
    "Marsh sensors fall silent when their batteries freeze. We present Bittern, a radio that wakes by the boom of "
    "a bird. In three winters Bittern lost 2 of 140 messages."
)
DRONE = (
    "Long flights need rest that small drones cannot find. Godwit lets a drone sleep on warm air above roads. "
    "It flew 41 hours over Lapland without landing."
)


class Site:
    """A served page: `default` with three papers, `birds` with one."""

    def __init__(self, browser, home: Path) -> None:
        from ui.web.page import build, launch

        self.browser = browser
        self.first = FakeAssistant(SCRIPTS, delay=0.005, home=home)
        self.assistants = {"default": self.first}
        fill(Library(create(self.first.settings, "birds").collection_dir), [WREN[0]], "birds.bib")
        self.blocks = build(self.first, opener=self._open)
        self.url = launch(self.blocks, 0)
        self.errors: list[str] = []

    def _open(self, settings: Settings) -> FakeAssistant:
        other = self.first.beside(settings)
        other.scripts = OTHER_SCRIPTS
        self.assistants[settings.collection] = other
        return other

    def open(self, path: str = "/", width: int = 1400, **options: object) -> Page:
        page = self.browser.new_context(viewport={"width": width, "height": 900}, **options).new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        page.goto(self.url + path)
        there(page)
        return page


def there(page: Page) -> None:
    """Until what the address asks for is shown."""
    page.wait_for_selector("#answer :is(.welcome, .turn)", state="attached")
    page.wait_for_function("document.querySelector('#where').textContent.includes('collection=')")


@pytest.fixture(scope="module")
def site(browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    from ui.web import adding, pairs

    with pytest.MonkeyPatch.context() as patch:
        for module in (adding, pairs):
            patch.setattr(module, "bring_up_to_date", lambda *_: 0)
        site = Site(browser, tmp_path_factory.mktemp("home"))
        yield site
        site.blocks.close(verbose=False)


def choose(page: Page, name: str) -> None:
    page.click(".collections summary")
    page.click(f".menu a[href^='?collection={name}']")
    expect(page.locator(".collections summary .called")).to_have_text(name)
    there(page)


def test_two_pages_with_different_collections_never_mix(site: Site) -> None:
    one, other = site.open(), site.open()
    expect(one.locator(".collections summary")).to_have_text("default 3 papers")
    choose(other, "birds")
    expect(other.locator(".collections summary")).to_have_text("birds 1 paper")
    expect(one.locator(".welcome .ask").first).to_have_text(ANSWER.question)
    expect(other.locator(".welcome .ask")).to_have_text([QUESTION])
    for page, question in ((one, ANSWER.question), (other, QUESTION)):
        page.fill("#question textarea", question)
        page.keyboard.press("Enter")
    for page, question, title, papers, venues in (
        (other, QUESTION, "Wren: Counting Birds", 1, ["BIRDS"]),
        (one, ANSWER.question, LANTERN[0].title, 3, ["ICLR", "ICML"]),
    ):
        page.bring_to_front()
        page.wait_for_selector(".turn.done")
        expect(page.locator(".asked")).to_have_text([question])
        page.click("#filters > button")
        page.click("#venues input")
        expect(page.get_by_role("option")).to_contain_text(venues)
        go(page, "Library")
        expect(page.locator("#papers .title")).to_have_count(papers)
        page.locator("#papers .title", has_text=title).click()
        expect(page.locator("#paper h2")).to_have_text(title)
        go(page, "History")
        expect(page.locator("#conversations .near")).to_have_count(1)
        expect(page.locator("#conversations")).to_contain_text(question)
        go(page, "Settings")
        expect(page.locator("#settings dd").first).to_contain_text("default" if page is one else "birds")
    assert [q for q, _ in site.first.asked] == [ANSWER.question]
    assert [q for q, _ in site.assistants["birds"].asked] == [QUESTION]
    for page in (one, other):
        page.context.close()


def test_a_switch_stays_on_the_tab_and_back_leads_back(site: Site) -> None:
    page = site.open()
    go(page, "Library")
    expect(page.locator("#papers .title")).to_have_count(3)
    choose(page, "birds")
    expect(page.locator("#papers .title")).to_have_text(["Wren: Counting Birds"])
    assert urlsplit(page.url).query == "collection=birds"
    page.go_back()
    expect(page.locator(".collections summary")).to_have_text("default 3 papers")
    page.context.close()


def test_reload_and_permalink_keep_collection_and_conversation(site: Site) -> None:
    page = site.open("/?collection=birds")
    ask(page, QUESTION)
    page.wait_for_function("location.search.includes('c=')")
    assert parse_qs(urlsplit(page.url).query)["collection"] == ["birds"]
    link = page.url.removeprefix(site.url)
    page.reload()
    expect(page.locator(".turn .asked")).to_have_text(QUESTION)
    page.context.close()
    page = site.open(link)
    expect(page.locator(".collections summary .called")).to_have_text("birds")
    expect(page.locator(".turn .asked")).to_have_text(QUESTION)
    page.click("#new")
    expect(page.locator(".welcome .ask")).to_have_text([QUESTION])
    page.wait_for_function("location.search === '?collection=birds'")
    page.context.close()
    page = site.open(link.replace("collection=birds&", ""))  # the first collection holds no such conversation
    expect(page.locator(".welcome")).to_be_visible()
    page.context.close()
    page = site.open()
    ask(page, ANSWER.question)
    page.wait_for_function("location.search.includes('c=')")
    assert parse_qs(urlsplit(page.url).query)["collection"] == ["default"]
    page.context.close()


def test_a_new_collection_begins_with_its_first_step(site: Site, tmp_path: Path) -> None:
    page = site.open()
    page.click(".collections summary")
    name = page.get_by_label("Name of a new collection")
    for bad, why in (
        ("", "'' cannot be the name of a collection"),
        ("../up", "'../up' cannot be the name of a collection: use 1 to 48 of"),
        (PAYLOADS[1], f"{PAYLOADS[1]!r} cannot be the name of a collection"),
        ("birds", "There is a collection 'birds' already"),
    ):
        name.fill(bad)
        page.keyboard.press("Enter")
        expect(page.locator(".menu .problem")).to_contain_text(why)
        expect(name).to_be_visible()
    assert page.evaluate("window.pwned") is None
    assert list(holdings(site.first.settings)) == ["birds", "default"]
    name.fill("marsh")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.locator(".collections summary")).to_have_text("marsh 0 papers")
    expect(page.locator(".welcome")).to_contain_text("marsh has no papers yet")
    page.get_by_role("button", name="Add files", exact=True).first.click()
    expect(page.locator("#papers")).to_contain_text("No papers yet.")
    file = tmp_path / "birds.bib"
    file.write_text(BIB)
    page.locator("#adding input[type=file]").set_input_files(file)
    expect(page.locator("#report")).to_contain_text("birds.bib: 1 new paper")
    expect(page.locator("#papers .title")).to_have_text(["Wren: Counting Birds"])
    expect(page.locator(".collections summary")).to_have_text("marsh 1 paper")
    assert holdings(site.first.settings) == {"birds": 1, "default": 3, "marsh": 1}
    page.context.close()


def test_a_name_is_taken_while_the_word_on_the_one_before_is_on_its_way(site: Site) -> None:
    page = site.open()
    page.evaluate(
        """() => {
            const fetched = window.fetch;
            window.fetch = async (...asked) => {
                const answer = await fetched(...asked);
                if (String(asked[1]?.body).includes("../up")) await new Promise((on) => setTimeout(on, 2000));
                return answer;
            };
        }"""
    )
    page.click(".collections summary")
    name = page.get_by_label("Name of a new collection")
    for text in ("../up", "birds"):
        name.fill(text)
        page.keyboard.press("Enter")
    expect(page.locator(".menu .problem")).to_contain_text(
        "There is a collection 'birds' already", timeout=10_000
    )
    page.context.close()


LEFT = ("AbortError: signal is aborted", "Unexpected error Connection errored out")


def test_an_addition_is_told_on_after_the_page_was_left(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ui.web import adding

    embedded = threading.Event()

    def embed(settings: Settings, library: Library, progress: adding.Watched) -> int:
        progress.step("embedding", 1, 2)
        assert embedded.wait(60)
        return 1

    monkeypatch.setattr(adding, "bring_up_to_date", embed)
    create(site.first.settings, "reeds")
    page = site.open("/?collection=reeds")
    go(page, "Library")
    file = tmp_path / "birds.bib"
    file.write_text(BIB)
    page.locator("#adding input[type=file]").set_input_files(file)
    expect(page.locator("#report")).to_contain_text("embedding: 1 of 2")
    choose(page, "birds")
    expect(page.locator("#papers .title")).to_have_text(["Wren: Counting Birds"])
    expect(page.locator("#report")).to_have_count(0)  # it is the other collection's
    choose(page, "reeds")
    expect(page.locator("#report")).to_contain_text("embedding: 1 of 2")
    expect(page.locator("#report")).to_contain_text("birds.bib: 1 new paper")
    choose(page, "birds")
    embedded.set()
    choose(page, "reeds")
    expect(page.locator("#report")).to_have_text("birds.bib: 1 new paper")
    expect(page.locator("#report")).to_be_visible()
    expect(page.locator("#papers .title")).to_have_text(["Wren: Counting Birds"])
    page.context.close()
    # Gradio's client complains of the stream that it ends when its page is left.
    site.errors[:] = [error for error in site.errors if not error.startswith(LEFT)]


@pytest.mark.parametrize("name", ["nowhere", "../../etc", PAYLOADS[1], PAYLOADS[0]])
def test_a_collection_that_is_not_there_is_told_and_the_first_one_opened(site: Site, name: str) -> None:
    page = site.open(f"/?collection={quote(name)}")
    expect(page.locator(".collections summary")).to_have_text("default 3 papers")
    expect(page.locator(".toast-body")).to_contain_text("collection")
    page.wait_for_function("location.search === '?collection=default'")
    assert page.evaluate("window.pwned") is None
    ask(page, ANSWER.question)
    page.context.close()


def test_nothing_is_switched_in_the_middle_of_an_answer(site: Site) -> None:
    page = site.open()
    ask(page, "slow", "running")
    assert page.evaluate("getComputedStyle(document.querySelector('.collections')).pointerEvents") == "none"
    page.click("#stop")
    page.wait_for_selector(".turn.stopped")
    choose(page, "birds")
    page.context.close()


# ----------------------------------------------------------------------------- papers that may be one


def records(home: Settings, name: str, *papers: Record) -> Library:
    """A new collection of these papers, each from a file of its own."""
    from rag.importing import Importer

    library = Library(create(home, name).collection_dir)
    for n, record in enumerate(papers):
        importer = Importer(library, Path("/files") / f"{n}.bib")
        importer.add([replace(record, source=f"{n}.bib")])
        importer.finish("")
    return library


def record(abstract: str, title: str, **fields: object) -> Record:
    return Record("x", 1, abstract, abstract, title=title, **fields)  # type: ignore[arg-type]


def doubtful(settings: Settings, name: str) -> Library:
    return records(
        settings,
        name,
        record(
            RADIO, "Bittern: A Sleeping Radio", citekey="a", authors=("Ada Reed",), year=2023, venue="ICML"
        ),
        record(RADIO, "Radios That Sleep", citekey="b", authors=("Ada Reed",), year=2024),
        record(DRONE, "Godwit Rests on Roads", citekey="c", authors=("Cy Kay",)),
        record(DRONE, "Sleeping on Warm Air: $O(n)$ Drones", citekey="d"),
    )


def test_doubtful_pairs_are_decided_and_stay_so(site: Site) -> None:
    library = doubtful(site.first.settings, "twins")
    page = site.open("/?collection=twins")
    go(page, "Library")
    fold = page.locator("#doubts button.label-wrap")
    expect(fold).to_contain_text("2 pairs of papers may be one")
    fold.click()
    pair = page.locator("#pairs .pair").first
    for part in (
        "Same abstract, other titles",
        "Ada Reed",
        "ICML 2023",
        "From 0.bib",
        "Marsh sensors fall silent",
    ):
        expect(pair).to_contain_text(part)
    expect(page.locator("#pairs .side math")).to_have_count(1)
    pair.get_by_role("button", name="One paper").click()
    expect(page.locator("#pairs .done")).to_contain_text("One paper from now on: “Bittern: A Sleeping Radio”")
    expect(page.locator("#pairs .pair")).to_have_count(1)
    expect(fold).to_contain_text("1 pair of papers may be one")
    expect(page.locator("#papers .title")).to_have_count(3)
    expect(page.locator(".collections summary")).to_have_text("twins 3 papers")
    page.locator("#pairs .pair").get_by_role("button", name="Two papers").click()
    expect(page.locator("#pairs .done")).to_contain_text("Two papers from now on: “Godwit Rests on Roads”")
    expect(page.locator("#pairs .pair")).to_have_count(0)
    assert list(doubts(library)) == [] and [p.key for p in library.papers()] == ["a", "c", "d"]
    page.reload()
    there(page)
    go(page, "Library")
    expect(page.locator("#papers .title")).to_have_count(3)
    expect(fold).to_be_hidden()
    page.context.close()


def test_hostile_pairs_do_nothing(site: Site) -> None:
    payloads = [p for p in PAYLOADS if "pwned" in p][:12]
    records(
        site.first.settings,
        "hostile",
        *(
            record(f"{RADIO} {n} {p}", f"{p} {side}", citekey=f"k{n}{side}", authors=(p,), venue=p)
            for n, p in enumerate(payloads)
            for side in "ab"
        ),
    )
    page = site.open("/?collection=hostile")
    go(page, "Library")
    page.locator("#doubts button.label-wrap").click()
    page.wait_for_selector("#pairs .pair")
    page.locator("#pairs .say").first.click()
    page.wait_for_selector("#pairs .done")
    assert page.evaluate("window.pwned") is None
    page.context.close()


# ------------------------------------------------------------------------------------------- looks


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_menu_and_pairs_are_readable_and_accessible(site: Site, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    name = f"looks-{scheme}-{width}-a-rather-long-name-for-it"
    doubtful(site.first.settings, name)
    page = site.open(f"/?collection={name}", width=width, color_scheme=scheme)
    page.click(".collections summary")
    page.get_by_label("Name of a new collection").fill("no good")
    page.keyboard.press("Enter")
    page.wait_for_selector(".menu .problem")
    assert page.evaluate(CONTRAST) == []
    assert faults(axe, page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("Escape")
    expect(page.locator(".menu")).to_be_hidden()
    go(page, "Library")
    page.locator("#doubts button.label-wrap").click()
    page.wait_for_selector("#pairs .pair")
    assert page.evaluate(CONTRAST) == []
    assert faults(axe, page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.context.close()


def faults(axe, page: Page) -> list[tuple[str, list[str]]]:
    page.wait_for_timeout(300)
    return [
        (v["id"], [node["html"][:150] for node in v["nodes"]][:3])
        for v in axe.run(page).response["violations"]
        if v["impact"] in ("serious", "critical")
    ]


def test_history_lies_with_each_collection_and_nothing_failed(site: Site) -> None:
    for name, question in (("default", ANSWER.question), ("birds", QUESTION)):
        history = History(site.first.settings.home / "collections" / name / FILE)
        assert {heading.title for heading in history.headings()} <= {question, "slow"}
    assert site.errors == [], "\n".join(site.errors)
