"""Markdown: lists of papers and pages with front matter. All texts are invented."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from shelf import BITTERN, DUNLIN, GODWIT

from rag.identity import merged
from rag.nouns import Problem, Record
from rag.readers import frontmatter, markdown, read
from rag.writers import write

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture
def file(tmp_path: Path):
    def write(content: str | bytes, name: str = "papers.md") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


FOLDED = f"""# **Awesome ICLR 2024 Marsh Papers**
This repository holds papers on marshes, of which there were 311 at that conference in that year of ours.

- [Contents](#contents)

---

### Radios That Sleep
> A short summary of the paper that somebody's program wrote.

<details open>
<summary>Details</summary>

- **Abstract**: {BITTERN}
- **OpenReview**: https://openreview.net/pdf?id=aB3dE6gH9j

</details>

### 2. [Shores From Ships](https://arxiv.org/abs/2401.00001)
<details>
<summary>Details</summary>

- **Abstract**: {DUNLIN}

</details>

### Drones at Rest
<details><summary>Details</summary>

- **Abstract**:
</details>
"""


def test_foldable_abstracts_below_headings(file) -> None:
    *got, problem = read(file(FOLDED))
    assert [(r.title, r.abstract, r.line) for r in got] == [
        ("Radios That Sleep", BITTERN, 8),
        ("Shores From Ships", DUNLIN, 19),
    ]
    assert (got[0].openreview, got[1].arxiv) == ("aB3dE6gH9j", "2401.00001")
    assert {(r.venue, r.year, r.heading) for r in got} == {("ICLR", 2024, "Awesome ICLR 2024 Marsh Papers")}
    assert (problem.cause, problem.record, problem.line) == ("no abstract", 3, 27)


def test_list_items_with_foldable_abstracts(file) -> None:
    text = f"""## ICML 2023

1. **Radios That Sleep** [[pdf](https://marsh.example/1.pdf)]
   - *Authors*: Ann Roe, Bob Poe and Cy Moe
   <details><summary>Abstract</summary> {BITTERN} </details>
2. [Shores From Ships](https://marsh.example/2), Ann Roe
   <details>
   <summary>Abstract</summary>

   {DUNLIN}

   </details>
3. [Lost Drones](https://marsh.example/3)
"""
    *got, problem = read(file(text))
    assert [(r.title, r.abstract, r.url, r.venue, r.year) for r in got] == [
        ("Radios That Sleep", BITTERN, "https://marsh.example/1.pdf", "ICML", 2023),
        ("Shores From Ships", DUNLIN, "https://marsh.example/2", "ICML", 2023),
    ]
    assert got[0].authors == ("Ann Roe", "Bob Poe", "Cy Moe")
    assert (problem.cause, problem.record, problem.line) == ("no abstract", 3, 13)


def test_a_labelled_abstract_goes_on_over_blank_lines(file) -> None:
    first, second = BITTERN.split(" In three ")
    text = f"## Radios\n**Authors:** Ann Roe\n\n**Abstract:**\n\n{first}\n\nIn three {second}\n\n**Code:** https://x.example\n"
    got = list(read(file(text + f"\n## Shores\n\n### Abstract\n\n{DUNLIN}\n")))
    assert [(r.title, r.abstract, r.authors) for r in got] == [
        ("Radios", BITTERN, ("Ann Roe",)),
        ("Shores", DUNLIN, ()),
    ]


def test_one_long_paragraph_below_each_heading(file) -> None:
    """What `pincite export --format markdown` writes."""
    papers = [
        merged([Record("x", 1, text, text, title=title, authors=("Ann Roe",), year=2024, venue="ICML",
                       url="https://marsh.example/a")], key=title)
        for title, text in (("Radios * That <Sleep>", BITTERN), ("Shores", DUNLIN), ("Drones", GODWIT))
    ]  # fmt: skip
    got = list(read(file("".join(write(papers, "markdown")))))
    assert [(r.abstract, r.url) for r in got] == [
        (text, "https://marsh.example/a") for text in (BITTERN, DUNLIN, GODWIT)
    ]
    assert [r.title for r in got][1:] == ["Shores", "Drones"]


def test_lists_below_venues_stay_plain_text(file) -> None:
    text = f"# ICML 2024 Papers\n\n{BITTERN}\n\n# ICLR 2023 Papers\n\n{DUNLIN}\n"
    assert not markdown.fits(text)
    assert [(r.abstract, r.venue) for r in read(file(text))] == [(BITTERN, "ICML"), (DUNLIN, "ICLR")]


def test_a_list_of_links_has_no_abstracts(file) -> None:
    text = "# Awesome Marshes\n\n## Papers\n\n- [Radios](https://a.example) - Ann Roe\n- [Shores](https://b.example)\n"
    got = list(read(file(text)))
    assert [(p.cause, p.record, p.line) for p in got] == [("no abstract", 1, 5), ("no abstract", 2, 6)]


# Front matter

PAGE = f"""---
title: 'Radios: That Sleep'
openreview: aB3dE6gH9j
abstract: {BITTERN[:60]}
  {BITTERN[60:].strip()}
layout: inproceedings
series: Proceedings of Machine Learning Research
id: roe24a
bibtex_author: Roe, Ann and Poe, Bob
author:
- given: Ann
  family: Roe
- given: Bob
  family: van der Poe
date: 2024-07-08
container-title: Proceedings of the 41st International Conference on Machine Learning
pdf: https://proceedings.mlr.press/v235/roe24a/roe24a.pdf
extras: []
# a comment
---

Some text below.
"""


def test_a_page_of_pmlr(file) -> None:
    [got] = read(file(PAGE))
    assert " ".join(got.abstract.split()) == " ".join((BITTERN[:60] + " " + BITTERN[60:].strip()).split())
    assert (got.title, got.authors) == ("Radios: That Sleep", ("Ann Roe", "Bob van der Poe"))
    assert (got.venue, got.year, got.citekey) == ("ICML", 2024, "roe24a")
    assert (got.openreview, got.pmlr) == ("aB3dE6gH9j", "v235/roe24a")


@pytest.mark.parametrize(
    ("text", "cause", "line"),
    [
        ("---\ntitle: a: b\n---\n", "not valid YAML: mapping values are not allowed", 2),
        ("---\ntitle: x\n", "not valid YAML: no line of dashes ends it", 1),
        ("---\ntitle: x\n---\n", "no abstract", 1),
        ("---\ntitle: &a x\nabstract: *a\n---\n", "not valid YAML: aliases (*name) are not read", 1),
        ("---\ntitle: " + "[" * 3000 + "\n---\n", "not valid YAML", 2),
    ],
)
def test_broken_front_matter_is_a_problem_with_its_line(file, text: str, cause: str, line: int) -> None:
    [problem] = read(file(text))
    assert isinstance(problem, Problem)
    assert problem.cause.startswith(cause) and problem.remedy and problem.record == 1


def test_front_matter_is_known_by_its_content() -> None:
    assert frontmatter.fits("---\nlayout: x\ntitle: y\n")
    assert not frontmatter.fits("---\n\nA rule, and below it a title: this one\n---\ntitle: x\n")


@pytest.mark.parametrize(
    "line",
    ["# a" + " " * 200_000 + "b", " \n" * 100_000, "\t" * 200_000, "[" * 200_000, "**" * 100_000, "<details" * 50_000,
     "- **a" * 60_000, "| " * 100_000, "1. [a" * 50_000, "---\n" * 50_000],
)  # fmt: skip
def test_long_lines_take_no_more_than_their_share(file, line: str) -> None:
    """Each takes hundredths of a second; an expression that looks back over and over would take minutes."""
    path = file(f"<details>\n{line}\n</details>\n")
    started = time.process_time()
    list(read(path))
    list(read(file(line)))
    assert time.process_time() - started < 5


EXPECTED = {"awesome_list_iclr24_llm_first20.md": (20, 0), "pmlr_v235_vesseron24a.md": (1, 0)}


@pytest.mark.shared
@pytest.mark.parametrize("name", EXPECTED)
def test_real_markdown(name: str) -> None:
    path = SHARED / "files" / name
    if not path.exists():
        pytest.skip(f"needs the development material {name}")
    got = list(read(path))
    records = [item for item in got if isinstance(item, Record)]
    assert (len(records), len(got) - len(records)) == EXPECTED[name]
    assert all(
        r.title and r.openreview and r.venue and r.year == 2024 and len(r.abstract) > 900 for r in records
    )
