"""Readers: what comes out of files as people have them, broken ones among them. All texts are invented."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from rag.errors import InputError
from rag.nouns import Problem, Record
from rag.readers import read, sources
from rag.readers import source as source_module

SHARED = Path(__file__).parents[2] / "shared"
A1 = "We propose TidyNet, a small network for sorting pebbles. It needs 12 % less memory than before."
A2 = "Rivers are hard to model on a laptop. We show that a coarse grid is enough for nine of ten rivers."
A3 = "This paper introduces Lantern, a benchmark of 400 dark photographs. Nobody solves more than half."


def records(items: list[Record | Problem]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def problems(items: list[Record | Problem]) -> list[Problem]:
    return [item for item in items if isinstance(item, Problem)]


@pytest.fixture
def file(tmp_path: Path):
    def write(content: str | bytes, name: str = "papers.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# Plain text


def test_list_with_a_heading(file) -> None:
    got = list(read(file(f"ICML 2024 Papers\n\n{A1}\n\n{A2}\n")))
    assert got == records(got)
    assert [(r.number, r.line, r.abstract, r.title) for r in got] == [(1, 3, A1, ""), (2, 5, A2, "")]
    assert {(r.source, r.heading, r.venue, r.year) for r in got} == {
        ("papers.txt", "ICML 2024 Papers", "ICML", 2024)
    }


def test_windows_line_ends_byte_order_mark_tabs_and_wrapped_lines(file) -> None:
    wrapped = A1.replace("network ", "network\r\n")
    text = f"\ufeffICLR 2023 Papers\r\n \t\r\n\t{wrapped}\r\n \r\n\r\n{A2}\t\r\n"
    got = list(read(file(text)))
    assert [r.abstract for r in got] == [A1, A2]
    assert (got[0].line, got[0].heading) == (3, "ICLR 2023 Papers")


def test_a_hyphen_at_a_line_end_takes_no_space(file) -> None:
    [got] = read(file("We study multi-\nmodal sorting of pebbles, pre-\nand post-processing included.\n"))
    assert got.abstract == "We study multi-modal sorting of pebbles, pre- and post-processing included."


@pytest.mark.parametrize("heading", ["", "CVPR 2022 Papers\n\n", "My spring reading\n\n"])
def test_titles_above_abstracts(file, heading: str) -> None:
    text = (
        f"{heading}Sorting Pebbles\nwith TidyNet\n\n{A1}\n\nAre Coarse Grids Enough?\n\n{A2}\n\nLantern\n\n"
    )
    got = list(read(file(text + A3)))
    assert [r.title for r in got] == ["Sorting Pebbles with TidyNet", "Are Coarse Grids Enough?", "Lantern"]
    assert [r.abstract for r in got] == [A1, A2, A3]
    assert {r.heading for r in got} == {heading.strip()}


def test_one_paper_with_its_title(file) -> None:
    [got] = read(file(f"A Library for Sorting Pebbles\n\n{A1}\n"))
    assert (got.title, got.heading, got.line) == ("A Library for Sorting Pebbles", "", 1)


def test_a_list_without_heading_loses_no_abstract(file) -> None:
    bare = [f"We sort pebbles of kind {n} with a method of {n} steps" for n in range(5)]  # no full stops
    assert [r.abstract for r in read(file("\n\n".join(bare)))] == bare
    assert [r.abstract for r in read(file(f"{A1}\n\n{A2}\n\n{A3}"))] == [A1, A2, A3]


def test_an_unknown_heading_gives_its_year_and_no_venue(file) -> None:
    got = records(list(read(file(f"Reading group, spring 2021\n\n{A1}\n\n{A2}\n"))))
    assert [(r.heading, r.venue, r.year) for r in got] == [("Reading group, spring 2021", "", 2021)] * 2


def test_two_lists_in_one_file(file) -> None:
    got = list(read(file(f"ICML 2024 Papers\n{A1}\n\nICLR 2023 abstracts:\n\n{A2}\n")))
    assert [(r.heading, r.venue, r.year, r.number) for r in got] == [
        ("ICML 2024 Papers", "ICML", 2024, 1),
        ("ICLR 2023 abstracts", "ICLR", 2023, 2),
    ]


def test_too_short_a_paragraph_is_a_problem_with_its_line(file) -> None:
    got = list(read(file(f"ICML 2024 Papers\n\n{A1}\n\nSee above.\n\nPage 12\n\n{A2}\n")))
    assert [r.abstract for r in records(got)] == [A1, A2]
    assert [(p.line, p.cause) for p in problems(got)] == [
        (5, "too short for an abstract"),
        (7, "too short for an abstract"),
    ]
    assert all(p.remedy for p in problems(got))


def test_a_title_without_an_abstract_is_a_problem(file) -> None:
    text = f"Sorting Pebbles\n\n{A1}\n\nA Paper That Has Lost Its Abstract on the Way\n\nLantern\n\n{A3}\n"
    got = list(read(file(text)))
    assert [(r.title, r.abstract) for r in records(got)] == [("Sorting Pebbles", A1), ("Lantern", A3)]
    assert [(p.line, p.cause) for p in problems(got)] == [(5, "a title without an abstract")]


def test_one_abstract_a_line(file) -> None:
    many = [f"We sort pebbles of kind {n}, and it takes {n} steps for all of them." for n in range(100)]
    assert [r.abstract for r in read(file("\n".join(many)))] == many
    long = [f"{A1} {A2} {A3}", f"{A3} {A2} {A1}"]
    got = list(read(file(f"First\n{long[0]}\nSecond\n{long[1]}\n")))
    assert [(r.title, r.abstract, r.line) for r in got] == [("First", long[0], 1), ("Second", long[1], 3)]


def test_enumerators_and_abstract_labels_are_left_out(file) -> None:
    inside = "We do two things: (1) we sort pebbles, and 2) we - as ever - count them."
    got = list(read(file(f"[1] {A1}\n\n2. {A2}\n\nAbstract\n\n- {A3}\n\n{inside}\n")))
    assert [r.abstract for r in got] == [A1, A2, A3, inside]


def test_same_abstract_twice_and_blank_records_between(file) -> None:
    """C15: readers keep both; telling them apart or joining them is not theirs."""
    assert [r.number for r in read(file(f"{A1}\n\n \n\n\t\n\n{A1}\n"))] == [1, 2]


def test_chinese_has_no_spaces_to_count_words_by(file) -> None:
    abstract = "我们提出了一种新的方法，用来整理河边的石头。它比以前的方法更快，并且只需要很少的内存。"
    assert [r.abstract for r in read(file(f"{abstract}\n\n{abstract}"))] == [abstract] * 2


# Files that are none, or hardly


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "the file is empty"),
        (b" \n\t\n   ", "nothing but white space"),
        (b" \n" * 100_000, "nothing but white space"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "not text but a PNG image"),
        (bytes(range(256)) * 9, "not text but binary data"),
        (b"[main]\nkey = value\n", "nothing in it looks like an abstract"),
        (b"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlq\n" * 9, "nothing in it looks like an abstract"),
        (b"[]", "no paper in it"),
        (b"<?xml version='1.0'?>\n<feed></feed>", "this is XML, which is not read"),
    ],
)
def test_one_problem_with_cause_and_remedy(file, content: bytes, cause: str) -> None:
    """C27: also under a name that promises text."""
    [problem] = read(file(content))
    assert isinstance(problem, Problem)
    assert (problem.source, problem.cause) == ("papers.txt", cause)
    assert problem.remedy


def test_unknown_content_names_what_is_read(file) -> None:
    [problem] = problems(list(read(file(b"[main]\nkey = value\n"))))
    for name in ("plain text", "JSON Lines", "JSON", "BibTeX", "gzip"):
        assert name in problem.remedy


def test_a_word_about_abstracts_and_commas_is_no_table(file) -> None:
    assert len(list(read(file("In abstract terms, we sort pebbles, rocks, and sand, by their weight.")))) == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_byte_order_marks_tell_the_encoding(file, encoding: str) -> None:
    text = f"ICML 2024 Papers\r\n\r\nNaïve “sorting” of pebbles – a study. {A1}\r\n"
    [got] = read(file(text.encode(encoding)))
    assert got.abstract == f"Naïve “sorting” of pebbles – a study. {A1}"


@pytest.mark.parametrize(
    ("encoding", "said"), [("cp1252", "cp1252"), ("utf-16-le", "utf-16-le"), ("utf-16-be", "utf-16-be")]
)
def test_other_encodings_are_guessed_and_said_to_be(file, encoding: str, said: str) -> None:
    abstract = f"Naïve “sorting” of pebbles – a study. {A1}"
    got = list(read(file(f"ICML 2024 Papers\n\n{abstract}\n".encode(encoding))))
    assert [r.abstract for r in records(got)] == [abstract]
    [problem] = problems(got)
    assert said in problem.cause and "guess" in problem.cause


def test_dense_foreign_bytes_are_guessed_too(file) -> None:
    abstract = (
        "Мы предлагаем новый способ сортировки камней, который быстрее и точнее всех известных способов."
    )
    got = list(read(file(f"{abstract}\n\n{abstract}\n".encode("cp1251"))))
    assert [r.abstract for r in records(got)] == [abstract] * 2
    assert problems(got)[0].cause == "the encoding was guessed to be cp1251"


def test_one_wrong_byte_spoils_nothing_else(file) -> None:
    got = list(read(file(f"{A1} Größe\n\n{A2}".encode() + b" caf\xe9.\n")))
    assert [r.abstract for r in records(got)] == [f"{A1} Größe", f"{A2} café."]
    assert [(p.line, "cp1252" in p.cause) for p in problems(got)] == [(3, True)]


def test_a_huge_single_line_stays_within_bounds(file, monkeypatch) -> None:
    """C28, at a hundredth of the size."""
    monkeypatch.setattr(source_module, "LINE_LIMIT", 80_000)
    path = file("pebbles and more " * 30_000)
    tracemalloc.start()
    got = list(read(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [p.cause.split(" (")[0] for p in problems(got)][0] == "too long for an abstract"
    assert "its rest was not read" in problems(got)[1].cause
    assert len(got) == 2
    assert peak < 3_000_000


def test_json_lines_are_read_in_constant_memory(file) -> None:
    path = file("".join(json.dumps({"title": f"T{n}", "abstract": A1}) + "\n" for n in range(12_000)))
    tracemalloc.start()
    assert sum(1 for _ in read(path)) == 12_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < path.stat().st_size / 2


# gzip


def test_gzip_is_known_by_its_content(file) -> None:
    [got] = read(file(gzip.compress(f"ICML 2024 Papers\n\n{A1}\n".encode()), "papers.txt"))
    assert (got.abstract, got.source) == (A1, "papers.txt")
    [got] = read(file(f"ICML 2024 Papers\n\n{A1}\n", "papers.txt.gz"))
    assert got.abstract == A1


def test_a_cut_gzip_file_gives_what_it_holds(file) -> None:
    lines = "".join(json.dumps({"abstract": f"{A1} {n}"}) + "\n" for n in range(9_000))
    packed = gzip.compress(lines.encode())
    got = list(read(file(packed[: len(packed) // 2])))
    assert records(got)[0].abstract == f"{A1} 0"
    assert len(records(got)) > 1000
    assert [p.cause.split(":")[0] for p in problems(got)][-1] == "the gzip file is damaged"


def test_a_gzip_bomb_is_refused(file, monkeypatch) -> None:
    monkeypatch.setattr(source_module, "GZIP_FREE", 100_000)
    packed = gzip.compress(b"pebbles and more " * 200_000)
    assert len(packed) * source_module.GZIP_RATIO < 17 * 200_000
    [problem] = read(file(packed))
    assert "unfolds to more than" in problem.cause


# JSON Lines and JSON

FULL = {
    "Title": "Sorting {P}ebbles",
    "Abstract": A1,
    "authors": ["Ann Roe", "Poe, Bob"],
    "year": 2024,
    "venue": "ICML 2024 poster",
    "url": "https://openreview.net/forum?id=aB3dE6gH9j",
    "id": "roe24",
}


def expect_full(record: Record) -> None:
    assert (record.title, record.title_found) == ("Sorting Pebbles", "Sorting {P}ebbles")
    assert (record.abstract, record.authors) == (A1, ("Ann Roe", "Bob Poe"))
    assert (record.year, record.venue, record.venue_as_found) == (2024, "ICML", "ICML 2024 poster")
    assert (record.openreview, record.citekey) == ("aB3dE6gH9j", "roe24")


@pytest.mark.parametrize("key", ["papers", "records", "data", "results", "notes"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_inside_an_object(file, key: str, indent: int | None) -> None:
    got = list(read(file(json.dumps({"count": 2, "source": {"a": []}, key: [FULL, FULL]}, indent=indent))))
    assert len(got) == 2
    expect_full(got[1])


@pytest.mark.parametrize("indent", [None, 4])
def test_an_array_and_a_single_object(file, indent: int | None) -> None:
    got = list(read(file(json.dumps([FULL, FULL], indent=indent))))
    assert [r.number for r in got] == [1, 2]
    expect_full(got[0])
    expect_full(next(iter(read(file(json.dumps(FULL, indent=indent))))))


def test_an_array_with_an_object_a_line_is_no_json_lines(file) -> None:
    text = "[\n" + ",\n".join(json.dumps(FULL) for _ in range(3)) + "\n]\n"
    assert [(r.number, r.line) for r in read(file(text))] == [(1, 2), (2, 3), (3, 4)]
    wrapped = '{"papers": [\n' + ",\n".join(json.dumps(FULL) for _ in range(3)) + "\n]}\n"
    assert [(r.number, r.line) for r in read(file(wrapped))] == [(1, 2), (2, 3), (3, 4)]


def test_a_lone_bad_line_costs_only_itself(file) -> None:
    good = json.dumps({"title": "T", "abstract": A1})
    got = list(read(file(f'{good}\n\n{{"abstract": "x" "y"}}\n[1]\nnull\n{good}\n')))
    assert [r.line for r in records(got)] == [1, 6]
    assert [(p.line, p.record, p.cause) for p in problems(got)] == [
        (3, 2, "not valid JSON: Expecting ',' delimiter (column 18)"),
        (4, 3, "a list stands where a paper should"),
        (5, 4, "null stands where a paper should"),
    ]


def test_a_broken_object_of_an_array(file) -> None:
    good = json.dumps({"title": "T", "abstract": A1}, indent=2).replace("\n", "\n  ")
    got = list(read(file(f'[\n  {good},\n  {{"abstract": "x" "y"}},\n  {good}\n]')))
    assert [type(item) for item in got] == [Record, Problem, Record]
    assert got[1].line == 6
    got = list(read(file(json.dumps([FULL, FULL, FULL])[:-40])))
    assert [type(item) for item in got] == [Record, Record, Problem]
    assert got[2].cause == "not valid JSON: it breaks off in the middle"


def test_without_an_abstract_it_is_a_problem(file) -> None:
    rows = [{"title": "T"}, {"abstract": None}, {"abstract": " "}, {"abstract": "N/A"}, {"abstract": []}]
    got = list(read(file("\n".join(map(json.dumps, rows)))))
    assert [(p.cause, p.field, p.record, p.line) for p in problems(got)] == [
        ("no abstract", "abstract", n, n) for n in range(1, 6)
    ]
    assert records(got) == []


def test_too_long_for_an_abstract(file) -> None:
    got = list(read(file(json.dumps({"abstract": "pebble " * 3000}) + "\n" + json.dumps({"abstract": A1}))))
    assert [type(item) for item in got] == [Problem, Record]
    assert got[0].cause == "too long for an abstract (over 20,000 characters)"


def test_lone_surrogates_zero_bytes_and_null_values(file) -> None:
    """C24"""
    fields = (
        rb'"title": "Pebble\u0000Net \udbff v2", "abstract": "We sort \ud83d\ude00 pebbles\u0000 \udbffhere."'
    )
    [got] = read(file(b"{" + fields + b', "authors": null}'))
    assert (got.title, got.abstract, got.authors) == ("PebbleNet v2", "We sort 😀 pebbles here.", ())
    json.dumps([got.title_found, got.abstract_found], ensure_ascii=False).encode()


def test_lists_and_objects_where_strings_are_expected(file) -> None:
    row = {
        "abstract": ["We sort pebbles.", "It is fast."],
        "title": {"value": "T"},
        "year": ["2024"],
        "url": 5,
    }
    [got] = read(file(json.dumps(row)))
    assert (got.abstract, got.title, got.year, got.url) == ("We sort pebbles. It is fast.", "T", 2024, "")


@pytest.mark.parametrize(
    "row",
    [
        {"_id": "roe24", "title": "T", "text": A1, "metadata": {"year": 2024, "venue": "ICML"}},
        {"id": "roe24", "content": {k: {"value": v} for k, v in {"title": "T", "abstract": A1}.items()}}
        | {"venue": "ICML 2024"},
        {
            "citekey": "roe24",
            "name": "T",
            "summary": A1,
            "conference": "ICML",
            "published": "2024-07-08T00:00:00Z",
        },
        {
            "key": "roe24",
            "paper_title": "T",
            "abstractText": A1,
            "booktitle": "ICML",
            "publication_year": "2024",
        },
        {"bibkey": "roe24", "TITLE": "T", "paper_abstract": A1, "journal": {"name": "ICML"}, "date": "2024"},
    ],
)
def test_common_field_names(file, row: dict[str, object]) -> None:
    [got] = read(file(json.dumps(row)))
    assert (got.citekey, got.title, got.abstract, got.venue, got.year) == ("roe24", "T", A1, "ICML", 2024)


@pytest.mark.parametrize(
    ("row", "name", "value"),
    [
        ({"doi": "https://doi.org/10.1234/Pebble.5"}, "doi", "10.1234/pebble.5"),
        ({"externalIds": {"DOI": "10.1234/x", "ArXiv": "2301.00001"}}, "arxiv", "2301.00001"),
        ({"arxiv_id": "2301.00001v3"}, "arxiv", "2301.00001"),
        ({"url": "http://arxiv.org/abs/2301.00001v1"}, "arxiv", "2301.00001"),
        ({"pdf": "https://arxiv.org/pdf/2301.00001v2.pdf"}, "url", "https://arxiv.org/pdf/2301.00001v2.pdf"),
        ({"forum": "zzzzzzzzzz"}, "openreview", "zzzzzzzzzz"),
        ({"id": "aB3dE6gH9j"}, "openreview", "aB3dE6gH9j"),
        ({"id": "0123456789"}, "openreview", ""),
        ({"url": "https://proceedings.mlr.press/v235/roe24a.html"}, "pmlr", "v235/roe24a"),
    ],
)
def test_identifiers_of_json(file, row: dict[str, object], name: str, value: str) -> None:
    [got] = read(file(json.dumps(row | {"abstract": A1})))
    assert getattr(got, name) == value


def test_deep_nesting_and_giant_numbers_are_problems(file) -> None:
    people = '[{"name":' * 300 + '"x"' + "}]" * 300
    rows = [
        '{"abstract":' * 5000 + "1" + "}" * 5000,
        '{"abstract": "We sort.", "authors": ' + people + "}",
        '{"abstract": "We sort.", "year": ' + "9" * 5000 + "}",
        json.dumps({"abstract": A1}),
    ]
    got = list(read(file("\n".join(rows))))
    assert [type(item) for item in got] == [Problem, Problem, Problem, Record]
    assert len(list(read(file("[" * 100_000)))) == 1


# BibTeX

BIB = r"""% a comment { with @ signs
@string{icml = "International Conference on Machine Learning"}

@inproceedings{roe24,
  title     = {{B}ayesian {\textbf{ADAM}} for Erd{\H o}s--R{\'e}nyi $\mathbb{R}^d$},
  author    = {Roe, Ann and van der Berg, Bob and {\'E}mile Poe},
  booktitle = icml # " 2024",
  month     = jul,
  year      = 2024,
  url       = {https://proceedings.mlr.press/v235/roe24a.html},
  abstract  = {We sort 37-40% of the pebbles, a {nested {brace}} and
               $4.84$% points. It has "quotes", a = sign, and a@b.org in it.}
}
"""


def test_an_entry(file) -> None:
    """C26: braces, accents, formulas; macros, joined values, bare percent signs."""
    [got] = read(file(BIB))
    assert got.title == r"Bayesian ADAM for Erdős–Rényi $\mathbb{R}^d$"
    assert got.authors == ("Ann Roe", "Bob van der Berg", "Émile Poe")
    assert (got.venue, got.year, got.citekey, got.line, got.number) == ("ICML", 2024, "roe24", 4, 1)
    assert got.venue_as_found == "International Conference on Machine Learning 2024"
    assert got.abstract.startswith("We sort 37-40% of the pebbles, a nested brace and $4.84$% points. It has")
    assert got.pmlr == "v235/roe24a"


def test_broken_entries_cost_only_themselves(file) -> None:
    text = (
        f"@article{{a, title={{One}}, abstract={{{A1}}}}}\n"
        "@article{b,\n  title = {No closing brace,\n  abstract = {Lost.}\n}\n"
        f"@article{{c, title={{No Comma}} abstract={{{A2}}}}}\n"
        "@article{d\n  title={No comma after the key}, abstract={Lost.}}\n"
        f'@article(e, title="With {{"}}inner{{"}} quotes", abstract="{A3}")\n'
        "@article{f, abstract = {never closed"
    )
    got = list(read(file(text)))
    assert [(r.citekey, r.line) for r in records(got)] == [("a", 1), ("e", 9)]
    assert [(p.line, p.record) for p in problems(got)] == [(2, 2), (6, 3), (7, 4), (10, 6)]
    assert (
        problems(got)[1].cause
        == "broken entry: a comma is missing before 'abstract={Rivers are hard to model on a '"
    )


def test_entries_without_abstract_are_counted(file) -> None:
    text = (
        "@article{a, title={1}}\n@book{b, title={2}, abstract={}}\n@comment{x}\n@proceedings{p, year=2024}\n"
    )
    assert [(p.cause, p.record, p.line) for p in read(file(text))] == [
        ("no abstract", 1, 1),
        ("no abstract", 2, 2),
    ]


def test_doubled_keys_and_fields_lose_nothing(file) -> None:
    text = (
        f"@article{{k, title={{One}}, abstract={{{A1}}}}}\n"
        f"@article{{k, title={{Two}}, title={{2}}, abstract={{{A2}}}}}\n"
    )
    got = list(read(file(text)))
    assert [(r.title, r.citekey) for r in records(got)] == [("One", "k"), ("Two", "k")]
    assert [(p.line, p.field) for p in problems(got)] == [(2, "key")]


def test_a_volume_states_venue_and_year_for_its_papers(file) -> None:
    text = (
        "@Proceedings{ICML-2024, booktitle = {Proceedings of the 41st International Conference on Machine "
        "Learning}, year = {2024}}\n"
        f"@InProceedings{{a, openreview = {{zzzzzzzzzz}}, abstract = {{{A1}}}}}\n"
        f"@misc{{b, abstract = {{{A2}}}}}\n"
    )
    got = list(read(file(text)))
    assert [(r.venue, r.year, r.openreview) for r in got] == [("ICML", 2024, "zzzzzzzzzz"), ("", None, "")]


def test_notes_that_say_it_is_a_summary_are_kept(file) -> None:
    text = (
        f"@misc{{a, note={{Our summary}}, abstract={{{A1}}}}}\n@misc{{b, note={{12 p.}}, abstract={{{A2}}}}}"
    )
    assert [r.note for r in read(file(text))] == ["Our summary", ""]


def test_long_files_are_parsed_in_pieces(file, monkeypatch) -> None:
    monkeypatch.setattr("rag.readers.bibtex.PIECE", 300)
    many = "".join(
        f"@article{{k{n},\n title={{T{n}}},\n journal=j,\n abstract={{{A1}}}\n}}\n\n" for n in range(50)
    )
    got = list(read(file('@string{j = "Pebbles"}\n' + many)))
    assert [(r.citekey, r.line, r.venue) for r in got] == [(f"k{n}", 2 + 6 * n, "Pebbles") for n in range(50)]


def test_bibtex_is_known_by_its_content(file) -> None:
    assert len(list(read(file(BIB, "library.txt")))) == 1
    assert [r.abstract for r in read(file(A1, "library.bib"))] == [A1]


def test_nothing_is_printed(file, capfd) -> None:
    list(read(file("@article{b,\n  title = {No closing brace,\n@article{c, title={x}}")))
    assert capfd.readouterr() == ("", "")


def test_what_cannot_be_opened_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Cannot read .*gone\.txt: No such file"):
        list(read(tmp_path / "gone.txt"))
    with pytest.raises(InputError, match="is not a file"):
        list(read(tmp_path))


# Paths


def test_sources_expand_folders_and_globs(tmp_path: Path) -> None:
    for name in ("b.txt", "a.bib", ".hidden.txt", "sub/c.json", "sub/.git/d.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    found = [tmp_path / name for name in ("a.bib", "b.txt", "sub/c.json")]
    assert sources([tmp_path]) == found
    assert sources([tmp_path / "sub", tmp_path / "b.txt", tmp_path / "*.bib", tmp_path]) == found
    assert sources([tmp_path / "**" / "*.json"]) == [tmp_path / "sub/c.json"]
    assert sources([tmp_path / ".hidden.txt"]) == [tmp_path / ".hidden.txt"]


def test_missing_and_empty_paths_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.txt does not exist"):
        sources([tmp_path / "gone.txt"])
    with pytest.raises(InputError, match=r"\*\.ris does not exist"):
        sources([tmp_path / "*.ris"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty holds no files"):
        sources([tmp_path / "empty"])


# The local development material

EXPECTED = {  # file: records, problems
    "seeds/icml2024.txt": (19, 0),
    "seeds/iclr2024.txt": (19, 0),
    "files/pmlr_icml24_first3.bib": (3, 0),
    "files/openreview_bibtex_no_abstract_15.bib": (0, 15),
    "files/aicpl_normalized_iclr2023_5.json": (5, 0),
    "files/icml_cc_downloads_events_16.json": (15, 1),
    "files/papercopilot_openreview_colm2024_5.json": (5, 0),
    "files/papercopilot_openreview_iclr2018_10.json": (10, 0),
    "files/semantic_scholar_paper_batch_with_null.json": (3, 1),
    "files/semantic_scholar_paper_trimmed.json": (1, 0),
    "files/title_authors_abstract_list_12.json": (12, 0),
    "corpora/iclr2024.jsonl.gz": (2271, 4),
}


@pytest.mark.shared
@pytest.mark.parametrize("name", EXPECTED)
def test_real_files(name: str) -> None:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"needs the development material {name}")
    got = list(read(path))
    assert (len(records(got)), len(problems(got))) == EXPECTED[name]
    assert {p.cause for p in problems(got)} <= {"no abstract", "null stands where a paper should"}


@pytest.mark.shared
def test_real_seeds_know_their_venue_and_begin_as_told() -> None:
    path = SHARED / "seeds" / "papers.json"
    if not path.exists():
        pytest.skip("needs the development material seeds/papers.json")
    seeds = {name: list(read(path.parent / name)) for name in ("icml2024.txt", "iclr2024.txt")}
    for paper in json.loads(path.read_text()):
        record = records(seeds[paper["file"]])[paper["n"] - 1]
        assert record.abstract_found.startswith(paper["begins"])
        assert f"{record.venue} {record.year}" == paper["venue"]
