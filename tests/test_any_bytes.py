"""Files of any bytes, and files of every format spoiled in every way: readers give records and problems.

`pytest tests/test_any_bytes.py --hypothesis-profile=thorough` tries 10,000 examples a format and property;
docs/formats.md says what that has found. All texts are invented.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pdfs import made
from reading import A1, A2, SAMPLES, T1, T2, read_all

from rag.identity import key_for, merged, names
from rag.nouns import Problem, Record
from rag.sentences import split
from rag.serial import record_json, to_record


def archive(*members: bytes, method: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as zipped:
        for number, content in enumerate(members):
            zipped.writestr(f"{number}.txt", content)
    return out.getvalue()


TEXTS = {name: text.encode() for name, text in SAMPLES.items()} | {
    "TSV": f"Title\tAbstract\tYear\n{T1}\t{A1}\t2024\n{T2}\t{A2}\t\n".encode(),
    "Excel's CSV": f"sep=;\r\nTitle;Abstract;Authors\r\n{T1};{A1};Zoë Müller\r\n".encode("cp1252"),
    "front matter": f"---\ntitle: {T1}\nabstract: |\n  {A1}\nauthor:\n- given: Ann\n  family: Roe\n---\n".encode(),
    "Markdown items": f"1. **{T1}** [paper](https://a.example/1)\n\n   Abstract: {A1}\n\n"
    f"2. [{T2}](https://a.example/2)\n\n   {A2}\n".encode(),
    "list of abstracts": f"ICML 2024 Papers\n\n{A1}\n\n{A2}\n".encode(),
    "list with titles": f"{T1}\nAnn Roe and Bob Poe\n\n{A1}\n\n{T2}\nAnn Roe, Cay Doe\n\n{A2}\n".encode(),
    "OpenReview, second version": json.dumps(
        {"notes": [{"id": "aB3dE6gH9j", "content": {"title": {"value": T1}, "abstract": {"value": A1}}}]}
    ).encode(),
}
PACKED = {
    "gzip": gzip.compress(TEXTS["BibTeX"], mtime=0),
    "ZIP": archive(TEXTS["BibTeX"], TEXTS["JSON"]),
    "ZIP, deflated": archive(TEXTS["RIS"], TEXTS["CSV"], method=zipfile.ZIP_DEFLATED),
}
TOKENS = [
    b"\n", b"\r", b"\n\n", b"\t", b" ", b"\0", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x1f\x8b",
    b"{", b"}", b"[", b"]", b"(", b")", b'"', b"\\", b",", b";", b":", b"#", b"=", b"|", b"*", b"`", b"$", b"&",
    b"@article{k,", b"@string{a =", b"crossref = {k}", b"TY  - JOUR\n", b"ER  - \n", b"AB  - ", b"AU  - ", b"UR  - ;",
    b"PMID- 1\n", b"      ", b"AB - ", b"PT J\n", b"AU Roe, A\n", b"   ", b"ER\n", b"%0 Book\n", b"%T x\n", b"%X ",
    b"<entry>", b"</entry>", b"<PubmedArticle>", b"</PubmedArticle>", b"<Abstract><AbstractText>", b"<![CDATA[", b"]]>",
    b"<!--", b"-->", b"<?x", b"?>", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"&#0;", b"&lt;", b"<a:b xmlns:a=''>",
    b'"abstract":', b'"notes": [', b"null", b"1e999", b"\\ud800", b'{"value":', b'"authors":', b'"issued":', b"NaN",
    b"title", b"abstract", b"sep=;\n", b"Title: ", b"Abstract: ", b"---\n", b"# ", b"### T\n", b"- **Abstract**: ",
    b"<details>", b"<summary>Abstract</summary>", b"</details>", b"> ", b"1. **T** ", b"[a](https://a.example)",
    b"&a ", b"*a", b"- ", b"['a', ", b"obj\n", b"endobj", b"stream\n", b"<<", b">>", b"/Kids [1 0 R]", b"0 0 R",
    A1.encode(), b"ICML 2024 Papers\n", b"9" * 20, b"\xc3\xa9", b"\xe2\x80\xa8", b"\xf0\x9f\x90\xa6",
]  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A whole file of every format."""
    path = tmp_path_factory.mktemp("pdf") / "a.pdf"
    pieces = [
        ("B", 17, T1),
        ("", 11, "Ann Roe"),
        ("B", 12, "Abstract"),
        ("", 10, A1),
        ("B", 12, "1 Introduction"),
    ]
    pdfs = {
        name: made(path, pieces, compressed=compressed, title=T1, author="Ann Roe").read_bytes()
        for name, compressed in (("PDF", False), ("PDF, compressed", True))
    }
    return TEXTS | PACKED | pdfs


FORMATS = pytest.mark.parametrize("name", [*TEXTS, *PACKED, "PDF", "PDF, compressed"])
ANY = settings(deadline=None, suppress_health_check=list(HealthCheck))
WAYS: list[Callable[[bytes], bytes]] = [
    lambda content: content,
    lambda content: content,
    gzip.compress,
    archive,
    lambda content: content.decode("latin-1").encode("utf-16"),
]


@st.composite
def spoiled(draw: st.DrawFn, content: bytes) -> bytes:
    """A file with some pieces cut out, doubled or moved, bytes changed, and anything put in."""
    piece = st.sampled_from(TOKENS) | st.binary(max_size=4)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(content)))
        end = min(len(content), at + draw(st.integers(0, 60) | st.integers(0, len(content))))
        way = draw(st.sampled_from(["cut", "double", "move", "change", "put in"]))
        if way == "cut":
            content = content[:at] + content[end:]
        elif way == "double":
            content = content[:end] + content[at:]
        elif way == "move":
            content = content[end:] + content[:end]
        elif way == "change":
            content = content[:at] + draw(st.binary(min_size=1, max_size=3)) + content[at + 1 :]
        else:
            content = content[:at] + b"".join(draw(st.lists(piece, max_size=5))) + content[at:]
    return content


def check(folder: Path, content: bytes) -> None:
    """Only records and problems come out, and the library can keep and the terminal show each of them."""
    got = read_all(folder, content)
    assert got
    for item in got:
        values = [getattr(item, field) for field in item.__slots__]
        assert "\0" not in json.dumps(values, ensure_ascii=False).encode().decode()
        assert item.source.startswith("papers.txt") and (item.line is None or item.line > 0)
        if isinstance(item, Problem):
            assert item.cause and item.remedy
        else:
            keepable(item)


def keepable(record: Record) -> None:
    assert to_record(record_json(record)[0]) == record
    paper = merged([record], key=key_for(record))
    assert paper.key and paper.label and paper.abstract and names(record)
    assert split(paper.abstract)


@ANY
@FORMATS
@given(data=st.data())
def test_spoiled_files_give_records_and_problems(
    tmp_path: Path, files: dict[str, bytes], name: str, data: st.DataObject
) -> None:
    content = data.draw(spoiled(files[name]))
    way = data.draw(st.sampled_from(WAYS)) if name in TEXTS else WAYS[0]
    check(tmp_path, way(content))


@ANY
@FORMATS
@given(data=st.data(), rest=st.binary(max_size=400))
def test_arbitrary_bytes_give_records_and_problems(
    tmp_path: Path, files: dict[str, bytes], name: str, data: st.DataObject, rest: bytes
) -> None:
    """Alone, and behind a beginning that makes them pass for the format."""
    begun = data.draw(st.just(0) | st.integers(0, len(files[name])))
    check(tmp_path, files[name][:begun] + rest)
