"""The models on their way, shown at the top of every tab until they are here."""

from __future__ import annotations

from html import escape

import gradio as gr

from ui.web.clean import clean
from ui.web.starting import Download, Starting
from ui.web.tabs.parts import QUIET, Updates, pressable

EVERY = 1.0  # seconds between two looks


def layout(starting: Starting) -> tuple[gr.HTML, gr.Timer]:
    return pressable(fetching_html(starting), "models"), gr.Timer(EVERY)


def wire(page: gr.Blocks, shown: gr.HTML, timer: gr.Timer, starting: Starting) -> None:
    def look() -> Updates:
        return {shown: fetching_html(starting), timer: gr.Timer(active=not starting.ready)}

    def again() -> Updates:
        starting.again()
        return look()

    for happens, deed in ((page.load, look), (timer.tick, look), (shown.click, again)):
        happens(deed, None, [shown, timer], queue=False, **QUIET)


def fetching_html(starting: Starting) -> str:
    """Each model with how far it is, and what went wrong; "" once questions are answered."""
    if starting.ready:
        return ""
    if starting.error:
        head, more = "The models are not all here", _failed(starting.error)
    elif starting.fetching:
        head = "Fetching the models, once"
        more = '<p class="quiet">Papers can be looked at meanwhile. Questions wait until all is here.</p>'
    else:
        head, more = "Opening the papers and the models …", ""
    items = "".join(map(_item, starting.downloads))
    return clean(f'<section class="models"><h2 role="status">{head}</h2><ul>{items}</ul>{more}</section>')


def _failed(error: str) -> str:
    return (
        f'<p class="problem" role="alert">{escape(error)}</p><p><button type="button" class="near" '
        'data-press="again">Try again</button></p><p class="quiet">What has arrived is kept. A file that you put '
        "there yourself is taken as it is, if it has these bytes.</p>"
    )


def _item(download: Download) -> str:
    model = download.model
    name = f'<b>{escape(model.name)}</b> <span class="quiet">{escape(download.purpose)}</span>'
    return f"<li>{name} {_how_far(download)}</li>"


def _how_far(download: Download) -> str:
    size = f"{_mb(download.model.size)} MB" if download.model.size else "size not known"
    match download.state:
        case "here":
            return f'<span class="quiet">{size}, here</span>'
        case "left out":
            return '<span class="quiet">could not be fetched; answers do without it</span>'
        case "to come":
            return f'<span class="quiet">{size}, to come</span>'
    if not download.total:
        return f'<span class="quiet">{size}, asking for it</span>'
    told = f"{_mb(download.have)} of {_mb(download.total)} MB{_pace(download)}"
    share = min(100, 100 * download.have // download.total)
    return (
        f'<progress max="100" value="{share}" aria-label="{escape(download.model.name)}">{share} %</progress> '
        f'<span class="quiet">{told}</span>'
    )


def _pace(download: Download) -> str:
    speed = download.speed()
    if speed < 1:
        return ", nothing arrives at the moment" if download.have < download.total else ", checking it"
    left = max(0, download.total - download.have) / speed
    time_left = f"{left / 60:.0f} min" if left >= 90 else f"{left:.0f} s"
    return f", {speed / 1e6:,.1f} MB a second, about {time_left} left"


def _mb(size: int | None) -> str:
    return f"{(size or 0) / 1e6:,.0f}"
