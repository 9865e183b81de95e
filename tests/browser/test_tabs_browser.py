"""Library, History, Evaluation and Settings, and what holds on every tab, in headless Chromium."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fake_assistant import ANSWER, EVIDENCE, LANTERN, REFUSAL, FakeAssistant, script_of
from payloads import PAYLOADS
from windows import store_windows

from rag.history import History, Said
from rag.nouns import Answer, AnswerSentence, Draft, Found, Paper

pytestmark = pytest.mark.browser
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
Page = sync_api.Page
expect = sync_api.expect

QUESTIONS = [f"question {n}" for n in range(10)]
SCRIPTS = {q: script_of(replace(ANSWER, question=q, searched_for=q)) for q in QUESTIONS}
SCRIPTS["refused"] = script_of(replace(REFUSAL, question="refused"))
SCRIPTS["slow"] = [Found("slow", EVIDENCE, ()), *(Draft(f"word {n}") for n in range(3_000))]
BIB = (
    "@article{wren25, title={Wren: Counting Birds}, year={2025}, journal={ICML}, abstract={Wrens sing in the reeds "
    "at dawn. We count the wrens of one marsh by their songs alone, over the days of one year.}}\n"
)
TABS = ("Chat", "Library", "Map", "History", "Evaluation", "Settings")  # the map is a tab of the library's
# Where the n-th point of a group is on the screen.
WHERE = """([group, n]) => {
    const path = document.querySelector(`#map path.${group}`);
    const [x, y] = path.getAttribute("d").slice(1).split("M")[n].replace("h0", "").split(" ").map(Number);
    const at = new DOMPoint(x, y).matrixTransform(path.getScreenCTM());
    return [at.x, at.y];
}"""


class Site:
    """A served page over an assistant whose files lie in `home`."""

    def __init__(self, browser, home: Path, papers: list[Paper] | None = None) -> None:
        from ui.web.page import build, launch

        self.browser = browser
        self.assistant = FakeAssistant(SCRIPTS, delay=0.005, home=home)
        if papers:
            self.assistant.papers = {paper.key: (paper, ()) for paper in papers}
        self.blocks = build(self.assistant)
        self.url = launch(self.blocks, 0)
        self.requests: list[str] = []
        self.errors: list[str] = []

    def open(self, path: str = "", width: int = 1400, **options: object) -> Page:
        page = self.browser.new_context(viewport={"width": width, "height": 900}, **options).new_page()
        page.set_default_timeout(60_000)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        page.goto(self.url + path)
        page.wait_for_selector("#answer :is(.welcome, .turn)")
        return page

    def close(self) -> None:
        self.blocks.close(verbose=False)


@pytest.fixture(scope="module")
def site(browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    from ui.web import adding

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adding, "bring_up_to_date", lambda *_: 0)
        site = Site(browser, tmp_path_factory.mktemp("home"))
        sets = site.assistant.settings.home / "sets"
        sets.mkdir()
        rows = [
            {"id": q, "kind": "numeric", "question": q, "answerable": True, "facts": [["2.7"]]}
            for q in QUESTIONS
        ]
        (sets / "ten.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        yield site
        site.close()


@pytest.fixture
def page(site: Site) -> Iterator[Page]:
    page = site.open()
    yield page
    page.context.close()


def go(page: Page, tab: str) -> None:
    if tab == "Map":
        go(page, "Library")
    page.get_by_role("tab", name=tab, exact=True).click()


def draw(page: Page) -> None:
    go(page, "Map")
    page.wait_for_selector("#map path.c0", state="attached")
    page.locator("#map svg").scroll_into_view_if_needed()


def ask(page: Page, question: str, state: str = "done") -> None:
    before = page.locator(".turn").count()
    page.fill("#question textarea", question)
    page.keyboard.press("Enter")
    page.wait_for_function(f"document.querySelectorAll('.turn').length > {before}")
    expect(page.locator(".turn").last).to_contain_class(state, timeout=30_000)
    page.wait_for_timeout(100)


def test_papers_are_found_opened_added_and_removed(page: Page, tmp_path: Path) -> None:
    go(page, "Library")
    expect(page.locator("#papers .title")).to_have_count(3)
    page.get_by_label("Search papers").fill("federated")
    expect(page.locator("#papers .title")).to_have_text(["Harbour: Federated Averaging with Late Clients"])
    page.get_by_label("Search papers").fill("")
    expect(page.locator("#papers .title")).to_have_count(3)
    file = tmp_path / "birds.bib"
    file.write_text(BIB)
    page.get_by_role("button", name="Add files").click()
    page.locator("#adding input[type=file]").set_input_files(file)
    expect(page.locator("#report")).to_contain_text("birds.bib: 1 new paper")
    expect(page.locator("#papers .title").first).to_have_text("Wren: Counting Birds")
    expect(page.locator("#top")).to_contain_text("4 papers")
    page.click("#papers .title >> nth=0")
    expect(page.locator("#paper .abstract")).to_contain_text("Wrens sing in the reeds at dawn.")
    page.get_by_role("button", name="Remove this paper").click()
    page.get_by_role("button", name="Yes, remove it").click()
    expect(page.locator("#papers .title")).to_have_count(3)
    expect(page.locator("#top")).to_contain_text("3 papers")


def test_a_paper_of_the_library_is_asked_alone(page: Page, site: Site) -> None:
    go(page, "Library")
    page.locator("#papers .title", has_text="Lantern").click()
    page.click("#paper [data-only]")
    expect(page.locator("#chips .filter")).to_contain_text(["Lantern"])
    expect(page.locator("#question textarea")).to_be_focused()
    ask(page, QUESTIONS[0])
    assert site.assistant.filters[-1].papers == ("lantern2024",)


def test_conversations_are_found_renamed_exported_reopened_and_deleted(page: Page, site: Site) -> None:
    ask(page, QUESTIONS[3])
    go(page, "History")
    page.get_by_label("Search conversations").fill("question 3 lantern")
    page.locator("#conversations .near").first.click()
    page.get_by_label("Title").fill("About $x^2$ & lanterns")
    page.get_by_role("button", name="Rename", exact=True).click()
    expect(page.locator("#conversation h2 math")).to_have_count(1)
    for name, part in (
        ("Markdown", "# About $x^2$"),
        ("HTML", "<math"),
        ("JSON", '"sentences"'),
        ("BibTeX", "@"),
    ):
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        assert part in Path(download.value.path()).read_text("utf-8")
    go(page, "Chat")
    page.click("#new")
    page.wait_for_selector(".welcome")
    go(page, "History")
    page.get_by_role("button", name="Open", exact=True).click()
    expect(page.locator(".turn .asked")).to_have_text(QUESTIONS[3])
    page.click(".pincite[data-n='2']")
    expect(page.locator("#source mark.lit")).to_have_text(EVIDENCE[1].sentence.text)
    go(page, "History")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("#conversation")).to_be_hidden()


def test_a_permalink_survives_a_restart_and_a_changed_paper(site: Site, browser) -> None:
    page = site.open()
    ask(page, QUESTIONS[4])
    page.wait_for_function("location.search.includes('c=')")
    link = page.url.removeprefix(site.url)
    page.context.close()
    again = Site(browser, site.assistant.settings.home)
    changed = replace(LANTERN[0], abstract="Everything is new here.")
    again.assistant.papers["lantern2024"] = (changed, ())
    page = again.open(link)
    page.click(".pincite[data-n='2']")
    expect(page.locator("#source mark.lit")).to_have_text(EVIDENCE[1].sentence.text)
    page.context.close()
    again.close()


def test_an_evaluation_runs_stops_and_compares(page: Page, site: Site) -> None:
    go(page, "Evaluation")
    expect(page.locator("#evaluation")).to_contain_text("The model that answers: qwen2.5-coder-1.5b.")
    page.get_by_label("Question set").click()
    page.get_by_role("option", name="ten").click()
    page.get_by_label("Questions at most").fill("3")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#figures h2")).to_contain_text("ten-", timeout=30_000)
    expect(page.locator("#figures")).to_contain_text("right answers")
    for label in ("Run (A)", "Compare with (B)"):
        page.get_by_label(label).click()
        page.locator("[role=option]:visible", has_text="ten-").last.click()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("#figures")).to_contain_text("3 questions in both runs")
    with page.expect_download() as download:
        page.get_by_role("button", name="Report", exact=True).click()
    assert QUESTIONS[0] in Path(download.value.path()).read_text("utf-8")


def test_settings_tell_what_runs_here(page: Page) -> None:
    go(page, "Settings")
    expect(page.locator("#settings")).to_contain_text("qwen2.5-coder-1.5b")
    expect(page.locator("#settings")).to_contain_text("Nothing leaves this machine")


def test_a_slow_model_freezes_no_tab(page: Page) -> None:
    ask(page, "slow", "running")
    go(page, "Library")
    expect(page.locator("#papers .title")).to_have_count(3, timeout=20_000)
    go(page, "Chat")
    expect(page.locator(".turn.running")).to_have_count(1)
    page.click("#stop")
    page.wait_for_selector(".turn.stopped")


def test_ten_tabs_never_mix(site: Site) -> None:
    """C53: questions, filters and conversations of ten tabs at once."""
    first = site.open()
    pages = [first, *(first.context.new_page() for _ in QUESTIONS[1:])]
    for page in pages[1:]:
        page.goto(site.url)
        page.wait_for_selector(".welcome")
    for page, question in zip(pages, QUESTIONS, strict=True):
        page.fill("#question textarea", question)
        page.keyboard.press("Enter")
    ids = set()
    for page, question in zip(pages, QUESTIONS, strict=True):
        page.bring_to_front()
        page.wait_for_selector(".turn.done", timeout=60_000)
        expect(page.locator(".asked")).to_have_text([question])
        page.wait_for_function("location.search.includes('c=')")
        ids.add(page.url)
    assert len(ids) == 10
    first.context.close()


def test_no_tab_hangs_while_many_wait_for_a_slow_model(site: Site) -> None:
    """A browser opens six connections to one server: questions that wait leave room for presses and new tabs."""
    first = site.open()
    pages = [first, *(first.context.new_page() for _ in range(7))]
    for page in pages[1:]:
        page.goto(site.url)
        page.wait_for_selector(".welcome")
    for number, page in enumerate(pages):
        page.bring_to_front()
        ask(page, "slow" if number < 4 else QUESTIONS[number], "running")
    late = first.context.new_page()
    late.goto(site.url)
    late.wait_for_selector(".welcome")
    for page in pages[4:]:
        expect(page.locator(".turn .status")).to_have_text("waiting, 4 or more ahead")
    pages[4].bring_to_front()
    pages[4].fill("#question textarea", "being typed")
    pages[4].wait_for_timeout(3_000)  # it is asked again meanwhile
    expect(pages[4].locator("#question textarea")).to_have_value("being typed")
    pages[4].click("#stop")
    pages[4].wait_for_selector(".turn.stopped")
    for page in pages[:4]:
        page.bring_to_front()
        page.click("#stop")
        page.wait_for_selector(".turn.stopped")
    for page, question in zip(pages[5:], QUESTIONS[5:8], strict=True):
        page.bring_to_front()
        page.wait_for_selector(".turn.done")
        expect(page.locator(".asked")).to_have_text([question])
    expect(pages[4].locator(".turn.stopped")).to_have_count(1)
    first.context.close()


@pytest.fixture(scope="module")
def atlas(browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A page over nine papers that have vectors."""
    papers = [
        replace(LANTERN[0], key=f"p{n}", label=f"Lantern {n}", title=f"Lantern {n}",
                abstract=f"Lantern number {n} is what this abstract tells of. It tells of no other lantern.",
                venue=("ICML", "ICLR", "")[n % 3])
        for n in range(9)
    ]  # fmt: skip
    site = Site(browser, tmp_path_factory.mktemp("atlas"), papers)
    store_windows(site.assistant.library, 32)
    yield site
    site.close()


def test_a_point_of_the_map_says_its_title_and_opens_its_paper(atlas: Site) -> None:
    page = atlas.open()
    draw(page)
    expect(page.locator("#groups .by-topic details")).to_have_count(2)
    x, y = page.evaluate(WHERE, ["c0", 1])
    page.mouse.move(x, y)
    expect(page.locator("#map .tip")).to_contain_text("Lantern ")
    title = page.locator("#map .tip").inner_text().split("\n")[0]
    page.mouse.click(x + 3, y)  # near is enough
    expect(page.locator("#paper h2")).to_have_text(title)
    page.click("#map [data-zoom='2']")
    assert page.evaluate(WHERE, ["c0", 1]) != [x, y]
    page.click("#map [data-zoom='0.001']")
    assert page.evaluate(WHERE, ["c0", 1]) == [x, y]
    page.context.close()


def test_the_map_is_coloured_by_venue_and_its_lists_take_the_keyboard(atlas: Site) -> None:
    page = atlas.open()
    draw(page)
    page.get_by_role("button", name="Venue", exact=True).click()
    expect(page.locator("#map path[class^=c]")).to_have_count(4)  # ICLR, ICML, other, and the point chosen
    expect(page.locator("#groups .by-topic")).to_be_hidden()
    groups = page.locator("#groups .by-venue summary")
    assert {text.split()[0] for text in groups.all_inner_texts()} == {"ICLR", "ICML", "other"}
    groups.nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.locator("#map path.lit")).to_have_count(1)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    title = page.locator("#groups .by-venue details[open] .title").first.inner_text()
    expect(page.locator("#paper h2")).to_have_text(title)
    page.context.close()


def test_a_map_of_too_few_papers_says_so(page: Page) -> None:
    go(page, "Map")
    expect(page.locator("#library")).to_contain_text("A map needs at least 4 papers with vectors")


@pytest.mark.parametrize("width", [390, 1024, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_of_accessibility_on_any_tab(atlas: Site, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    page = atlas.open(color_scheme=scheme, width=width)
    ask(page, QUESTIONS[5])
    page.click(".pincite >> nth=0")
    page.wait_for_selector("#source mark.lit")
    found = [(tab, fault) for tab in TABS for fault in faults(axe, page, tab)]
    assert found == []
    page.context.close()


def faults(axe, page: Page, tab: str) -> list[object]:
    """What axe calls serious or critical, and whether the page must be scrolled sideways."""
    if tab != "Chat":
        page.evaluate("document.querySelector('#source .close')?.click()")  # on a phone it covers the tabs
    if tab == "Map":
        draw(page)
        page.locator("#groups .by-topic summary").first.click()
    else:
        go(page, tab)
    if tab == "Library":
        page.click("#papers .title >> nth=0")
        page.wait_for_selector("#paper .panel")
    page.wait_for_timeout(500)
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return [
        (v["id"], [node["html"][:150] for node in v["nodes"]][:3])
        for v in axe.run(page).response["violations"]
        if v["impact"] in ("serious", "critical")
    ] + (["scrolls sideways"] if wide else [])


def test_payloads_do_nothing_in_lists_tables_and_plots(browser, tmp_path: Path) -> None:
    """C55: everything that comes from papers, files, users and models, on every tab."""
    site = Site(browser, tmp_path, [hostile(n, payload) for n, payload in enumerate(PAYLOADS)])
    history = History(site.assistant.settings.collection_dir / "history.sqlite")
    for n, payload in enumerate(PAYLOADS):
        answer = Answer(payload, payload, "answered", payload, (AnswerSentence(payload, "weak"),))
        history.add(f"c{n}", Said(answer))
    store_windows(site.assistant.library, 32)
    page = site.open()
    for tab, row in (("Library", "#papers .title"), ("History", "#conversations .near")):
        go(page, tab)
        expect(page.locator(row)).to_have_count(len(PAYLOADS))
        for n in range(len(PAYLOADS)):
            page.locator(row).nth(n).click()
            page.wait_for_timeout(50)
        assert page.evaluate("window.pwned") is None
    page.get_by_label("Title").fill(PAYLOADS[1])
    page.get_by_role("button", name="Rename", exact=True).click()
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_selector(".turn.done")
    go(page, "Library")
    page.get_by_role("button", name="Papers by year and venue").click()
    page.get_by_label("Venue").click()
    page.wait_for_timeout(800)
    meet_every_point(page, [f"{payload} {n}" for n, payload in enumerate(PAYLOADS)])
    assert page.evaluate("window.pwned") is None
    assert {urlsplit(url).netloc for url in site.requests if not url.startswith(("data:", "blob:"))} == {
        urlsplit(site.url).netloc
    }
    page.context.close()
    site.close()


def meet_every_point(page: Page, titles: list[str]) -> None:
    """The map shows each title, as text, where the pointer meets its point or the reader opens its list."""
    draw(page)
    for summary in page.locator("#groups .by-topic summary").all():
        summary.click()
    page.locator("#map svg").scroll_into_view_if_needed()
    said = set()
    for group in range(page.locator("#groups .by-topic details").count()):
        for n in range(page.locator(f"#groups .by-topic .c{group} .title").count()):
            page.mouse.move(*page.evaluate(WHERE, [f"c{group}", n]))
            said.add(page.locator("#map .tip").inner_text().split("\n")[0])
    shown = page.locator("#groups .by-topic .title").all_inner_texts()
    assert len(shown) == len(titles) and len(said) > len(titles) / 2  # some lie upon each other
    assert page.locator("#map .tip *, #groups .title *").count() == 0, "a title became an element"
    page.get_by_role("button", name="Venue", exact=True).click()


def hostile(n: int, payload: str) -> Paper:
    abstract = f"{payload} is what this abstract says in its sentence number {n}, and little else besides."
    return Paper(
        n,
        f"p{n}",
        payload,
        abstract,
        title=f"{payload} {n}",
        authors=(payload,),
        year=2024,
        venue=payload,
        url=payload,
    )


def test_every_request_went_to_this_machine_and_nothing_failed(site: Site) -> None:
    hosts = {urlsplit(url).hostname for url in site.requests if not url.startswith(("data:", "blob:"))}
    assert hosts == {"127.0.0.1"} and len(site.requests) > 50
    assert site.errors == []
