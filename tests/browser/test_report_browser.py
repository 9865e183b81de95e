"""The report in headless Chromium: filters work, nothing runs that should not, nothing is fetched."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from made_run import ANSWERS, FALLS, attacked, made, said

from eval.report.pages import html
from eval.report.reading import read

pytestmark = pytest.mark.browser
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
Page = sync_api.Page
WIDTHS = (380, 1024, 1400)


class Watched:
    """A report opened as a file, with all that the browser complained of or asked for."""

    def __init__(self, browser, file: Path, **options: object) -> None:
        self.context = browser.new_context(**options)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())

    @property
    def shown(self) -> list[str]:
        return self.page.locator(".question:visible .asks").all_text_contents()

    def left_the_page(self) -> list[str]:
        return [url for url in self.asked if not url.startswith(("file:", "data:"))]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    one = made(folder / "one", without_gold=True)
    two = made(folder / "two", answers=ANSWERS | {FALLS: said(FALLS, "It loses 0.2 points.", 3)})
    wanted = {"two": [one, two], "attacked": [attacked(folder / "<img src=x onerror=window.pwned=1>")]}
    for name, folders in wanted.items():
        (folder / f"{name}.html").write_text(html(read(folders, {})), "utf-8")
    return {name: folder / f"{name}.html" for name in wanted}


@pytest.fixture
def two(browser, files: dict[str, Path]) -> Iterator[Watched]:
    one = Watched(browser, files["two"])
    yield one
    one.context.close()
    assert one.said == [] and one.left_the_page() == []


def test_filters_by_kind_verdict_and_text(two: Watched) -> None:
    page = two.page
    assert page.locator("#shown").inner_text() == "10 of 10 questions"
    page.select_option("#kind", "numeric")
    assert two.shown == ["How much faster is Kiln?", "How much accuracy does it lose?"]
    page.select_option("#verdict", "verdicts differ")
    assert two.shown == ["How much accuracy does it lose?"]
    page.select_option("#kind", "")
    page.select_option("#verdict", "refused rightly")
    assert page.locator("#shown").inner_text() == "3 of 10 questions"
    page.select_option("#verdict", "")
    page.fill("#text", "FLIES  laptop")  # both words, anywhere in question, gold or answer
    assert two.shown == ["And on a laptop?", "And on a laptop?"]
    page.keyboard.press("Enter")
    assert page.locator("#shown").inner_text() == "2 of 10 questions"


def test_the_keyboard_is_enough(two: Watched) -> None:
    page = two.page
    page.focus("#close")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.question').dataset.kind") == "numeric"
    page.keyboard.press("Enter")
    assert page.locator(".question[open]").count() == 1
    page.focus("#open")
    page.keyboard.press("Space")
    assert page.locator(".question[open]").count() == 10
    page.click("#close")
    assert page.locator(".question[open]").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_and_can_be_read_at_every_width(browser, files: dict[str, Path], theme: str) -> None:
    one = Watched(browser, files["two"], color_scheme=theme)
    one.page.click("#open")
    for width in WIDTHS:
        one.page.set_viewport_size({"width": width, "height": 900})
        assert one.page.evaluate("document.documentElement.scrollWidth") == width
    assert one.page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 100)")
    assert one.page.evaluate(FAINT) == []
    assert one.said == []
    one.context.close()


FAINT = """() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (c) => c.slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const faint = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !e.checkVisibility() || e.closest("script")) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.add(`${e.tagName}.${e.className}`);
  }
  return [...faint];
}"""


def test_without_script_it_is_a_plain_list(browser, files: dict[str, Path]) -> None:
    one = Watched(browser, files["two"], java_script_enabled=False)
    assert len(one.shown) == 10
    assert not one.page.locator("#filters").is_visible()
    one.page.locator(".question > summary").first.click()
    assert one.page.get_by_text("Kiln is 3.4 times faster.").first.is_visible()
    one.context.close()


def test_texts_that_attack_do_nothing(browser, files: dict[str, Path]) -> None:
    one = Watched(browser, files["attacked"])
    one.page.click("#open")
    one.page.hover(".question >> nth=3")
    one.page.select_option("#kind", index=3)
    one.page.wait_for_timeout(200)
    assert one.page.evaluate("window.pwned") is None
    assert one.page.url == files["attacked"].as_uri()
    assert one.said == [] and one.left_the_page() == []
    one.context.close()
