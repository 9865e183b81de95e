"""When two records are one paper, and what that paper is then."""

from __future__ import annotations

import pytest
from shelf import BITTERN, DUNLIN, record

from rag.identity import (
    EDITED,
    SAME,
    ids,
    key_for,
    likeness,
    merged,
    names,
    resemblance,
    same_paper,
    shingles,
    skeleton,
    sketch,
    title_name,
)
from rag.nouns import Paper, Record

TITLE = "Bittern: A Radio That Sleeps Through Winter"


def one(first: Record, second: Record, same_source: bool = False) -> bool:
    """Whether the second record tells of the paper that the first one made; the answer must not depend on
    which came first."""
    there = same_paper(second, merged([first], key="k"), same_source)
    back = same_paper(first, merged([second], key="k"), same_source)
    assert there == back
    return there


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
    assert len(sketch(BITTERN)) == 8 and sketch(BITTERN) == sketch(BITTERN.upper())
    assert set(sketch(BITTERN)) & set(sketch(BITTERN.replace("140", "141")))
    assert not set(sketch(BITTERN)) & set(sketch(DUNLIN))


def test_short_titles_name_no_paper() -> None:
    assert title_name("Introduction") == "title:introduction"  # twelve letters are the fewest that count
    assert title_name("Editorial") == "" and title_name("") == ""


def test_names_are_ids_title_text_and_sketch() -> None:
    found = names(record(title=TITLE, doi="10.1/AbC", arxiv="2401.00001"))
    assert found[:3] == ["doi:10.1/abc", "arxiv:2401.00001", f"title:{skeleton(TITLE)}"]
    assert [name.split(":")[0] for name in found[3:]] == ["text"] + ["sketch"] * 8
    assert names(record(title="Editorial"))[0].startswith("text:")


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
    assert one(mine, record(DUNLIN, title=TITLE)), "people and year unknown"


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


def test_only_a_new_version_in_the_same_file_may_differ_much() -> None:
    rewritten = BITTERN.replace(
        "In three winters Bittern lost 2 of 140 messages.", "It never lost a message."
    )
    assert EDITED <= resemblance(BITTERN, rewritten) < SAME
    assert one(record(), record(rewritten), same_source=True)
    assert not one(record(), record(rewritten), same_source=False)
    assert not one(record(title=TITLE), record(rewritten), same_source=True), "titled papers are told by it"


def test_of_several_matches_the_closest_is_best() -> None:
    """An identifier says more than a title, a title more than the text."""
    new = record(BITTERN, title=TITLE, doi="10.1/x")
    by_id = merged([record(DUNLIN, doi="10.1/x")], key="a")
    by_title = merged([record(DUNLIN, title=TITLE)], key="b")
    by_text = merged([record(BITTERN)], key="c")
    assert likeness(new, by_id) > likeness(new, by_title) > likeness(new, by_text)


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
