"""PubMed's XML and arXiv's Atom feeds. All texts are invented."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import (
    A1,
    A2,
    SAMPLES,
    T1,
    T2,
    abstract_text,
    entry,
    feed,
    peak,
    problems,
    pubmed,
    read_all,
    records,
)

from rag.readers import elements

SET = "<PubmedArticleSet>\n{}</PubmedArticleSet>\n"


def test_a_pubmed_article(tmp_path: Path) -> None:
    more = '<ELocationID EIdType="pii">S0140</ELocationID><ELocationID EIdType="doi">10.1234/Pebble.5</ELocationID>'
    [got] = records(
        read_all(tmp_path, SET.format(pubmed(f"{T1} with H<sub>2</sub><i>O</i>.", abstract_text(A1), more)))
    )
    assert (got.title, got.abstract) == (f"{T1} with H₂O.", A1)
    assert got.authors == ("Ann B Roe Jr", "Pebble, Sand and Gravel Group")
    assert (got.year, got.venue, got.doi) == (2021, "The Journal of Pebbles", "10.1234/pebble.5")
    assert (got.url, got.number, got.line) == ("https://pubmed.ncbi.nlm.nih.gov/11/", 1, 2)


def test_an_abstract_in_parts(tmp_path: Path) -> None:
    parts = (
        '<Abstract><AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND">We sort pebbles &amp; sand.</AbstractText>'
        '<AbstractText Label="UNLABELLED">It is\n fast (p&lt;0.05).</AbstractText><AbstractText Label="EMPTY"/>'
        "<AbstractText>β<sub>2</sub>.</AbstractText><CopyrightInformation>(c) Marsh</CopyrightInformation></Abstract>"
    )
    [got] = records(read_all(tmp_path, SET.format(pubmed(T1, parts))))
    assert got.abstract == "BACKGROUND: We sort pebbles & sand. It is fast (p<0.05). β₂."


def test_cited_articles_give_no_identifier(tmp_path: Path) -> None:
    cited = (
        "</MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType='pubmed'>11</ArticleId></ArticleIdList>"
        "<ReferenceList><Reference><ArticleIdList><ArticleId IdType='doi'>10.1/x</ArticleId></ArticleIdList>"
        "</Reference></ReferenceList></PubmedData>"
    )
    [got] = records(
        read_all(tmp_path, SET.format(pubmed(T1, abstract_text(A1)).replace("</MedlineCitation>", cited)))
    )
    assert got.doi == ""


def test_books_and_abstracts_in_another_language(tmp_path: Path) -> None:
    book = (
        "<PubmedBookArticle><BookDocument><PMID>12</PMID><Book><BookTitle>All Pebbles</BookTitle>"
        "<PubDate><Year>2019</Year></PubDate></Book><ArticleTitle>Sand</ArticleTitle>"
        f"<AuthorList><Author><LastName>Poe</LastName><Initials>B</Initials></Author></AuthorList>{abstract_text(A2)}"
        "</BookDocument></PubmedBookArticle>\n"
    )
    other = pubmed(T1, "").replace(
        "</Article>", f"</Article><OtherAbstract>{abstract_text(A1)[10:-11]}</OtherAbstract>"
    )
    one, two = records(read_all(tmp_path, SET.format(book + other)))
    assert (one.title, one.venue, one.year, one.authors) == ("Sand", "All Pebbles", 2019, ("B Poe",))
    assert (two.abstract, two.number) == (A1, 2)


def test_without_abstract(tmp_path: Path) -> None:
    got = read_all(tmp_path, SET.format(pubmed(T1, "") + pubmed(T2, abstract_text(A2))))
    assert [r.title for r in records(got)] == [T2]
    assert [(p.cause, p.record, p.line, p.field) for p in problems(got)] == [
        ("no abstract", 1, 2, "abstract")
    ]


def test_an_arxiv_feed(tmp_path: Path) -> None:
    more = "<arxiv:doi>10.1234/Pebble.5</arxiv:doi><arxiv:journal_ref>J. Pebbles 12:1-50,2024</arxiv:journal_ref>"
    one, two = records(
        read_all(tmp_path, feed(entry(f"Sorting\n  {T1}", A1, more) + entry(T2, A2, number=2)))
    )
    assert (one.title, one.abstract, one.authors) == (f"Sorting {T1}", A1, ("Ann Roe", "Bob van der Poe"))
    assert (one.year, one.venue, one.venue_as_found) == (2024, "J. Pebbles", "J. Pebbles 12:1-50,2024")
    assert (one.arxiv, one.doi, one.url, one.line) == (
        "2301.00001",
        "10.1234/pebble.5",
        "http://arxiv.org/abs/2301.00001v2",
        6,
    )
    assert (two.year, two.venue, two.arxiv, two.number) == (2023, "arXiv", "2301.00002", 2)


@pytest.mark.parametrize(
    ("said", "venue", "year"),
    [
        ("<arxiv:comment>Accepted at ICML 2024, 12 pages</arxiv:comment>", "ICML", 2024),
        ("<arxiv:comment>Submitted to ICML 2024</arxiv:comment>", "arXiv", 2023),
        ("<arxiv:comment>12 pages, on representation in ACL</arxiv:comment>", "arXiv", 2023),
        ("<arxiv:journal_ref>Pebbles, pp. 2010-2020</arxiv:journal_ref>", "Pebbles", 2023),
        (
            "<arxiv:journal_ref>The 40th International Conference on Machine Learning</arxiv:journal_ref>",
            "ICML",
            2023,
        ),
    ],
)
def test_where_an_arxiv_paper_was_published(tmp_path: Path, said: str, venue: str, year: int) -> None:
    [got] = records(read_all(tmp_path, feed(entry(T1, A1, said))))
    assert (got.venue, got.year) == (venue, year)


def test_replies_of_arxiv_that_look_like_success(tmp_path: Path) -> None:
    wrong = entry("Error", "incorrect id format for abc").replace(
        "http://arxiv.org/abs/2301.00001v2", "https://arxiv.org/api/errors#incorrect_id_format_for_abc"
    )
    for content, cause in (
        (feed(wrong, 1), "arXiv answered with an error: incorrect id format for abc"),
        (feed("", 0), "arXiv found no paper: the feed is empty"),
        (feed("", 4711), "the feed says that 4,711 papers match, but holds none of them"),
    ):
        [problem] = read_all(tmp_path, content)
        assert problem == problems([problem])[0]
        assert (problem.cause, "etch" in problem.remedy) == (cause, True)


@pytest.mark.parametrize(
    ("broken", "cause"),
    [
        (entry(T1, "Sand & gravel"), "not valid XML: xmlParseEntityRef: no name"),
        (entry(T1, "We < you"), "not valid XML: StartTag: invalid element name"),
        (entry(T1, "caf&eacute;"), "not valid XML: Entity 'eacute' not defined"),
        (entry(T1, "<b>bold"), "not valid XML: Opening and ending tag mismatch: b and summary"),
        (
            entry(T1, A1).replace("</entry>", ""),
            "<entry> is not closed, or has more than 4,000,000 characters",
        ),
        (entry(T1, "x" + "<i>" * 300 + "</i>" * 300), "not valid XML: Excessive depth in document: 256"),
    ],
)
def test_a_broken_element_costs_only_itself(tmp_path: Path, broken: str, cause: str) -> None:
    got = read_all(tmp_path, feed(entry(T2, A2, number=2) + broken + entry(T2, A2, number=3)))
    assert [(r.number, r.arxiv) for r in records(got)] == [(1, "2301.00002"), (3, "2301.00003")]
    [problem] = problems(got)
    assert problem.cause.startswith(cause) and problem.record == 2
    assert problem.line and 16 <= problem.line <= 26


@pytest.mark.parametrize("name", ["PubMed XML", "arXiv Atom"])
def test_no_entity_is_expanded_and_nothing_is_fetched(tmp_path: Path, name: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the pebbles are hidden in the sand")
    kinds = (
        '<!DOCTYPE x [<!ENTITY a "lollol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        f'<!DOCTYPE x [<!ENTITY b SYSTEM "{secret.as_uri()}">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd" [<!ENTITY % d SYSTEM "http://127.0.0.1:9/y.dtd"> %d;]>',
    )
    for kind in kinds:
        head, rest = SAMPLES[name].split("\n", 1)
        got = read_all(tmp_path, f"{head}\n{kind}\n{rest.replace(A1, A1 + ' &b;')}")
        assert [r.abstract for r in records(got)] == [A2]
        assert [p.cause for p in problems(got)] == ["not valid XML: Entity 'b' not defined"]
        got = read_all(tmp_path, f"{head}\n{kind}\n{rest}")
        assert [r.abstract for r in records(got)] == [A1, A2]


def test_xinclude_and_processing_instructions_do_nothing(tmp_path: Path) -> None:
    more = f'<?php x?><!-- {A2} --><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/hosts"/>'
    [got] = records(read_all(tmp_path, feed(entry(T1, f"{more}{A1}"))))
    assert got.abstract == A1


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "windows-1251", "utf-16", "utf-8"])
def test_the_stated_encoding_holds(tmp_path: Path, encoding: str) -> None:
    abstract = f"{'Песок' if encoding == 'windows-1251' else 'Größe, naïve'} of pebbles. {A1}"
    text = feed(entry(T1, abstract)).replace("UTF-8", encoding)
    assert [r.abstract for r in records(read_all(tmp_path, text.encode(encoding)))] == [abstract]
    assert not problems(read_all(tmp_path, text.encode(encoding)))


@pytest.mark.parametrize("encoding", ["idna", "rot13", "unicode_escape", "utf-7", "no-such-thing", "utf-16"])
def test_a_stated_encoding_that_cannot_be_is_passed_over(tmp_path: Path, encoding: str) -> None:
    assert len(records(read_all(tmp_path, SAMPLES["arXiv Atom"].replace("UTF-8", encoding)))) == 2


def test_many_articles_in_constant_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.readers.source.CHUNK", 5_000)
    small, large = (SET.format(pubmed(T1, abstract_text(A1)) * n).replace("\n", " ") for n in (150, 600))
    assert len(records(read_all(tmp_path, large))) == 600
    assert peak(tmp_path, large) < 2 * peak(tmp_path, small)


def test_an_endless_element_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.readers.source.CHUNK", 1_000)
    monkeypatch.setattr(elements, "ELEMENT_LIMIT", 20_000)
    got = read_all(tmp_path, feed(entry(T1, "pebbles " * 20_000) + entry(T2, A2)))
    assert [r.abstract for r in records(got)] == [A2]
    assert [p.cause for p in problems(got)] == ["<entry> is not closed, or has more than 20,000 characters"]


def test_other_xml_is_named(tmp_path: Path) -> None:
    [problem] = problems(read_all(tmp_path, "<?xml version='1.0'?><mods><title>x</title></mods>"))
    assert problem.cause == "this is MODS, which is not read"
