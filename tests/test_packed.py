"""ZIP archives of anything that is read, within bounds. All texts are invented."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest
from shelf import BITTERN, DUNLIN, GODWIT

from rag.nouns import Problem, Record
from rag.readers import packed, read


def archive(*members: tuple[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as zipped:
        for name, content in members:
            zipped.writestr(name, content)
    return out.getvalue()


@pytest.fixture
def file(tmp_path: Path):
    def write(content: bytes, name: str = "papers.zip") -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def test_each_member_is_read_by_its_content(file) -> None:
    content = archive(
        ("lists/", b""),
        ("lists/a.txt", f"ICML 2024 Papers\n\n{BITTERN}\n"),
        ("b.bib", f"@misc{{k, abstract={{{DUNLIN}}}}}"),
        ("c.json.gz", gzip.compress(json.dumps({"abstract": GODWIT}).encode())),
        ("__MACOSX/._a.txt", b"\0\1"),
        (".hidden", b"x"),
    )
    got = list(read(file(content, "no-suffix")))
    assert [(r.source, r.abstract) for r in got] == [
        ("no-suffix!lists/a.txt", BITTERN),
        ("no-suffix!b.bib", DUNLIN),
        ("no-suffix!c.json.gz", GODWIT),
    ]


def test_what_is_wrong_with_a_member_hides_no_other(file) -> None:
    inner = archive(("x.txt", BITTERN))
    got = list(
        read(
            file(
                archive(
                    ("in.zip", inner), ("empty.txt", b""), ("photo.txt", b"\x89PNG\r\n"), ("a.txt", DUNLIN)
                )
            )
        )
    )
    assert [(p.source, p.cause) for p in got[:3]] == [
        ("papers.zip!in.zip", "an archive inside an archive, which is not read"),
        ("papers.zip!empty.txt", "the file is empty"),
        ("papers.zip!photo.txt", "not text but a PNG image"),
    ]
    assert [r.abstract for r in got[3:]] == [DUNLIN]


def test_a_members_name_is_never_a_path(file, tmp_path: Path) -> None:
    names = ("../../escaped.txt", "/escaped.txt", "a/../../escaped.txt", "C:\\escaped.txt")
    got = list(read(file(archive(*((name, f"{BITTERN} {name}") for name in names)))))
    assert len(got) == 4 and all(isinstance(item, Record) for item in got)
    assert not list(tmp_path.parent.rglob("escaped*")) and not Path("/escaped.txt").exists()


def test_bombs_are_refused(file, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "GZIP_FREE", 300_000)
    zeros = b"pebbles and more " * 100_000
    [record, problem] = read(file(archive(("a.txt", BITTERN), ("b.txt", zeros), ("c.txt", DUNLIN))))
    assert isinstance(record, Record) and isinstance(problem, Problem)
    assert "unfolds to more than" in problem.cause and problem.source == "papers.zip"
    many = archive(*((f"{n}.txt", zeros[:40_000]) for n in range(10)))
    assert "unfolds to more than" in list(read(file(many)))[-1].cause
    monkeypatch.setattr(packed, "MEMBERS", 5)
    [problem] = read(file(many))
    assert problem.cause == "an archive of more than 5 files"


def test_damaged_cut_locked_and_empty_archives(file) -> None:
    whole = archive(("a.txt", BITTERN), ("b.txt", DUNLIN))
    [problem] = read(file(whole[:-30]))
    assert problem.cause.startswith("the ZIP archive is damaged")
    spoiled = whole.replace(whole[45:60], b"\xff" * 15)
    first, second = read(file(spoiled))
    assert (
        isinstance(first, Problem) and first.cause.startswith("it is damaged") and second.abstract == DUNLIN
    )
    locked = bytearray(whole)
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(mark) + place] |= 1
    first, second = read(file(bytes(locked)))
    assert first.cause == "it is locked by a password" and second.abstract == DUNLIN
    [problem] = read(file(archive()))
    assert problem.cause == "no file in the archive"


def test_office_files_are_named(file) -> None:
    [problem] = read(
        file(archive(("[Content_Types].xml", "<x/>"), ("word/document.xml", "<x/>")), "papers.docx")
    )
    assert problem.cause == "a Word, Excel or PowerPoint file"
