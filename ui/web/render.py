"""The conversation as sanitised HTML. Pure functions: records in, text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from rag.nouns import Answer, AnswerSentence, Citation, Dropped, Filters, Hit
from rag.refusal import without_closest
from rag.settings import Settings
from ui.web.actions import actions_html, chips_html, followups_html, retry_html
from ui.web.clean import clean
from ui.web.prose import prose
from ui.web.sources import GRADES, button, ending, is_list

LONGEST_QUOTE = 300  # characters of a tooltip

SUPPORT = {
    "quoted": "Word for word from the source",
    "supported": "",
    "weak": "Weakly supported: numbers and names agree with the source, the meaning was not confirmed",
    "unsupported": "Not supported by the source",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A turn of the conversation as the page shows it; `answer` grows while it runs."""

    answer: Answer
    phase: Literal["put off", "searching", "waiting", "reading", "writing", "done", "stopped", "failed"] = (
        "searching"
    )
    draft: str = ""
    ahead: int = 0  # askers before this one, while waiting
    error: str = ""
    hits: tuple[Hit, ...] = ()  # the papers looked at
    filters: Filters = Filters()
    kept: int = 0  # its number in the history
    verdict: str = ""  # what the reader said of it

    @property
    def running(self) -> bool:
        return self.phase not in ("done", "stopped", "failed")


def turns_html(turns: Sequence[Shown], first: int = 0, *, last: bool = False) -> str:
    """The turns one below the other; `first` is the ordinal of the first of them.

    `last`: nothing follows them, so that the last one can be asked again, and questions to go on with fit.
    """
    many = len(turns)
    html = (_turn(shown, first + i, last and i == many - 1) for i, shown in enumerate(turns))
    return clean("".join(html))


def _turn(shown: Shown, turn: int, last: bool) -> str:
    answer = shown.answer
    parts = [f'<h2 class="asked">{prose(answer.question)}</h2>', _searched_for(shown), _said(shown, turn)]
    if shown.running:
        again = " again" if shown.phase == "put off" else ""  # page.js asks again for it
        parts.append(f'<p class="quiet status{again}" role="status">{_status(shown)}</p>')
    elif shown.phase == "failed":
        parts.append(f'<p class="problem" role="alert">{escape(shown.error)}</p>')
        parts += [retry_html(turn)] if last else []
    else:
        parts += [_notes(shown), ending(answer, turn), _wider(shown, turn) if last else ""]
        parts.append(actions_html(answer, turn, shown.verdict, last=last))
        parts.append(followups_html(answer) if last else "")
    state = "running" if shown.running else shown.phase
    return f'<section class="turn {state}">{"".join(parts)}</section>'


def _searched_for(shown: Shown) -> str:
    """What was searched for where that is not the question itself, and within which papers."""
    answer = shown.answer
    same = answer.searched_for.casefold().split() in (answer.question.casefold().split(), [])
    labels = {e.paper.key: e.paper.label for e in answer.evidence} | {
        h.paper.key: h.paper.label for h in shown.hits
    }
    within = chips_html(shown.filters, labels, removable=False)
    parts = [] if same else [f"Searched for: {prose(answer.searched_for)}"]
    parts += [f"Only in: {within}"] if within else []
    return f'<p class="quiet searched">{" ".join(parts)}</p>' if parts else ""


def _wider(shown: Shown, turn: int) -> str:
    """Below a refusal under filters: the same question to all papers."""
    if shown.answer.status != "not_found" or shown.filters == Filters():
        return ""
    return (
        f'<p><button type="button" class="near" data-retry="1" data-wide="1" data-turn="{turn}">'
        "Ask all papers, without the filters</button></p>"
    )


def _said(shown: Shown, turn: int) -> str:
    """The answer's text: the checked sentences and the one being written, or the refusal."""
    sentences = _sentences(shown.answer.sentences, turn)
    if shown.phase == "done" and not sentences:
        text = shown.answer.text
        if shown.answer.nearest:
            text = without_closest(text)  # the closest papers follow as buttons
        return f'<p class="said refusal" aria-live="polite">{prose(text)}</p>'
    draft = f'<span class="draft" aria-hidden="true">{prose(shown.draft)}</span>' if shown.draft else ""
    return f'<p class="said" aria-live="polite">{sentences} {draft}</p>'


def _status(shown: Shown) -> str:
    match shown.phase:
        case "put off":
            return f"waiting, {shown.ahead} or more ahead"
        case "waiting" if not shown.ahead:
            return "waiting for the models; how far they are stands above"
        case "waiting":
            return f"waiting, {shown.ahead} ahead"
        case "reading":
            return "reading the evidence"
        case "writing":
            return "writing; grey text is not checked yet"
        case _:
            return "searching"


def _sentences(sentences: Sequence[AnswerSentence], turn: int) -> str:
    """Running text, or, after a first sentence that ends with a colon, a line each."""
    html = [_sentence(s, turn) for s in sentences]
    if is_list(sentences):
        html[1:] = [f'<span class="line">{h}</span>' for h in html[1:]]
    return " ".join(html)


def _sentence(sentence: AnswerSentence, turn: int) -> str:
    chips = "".join(_chip(citation, turn) for citation in sentence.citations)
    why = escape(SUPPORT[sentence.support])
    title = f' title="{why}"' if why else ""
    return f'<span class="sentence {sentence.support}"{title}>{prose(sentence.text)}</span>{chips}'


def _chip(citation: Citation, turn: int) -> str:
    quote = citation.quote
    if len(quote) > LONGEST_QUOTE:
        quote = quote[:LONGEST_QUOTE].rstrip() + "…"
    tip = f"“{quote}”\n{citation.title}\n{GRADES[citation.support]}".rstrip()
    return button(
        citation.n, turn, citation.title, tip, f"pincite {citation.support}", GRADES[citation.support]
    )


def _notes(shown: Shown) -> str:
    answer = shown.answer
    notes = [_dropped(answer.dropped)] if answer.dropped else []
    if shown.phase == "stopped":
        unchecked = "; the grey text was not checked" if shown.draft else ""
        notes.append(f'<p class="quiet note">stopped{unchecked}</p>')
    elif answer.note:
        notes.append(f'<p class="quiet note">{escape(answer.note)}</p>')
    return "".join(notes)


def _dropped(dropped: Sequence[Dropped]) -> str:
    count = "1 sentence was not shown" if len(dropped) == 1 else f"{len(dropped)} sentences were not shown"
    reasons = "; ".join(dict.fromkeys(escape(d.reason) for d in dropped))
    items = "".join(f"<li>{prose(d.text)}</li>" for d in dropped)
    return f'<details class="quiet dropped"><summary>{count}: {reasons}</summary><ul>{items}</ul></details>'


def network_html(settings: Settings) -> str:
    """Whether anything can leave this machine, in a word or two."""
    word, meaning = network(settings)
    return clean(f'<p class="badge" title="{escape(meaning)}">{escape(word)}</p>')


def network(settings: Settings) -> tuple[str, str]:
    """What of the network is used, in a word or two, and what that means."""
    if settings.is_remote:
        offline = ", which is on this machine: offline, no other is reached" if settings.offline else ""
        return "a server answers", f"Questions and evidence go to {settings.llm}{offline}"
    if settings.offline:
        return "offline", "No connection but to this machine is opened"
    return "on this machine", "Nothing leaves this machine; only a missing model is fetched, once"


def welcome_html(examples: Sequence[str], is_sample: bool, command: str = "pincite") -> str:
    """Before the first question: what this is, questions to start with, how to bring own papers.

    `command` is how the reader can call the program on this collection.
    """
    asks = "".join(
        f'<li><button type="button" class="ask" data-ask="{escape(q)}">{prose(q)}</button></li>'
        for q in examples
    )
    hint = (
        '<p class="quiet hint">This is the sample collection. To ask your own papers: '
        f"<code>{escape(command)} index FILE</code></p>"
    )
    return clean(
        '<section class="welcome"><h2>Ask the papers</h2>'
        "<p>Every sentence of an answer is pinned to the sentence that supports it; press its number.</p>"
        f'{hint if is_sample else ""}<ul class="asks">{asks}</ul></section>'
    )


def empty_html(name: str, command: str = "pincite") -> str:
    """The first screen of a collection without papers: how they come in."""
    return clean(
        f'<section class="welcome"><h2>{escape(name)} has no papers yet</h2>'
        "<p>Add lists of abstracts as you have them: BibTeX, RIS, PubMed, CSV, JSON, Markdown, PDF, plain text. "
        "Then ask.</p>"
        '<p><button type="button" class="near" data-go="Library">Add files</button></p>'
        f'<p class="quiet hint">Or in a terminal: <code>{escape(command)} index FILE</code></p></section>'
    )
