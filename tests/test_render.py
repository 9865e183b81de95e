import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from fake_assistant import (
    ANSWER,
    EVIDENCE,
    HARBOUR,
    LANTERN,
    MAGPIE,
    REFUSAL,
    SENTENCES,
    cite,
    made,
    numbered,
)
from payloads import PAYLOADS

from rag.nouns import Answer, AnswerSentence, Dropped, Hit, Why
from rag.refusal import refusal_text
from rag.settings import Settings
from ui.web.clean import MATH_TAGS, TAGS, clean
from ui.web.header import header_html
from ui.web.links import web_address
from ui.web.panel import source_html
from ui.web.prose import Mark, formula, prose
from ui.web.render import Shown, empty_html, network_html, turns_html, welcome_html
from ui.web.sources import evidence_html


class Page(HTMLParser):
    """The tags with their attributes, and the text, of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attrs for _, attrs in self.tags if name in (attrs.get("class") or "").split()]


def done(answer: Answer = ANSWER) -> Shown:
    return Shown(answer, phase="done")


def lit(html: str) -> list[str]:
    """The text of each `mark.lit`."""
    return [Page(part).text for part in re.findall(r'<mark class="lit">(.*?)</mark>', html, re.DOTALL)]


# ------------------------------------------------------------------------------ text and formulas


def test_text_is_escaped_and_formulas_are_mathml() -> None:
    html = prose("a < b & $x^2$")
    assert html.startswith("a &lt; b &amp; <math")
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in html


def test_currency_is_text_and_every_delimiter_is_a_formula() -> None:
    html = prose("costs $5 to $10 per run with $O(n \\log n)$ memory and \\(\\alpha\\), \\[x^2\\]")
    assert html.startswith("costs $5 to $10 per run with <math")
    assert html.count("<math") == 3
    assert html.count('display="block"') == 1
    assert '<mo lspace="0.17em" rspace="0.17em">log</mo>' in html


@pytest.mark.parametrize("source", ["$x^$", "$\\foo{x}$", "$\\left( x$", "$x_1_2$", "$$"])
def test_what_cannot_be_converted_is_code(source: str) -> None:
    assert formula(source) == f'<code class="tex">{source}</code>'


def test_less_than_underscore_and_star_inside_a_formula_survive() -> None:
    page = Page(clean(prose("$a_1 < b * c$ and $\\textbf{bold}$ and $\\{x\\}$")))
    assert page.text == "a1<b*c and bold and {x}"


def test_a_mark_never_cuts_a_formula() -> None:
    text = "We need $a + b$ rounds. No more."
    html = prose(text, [Mark(0, 11, "lit"), Mark(11, 23, "also")])
    assert html.count("<math") == html.count("</math>") == 1
    assert re.sub(r"<math.*?</math>", "F", html) == (
        '<mark class="lit">We need F</mark><mark class="also"> rounds.</mark> No more.'
    )


def test_the_first_of_two_overlapping_marks_wins() -> None:
    html = prose("abcdef", [Mark(1, 3, "lit"), Mark(0, 4, "also")])
    assert html == '<mark class="also">a</mark><mark class="lit">bc</mark><mark class="also">d</mark>ef'


# ----------------------------------------------------------------------------------- conversation


def test_a_settled_sentence_has_its_chips_with_turn_title_and_quote() -> None:
    page = Page(turns_html([done()], first=3))
    chips = page.named("pincite")
    assert [(chip["data-n"], chip["data-turn"]) for chip in chips] == [
        ("1", "3"),
        ("2", "3"),
        ("4", "3"),
        ("3", "3"),
    ]
    assert chips[1]["aria-label"] == "Source 2, word for word: Lantern: Pruning Networks While They Train"
    assert chips[1]["title"] == (
        "“On a laptop processor it runs 2.7 times faster than the dense network.”\n"
        "Lantern: Pruning Networks While They Train\nword for word"
    )
    assert [tag for tag, attrs in page.tags if attrs in chips] == ["button"] * 4


def test_support_shows_in_class_and_tooltip() -> None:
    page = Page(turns_html([done()]))
    assert [attrs["class"] for attrs in page.named("sentence")] == [
        "sentence supported",
        "sentence quoted",
        "sentence weak",
    ]
    assert page.named("weak")[0]["title"].startswith("Weakly supported")
    assert "title" not in page.named("supported")[0]


def test_only_cited_papers_are_sources_and_the_rest_is_folded() -> None:
    """C6: five sentences of three papers were found, the answer cites two papers."""
    html = turns_html([done()])
    sources, looked = html.split('<details class="quiet looked">')
    assert "Lantern: Pruning" in sources and "Harbour: Federated" in sources
    assert "Magpie" not in re.sub(r"<button.*?</button>", "", sources)
    assert "Also looked at (1)" in looked and "Magpie" in looked


def test_two_sentences_of_one_paper_keep_their_own_numbers() -> None:
    """C5: one line for the paper, both numbers on it."""
    evidence = numbered((LANTERN, 1), (LANTERN, 2), (HARBOUR, 1))
    answer = replace(
        ANSWER,
        evidence=evidence,
        sentences=(AnswerSentence("It is fast.", "supported", (cite(evidence[1]), cite(evidence[2]))),),
    )
    numbers = Page(turns_html([done(answer)])).named("number")
    assert [n["data-n"] for n in numbers] == ["2", "3"]


def test_dropped_sentences_are_counted_with_their_reasons() -> None:
    text = Page(turns_html([done()])).text
    assert "1 sentence was not shown: 512 does not occur in the sources" in text
    two = replace(ANSWER, dropped=(Dropped("A.", "no source"), Dropped("B.", "no source")))
    assert "2 sentences were not shown: no source" in Page(turns_html([done(two)])).text


def test_searched_for_is_shown_only_where_it_differs() -> None:
    assert "Searched for" not in turns_html([done()])
    assert "Searched for" not in turns_html(
        [done(replace(ANSWER, searched_for="what does  lantern speed up?"))]
    )
    assert "Searched for: lantern speed" in turns_html([done(replace(ANSWER, searched_for="lantern speed"))])


def test_a_refusal_offers_the_closest_papers() -> None:
    page = Page(turns_html([done(REFUSAL)]))
    assert [near["data-paper"] for near in page.named("near")] == ["magpie2023", "harbour2024"]
    assert "I could not find this in these papers." in page.text
    assert "mentions error" in page.text
    assert not page.named("pincite")


def test_the_footer_tells_seconds_and_tokens() -> None:
    assert "4.8 s · 612 tokens read, 57 written" in turns_html([done()])
    assert "0.3 s · no model ran" in turns_html([done(REFUSAL)])


def test_a_running_turn_shows_the_draft_muted_and_hidden_from_the_live_region() -> None:
    answer = replace(ANSWER, sentences=ANSWER.sentences[:1], dropped=())
    page = Page(turns_html([Shown(answer, phase="writing", draft="On a lap")]))
    assert page.named("draft") == [{"class": "draft", "aria-hidden": "true"}]
    assert page.named("said")[0]["aria-live"] == "polite"
    assert page.named("running") and not page.named("sources")


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        (Shown(ANSWER, phase="waiting", ahead=2), "waiting, 2 ahead"),
        (Shown(ANSWER, phase="searching"), "searching"),
        (Shown(ANSWER, phase="reading"), "reading the evidence"),
    ],
)
def test_a_running_turn_says_what_it_does(shown: Shown, status: str) -> None:
    assert f'role="status">{status}</p>' in turns_html([shown])


def test_a_stopped_turn_keeps_its_draft_and_says_so() -> None:
    page = Page(turns_html([Shown(replace(ANSWER, dropped=()), phase="stopped", draft="It also")]))
    assert page.named("draft") and "stopped; the grey text was not checked" in page.text
    assert "stopped" in page.named("turn")[0]["class"]


def test_a_failed_turn_is_one_plain_message() -> None:
    page = Page(
        turns_html([Shown(Answer("Why?", "", "partial", ""), phase="failed", error="No model <here>.")])
    )
    assert page.text == "Why? No model <here>."
    assert page.named("problem") == [{"class": "problem", "role": "alert"}]


def test_a_question_that_failed_before_its_evidence_can_be_asked_again() -> None:
    failed = [Shown(Answer("Why?", "", "partial", ""), phase="failed", error="The server is gone.")]
    assert "data-retry" in turns_html(failed, last=True) and "data-retry" not in turns_html(failed)


def test_a_question_stopped_before_its_first_sentence_is_not_judged() -> None:
    nothing = Answer("Why?", "", "partial", "", note="stopped")
    assert "data-verdict" not in turns_html([Shown(nothing, "stopped")], last=True)
    assert "data-verdict" in turns_html([Shown(replace(ANSWER, note="stopped"), "stopped")], last=True)


def test_a_failed_turn_keeps_the_sentences_that_were_checked() -> None:
    page = Page(turns_html([Shown(ANSWER, phase="failed", error="Cut off.")]))
    assert len(page.named("pincite")) == 4 and not page.named("sources")


# ---------------------------------------------------------------------------------------- sources


def test_evidence_is_numbered_under_its_papers_and_cited_ones_are_known() -> None:
    page = Page(evidence_html(ANSWER, 2))
    assert [(b["data-n"], b["data-turn"]) for b in page.named("number")] == [
        (str(n), "2") for n in range(1, 6)
    ]
    assert len(page.named("used")) == 4 and len(page.named("unused")) == 1
    assert page.text.count("Lantern: Pruning Networks While They Train") == 1
    assert ("details", {"open": "", "data-fold": "evidence"}) in page.tags


def test_before_the_first_question_the_evidence_says_what_it_will_be() -> None:
    assert "appear here" in evidence_html(None)
    assert evidence_html(REFUSAL) == ""


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_the_source_lights_exactly_the_cited_sentence(evidence) -> None:
    """C3: number n lights sentence n, also where it is the second paper's."""
    s = evidence.sentence
    marked = lit(source_html(evidence.paper, (s.start, s.end), n=evidence.n))
    assert marked == [Page(clean(prose(s.text))).text]


def test_other_cited_sentences_are_marked_faintly() -> None:
    paper, sentences = LANTERN
    html = source_html(
        paper, (sentences[1].start, sentences[1].end), [(sentences[2].start, sentences[2].end)], 1
    )
    assert re.findall(r'<mark class="also">(.*?)</mark>', html) == [sentences[2].text]


def test_the_source_tells_authors_venue_year_and_note() -> None:
    text = Page(source_html(LANTERN[0], None)).text
    assert "Ada Quill, Bo Tern, Chidi Amsel" in text
    assert "International Conference on Learning Representations 2024" in text
    assert "Our summary, not the authors' abstract." in Page(source_html(HARBOUR[0], None)).text


def test_a_venue_that_holds_the_year_does_not_repeat_it() -> None:
    paper, _ = made("k", "T", "S.", venue_as_found="ICML 2024", year=2024)
    assert "ICML 2024</p>" in source_html(paper, None)


def test_links_are_http_only_and_tell_nothing_about_the_page() -> None:
    links = [attrs for tag, attrs in Page(source_html(LANTERN[0], None)).tags if tag == "a"]
    assert links == [
        {"href": "https://papers.example/lantern", "target": "_blank", "rel": "noopener noreferrer"}
    ]
    paper, _ = made("k", "T", "S.", doi="10.1000/x y")
    assert 'href="https://doi.org/10.1000/x y"' in source_html(paper, None)


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//host/x", "http://", "http://[", "x"],
)
def test_other_addresses_are_no_links(url: str) -> None:
    assert web_address(url) == ""
    paper, _ = made("k", "T", "S.", url=url)
    assert "<a " not in source_html(paper, None)


# ---------------------------------------------------------------------------------- first screen


def test_a_formula_keeps_its_brackets_and_its_full_stop_on_its_line() -> None:
    html = prose("It costs ($x$). Then $y$, or $z$ more.")
    tied = re.findall(r'<span class="tied">(.*?)</span>', html)
    assert [re.sub(r"<math.*?</math>", "F", one) for one in tied] == ["(F).", "F,"]
    assert html.endswith("</math> more.")


def test_a_refusal_names_its_closest_papers_once() -> None:
    answer = replace(REFUSAL, text=refusal_text(REFUSAL.nearest))
    html = turns_html([done(answer)])
    assert html.count("Magpie: Stealing Good Initialisations") == 1
    assert "I could not find this in these papers.</p>" in html
    bare = replace(answer, text="No papers are here yet.")
    assert "No papers are here yet." in turns_html([done(bare)])


def test_after_a_colon_each_sentence_has_a_line() -> None:
    first, *rest = SENTENCES
    listed = replace(ANSWER, sentences=(replace(first, text="Two of 3 papers are about this:"), *rest))
    assert turns_html([done(listed)]).count('<span class="line">') == len(rest)
    assert 'class="sources"' not in turns_html([done(replace(listed, evidence=EVIDENCE[:2]))])
    assert '<span class="line">' not in turns_html([done(ANSWER)])


def test_the_first_screen_offers_examples_and_the_way_to_own_papers() -> None:
    page = Page(welcome_html(["What is $x$?", 'A "quoted" one'], is_sample=True))
    assert [ask["data-ask"] for ask in page.named("ask")] == ["What is $x$?", 'A "quoted" one']
    assert "pincite index FILE" in page.text
    assert "pincite index" not in welcome_html([], is_sample=False)


def test_an_empty_collection_says_how_papers_come_in() -> None:
    page = Page(empty_html("birds", "pincite --collection birds"))
    assert "birds has no papers yet" in page.text and "pincite --collection birds index FILE" in page.text
    assert [button["data-go"] for button in page.named("near")] == ["Library"]


def test_the_header_tells_the_open_collection_and_links_to_the_others() -> None:
    html = header_html("birds", 8, {"birds": 1, "default": 1_204, "torn": None})
    page = Page(html)
    assert "8 sentences" in html and 'role="alert"' not in html
    assert [row.get("href", row.get("aria-current")) for row in page.named("row")] == [
        "true", "?collection=default", "?collection=torn",
    ]  # fmt: skip
    words = " ".join(page.text.split())
    assert words.startswith("Pincitebirds 1 paperbirds 1 paperdefault 1,204 paperstorn cannot be read")
    assert page.named("name")[0]["aria-label"] == "Name of a new collection"


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_problem_with_a_name_stays_text(payload: str) -> None:
    page = Page(header_html("a", 1, {"a": 1}, payload))
    assert payload in page.text
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in Page(header_html("a", 1, {"a": 1}, "x")).tags]


@pytest.mark.parametrize(
    ("told", "word", "meaning"),
    [
        ({}, "on this machine", "Nothing leaves this machine"),
        ({"offline": True}, "offline", "No connection but to this machine is opened"),
        ({"llm": 'http://x.example/"'}, "a server answers", "evidence go to http://x.example/&quot;"),
        ({"llm": "http://127.0.0.1:1", "offline": True}, "a server answers", "offline, no other is reached"),
    ],
)
def test_a_badge_says_what_of_the_network_is_used(told: dict[str, Any], word: str, meaning: str) -> None:
    html = network_html(Settings(**told))
    assert f">{word}</p>" in html and meaning in html


# --------------------------------------------------------------------------------------- payloads


def hostile(text: str) -> list[str]:
    """Every part of the page, with that text wherever a paper, a person or a model can put one."""
    paper, sentences = made(
        text, text, text, text, authors=(text,), venue=text, venue_as_found=text, note=text
    )
    paper = replace(paper, url=text, doi="")
    evidence = numbered(((paper, sentences), 0), ((paper, sentences), 1), (MAGPIE, 0))
    answer = Answer(
        question=text,
        searched_for=text + "!",
        status="answered",
        text=text,
        sentences=(AnswerSentence(text, "weak", (cite(evidence[0]), cite(evidence[1]))),),
        dropped=(Dropped(text, text),),
        evidence=evidence,
        note=text,
    )
    nearest = (Hit(paper, 1.0, Why(terms=(text,))),)
    refusal = replace(answer, status="not_found", sentences=(), nearest=nearest)
    turns = [
        done(answer),
        done(refusal),
        Shown(answer, "writing", draft=text),
        Shown(answer, "failed", error=text),
    ]
    span = (sentences[0].start, sentences[0].end)
    return [
        turns_html(turns),
        evidence_html(answer),
        source_html(paper, span, [(sentences[1].start, sentences[1].end)], 1),
        welcome_html([text], is_sample=True),
    ]


def shape(page: Page) -> list[str]:
    """The elements in order, without those that a formula makes."""
    made_by_formulas = MATH_TAGS | {"code"}
    return [
        tag
        for tag, attrs in page.tags
        if tag not in made_by_formulas and attrs.get("class") not in ("wide", "tied")
    ]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_payloads_stay_text(payload: str) -> None:
    plain, parts = hostile("harmless"), hostile(payload)
    for harmless, html in zip(plain, parts, strict=True):
        page = Page(html)
        for tag, attrs in page.tags:
            assert tag in TAGS | MATH_TAGS
            assert not [name for name in attrs if name.startswith("on") or name in ("style", "src", "srcdoc")]
            assert (attrs.get("href") or "https:").startswith("https:")
        assert shape(page) == shape(Page(harmless)), "the payload made an element"


@pytest.mark.parametrize("payload", [p for p in PAYLOADS if "$" not in p])
def test_payloads_are_readable_as_they_were_written(payload: str) -> None:
    for html in hostile(payload):
        assert payload in Page(html).text


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_second_wall_holds_alone(payload: str) -> None:
    for tag, attrs in Page(clean(payload)).tags:
        assert tag in TAGS | MATH_TAGS
        assert not [name for name in attrs if name.startswith("on") or name in ("style", "src", "srcdoc")]
        assert not (attrs.get("href") or "").startswith("javascript")
