"""What can be done with an ended answer, as sanitised buttons. Pages press them by their `data-` names."""

from __future__ import annotations

from html import escape

from rag.feedback import Verdict
from rag.nouns import Answer, Filters
from ui.web.copying import as_latex, as_markdown, as_plain
from ui.web.followups import followups
from ui.web.prose import prose

REASONS: dict[Verdict, str] = {
    "wrong_answer": "The answer is wrong",
    "wrong_citation": "A citation does not support its sentence",
    "should_have_refused": "The papers do not say this",
    "should_have_answered": "The papers do answer this",
}
NOTED: dict[str, str] = {"good": "Noted: a good answer"} | {
    k: f"Noted: {v.lower()}" for k, v in REASONS.items()
}


def actions_html(answer: Answer, turn: int, verdict: str, *, last: bool) -> str:
    """Copy, and for the last turn retry and edit; then what the reader thinks of it."""
    parts = [_copies(answer)] if answer.sentences else []
    if last:
        parts += [_button("Retry", "retry", turn), _button("Edit question", "edit", turn)]
    if verdict:
        parts.append(f'<span class="noted" role="status">{escape(NOTED[verdict])}</span>')
    elif answer.sentences or answer.note != "stopped":  # of a question stopped at once nothing can be said
        parts.append(_feedback(answer, turn))
    return f'<div class="actions quiet">{"".join(parts)}</div>'


def retry_html(turn: int) -> str:
    """The one action of a failed turn."""
    return f'<p class="actions quiet">{_button("Retry", "retry", turn)}{_button("Edit question", "edit", turn)}</p>'


def followups_html(answer: Answer) -> str:
    """Questions to go on with."""
    asks = "".join(
        f'<li><button type="button" class="ask" data-ask="{escape(q)}">{prose(q)}</button></li>'
        for q in followups(answer)
    )
    return f'<ul class="asks onward">{asks}</ul>' if asks else ""


def chips_html(filters: Filters, labels: dict[str, str], *, removable: bool = True) -> str:
    """The filters in force, each with a button that takes it off; `labels` names papers by key."""
    found = [("venue", v, v) for v in filters.venues] + [("year", str(y), str(y)) for y in filters.years]
    found += [("paper", key, labels.get(key, key)) for key in filters.papers]
    return "".join(_filter(kind, value, label, removable) for kind, value, label in found)


def _filter(kind: str, value: str, label: str, removable: bool) -> str:
    short = label if len(label) <= 60 else label[:59].rstrip() + "…"
    if not removable:
        return f'<span class="filter">{prose(short)}</span>'
    return (
        f'<button type="button" class="filter" data-unfilter="{kind}" data-value="{escape(value)}"'
        f' aria-label="Remove the filter {escape(label)}" title="Remove this filter">{prose(short)}'
        '<span aria-hidden="true"> ✕</span></button>'
    )


def _button(label: str, name: str, turn: int) -> str:
    return f'<button type="button" class="act" data-{name}="1" data-turn="{turn}">{label}</button>'


def _copies(answer: Answer) -> str:
    kinds = (
        ("Copy", as_plain(answer), "Copy as plain text"),
        ("Markdown", as_markdown(answer), "Copy as Markdown with references"),
        ("LaTeX", as_latex(answer), "Copy as LaTeX with citation keys"),
    )
    return "".join(copy_button(label, text, tip) for label, text, tip in kinds)


def copy_button(label: str, text: str, tip: str) -> str:
    """A button that puts `text` on the clipboard."""
    return (
        f'<button type="button" class="act" data-copy="{escape(text)}" title="{escape(tip)}"'
        f' aria-label="{escape(tip)}">{escape(label)}</button>'
    )


def _feedback(answer: Answer, turn: int) -> str:
    refused = not answer.sentences
    left_out = "should_have_refused" if refused else "should_have_answered"
    reasons = "".join(
        f'<button type="button" class="act" data-verdict="{verdict}" data-turn="{turn}">{escape(text)}</button>'
        for verdict, text in REASONS.items()
        if verdict != left_out and not (refused and verdict == "wrong_citation")
    )
    return (
        f'<button type="button" class="act thumb" data-verdict="good" data-turn="{turn}"'
        ' title="Good answer">Good</button>'
        f'<details class="why-bad" data-fold="bad-{turn}"><summary class="act thumb"'
        ' title="Say what is wrong">Not good</summary>'
        f'<span class="reasons">{reasons}<input type="text" class="comment" maxlength="500"'
        f' aria-label="Comment on this answer" placeholder="Comment (optional), then choose a reason"></span></details>'
    )
