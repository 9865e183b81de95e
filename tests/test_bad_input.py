"""What no format may choke on: wrongly encoded, cut and empty files. All texts are invented."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reading import A1, A2, SAMPLES, T1, problems, read_all, records

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
