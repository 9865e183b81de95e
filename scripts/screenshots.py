"""Takes the pictures of docs/screenshots.md anew: every tab, light and dark, at three widths.

Usage: .venv/bin/python scripts/screenshots.py [NAME ...]      (names as in SHOTS; without one: all)
Needs Chromium and the default models. The collection is the sample, in a home that is thrown away.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from rag.history import FILE, History
from rag.indexing import Quiet, bring_up_to_date, import_file
from rag.library import Library
from rag.opening import assistant_of
from rag.sample import sample_files
from rag.settings import Settings
from ui.web import adding, evaluating
from ui.web.asking import kept_views
from ui.web.conversation import Talk
from ui.web.desk import Assistant, Desk
from ui.web.page import build, launch
from ui.web.relay import Running

FOLDER = Path(__file__).parents[1] / "docs" / "images" / "tabs"
SIZES = ((1440, 900), (1024, 768), (390, 844))
COLOURS = 96  # of a picture: no point moves by more than 13 of 255, and the file is a third as large
WAIT = 120_000  # milliseconds
SET, QUESTIONS = "sample", 6  # the run that Evaluation shows
ASKED = (
    "Which papers are about audio?",
    "What is BECoTTA and what is it good for?",
    "What speed-up does SRigL reach on a CPU?",
)


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="pincite-pictures-") as folder:
        settings = Settings(home=Path(folder))
        (settings.home / "models").symlink_to(Settings().models_dir.absolute(), target_is_directory=True)
        assistant = prepared(settings)
        kept = asked(assistant)
        if not names or "evaluation" in names:
            path = evaluating.sets(settings)[SET]
            evaluating.evaluate(assistant, path, QUESTIONS, threading.Event(), adding.Watched())
        page = build(assistant)
        url = f"{launch(page, 0)}/?c={kept}"
        with sync_playwright() as playwright:
            program = shutil.which("chromium")
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            taken(browser, url, names)
            browser.close()
        page.close(verbose=False)


def prepared(settings: Settings) -> Assistant:
    library = Library(settings.collection_dir)
    for file in sample_files():
        import_file(library, file, Quiet())
    bring_up_to_date(settings, library, Quiet())
    return assistant_of(settings)


def asked(assistant: Assistant) -> str:
    """Three conversations; the id of the last one."""
    desk = Desk(assistant, Running(), History(assistant.settings.collection_dir / FILE))
    for question in ASKED:
        list(kept_views(desk, question, (), (), Talk(), threading.Event()))
    return desk.history.headings()[0].id


# --------------------------------------------------------------------------------- what is to be seen


def chat(page: Page) -> None:
    if page.viewport_size["width"] > 900:  # on a phone the source would cover the answer
        page.locator("#answer .pincite").first.click()
        page.wait_for_selector("#source mark.lit")


def source(page: Page) -> None:
    page.locator("#answer .pincite").first.click()
    page.wait_for_selector("#source mark.lit")


def library(page: Page) -> None:
    go(page, "Library")
    page.locator("#papers .title").nth(2).click()
    page.wait_for_selector("#paper .panel")
    page.evaluate("scrollTo(0, 0)")


def topics(page: Page) -> None:
    go(page, "Library")
    go(page, "Map")
    page.wait_for_selector("#map path[d*=M]", state="attached")


def history(page: Page) -> None:
    go(page, "History")
    page.locator("#conversations .near").first.click()
    page.wait_for_selector("#conversation h2")


def evaluation(page: Page) -> None:
    go(page, "Evaluation")
    page.get_by_label("Run (A)").click()
    page.locator("[role=option]:visible").first.click()
    page.get_by_role("button", name="Show figures", exact=True).click()
    page.wait_for_selector("#figures h2")


def settings(page: Page) -> None:
    go(page, "Settings")
    page.wait_for_selector("#settings .facts")
    # Whose machine took the picture is nobody's business.
    page.locator("#settings dd").evaluate_all(
        """(facts) => facts.filter((one) => one.firstChild.textContent.startsWith("/")).forEach((one, n) => {
            one.firstChild.textContent = ["~/.local/share/pincite ", "~/.config/pincite/pincite.toml "][n];
        })"""
    )


def go(page: Page, tab: str) -> None:
    page.get_by_role("tab", name=tab, exact=True).click()


SHOTS: dict[str, Callable[[Page], None]] = {
    "chat": chat,
    "source": source,
    "library": library,
    "map": topics,
    "history": history,
    "evaluation": evaluation,
    "settings": settings,
}


def taken(browser: Browser, url: str, names: list[str]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or SHOTS:
        for width, height in SIZES[2:] if name == "source" else SIZES:
            for scheme in ("light", "dark"):
                options: dict[str, Any] = {"viewport": {"width": width, "height": height}}
                page = browser.new_context(color_scheme=scheme, **options).new_page()
                page.set_default_timeout(WAIT)
                page.goto(url)
                page.wait_for_selector(".turn.done .actions")
                SHOTS[name](page)
                page.wait_for_timeout(700)  # what fades in is there
                write(page.screenshot(), FOLDER / f"{name}-{width}-{scheme}.png")
                page.context.close()


def write(picture: bytes, file: Path) -> None:
    whole = Image.open(io.BytesIO(picture)).convert("RGB")
    small = whole.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    small.save(file, optimize=True)
    sys.stderr.write(f"{file.name}: {file.stat().st_size // 1000} kB\n")


if __name__ == "__main__":
    main(sys.argv[1:])
