"""The Settings tab: what runs here, and what it was set to; one line each."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from statistics import median

import gradio as gr

from rag.catalog import catalog
from rag.history import History
from rag.languages import NAMES
from rag.settings import Settings, settings_file
from rag.weights import status
from ui.web.clean import clean
from ui.web.desk import Assistant
from ui.web.desks import Desks
from ui.web.render import network
from ui.web.tabs.parts import QUIET, html, told

MEASURED = 20  # latest answers from which the speed is taken

Line = tuple[str, str, str]  # name, value, what it means


def layout() -> gr.HTML:
    with gr.Column(elem_id="settings", elem_classes="sheet"):
        return html()


def wire(tab: gr.Tab, page: gr.HTML, desks: Desks) -> None:
    def enter(request: gr.Request) -> str:
        desk = desks.of(request)
        with told():
            return settings_html(desk.assistant, desk.history)

    tab.select(enter, None, page, queue=False, **QUIET)


def settings_html(assistant: Assistant, history: History) -> str:
    settings = assistant.settings
    papers, sentences = assistant.size()
    where = (
        ("Collection", settings.collection, "Another one: at the top of the page"),
        ("Papers", f"{papers:,}", f"{sentences:,} sentences that an answer can cite"),
        ("Network", *network(settings)),
        ("Folder", str(settings.home), "Papers, conversations, models; nothing lies elsewhere"),
        (
            "Settings file",
            str(settings_file()),
            "Read at the start, if it is there; PINCITE_* variables go before it",
        ),
    )
    answers = (
        ("Language model", settings.llm_name or settings.llm, _about(settings.llm)),
        ("Speed here", *_speed(history)),
        ("Embedder", settings.embedder, _about(settings.embedder)),
        ("Papers read", str(settings.papers), "At most so many papers' sentences go before the model"),
        ("Evidence", f"{settings.evidence_tokens} tokens", "At most so much evidence; more is slower"),
        ("Answer", f"{settings.answer_tokens} tokens", "At most so long an answer"),
        (
            "Strictness",
            f"{settings.refuse_below:.2f}",
            "Answers of less confidence are refused; 0 refuses none",
        ),
        ("Language", "the question's", f"Answers are in the language that is asked in: {_languages()}"),
        ("Attempts", str(settings.attempts), "With 2, the model is asked again if nothing it said holds"),
        ("Context", f"{settings.context:,} tokens", "What the model can hold at once"),
        (
            "Checked",
            "every sentence",
            "A sentence whose numbers and names are not in its sources is not shown",
        ),
    )
    return clean(
        f"<section><h2>This collection</h2>{_list(where)}</section>"
        f"<section><h2>How questions are answered</h2>{_list(answers)}</section>"
        f"<section><h2>Models</h2>{_models(settings)}</section>"
    )


def _languages() -> str:
    *most, last = NAMES.values()
    return f"{', '.join(most)} or {last}"


def _list(lines: Iterable[Line]) -> str:
    rows = "".join(
        f'<div><dt>{escape(name)}</dt><dd>{escape(value)} <span class="quiet">{escape(why)}</span></dd></div>'
        for name, value, why in lines
    )
    return f'<dl class="facts">{rows}</dl>'


def _about(name: str) -> str:
    model = catalog().get(name)
    if model is None:
        return ""
    size = f"{model.size / 1e6:,.0f} MB, " if model.size else ""
    return f"{size}{model.description}, {model.licence}"


def _speed(history: History) -> tuple[str, str]:
    """Median seconds and tokens a second over the latest answers that a model wrote."""
    timings = [a.timing for a in history.latest(MEASURED) if a.timing.first_token_s is not None]
    rates = [
        t.output_tokens / (t.total_s - t.first_token_s)
        for t in timings
        if t.first_token_s is not None and t.total_s > t.first_token_s
    ]
    if not rates:
        return "not measured yet", "Ask a question; pincite bench measures more"
    first = median(t.first_token_s or 0 for t in timings)
    whole = median(t.total_s for t in timings)
    return (
        f"{median(rates):.0f} tokens a second",
        f"First word after {first:.1f} s, whole answer after {whole:.1f} s (median, answers: {len(timings)})",
    )


def _models(settings: Settings) -> str:
    known = catalog()
    rows = "".join(
        f'<tr><td>{escape(s.name)}</td><td class="quiet">{escape(s.role)}</td>'
        f'<td class="quiet">{f"{s.bytes / 1e6:,.0f} MB" if s.bytes else "?"}</td>'
        f"<td>{'downloaded' if s.present else 'not downloaded'}</td>"
        f'<td class="quiet authors">{escape(known[s.name].licence)}</td></tr>'
        for s in status(settings.models_dir)
    )
    return (
        '<table class="papers-table"><thead><tr><th scope="col">Model</th><th scope="col">For</th>'
        '<th scope="col">Size</th><th scope="col">Here</th><th scope="col" class="authors">Licence</th></tr></thead>'
        f'<tbody>{rows}</tbody></table><p class="quiet">To fetch one: <code>pincite models pull NAME</code>; '
        "to use it: <code>pincite --llm NAME</code></p>"
    )
