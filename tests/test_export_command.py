"""`pincite export` as a user meets it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fakes import HashEmbedder
from shelf import BITTERN, DUNLIN, GODWIT

import rag.opening
from rag.errors import InputError, PinciteError
from rag.exporting import cited, save
from ui import cli

Run = Callable[..., Result]
BIB = (
    f"@article{{Reed:24, title={{Radios That Sleep}}, author={{Reed, Ada}}, abstract={{{BITTERN}}}}}\n"
    f"@article{{tide_map, title={{Shores From Ships}}, abstract={{{DUNLIN}}}}}\n"
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`pincite` in this process over a collection of three papers; one came without title and key."""
    for name in [name for name in os.environ if name.startswith("PINCITE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PINCITE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(rag.opening, "embedder_of", lambda *_, **__: HashEmbedder())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.bib").write_text(BIB)
    (tmp_path / "list.txt").write_text(f"Marsh Days 2024 Papers\n\n{GODWIT}\n")

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(cli.pincite, ["--quiet", *arguments])

    for name in ("mine.bib", "list.txt"):
        assert run("index", name).exit_code == 0
    return run


def entries(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("@")]


def test_everything_as_bibtex_with_the_users_keys(run: Run) -> None:
    result = run("export")
    assert result.exit_code == 0 and result.stderr == ""
    assert entries(result.stdout) == ["@misc{Reed:24,", "@misc{tide_map,", "@misc{marshdays2024-1,"]


def test_the_file_name_or_the_flag_tells_the_form(run: Run) -> None:
    assert run("export", "-o", "all.jsonl").stderr == "all.jsonl: 3 papers as jsonl\n"
    assert [json.loads(line)["citekey"] for line in Path("all.jsonl").read_text().splitlines()] == [
        "Reed:24", "tide_map", "",
    ]  # fmt: skip
    assert run("export", "-o", "all.dat", "--format", "ris").exit_code == 0
    assert Path("all.dat").read_text().startswith("TY  - GEN\nID  - Reed:24\n")
    assert run("export", "-o", "-", "--format", "markdown").stdout.startswith("## Radios That Sleep\n")
    assert run("export", "--format", "word").exit_code == 2


def test_an_export_indexed_again_adds_nothing(run: Run) -> None:
    for name in ("all.bib", "all.json", "all.jsonl"):
        run("export", "-o", name)
        result = run("index", name)
        assert result.stdout.startswith(f"{name}: 3 records, 0 new papers, "), result.stdout


def test_a_file_is_not_replaced_unasked(run: Run) -> None:
    """The file may be the user's own, with more in it than Pincite keeps."""
    result = run("export", "-o", "mine.bib")
    assert isinstance(result.exception, InputError)
    assert "mine.bib is already there" in str(result.exception) and "--force" in str(result.exception)
    assert Path("mine.bib").read_text() == BIB
    assert run("export", "-o", "mine.bib", "--force").exit_code == 0
    assert len(entries(Path("mine.bib").read_text())) == 3


def test_what_a_search_finds(run: Run) -> None:
    result = run("export", "--query", "a drone that sleeps on warm air", "-k", "1")
    assert entries(result.stdout) == ["@misc{marshdays2024-1,"]
    assert run("export", "--query", " ").exit_code == 2
    assert run("export", "-k", "3").exit_code == 2


def test_named_papers_in_their_order(run: Run) -> None:
    result = run("export", "--keys", "tide_map, Reed:24", "--keys", "tide_map")
    assert entries(result.stdout) == ["@misc{tide_map,", "@misc{Reed:24,"]
    missing = run("export", "--keys", "tide_map,nobody", "-o", "x.bib")
    assert isinstance(missing.exception, PinciteError) and "no paper 'nobody'" in str(missing.exception)
    assert not Path("x.bib").exists()
    assert run("export", "--keys", "tide_map", "--query", "x").exit_code == 2


def row(*keys: str, **more: object) -> str:
    citations = [{"n": n, "paper": key} for n, key in enumerate(keys, 1)]
    return json.dumps(
        {"status": "answered", "sentences": [{"citations": citations}, {"citations": []}]} | more
    )


def test_the_papers_an_answer_cites(run: Run) -> None:
    Path("answer.json").write_text(row("tide_map", "Reed:24", "tide_map"))
    assert entries(run("export", "--answer", "answer.json").stdout) == ["@misc{tide_map,", "@misc{Reed:24,"]
    Path("none.json").write_text(json.dumps({"status": "not_found", "sentences": []}))
    result = run("export", "--answer", "none.json")
    assert (result.exit_code, result.stdout) == (0, "")


def test_the_rows_of_a_run_are_answers_too(tmp_path: Path) -> None:
    failed = json.dumps({"id": "q2", "status": "error", "error": "x"})
    file = tmp_path / "answers.jsonl"
    file.write_text(f"{row('b', 'a')}\n{failed}\n\n{row('c', 'a')}\n")
    assert cited(file) == ["b", "a", "c"]


@pytest.mark.parametrize(
    "content", [b"", b" \n", b"{}", b"[]", b"x", b"\xff\xfe", b'{"sentences": 5}', b"[" * 9000]
)
def test_what_is_no_answer_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "answer.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"answer\.json .*Give what `pincite ask --json` printed"):
        cited(file)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    def pieces():
        yield "half"
        raise PinciteError("no more")

    (tmp_path / "there").write_text("old")
    for name in ("there", "new"):
        with pytest.raises(PinciteError, match="no more"):
            save(tmp_path / name, pieces(), replace=True)
    assert [(f.name, f.read_text()) for f in tmp_path.iterdir()] == [("there", "old")]


def test_folders_links_and_missing_places(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is already there. Name a file"):
        save(tmp_path, ["x"], replace=True)
    with pytest.raises(InputError, match="cannot be written: No such file"):
        save(tmp_path / "gone" / "x.bib", ["x"], replace=False)
    (tmp_path / "real.bib").write_text("old")
    (tmp_path / "link.bib").symlink_to(tmp_path / "real.bib")
    save(tmp_path / "link.bib", ["new"], replace=True)
    assert (tmp_path / "link.bib").is_symlink() and (tmp_path / "real.bib").read_text() == "new"
