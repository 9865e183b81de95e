"""Writers: what is written is read back as the same papers. All texts are invented."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from bibtexparser.entrypoint import parse_string
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shelf import BITTERN, DUNLIN

from rag.identity import merged
from rag.metadata import bibtex_names, names
from rag.nouns import Paper, Record
from rag.readers import FORMATS, read
from rag.readers.record import one_line
from rag.text import readable
from rag.writers import FORMS, Form, form_of, write
from rag.writers.bibtex import latex
from rag.writers.markdown import escaped
from rag.writers.parts import parted

KEPT = (
    "title",
    "authors",
    "year",
    "venue",
    "venue_as_found",
    "url",
    "doi",
    "arxiv",
    "pmid",
    "abstract",
    "note",
)
READ: tuple[Form, ...] = ("bibtex", "csl", "jsonl")  # and RIS, by whichever reader there is
if any(known.name == "RIS" for known in FORMATS):
    READ += ("ris",)


def paper(**fields: object) -> Paper:
    given = Paper(
        id=7,
        key="bittern-1",
        label="Radios That Sleep",
        abstract=BITTERN,
        title="Radios That Sleep",
        authors=("Ann Roe", "Bob van der Berg", "Émile Poe Jr.", "Plato", "The Marsh Team"),
        year=2024,
        venue="ICML",
        venue_as_found="International Conference on Machine Learning",
        url="https://marsh.example/a_b%20c~d?x=1&y=2#z",
        doi="10.1234/marsh_1",
        arxiv="2401.00001",
        pmid="31207604",
    )
    return replace(given, **fields)  # type: ignore[arg-type]


def back(tmp_path: Path, form: Form, *papers: Paper) -> list[Paper]:
    """What reading gives of what was written."""
    file = tmp_path / "out"
    file.write_text("".join(write(papers, form)), encoding="utf-8")
    got = list(read(file))
    assert all(isinstance(item, Record) for item in got), got
    return [merged([item], key="k") for item in got if isinstance(item, Record)]


def kept(one: Paper) -> dict[str, object]:
    return {name: getattr(one, name) for name in KEPT}


@pytest.mark.parametrize("form", READ)
def test_a_paper_comes_back_as_it_was(tmp_path: Path, form: Form) -> None:
    papers = [
        paper(),
        paper(
            key="other",
            title=r"100% of A_B & {x, y} cost US$ 5: $\mathbb{R}^d$ #1 ~ 2^3, no <img>",
            abstract=rf"{DUNLIN} It costs $5 to $6, 50% of $\{{x_i\}}_{{i<n}}$ & {{a, b}}. “Naïve” – ½ ℓ.",
            authors=(),
            year=None,
            venue="",
            venue_as_found="",
            url="",
            doi="",
            arxiv="",
            pmid="",
            note="Our summary: 50% & more",
        ),
        paper(key="third", title="", venue="Marsh Letters", venue_as_found="Marsh Letters", arxiv=""),
    ]
    assert [kept(one) for one in back(tmp_path, form, *papers)] == [kept(one) for one in papers]


@pytest.mark.parametrize("form", READ)
def test_identifiers_come_back_though_no_address_states_them(tmp_path: Path, form: Form) -> None:
    given = paper(openreview="aB3dE6gH9j", pmlr="v235/roe24a")
    [got] = back(tmp_path, form, given)
    assert (got.openreview, got.pmlr, got.arxiv) == ("aB3dE6gH9j", "v235/roe24a", "2401.00001")
    stated = paper(openreview="aB3dE6gH9j", url="https://openreview.net/forum?id=aB3dE6gH9j")
    assert back(tmp_path, form, stated)[0].openreview == "aB3dE6gH9j"


@pytest.mark.parametrize("form", FORMS)
def test_no_papers_are_a_whole_file_too(form: Form) -> None:
    assert "".join(write([], form)) == ("[]\n" if form == "csl" else "")


# Keys


def test_the_users_own_keys_are_kept() -> None:
    text = "".join(
        write([paper(citekey="DBLP:conf/icml/Roe+24"), paper(key="x", citekey="roé_2024:a.b")], "bibtex")
    )
    assert [e.key for e in parse_string(text).entries] == ["DBLP:conf/icml/Roe+24", "roé_2024:a.b"]


def test_keys_are_valid_and_unique() -> None:
    papers = [
        paper(citekey="roe24"),
        paper(citekey="ROE24", key="roe24-2"),
        paper(citekey="roe24", key="roe24"),
        paper(citekey="a key, {with} 100%", key="z"),
        paper(citekey="", key="plain-1"),
        paper(citekey="{}", key="%"),
    ]
    text = "".join(write(papers, "bibtex"))
    library = parse_string(text)
    assert not library.failed_blocks
    assert [e.key for e in library.entries] == [
        "roe24", "roe24-2", "roe24-3", "a-key-with-100", "plain-1", "paper",
    ]  # fmt: skip
    ids = [item["id"] for item in json.loads("".join(write(papers, "csl")))]
    assert ids == [e.key for e in library.entries]


# What other programs see


def test_bibtex_is_escaped_for_latex() -> None:
    text = "".join(write([paper(title="50% of BERT_x & GPT-4V")], "bibtex"))
    assert r"title = {50\% of {BERT}\_x \& {GPT-4V}}," in text
    assert (
        "author = {Roe, Ann and van der Berg, Bob and Poe Jr., Émile and Plato and {The Marsh Team}}" in text
    )
    assert text.startswith("@inproceedings{bittern-1,\n  title = ")
    assert "  eprint = {2401.00001},\n  archiveprefix = {arXiv},\n" in text
    assert "url = {https://marsh.example/a_b%20c~d?x=1&y=2#z}" in text


@pytest.mark.parametrize(
    ("venue", "opening"),
    [
        ("", "@misc"),
        ("ICLR 2024 poster", "@inproceedings"),
        ("Journal of Machine Learning Research", "@article"),
        ("Workshop on Reeds", "@inproceedings"),
        ("Reed Letters", "@article"),
    ],
)
def test_the_kind_of_an_entry_is_told_by_its_venue(venue: str, opening: str) -> None:
    assert "".join(write([paper(venue_as_found=venue)], "bibtex")).startswith(opening + "{")


def test_braces_that_do_not_match_break_no_entry(tmp_path: Path) -> None:
    """BibTeX itself counts escaped braces too, so that these are written as macros."""
    texts = ["an open { brace", "a closed } one", "}{", r"ends with \ ".strip(), r"a \{ b"]
    for text in texts:
        value = latex(readable(text))
        assert value.count("{") == value.count("}") and readable(value) == readable(text)
    formula = r"We sort $\left\{ x \right.$ pebbles of all kinds, by weight and by colour."
    assert latex(formula) == formula.replace(r"\{ ", r"\lbrace ")


def test_ris_has_one_line_a_field() -> None:
    lines = "".join(write([paper(), paper(key="b")], "ris")).splitlines()
    assert lines[:8] == [
        "TY  - CPAPER",
        "ID  - bittern-1",
        "TI  - Radios That Sleep",
        "AU  - Roe, Ann",
        "AU  - van der Berg, Bob",
        "AU  - Poe Jr., Émile",
        "AU  - Plato",
        "AU  - The Marsh Team",
    ]
    assert lines.count("ER  - ") == 2 and lines[lines.index("ER  - ") + 1] == ""


def test_csl_names_have_two_parts() -> None:
    [item] = json.loads("".join(write([paper()], "csl")))
    assert item["author"][1:] == [
        {"family": "van der Berg", "given": "Bob"},
        {"family": "Poe Jr.", "given": "Émile"},
        {"literal": "Plato"},
        {"literal": "The Marsh Team"},
    ]
    assert item["issued"] == {"date-parts": [[2024]]} and item["type"] == "paper-conference"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Ann B. Roe", ("Ann B.", "Roe")),
        ("Van Morris", ("Van", "Morris")),
        ("Ludwig van Reed", ("Ludwig", "van Reed")),
        ("Ann Roe III", ("Ann", "Roe III")),
        ("Reed, Inc.", ("", "Reed, Inc.")),
        ("", ("", "")),
    ],
)
def test_names_are_parted(name: str, parts: tuple[str, str]) -> None:
    assert parted(name) == parts


def test_names_with_and_or_commas_stay_one_name() -> None:
    people = ("Barnes and Noble", "Reed, Inc.", "Ann Roe")
    text = "".join(write([paper(authors=people)], "bibtex"))
    value = text.partition("author = {")[2].partition("},\n")[0]
    assert bibtex_names(value) == people


def test_markdown_shows_text_and_runs_none_of_it() -> None:
    """C55: titles and abstracts are no markup."""
    evil = paper(
        title="x", label="<img src=x onerror=alert(1)> *b* [c](javascript:alert(1))",
        abstract="<style>b{}</style> costs $5, `code`, $a<b$ and $<script>$", url="javascript:alert(1)",
    )  # fmt: skip
    text = "".join(write([evil], "markdown"))
    assert text.startswith(r"## \<img src=x onerror=alert(1)\> \*b\* \[c\](javascript:alert(1))" + "\n")
    assert r"\<style\>b{}\</style\> costs \$5, \`code\`, $a< b$ and $< script>$" in text
    assert "<javascript" not in text
    assert escaped("1. is no list, - nor this; - it") == r"1\. is no list, - nor this; - it"


def test_markdown_tells_who_where_and_what() -> None:
    assert "".join(write([paper(note="Our summary")], "markdown")) == (
        "## Radios That Sleep\n\n"
        "Ann Roe, Bob van der Berg, Émile Poe Jr., Plato, The Marsh Team · ICML 2024 · "
        "<https://marsh.example/a_b%20c~d?x=1&y=2#z> · <https://doi.org/10.1234/marsh_1>\n\n"
        f"*Our summary*\n\n{BITTERN}\n"
    )


def test_the_file_name_tells_the_form() -> None:
    assert [form_of(n) for n in ("a.BIB", "a.ris", "a.json", "a.jsonl", "a.md", "a.txt")] == [
        "bibtex", "ris", "csl", "jsonl", "markdown", None,
    ]  # fmt: skip


# Any text

ANY = settings(deadline=None, suppress_health_check=list(HealthCheck))
MARKS = st.sampled_from(
    [*r"\{}$%&#_^~*`'\"<>[]()|@=,.;:-– ", "$x_1$", r"\alpha", "ß", "é", "中", "\u2028", "and"]
)
TEXT = st.lists(MARKS | st.text(max_size=5), max_size=25).map("".join) | st.text(max_size=80)


UNMATCHED = re.compile(r"\\[lr]brace ?|\\?[{}] ?")  # braces of a formula that do not match


@ANY
@pytest.mark.parametrize("form", READ)
@given(title=TEXT, abstract=TEXT, venue=TEXT)
def test_any_text_comes_back(tmp_path: Path, form: Form, title: str, abstract: str, venue: str) -> None:
    """All text that a reader has made readable; of BibTeX all but formulas whose braces do not match."""
    lead = "We sort pebbles, rocks and sand by weight, colour and taste: the words of a long winter. "
    given_paper = paper(
        title=readable(one_line(title)),
        abstract=readable(one_line(lead + abstract)),
        venue_as_found=readable(one_line(venue)),
        venue="",
        arxiv="",
    )
    [got] = back(tmp_path, form, given_paper)
    for name in ("title", "abstract", "venue_as_found"):
        read_back, wanted = getattr(got, name), getattr(given_paper, name)
        assert read_back == wanted or (
            form == "bibtex" and UNMATCHED.sub("", read_back) == UNMATCHED.sub("", wanted)
        )


@ANY
@pytest.mark.parametrize("form", READ)
@given(people=st.lists(TEXT.map(lambda text: names([text])[:1]).filter(bool), max_size=4))
def test_any_name_comes_back(tmp_path: Path, form: Form, people: list[tuple[str]]) -> None:
    authors = tuple(name for (name,) in people if names([name]) == (name,) and not set(name) & set("{}~"))
    [got] = back(tmp_path, form, paper(authors=authors))
    assert got.authors == authors
