"""RIS and its dialects, Web of Science's plain text, PubMed's nbib, EndNote's enw. All texts are invented."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from reading import A1, A2, SAMPLES, T1, T2, peak, problems, read_all, records

from rag.nouns import Problem, Record
from rag.readers import tagged


def ris(*lines: str) -> str:
    return "\n".join(["TY  - JOUR", *lines, "ER  - ", ""])


def test_a_ris_record(tmp_path: Path) -> None:
    one, two = read_all(tmp_path, SAMPLES["RIS"])
    assert isinstance(one, Record) and isinstance(two, Record)
    assert (one.title, one.abstract, one.authors) == (T1, A1, ("Ann Roe", "Bob van der Berg"))
    assert (one.year, one.venue, one.doi) == (2024, "The Journal of Pebbles", "10.1234/pebble.5")
    assert (one.number, one.line, one.url) == (1, 1, "https://doi.org/10.1234/pebble.5")
    assert (two.title, two.abstract, two.authors, two.line) == (T2, A2, ("C. Poe",), 11)


@pytest.mark.parametrize(
    ("dialect", "lines", "expected"),
    [
        (
            "Zotero",
            (f"TI  - {T1}", "DA  - 2021/02/01/", f"AB  - {A1}", "N1  - <p>a translated summary</p>"),
            ("", 2021, ()),
        ),
        (
            "EndNote",
            (
                f"TI  - {T1}",
                "T2  - J Pebbles",
                "PY  - 2021",
                "AU  - Roe, Ann, Jr.",
                f"AB  - {A1}",
                "ID  - 17",
            ),
            ("J Pebbles", 2021, ("Ann Roe Jr.",)),
        ),
        (
            "Scopus",
            (f"TI  - {T1}", "T2  - Pebbles", "J2  - Pebb.", "AU  - Roe, A.B.", "PY  - 2021", f"AB  - {A1}"),
            ("Pebbles", 2021, ("A.B. Roe",)),
        ),
        (
            "Web of Science",
            (
                f"TI  - {T1}",
                "T2  - PEBBLES",
                "AU  - Roe, AB",
                "DA  - SEP",
                "PY  - 2021",
                f"AB  - {A1}",
                "C3  - Marsh",
            ),
            ("PEBBLES", 2021, ("AB Roe",)),
        ),
        (
            "ProQuest",
            (f"T1  - {T1}", "JF  - Pebbles", "AU  - Roe, Ann B", "PY  - 2021", f"AB  - {A1}", "AN  - 221; 5"),
            ("Pebbles", 2021, ("Ann B Roe",)),
        ),
        (
            "Embase",
            (
                f"T1  - {T1}",
                "JO  - Pebbles",
                "Y1  - 2021",
                "A1  - van der Roe A.-B.",
                "A1  - Poe C.",
                f"N2  - {A1}",
            ),
            ("Pebbles", 2021, ("A.-B. van der Roe", "C. Poe")),
        ),
        (
            "Ovid",
            (f"TI  - {T1}", "T2  - Pebbles", "DA  - 2021///", f"AB  - {A1}", "SP  - No", "EP  - Specified"),
            ("Pebbles", 2021, ()),
        ),
        ("Rayyan", (f"TI  - {T1}", "KW  - a", "b", "", f"AB  - {A1[:56]}", A1[56:].strip()), ("", None, ())),
        ("no blanks", (f"TI  -{T1}", f"AB  -{A1}"), ("", None, ())),
        ("two parts", (f"TI  - {T1}", f"AB  - {A1[:56]}", f"AB  - {A1[56:].strip()}"), ("", None, ())),
        ("a thesis", (f"TI  - {T1}", f"AB  - {A1}", "PB  - Marsh College"), ("Marsh College", None, ())),
    ],
)
def test_dialects(tmp_path: Path, dialect: str, lines: tuple[str, ...], expected: tuple[object, ...]) -> None:
    [got] = read_all(tmp_path, ris(*lines))
    assert isinstance(got, Record)
    note = "a translated summary" if dialect == "Zotero" else ""
    assert (got.title, got.abstract, got.note, got.citekey) == (T1, A1, note, "")
    assert (got.venue, got.year, got.authors) == expected


def test_ris_keeps_a_key_that_is_no_number(tmp_path: Path) -> None:
    [got] = records(
        read_all(tmp_path, ris(f"AB  - {A1}", "ID  - roe24", "UR  - ftp://x", "UR  - https://p.example/1"))
    )
    assert (got.citekey, got.url) == ("roe24", "https://p.example/1")


def test_arxiv_and_openreview_in_ris(tmp_path: Path) -> None:
    [got] = records(
        read_all(
            tmp_path,
            ris(f"AB  - {A1}", "M1  - arXiv:2301.00001", "UR  - https://openreview.net/forum?id=aB3dE6gH9j"),
        )
    )
    assert (got.arxiv, got.openreview) == ("2301.00001", "aB3dE6gH9j")


def test_without_abstract_and_between_records(tmp_path: Path) -> None:
    one, two = ris(f"TI  - {T1}"), ris(f"AB  - {A2}")
    text = f"Provider: Marsh\nContent: text\n\n{one}\nAU  - Lost, Ann\nTI  - Lost\n\n{two}"
    got = read_all(tmp_path, text)
    assert [r.abstract for r in records(got)] == [A2]
    assert [(p.cause.split(":")[0], p.record, p.line, p.field) for p in problems(got)] == [
        ("no abstract", 1, 4, "abstract"),
        ("lines that belong to no record", None, 8, ""),
    ]
    assert records(got)[0].number == 2


def test_a_record_that_is_not_closed(tmp_path: Path) -> None:
    text = f"TY  - JOUR\nAB  - {A1}\n\nTY  - JOUR\nTI  - {T2}\nAB  - {A2[:60]}"
    got = read_all(tmp_path, text)
    assert [(r.abstract, r.line) for r in records(got)] == [(A1, 1), (A2[:60].strip(), 4)]
    assert [(p.record, p.line, p.cause) for p in problems(got)] == [
        (2, 4, "the file ends inside this record, which may be cut; what is there was read")
    ]


def test_nbib(tmp_path: Path) -> None:
    more = "LID - S0140-67 [pii]\nAID - 10.1234/pebble.5 [doi]\nCN  - Gravel Group\nAD  - Marsh,\n      Reedham\n"
    one, two = records(read_all(tmp_path, SAMPLES["nbib"].replace("\nPMID- 12", more + "\nPMID- 12")))
    assert (one.title, one.abstract, one.authors) == (T1, A1, ("Ann B Roe", "Gravel Group"))
    assert (one.year, one.venue, one.doi) == (2021, "The Journal of Pebbles", "10.1234/pebble.5")
    assert (one.url, two.url) == (
        "https://pubmed.ncbi.nlm.nih.gov/11/",
        "https://pubmed.ncbi.nlm.nih.gov/12/",
    )
    assert (two.title, two.abstract, two.number) == (T2, A2, 2)


def test_nbib_falls_back_on_short_names_and_other_languages(tmp_path: Path) -> None:
    [got] = records(
        read_all(
            tmp_path, f"PMID- 1\nTT  - Kiesel\nAU  - Roe AB\nAU  - de la Poe C\nOAB - {A1}\nTA  - J Pebb\n"
        )
    )
    assert (got.title, got.authors, got.abstract, got.venue) == (
        "Kiesel",
        ("AB Roe", "C de la Poe"),
        A1,
        "J Pebb",
    )


def test_web_of_science(tmp_path: Path) -> None:
    full = SAMPLES["Web of Science"].replace(
        "TI Sorting", "AF Roe, Ann\n   Poe, Bob\nDI 10.1234/x\nTI Sorting"
    )
    one, two = records(read_all(tmp_path, full))
    assert (one.title, one.abstract, one.authors) == (T1, A1, ("Ann Roe", "Bob Poe"))
    assert (one.year, one.venue, one.doi, one.line) == (2021, "JOURNAL OF PEBBLES", "10.1234/x", 3)
    assert (two.title, two.abstract, two.line) == (T2, A2, 15)
    assert records(read_all(tmp_path, SAMPLES["Web of Science"]))[0].authors == ("A Roe", "B Poe")


def test_enw(tmp_path: Path) -> None:
    text = SAMPLES["enw"].replace(
        "%D 2021", "%D 2021\n%F roe21\n%U https://pebbles.example/1\n%R 10.1234/x\n%[ 2024"
    )
    one, two = records(read_all(tmp_path, text))
    assert (one.title, one.abstract, one.authors, one.year) == (T1, A1, ("Ann Roe",), 2021)
    assert (one.citekey, one.url, one.doi) == ("roe21", "https://pebbles.example/1", "10.1234/x")
    assert (one.venue, two.title, two.abstract) == ("The Journal of Pebbles", T2, A2)


def test_a_record_without_end_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagged, "RECORD_LIMIT", 1_000)
    small, large = (
        ris(f"AB  - {A1}") + "TY  - JOUR\n" + "AB  - pebbles\n" * n + ris(f"AB  - {A2}")
        for n in (5_000, 20_000)
    )
    got = read_all(tmp_path, large)
    assert [r.abstract for r in records(got)] == [A1, A2]
    assert [(p.record, p.line, "more than 1,000 characters" in p.cause) for p in problems(got)] == [
        (2, 4, True)
    ]
    assert peak(tmp_path, large) < 2 * peak(tmp_path, small)


@pytest.mark.parametrize("name", ["RIS", "nbib", "Web of Science", "enw"])
def test_content_decides_and_not_the_name(tmp_path: Path, name: str) -> None:
    for file in ("a.txt", "a.bib", "a.json"):
        assert [r.abstract for r in records(read_all(tmp_path, SAMPLES[name], file))] == [A1, A2]
    assert not problems(read_all(tmp_path, SAMPLES[name].replace("\n", "\r\n")))


def test_prose_that_only_mentions_tags_is_prose(tmp_path: Path) -> None:
    for text in (
        f"TY is a tag of RIS. {A1}",
        f"PT J, ER and EF stand in lines. {A1}",
        f"The %0 of enw. {A1}",
    ):
        [got] = read_all(tmp_path, text)
        assert not isinstance(got, Problem) and got.abstract == text


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("  - ", " - "),
        lambda text: re.sub(r"^\w\w(?=  - )", lambda tag: tag[0].lower(), text, flags=re.M),
        lambda text: re.sub(r"^\w\w(?=  - )", lambda tag: tag[0].lower(), text, flags=re.M).replace(
            "  - ", " - "
        ),
        lambda text: text.replace("  - ", "\t- "),
        lambda text: re.sub(r"^", "  ", text, flags=re.M),
    ],
    ids=["one blank", "small letters", "both", "tab", "indented"],
)
def test_tags_written_otherwise(tmp_path: Path, change: Callable[[str], str]) -> None:
    usual = read_all(tmp_path, SAMPLES["RIS"])
    assert read_all(tmp_path, change(SAMPLES["RIS"])) == usual


def test_usual_tags_are_needed_in_a_usual_record(tmp_path: Path) -> None:
    [got] = records(read_all(tmp_path, ris(f"AB  - {A1[:56]}", "AB - blood group", A1[56:].strip())))
    assert got.abstract == f"{A1[:56]} AB - blood group {A1[56:].strip()}"


@pytest.mark.parametrize(
    "lines",
    [
        ("CT  - A title", "Y1  - 2024/03//", "A2  - Roe, Ann", "M3  - 10.1234/Pebble.5"),
        ("T1  - A title", "PY  - 2024/03//", "A1  - Roe, Ann", "L3  - 10.1234/Pebble.5"),
        ("TI  - A title", "PY  - 2024///", "AU  - Roe, Ann", "DO  - https://doi.org/10.1234/Pebble.5"),
        ("ST  - A title", "Y1  - 2024 Mar", "AU  - Roe, Ann", "UR  - http://dx.doi.org/10.1234/Pebble.5"),
    ],
)
def test_tags_that_dialects_put_elsewhere(tmp_path: Path, lines: tuple[str, ...]) -> None:
    [got] = records(read_all(tmp_path, ris(*lines, f"N2  - {A1}")))
    assert (got.title, got.authors) == ("A title", ("Ann Roe",))
    assert (got.year, got.doi) == (2024, "10.1234/pebble.5")
