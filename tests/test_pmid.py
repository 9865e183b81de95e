"""PubMed's numbers: found in each format, written and read back, and what papers are recognised by."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from reading import A1, A2, SAMPLES, T1, T2, read_all, records
from shelf import BITTERN, DUNLIN, put, record

from rag import schema
from rag.identity import identified, merged
from rag.library import Library
from rag.metadata import pmid
from rag.nouns import Paper
from rag.readers import read
from rag.writers import FORMS, Form, write

PAGE = "https://pubmed.ncbi.nlm.nih.gov/"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PMID:31207604", "31207604"),
        ("PMID: 031207604", "31207604"),
        ("pmid=31207604.", "31207604"),
        (f"{PAGE}31207604/?dopt=Abstract", "31207604"),
        ("https://www.ncbi.nlm.nih.gov/pubmed/31207604", "31207604"),
        ("http://www.ncbi.nlm.nih.gov/m/pubmed/31207604/", "31207604"),
        ("https://europepmc.org/article/MED/31207604", "31207604"),
        ("31207604", ""),  # any number may look so
        ("PMCID: PMC6579999", ""),
        ("PMID: 312076041", ""),
        ("PMID:0", ""),
        ("https://mypubmed.ncbi.nlm.nih.gov.example/31207604", ""),
        ("", ""),
    ],
)
def test_pmid(text: str, expected: str) -> None:
    assert pmid(text) == expected


def ris(*lines: str) -> str:
    return "\n".join(["TY  - JOUR", f"TI  - {T1}", f"AB  - {A1}", *lines, "ER  - ", ""])


def bib(fields: str) -> str:
    return f"@article{{roe24, title={{{T1}}}, abstract={{{A1}}}, {fields}}}"


@pytest.mark.parametrize(
    "text",
    [
        f"PMID- 11\nTI  - {T1}\nAB  - {A1}\n",
        f"PT J\nTI {T1}\nAB {A1}\nPM 11\nER\n",
        ris("AN  - 11", "DB  - PubMed"),
        ris("C2  - 11", "DB  - Scopus"),
        ris("C5  - 11", "DB  - Embase", "DB  - Medline"),
        ris(f"L2  - {PAGE}11/"),
        ris("N1  - PMID: 11"),
        bib("pmid = {11}"),
        bib("pmid = 11"),
        bib("eprint = {11}, eprinttype = {pubmed}"),
        bib("note = {PMID: 11}"),
        json.dumps([{"title": T1, "abstract": A1, "PMID": 11}]),
        json.dumps([{"title": T1, "abstract": A1, "id": "pmid:11"}]),
        json.dumps([{"title": T1, "abstract": A1, "externalIds": {"PubMed": "11"}}]),
        f'PMID,Title,Abstract\n11,{T1},"{A1}"\n',
        f'Title,Abstract,PubMed ID,Link\n{T1},"{A1}",11,\n',
        f"---\ntitle: {T1}\nabstract: {A1.replace(':', '')}\npmid: 11\n---\n",
        f"Title: {T1}\nAbstract: {A1}\nPMID: 11\n",
        f"## [{T1}]({PAGE}11/)\n\n**Abstract**: {A1}\n\n## [{T2}](https://a.example)\n\n**Abstract**: {A2}\n",
    ],
)
def test_every_format_has_a_place_for_it(tmp_path: Path, text: str) -> None:
    got = records(read_all(tmp_path, text))[0]
    assert (got.title, got.pmid, got.url) == (T1, "11", f"{PAGE}11/")


def test_pubmed_xml_states_it(tmp_path: Path) -> None:
    assert {r.pmid for r in records(read_all(tmp_path, SAMPLES["PubMed XML"]))} == {"11"}


@pytest.mark.parametrize(
    "text",
    [
        ris("AN  - 11", "DB  - PTSDpubs"),
        ris("C5  - 11", "C2  - 12"),
        ris("N1  - Comment in: PMID: 11"),
        bib("note = {Comment on PMID: 11}, eprint = {11}"),
    ],
)
def test_other_numbers_are_not_taken_for_it(tmp_path: Path, text: str) -> None:
    assert [r.pmid for r in records(read_all(tmp_path, text))] == [""]


def test_a_doi_gives_the_link_where_there_is_one(tmp_path: Path) -> None:
    [got] = records(read_all(tmp_path, bib("pmid = {11}, doi = {10.1234/x}")))
    assert (got.pmid, got.url) == ("11", "https://doi.org/10.1234/x")


# Written and read back

PAPER = Paper(
    id=1, key="roe24", label=T1, abstract=A1, title=T1, authors=("Ann Roe",), year=2024, url="https://marsh.example/1",
    venue="Marsh Letters", venue_as_found="Marsh Letters", pmid="31207604", citekey="roe24", sources=("papers.txt",),
)  # fmt: skip


@pytest.mark.parametrize("form", [form for form in FORMS if form != "markdown"])
def test_it_comes_back(tmp_path: Path, form: Form) -> None:
    (tmp_path / "papers.txt").write_text("".join(write([PAPER], form)))
    [got] = records(list(read(tmp_path / "papers.txt")))
    assert replace(merged([got], key="roe24"), id=1) == PAPER


def test_markdown_links_to_pubmed_where_there_is_no_doi() -> None:
    assert f"<{PAGE}31207604/>" in "".join(write([PAPER], "markdown"))
    text = "".join(write([replace(PAPER, doi="10.1234/x")], "markdown"))
    assert "<https://doi.org/10.1234/x>" in text and "pubmed" not in text


# Identity


def test_one_number_is_one_paper() -> None:
    one, two = record(BITTERN, title=T1, pmid="11"), record(DUNLIN, title=T2, pmid="11")
    assert identified(one, two) == "same PubMed id"
    assert identified(one, replace(two, pmid="12")) == ""


def test_a_library_of_before_learns_the_numbers_it_has_as_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_record = record(BITTERN, title=T1, url=f"{PAGE}11/", source="a.nbib")
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:4])
        old = Library(tmp_path)
        put(old, [old_record, record(DUNLIN, 2, url="https://marsh.example/", source="a.nbib")], "a.nbib")
        for i, text in old.db.execute("SELECT id, paper FROM papers").fetchall():
            before = {name: value for name, value in json.loads(text).items() if name != "pmid"}
            old.db.execute("UPDATE papers SET paper = ? WHERE id = ?", (json.dumps(before), i))
        old.put("names", "names/2")
        old.close()
    library = Library(tmp_path)
    [one, two] = library.papers()
    assert (one.pmid, two.pmid) == ("11", "")
    stored, told = (
        library.db.execute("SELECT paper FROM papers"),
        library.db.execute("SELECT record FROM records"),
    )
    assert [json.loads(text)["pmid"] for (text,) in stored] == ["11", ""]
    assert [json.loads(text).get("pmid") for (text,) in told] == ["11", None]

    again = [replace(old_record, pmid="11"), record(DUNLIN, 2, url="https://marsh.example/", source="a.nbib")]
    counts = put(library, again, "a.nbib")
    assert (counts.added, counts.changed, counts.joined) == (0, 0, 0)
    counts = put(library, [record(A1, title=T2, pmid="11")], "b.bib")
    assert (counts.added, counts.joined, library.size()[0]) == (0, 1, 2)
    assert library.paper(one.key) == replace(one, sources=("a.nbib", "b.bib"))  # no text is longer
    library.close()
