"""Files that people hand over by mistake or as another program wrote them. All texts are invented."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest
from reading import A1, A2, SAMPLES, T1, T2, problems, read_all, records

RDF = f"""<rdf:RDF
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:dcterms="http://purl.org/dc/terms/">
    <bib:Article rdf:about="https://a.example/1"><dcterms:abstract>{A1}</dcterms:abstract></bib:Article>
</rdf:RDF>"""
ENDNOTE = f"""<?xml version="1.0" encoding="UTF-8" ?><xml><records><record>
<database name="My.enl" path="My.enl">My.enl</database><source-app name="EndNote" version="20">EndNote</source-app>
<abstract><style face="normal">{A1}</style></abstract></record></records></xml>"""
PUBMED = f"""1. J Pebb. 2024 Jan 3;3(1):1-9. doi: 10.1234/x.

{T1}.

Roe A(1), Poe B(2).

Author information:
(1)Marsh University, Reedham, Reedland.

{A1}

DOI: 10.1234/x
PMID: 31207604


2. J Pebb. 2023 Feb;2(1):1-2.
"""


@pytest.mark.parametrize(
    ("text", "name", "remedy"),
    [
        (RDF, "Zotero's RDF", "In Zotero"),
        (ENDNOTE, "EndNote's XML", "In EndNote"),
        (f"<modsCollection xmlns='http://www.loc.gov/mods/v3'><mods><abstract>{A1}", "MODS", "BibTeX"),
        (f'<article article-type="research-article"><front><abstract><p>{A1}', "JATS", "BibTeX"),
        (f'<?xml version="1.0"?>\n<rss version="2.0"><channel><description>{A1}', "an RSS feed", "BibTeX"),
        (f"<!DOCTYPE html>\n<html><body><p>{A1}</p>", "an HTML page", "copy the papers' texts"),
        (f"<!-- saved from url=(17)https://a.example -->\n<html><body>{A1}", "an HTML page", "BibTeX or RIS"),
        (f'<div class="paper"><h3>{T1}</h3><p>{A1}</p></div>', "an HTML page", "BibTeX or RIS"),
        (f"<records>\n  <record><abstract>{A1}</abstract>", "XML", "BibTeX"),
        (rf"{{\rtf1\ansi\pard {A1}\par {A2}\par}}", "rich text (RTF)", "plain text"),
        (f"% draft\n\\documentclass{{article}}\n\\begin{{abstract}}\n{A1}\n", "LaTeX source", "PDF"),
        (PUBMED, "PubMed's list for reading", "PubMed (nbib)"),
        (f"1: Roe A, Poe B. {T1}. J Pebb. 2024 Jan;3(1):1-9. PMID: 31207604.\n", "PubMed's list for reading", "nbib"),
    ],
)  # fmt: skip
def test_a_format_that_is_not_read_is_named(tmp_path: Path, text: str, name: str, remedy: str) -> None:
    [problem] = read_all(tmp_path, text)
    assert problem.cause == f"this is {name}, which is not read" and remedy in problem.remedy


@pytest.mark.parametrize("text", [f"<p>{A1}</p>\n\n<p>{A2}</p>\n", f"<i>We</i> <b>sort</b>. {A1}\n\n{A2}\n"])
def test_a_list_with_tags_in_it_is_a_list(tmp_path: Path, text: str) -> None:
    got = read_all(tmp_path, text)
    assert len(records(got)) == 2 and not problems(got) and A2 == records(got)[1].abstract


def test_old_office_files_and_tar_archives_are_named(tmp_path: Path) -> None:
    [problem] = read_all(tmp_path, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(3_000))
    assert problem.cause == "not text but an old Word or Excel file"
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        tar.add(__file__, "a.bib")
    [problem] = read_all(tmp_path, out.getvalue())
    assert problem.cause == "not text but a tar archive"


LISTING = rf"""------------------------------------------------------------------------------
Send any comments regarding submissions directly to submitter.
------------------------------------------------------------------------------
 received from  Mon 1 Jan 24 19:00:00 GMT  to  Tue 2 Jan 24 19:00:00 GMT
------------------------------------------------------------------------------
\\
arXiv:2401.00001
Date: Mon, 1 Jan 2024 10:00:00 GMT   (123kb,D)

Title: {T1}
Authors: Ann Roe, Bob Poe and
  Cay Doe
Categories: cs.LG cs.AI
Comments: 9 pages
\\
  {A1[:60]}
{A1[60:]}
\\ ( https://arxiv.org/abs/2401.00001 ,  123kb)
------------------------------------------------------------------------------
\\
arXiv:2401.00002
Date: Tue, 2 Jan 2024 11:00:00 GMT   (50kb)

Title: {T2}
Authors: Dan Moe
Categories: cs.LG
Journal-ref: Proceedings of ICML 2024
\\
  {A2}
\\ ( https://arxiv.org/abs/2401.00002 ,  50kb)
"""


def test_arxivs_daily_mail(tmp_path: Path) -> None:
    one, two = read_all(tmp_path, LISTING)
    assert (one.title, one.abstract, one.authors, one.year) == (
        T1,
        A1,
        ("Ann Roe", "Bob Poe", "Cay Doe"),
        2024,
    )
    assert (one.arxiv, one.url) == ("2401.00001", "https://arxiv.org/abs/2401.00001")
    assert (two.title, two.abstract, two.authors, two.venue) == (T2, A2, ("Dan Moe",), "ICML")


@pytest.mark.parametrize(
    "columns",
    [
        {"title": [T1, T2], "abstract": [A1, A2], "year": [2024, None]},
        {"Title": {"0": T1, "1": T2}, "Abstract": {"0": A1, "1": A2}, "year": {"0": 2024, "1": None}},
    ],
)
def test_a_table_as_pandas_writes_it_to_json(tmp_path: Path, columns: object) -> None:
    got = read_all(tmp_path, json.dumps(columns))
    assert [(r.number, r.title, r.abstract, r.year) for r in records(got)] == [
        (1, T1, A1, 2024),
        (2, T2, A2, None),
    ]


def test_an_abstract_in_parts_is_no_table(tmp_path: Path) -> None:
    [got] = read_all(
        tmp_path, json.dumps({"title": T1, "abstract": [A1, A2], "authors": ["Ann Roe", "Bob Poe"]})
    )
    assert (got.title, got.abstract) == (T1, f"{A1} {A2}")


@pytest.mark.parametrize("more", ["", " Year |"])
def test_a_markdown_table(tmp_path: Path, more: str) -> None:
    cells = " 2024 |" if more else ""
    head = f"| Title | Abstract |{more}\n|:---|---:|{'---|' if more else ''}\n"
    text = f"{head}| {T1} | {A1} |{cells}\n| {T2} | - |{cells}\n"
    got = read_all(tmp_path, text)
    assert [(r.title, r.abstract) for r in records(got)] == [(T1, A1)]
    assert [(p.cause, p.record, p.line) for p in problems(got)] == [("no abstract", 2, 4)]


@pytest.mark.parametrize("text", [f'"{T1}","{A1}",2024\n"{T2}","{A2}",2024\n', f"{T1}\t{A1}\n{T2}\t{A2}\n"])
def test_a_table_without_names_of_columns(tmp_path: Path, text: str) -> None:
    [problem] = read_all(tmp_path, text)
    assert problem.cause == "a table whose first line does not name its columns"
    assert problem.remedy == "Write the names of the columns above it, such as Title and Abstract"


def test_lines_of_one_cell_are_no_table(tmp_path: Path) -> None:
    assert [r.abstract for r in records(read_all(tmp_path, f"{A1}\n\n{A2}\n"))] == [A1, A2]
    assert [r.abstract for r in records(read_all(tmp_path, f"\t{A1}\n\n\t{A2}\n"))] == [A1, A2]


def test_titles_alone_are_no_abstract(tmp_path: Path) -> None:
    [problem] = read_all(tmp_path, f"{T1}\nRadios That Sleep Through the Winter\nDrones That Rest\n")
    assert problem.cause == "nothing in it looks like an abstract"
    got = read_all(
        tmp_path, f"{A1}\n\n{T1}\nRadios That Sleep Through the Winter\nDrones That Rest\nGulls\n\n{A2}\n"
    )
    assert [r.abstract for r in records(got)] == [A1, A2]
    assert [(p.cause, p.line) for p in problems(got)] == [("titles without abstracts", 3)]


@pytest.mark.parametrize("name", ["BibTeX", "RIS", "JSON Lines", "Markdown"])
def test_a_cut_gzip_file_gives_what_stands_before_the_cut(tmp_path: Path, name: str) -> None:
    packed = gzip.compress((SAMPLES[name] + "".join(f"\n{n * 7919 % 10007}" for n in range(500))).encode())
    got = read_all(tmp_path, packed[:-20])
    assert records(got)[0].abstract == A1
    [told] = [p for p in problems(got) if "gzip" in p.cause]
    assert told.cause.endswith("marker was reached; what stands before the damage was read")
    [problem] = read_all(tmp_path, packed[:12])
    assert problem.cause.startswith("the gzip file is damaged: ")


def test_crossrefs_headings_stand_apart_from_the_text(tmp_path: Path) -> None:
    part = f"<jats:sec><jats:title>Methods</jats:title><jats:p>{A1}</jats:p></jats:sec>"
    text = f"<jats:title>Abstract</jats:title>{part}"
    [got] = read_all(tmp_path, json.dumps([{"title": T1, "abstract": text}]))
    assert got.abstract == f"Methods: {A1}"


def test_names_of_files_are_shown_without_what_a_terminal_obeys(tmp_path: Path) -> None:
    for name, shown in (("a\nb.bib", r"a\nb.bib"), ("\x1b[31m.bib", r"\x1b[31m.bib"), ("🐦 1.bib", "🐦 1.bib"),
                        ("\udcff.bib", r"\udcff.bib")):  # fmt: skip
        assert {r.source for r in records(read_all(tmp_path, SAMPLES["BibTeX"], name))} == {shown}
