"""What no format may choke on: empty, binary, wrongly encoded, cut and arbitrary files. All texts are invented.

Run `pytest tests/test_bad_input.py --hypothesis-profile=thorough` for 10,000 examples a format.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reading import A1, A2, SAMPLES, T1, problems, read_all, records

from rag.errors import InputError
from rag.nouns import Problem, Record

FORMATS = pytest.mark.parametrize("name", SAMPLES)


@FORMATS
def test_a_sample_gives_its_papers(tmp_path: Path, name: str) -> None:
    got = read_all(tmp_path, SAMPLES[name])
    assert [(r.number, r.abstract) for r in records(got)] == [(1, A1), (2, A2)]
    assert records(got)[0].title == T1 and not problems(got)


@FORMATS
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_encodings(tmp_path: Path, name: str, encoding: str) -> None:
    text = SAMPLES[name].replace("pebbles.", "pebbles – “naïvely”.").replace('encoding="utf-8"', "")
    text = text.replace(" encoding='UTF-8'", "")
    got = read_all(tmp_path, text.encode(encoding))
    assert [r.abstract for r in records(got)] == [A1.replace("pebbles.", "pebbles – “naïvely”."), A2]
    guessed = encoding in ("utf-16-le", "utf-16-be", "cp1252") and "–" in text
    assert ["guess" in p.cause for p in problems(got)] == [True] * guessed


@FORMATS
@pytest.mark.parametrize("noise", [b"\0", b"\xed\xa0\x80", b"\x1b[1m", b"\xff\xfe", b"\x0c"])
def test_odd_bytes_spoil_no_other_record(tmp_path: Path, name: str, noise: bytes) -> None:
    content = SAMPLES[name].encode()
    at = content.index(b"small network")
    got = read_all(tmp_path, content[:at] + noise + content[at:])
    assert A2 in [r.abstract for r in records(got)]
    json.dumps([[r.abstract, r.abstract_found] for r in records(got)], ensure_ascii=False).encode()


@FORMATS
def test_lone_surrogates(tmp_path: Path, name: str) -> None:
    text = SAMPLES[name].replace("small network", "small \udbff network")
    got = records(read_all(tmp_path, text.encode("utf-8", "surrogatepass")))
    assert [r.abstract for r in got][1:] == [A2]
    assert got[0].abstract.startswith("We propose TidyNet, a small")


@FORMATS
def test_cut_anywhere(tmp_path: Path, name: str) -> None:
    """What is cut is read as far as it goes, or is a problem; what stands before it is whole."""
    content = SAMPLES[name].encode()
    second = content.index(A2[:30].encode())
    for end in range(1, len(content), 7):
        got = read_all(tmp_path, content[:end])
        assert got
        if end > second + 40:
            assert records(got)[0].abstract == A1
            assert len(got) >= 2


@FORMATS
def test_blank_lines_and_white_space_around(tmp_path: Path, name: str) -> None:
    got = read_all(tmp_path, f"\n \n{SAMPLES[name]}\n\t\n \n")
    assert [r.abstract for r in records(got)] == [A1, A2]


@FORMATS
def test_only_the_beginning(tmp_path: Path, name: str) -> None:
    """A file that ends before its first paper has begun."""
    got = read_all(tmp_path, SAMPLES[name][:12])
    assert not records(got) and all(p.cause and p.remedy for p in problems(got)) and got


ANY = settings(deadline=None, suppress_health_check=list(HealthCheck))
TOKENS = [
    b"\n", b"\r", b" ", b"\0", b"\xff", b"\xed\xa0\x80", b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b"#", b"=",
    b"@article{k,", b"@string{a =", b"crossref = {k}", b"TY  - JOUR\n", b"ER  - \n", b"AB  - ", b"AU  - ", b"UR  - ;",
    b"PMID- 1\n", b"      ", b"AB - ", b"PT J\n", b"AU Roe, A\n", b"   ", b"ER\n", b"%0 Book\n", b"%T x\n", b"%X ",
    b"<entry>", b"</entry>", b"<PubmedArticle>", b"</PubmedArticle>", b"<Abstract><AbstractText>", b"<![CDATA[", b"]]>",
    b"<!--", b"-->", b"<?x", b"?>", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"&#0;", b"&lt;", b"<a:b xmlns:a=''>",
    b'"abstract":', b'"notes": [', b"null", b"1e999", b"\\ud800", b'{"value":', b'"authors":', b'"issued":',
    b"\x1f\x8b",
]  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """A sample with some pieces cut out, and anything put in."""
    piece = st.sampled_from(TOKENS) | st.binary(max_size=4)
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(content)))
        cut = draw(st.integers(0, 60))
        content = content[:at] + b"".join(draw(st.lists(piece, max_size=5))) + content[at + cut :]
    return content


def check(folder: Path, content: bytes) -> None:
    """Only records and problems come out, and all of their texts can be stored and shown."""
    try:
        got = read_all(folder, content)
    except InputError:
        return
    for item in got:
        values = [getattr(item, field) for field in item.__slots__]
        assert "\0" not in json.dumps(values, ensure_ascii=False).encode().decode()
        assert isinstance(item, Record) or (item.cause and item.remedy)
        assert isinstance(item, Record | Problem) and item.source == "papers.txt"


@ANY
@FORMATS
@given(data=st.data())
def test_damaged_files_never_crash(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    check(tmp_path_factory.getbasetemp(), data.draw(damaged(SAMPLES[name].encode())))


@ANY
@FORMATS
@given(rest=st.binary(max_size=300))
def test_arbitrary_bytes_never_crash(
    tmp_path_factory: pytest.TempPathFactory, name: str, rest: bytes
) -> None:
    """Behind a beginning that makes it pass for the format."""
    content = SAMPLES[name].encode()
    head = content[: content.index(A1[:10].encode())]
    check(tmp_path_factory.getbasetemp(), head + rest)
    check(tmp_path_factory.getbasetemp(), gzip.compress(head + rest))
