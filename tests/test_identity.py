"""When two records are one paper, and what that paper is then."""

from __future__ import annotations

import pytest
from shelf import BITTERN, DUNLIN, GODWIT, record

from rag.identity import (
    SAME,
    SHARED,
    SKETCH,
    belongs,
    exact_names,
    identified,
    ids,
    key_for,
    merged,
    names,
    regrouped,
    resemblance,
    shingles,
    skeleton,
    sketch,
    text_names,
    title_name,
    version,
)
from rag.nouns import Paper, Record

TITLE = "Bittern: A Radio That Sleeps Through Winter"


def one(first: Record, second: Record) -> bool:
    """Whether two records are one paper; the answer must not depend on which came first."""
    there, back = belongs(second, {"k": [first]}), belongs(first, {"k": [second]})
    assert there == back
    return bool(there)


# ------------------------------------------------------------------------------------- comparing text


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Self-Attention, twice", "self attention TWICE"),
        ("Erdős–Rényi graphs", "Erdos-Renyi graphs"),
        ("an O(n) bound of $\\alpha$", "An $O(n)$ bound of α"),
    ],
)
def test_a_skeleton_forgets_layout_accents_and_markup(a: str, b: str) -> None:
    assert skeleton(a) == skeleton(b)


def test_resemblance_is_the_jaccard_index_of_three_word_runs() -> None:
    assert shingles("a b c d") == {"a b c", "b c d"}
    assert shingles("two words") == {"two words"} and shingles("") == {""}
    assert resemblance("a b c d", "a b c d") == 1.0
    assert resemblance("a b c d", "b c d e") == pytest.approx(1 / 3)  # of abc, bcd, cde one is shared
    assert resemblance("a b c", "x y z") == 0.0


def test_a_sketch_is_the_same_for_the_same_text_and_shared_by_near_ones() -> None:
    assert len(sketch(BITTERN)) == SKETCH and sketch(BITTERN) == sketch(BITTERN.upper())
    assert len(set(sketch(BITTERN)) & set(sketch(BITTERN.replace("140", "141")))) >= SHARED
    assert not set(sketch(BITTERN)) & set(sketch(DUNLIN))


def test_short_titles_name_no_paper() -> None:
    assert title_name("Introduction") == "title:introduction"  # twelve letters are the fewest that count
    assert title_name("Editorial") == "" and title_name("") == ""


def test_a_paper_is_found_by_its_identifiers_its_title_and_its_text() -> None:
    titled, untitled = record(title=TITLE, doi="10.1/AbC", arxiv="2401.00001"), record(title="Editorial")
    assert len(exact_names(titled)) == 3 and not exact_names(untitled)
    assert exact_names(titled)[0] == exact_names(record(doi="10.1/aBc"))[0]
    assert len(names(titled)) == 3 + SKETCH and len(names(untitled)) == 2 * SKETCH
    assert all(-(2**63) <= name < 2**63 for name in names(titled)), "SQLite holds no more"


def test_only_a_record_without_a_title_is_looked_for_by_text_among_papers_with_one() -> None:
    titled, untitled = record(title=TITLE), record()
    assert not set(text_names(titled)) & set(names(titled))
    for mine, theirs in ((titled, untitled), (untitled, titled), (untitled, untitled)):
        assert set(text_names(mine)) <= set(names(theirs))


# ------------------------------------------------------------------------------------ one paper or two


def test_a_shared_identifier_makes_one_paper_whatever_else_differs() -> None:
    for field, value in (
        ("doi", "10.1/x"),
        ("arxiv", "2401.00001"),
        ("openreview", "aB3"),
        ("pmlr", "v235/x24a"),
    ):
        mine = record(BITTERN, title=TITLE, authors=("Ada Reed",), **{field: value})
        other = record(DUNLIN, title="Something Else Entirely", authors=("Bo Marsh",), **{field: value})
        assert one(mine, other), field
        assert not one(mine, record(DUNLIN, title="Something Else Entirely", **{field: value + "9"})), field


def test_identifiers_are_compared_without_case_only_where_they_have_none() -> None:
    assert ids(record(doi="10.1/X")) == ids(record(doi="10.1/x"))
    assert ids(record(openreview="aB3")) != ids(record(openreview="ab3"))


def test_the_versions_of_a_preprint_are_one_paper() -> None:
    """C14 turned round: the reader cuts v1 and v2 off, so title and text may have changed meanwhile."""
    first = record(BITTERN, title="Bittern: A Sleeping Radio", arxiv="2401.00001", year=2023)
    assert one(first, record(DUNLIN, title=TITLE, arxiv="2401.00001", year=2026))


def test_the_same_title_and_people_make_one_paper_even_with_another_abstract() -> None:
    mine = record(BITTERN, title=TITLE, authors=("Ada Reed", "Bo Marsh"), year=2023)
    assert one(mine, record(DUNLIN, title=TITLE.upper(), authors=("A. Reed",), year=2024))
    assert one(mine, record(BITTERN + " It sold well.", title=TITLE)), "no people, but the text"
    assert one(mine, record(DUNLIN, title=TITLE, year=2023)), "no people, but the year"
    assert not one(mine, record(DUNLIN, title=TITLE)), "nothing but the title"
    assert not one(mine, record(DUNLIN, title=TITLE, year=2024))


def test_a_first_author_may_be_written_surname_first() -> None:
    mine = record(BITTERN, title=TITLE, authors=("Wei Wang",))
    assert one(mine, record(DUNLIN, title=TITLE, authors=("Wang Wei", "Bo Marsh")))
    assert not one(mine, record(DUNLIN, title=TITLE, authors=("Li Wei",)))


def test_why_two_records_are_one_is_said() -> None:
    mine = record(title=TITLE, authors=("Ada Reed",), year=2023, doi="10.1/x", arxiv="2401.00001")
    assert identified(mine, mine) == "same DOI, arXiv id"
    assert identified(mine, record(title=TITLE, authors=("A. Reed",))) == "same title and first author"
    assert identified(mine, record(DUNLIN, title=TITLE, year=2023)) == "same title and year"
    assert identified(mine, record(title=TITLE)) == "same title, abstracts alike"
    assert identified(mine, record()) == "" and identified(record(), record()) == ""


def test_the_same_title_of_other_people_or_of_another_decade_makes_two() -> None:
    mine = record(BITTERN, title=TITLE, authors=("Ada Reed",), year=2023)
    assert not one(mine, record(BITTERN, title=TITLE, authors=("Bo Marsh",), year=2023))
    assert not one(mine, record(BITTERN, title=TITLE, authors=("Ada Reed",), year=2026))
    assert one(mine, record(BITTERN, title=TITLE, authors=("Ada Reed",), year=2025))


def test_the_same_abstract_under_two_titles_is_two_papers() -> None:
    """C14: text alone never joins papers whose titles differ, long or short."""
    assert not one(record(title=TITLE), record(title="Reed Radios for Frozen Marshes"))
    assert not one(record(title="Bittern"), record(title="Heron"))


def test_the_same_abstract_without_titles_is_one_paper() -> None:
    assert one(record(), record(source="other.txt", number=7))
    assert one(record(), record(title=TITLE)), "a title that only one of them has does not part them"
    assert not one(record(BITTERN), record(DUNLIN))


def test_markup_and_small_differences_do_not_part_abstracts() -> None:
    plain = (
        "We bound the error of Kestrel by O(n log n) for all α > 0 and prove that the bound is tight. "
        + DUNLIN
    )
    latex = plain.replace("O(n log n)", "$O(n \\log n)$").replace("α", "$\\alpha$").replace("prove", "show")
    assert SAME <= resemblance(plain, latex) < 1
    assert one(record(plain), record(latex))


def test_a_record_that_is_of_two_papers_makes_them_one() -> None:
    cited = record(BITTERN, title=TITLE, doi="10.1/x")
    preprint = record(DUNLIN, title="Maps of Mud", arxiv="2401.00001")
    bridge = record(GODWIT, doi="10.1/x", arxiv="2401.00001")
    assert not one(cited, preprint)
    assert sorted(belongs(bridge, {1: [cited], 2: [preprint]})) == [1, 2]


def test_text_alone_joins_an_abstract_to_one_titled_paper_only() -> None:
    """The closest; and never two titled papers through an untitled abstract between them."""
    near = BITTERN.replace("copper", "brass")
    groups = {
        1: [record(near, title="Heron")],
        2: [record(title="Reed Radios in Marshes")],
        3: [record(near)],
    }
    assert sorted(belongs(record(), groups)) == [2, 3]
    assert belongs(record(title=TITLE), {1: [record(), record(title="Heron")], 2: [record()]}) == [2]
    same_title = {
        1: [record(title=TITLE, authors=("Ada Reed",))],
        2: [record(title=TITLE, authors=("Bo Marsh",))],
    }
    assert len(belongs(record(), same_title)) == 1


def test_records_fall_apart_when_what_held_them_is_gone() -> None:
    cited, preprint = (
        record(title=TITLE, doi="10.1/x"),
        record(DUNLIN, title="Maps of Mud", arxiv="2401.00001"),
    )
    bridge = record(GODWIT, doi="10.1/x", arxiv="2401.00001")
    never = lambda a, b: False  # noqa: E731
    assert regrouped([cited, preprint, bridge], never) == [[cited, preprint, bridge]]
    assert regrouped([cited, preprint], never) == [[cited], [preprint]]
    assert regrouped([cited, preprint], lambda a, b: True) == [[cited, preprint]]


# ------------------------------------------------------------------------------------------- merging


def test_a_merged_paper_has_the_richest_value_of_each_field() -> None:
    listed = record(BITTERN, source="list.txt", number=3, heading="Marsh Days 2024")
    cited = record(
        BITTERN, source="refs.bib", title=TITLE, authors=("Ada Reed",), year=2024, venue="MARSH", doi="10.1/x",
        citekey="reed24",
    )  # fmt: skip
    full = record(
        BITTERN + " It sold well.", source="full.jsonl", title="Bittern", authors=("Ada Reed", "Bo Marsh"),
        url="https://papers.example/b",
    )  # fmt: skip
    paper = merged([listed, cited, full], key="reed24", paper_id=5)
    assert paper == Paper(
        id=5,
        key="reed24",
        label=TITLE,
        abstract=BITTERN + " It sold well.",
        title=TITLE,
        authors=("Ada Reed", "Bo Marsh"),
        year=2024,
        venue="MARSH",
        url="https://papers.example/b",
        doi="10.1/x",
        citekey="reed24",
        sources=("list.txt", "refs.bib", "full.jsonl"),
    )


def test_a_conference_beats_the_preprint_server_and_brings_its_year() -> None:
    preprint = record(venue="arXiv", venue_as_found="CoRR", year=2023, authors=("A. Reed",))
    printed = record(venue="ICML", venue_as_found="ICML 2024", year=2024, authors=("Ada Reed",))
    paper = merged([preprint, printed], key="k")
    assert (paper.venue, paper.venue_as_found, paper.year) == ("ICML", "ICML 2024", 2024)
    assert paper.authors == ("Ada Reed",), "the fuller names"
    assert merged([preprint, record(year=2020)], key="k").year == 2023


def test_the_version_of_a_preprint_is_told_by_its_link() -> None:
    assert version(record(url="https://arxiv.org/abs/2401.00001v2")) == "arXiv v2"
    assert version(record(url="https://arxiv.org/pdf/math/0309136v12.pdf")) == "arXiv v12"
    assert version(record(url="https://arxiv.org/abs/2401.00001")) == ""
    assert version(record(url="https://proceedings.mlr.press/v235/roe24a.html")) == ""


def test_the_authors_own_abstract_beats_a_longer_summary() -> None:
    summary = record(BITTERN * 3, note="Our summary, not the authors' abstract")
    assert merged([summary], key="k").note == "Our summary, not the authors' abstract"
    paper = merged([summary, record(BITTERN)], key="k")
    assert (paper.abstract, paper.note) == (BITTERN, "")


def test_an_untitled_paper_gets_a_label_of_its_file_and_number() -> None:
    paper = merged([record(BITTERN, number=12, heading="Marsh Days 2024")], key="k")
    assert paper.title == "" and paper.label.startswith("Marsh Days 2024 #12: ")


# ----------------------------------------------------------------------------------------------- keys


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"citekey": "reed:2024-a+b.c"}, "reed:2024-a+b.c"),
        ({"citekey": "reed 2024", "title": TITLE, "authors": ("Ada Réed",), "year": 2024}, "reed2024bittern"),
        ({"title": "On the Way", "authors": ("Plato",)}, "plato"),
        ({"title": "静かな湿地", "authors": ("田中 健",)}, "paper"),
        ({"title": TITLE}, "list-4"),
        ({"heading": "Marsh Days 2024 Papers"}, "marshdays2024-4"),
        ({"source": "沼.txt"}, "paper-4"),
    ],
    ids=str,
)
def test_keys_are_the_users_own_or_readable(fields: dict[str, object], key: str) -> None:
    assert key_for(record(number=4, **fields)) == key
