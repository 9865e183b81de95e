"""BibTeX and BibLaTeX as people write them. All texts are invented."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import A1, A2, T1, peak, problems, read_all, records

from rag.nouns import Record
from rag.readers import bibtex


def entry(fields: str, key: str = "roe24", kind: str = "inproceedings") -> str:
    return f"@{kind}{{{key},\n  title = {{{T1}}},\n  abstract = {{{A1}}},\n  {fields}\n}}\n\n"


def only(tmp_path: Path, text: str) -> Record:
    [got] = records(read_all(tmp_path, text))
    return got


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("key", ["marsh24", "Marsh24"])
def test_crossref(tmp_path: Path, first: bool, key: str) -> None:
    whole = (
        '@string{conf = "International Conference on Machine Learning"}\n'
        "@proceedings{marsh24, title = {Proceedings of the 41st } # conf, year = 2024, publisher = {PMLR}}\n"
    )
    part = entry(f"crossref = {{{key}}}") + entry('Crossref = "marsh24", year = 2023', "poe23")
    one, two = records(read_all(tmp_path, whole + part if first else part + whole))
    assert (one.venue, one.year, one.title) == ("ICML", 2024, T1)
    assert (two.venue, two.year, two.number) == ("ICML", 2023, 2)


def test_crossref_into_nothing_and_into_itself(tmp_path: Path) -> None:
    got = records(read_all(tmp_path, entry("crossref = {gone}") + entry("crossref = {poe24}", "poe24")))
    assert [(r.title, r.venue) for r in got] == [(T1, ""), (T1, T1)]


@pytest.mark.parametrize(
    "when",
    [
        "year = 2024",
        "year = {2024}",
        'date = "2024-07-21"',
        "date = {2024-07/2024-08}",
        "date = {2024}, year = {}",
    ],
)
@pytest.mark.parametrize("month", ["jul", "{July}", 'jul # "~8"', "{7}", "undefined"])
def test_years_and_months(tmp_path: Path, when: str, month: str) -> None:
    assert only(tmp_path, entry(f"month = {month}, {when}")).year == 2024


@pytest.mark.parametrize(
    ("title", "readable"),
    [
        (r"{{B}ayesian {N}ets}", "Bayesian Nets"),
        (r"{Sorting {Pebbles {in {Deep {Water}}}}}", "Sorting Pebbles in Deep Water"),
        (r"{Erd{\H{o}}s--R{\'e}nyi and {\O}re, {\ss} \& {\L}{\'o}d{\'z}}", "Erdős–Rényi and Øre, ß & Łódź"),
        (r'"{\"U}ber {"}Kiesel{"}"', 'Über "Kiesel"'),
        (r"{M{\^\i}ne {\c c}a \v{s} \~n}", "Mîne ça š ñ"),
        (r"{\emph{Pebbles} in $\mathbb{R}^d$}", r"Pebbles in $\mathbb{R}^d$"),
        (r"p # { and } # s", "Pebbles and Sand"),
        ("nomacro", "nomacro"),
        ("2048", "2048"),
    ],
)
def test_titles(tmp_path: Path, title: str, readable: str) -> None:
    text = (
        f'@string{{p = "Pebbles"}}\n@STRING(s = {{Sand}})\n@misc{{a, title = {title}, abstract = {{{A1}}}}}'
    )
    assert only(tmp_path, text).title == readable


@pytest.mark.parametrize(
    ("author", "people"),
    [
        ("Roe, Ann and van der Berg, Bob and {\\'E}mile Poe", ("Ann Roe", "Bob van der Berg", "Émile Poe")),
        ("Roe, Jr., Ann and Poe, Bob, III", ("Ann Roe Jr.", "Bob Poe III")),
        ("{Pebble and Sand Team} and {Marsh, Inc.}", ("Pebble and Sand Team", "Marsh, Inc.")),
        ("Anonymous", ()),
        ("Ann Roe\n  AND Bob Poe", ("Ann Roe", "Bob Poe")),
        ("Roe, A. B. and others", ("A. B. Roe",)),
    ],
)
def test_authors(tmp_path: Path, author: str, people: tuple[str, ...]) -> None:
    assert only(tmp_path, entry(f"author = {{{author}}}")).authors == people


@pytest.mark.parametrize(
    ("fields", "venue", "url"),
    [
        ("eprint = {2301.00001}, archivePrefix = {arXiv}", "arXiv", "https://arxiv.org/abs/2301.00001"),
        (
            "eprint = {2301.00001}, eprinttype = {arxiv}, journaltitle = {J. Pebbles}",
            "J. Pebbles",
            "https://arxiv.org/abs/2301.00001",
        ),
        (r"howpublished = {\url{https://pebbles.example/1}}", "", ""),
        (r"journal = jmlr, url = {https://pebbles.example/a\_b}", "JMLR", "https://pebbles.example/a_b"),
        (
            "booktitle = {First Conference on Language Modeling}, url = {https://openreview.net/forum?id=aB3dE6gH9j}",
            "COLM",
            "https://openreview.net/forum?id=aB3dE6gH9j",
        ),
        ("openreview = {aB3dE6gH9j}", "", "https://openreview.net/forum?id=aB3dE6gH9j"),
        ("school = {Marsh College}", "Marsh College", ""),
    ],
)
def test_venues_and_addresses(tmp_path: Path, fields: str, venue: str, url: str) -> None:
    got = only(tmp_path, entry(fields))
    assert (got.venue, got.url) == (venue, url)


def test_openreview_without_abstracts(tmp_path: Path) -> None:
    text = f"@inproceedings{{\nroe2024sorting,\ntitle={{{T1}}},\nyear={{2024}},\nurl={{https://openreview.net/forum?id=aB3dE6gH9j}}\n}}\n\n"
    got = read_all(tmp_path, text * 3)
    assert [(p.cause, p.record, p.line) for p in problems(got) if p.field == "abstract"] == [
        ("no abstract", 1, 1),
        ("no abstract", 2, 8),
        ("no abstract", 3, 15),
    ]


@pytest.mark.parametrize(
    "broken",
    [
        "@article{b,\n  title = {No closing brace,\n  abstract = {Lost.}\n",
        "@article{b,\n  title = {No brace at the end},\n  abstract = {Lost.}\n",
        "@article{b,\n  title = {No comma} abstract = {Lost.}}\n",
        '@article{b,\n  title = "No quote, abstract = {Lost.}\n}\n',
    ],
)
def test_a_broken_entry_costs_only_itself(tmp_path: Path, broken: str) -> None:
    got = read_all(tmp_path, entry("", "a") + broken + entry("", "c"))
    assert [r.citekey for r in records(got)] == ["a", "c"]
    assert [(p.line, p.record, p.cause.split(":")[0]) for p in problems(got)] == [(7, 2, "broken entry")]


def test_an_entry_without_end_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bibtex, "PIECE_LIMIT", 50_000)
    small, large = (
        entry("", "a") + "@article{b, abstract = {\n" + "pebbles and sand\n" * n for n in (10_000, 40_000)
    )
    got = read_all(tmp_path, large)
    assert [r.citekey for r in records(got)] == ["a"]
    assert [p.record for p in problems(got)] == [2]
    assert peak(tmp_path, large) < 2 * peak(tmp_path, small)


def test_macros_that_unfold_into_each_other_stay_small(tmp_path: Path) -> None:
    bomb = "@string{a0 = {pebbles }}\n" + "".join(
        f"@string{{a{n} = {' # '.join([f'a{n - 1}'] * 10)}}}\n" for n in range(1, 12)
    )
    got = only(tmp_path, bomb + f"@misc{{x, title = a11, abstract = {{{A2}}}}}")
    assert len(got.title) <= 20_000
