"""`pincite index` and `remove` over several files, as a user meets them."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from fakes import HashEmbedder
from shelf import BITTERN, DUNLIN, GODWIT

import rag.opening
from rag.errors import InputError
from ui import cli

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`pincite` in this process with a fresh home, and a bag of words for an embedder."""
    for name in [name for name in os.environ if name.startswith("PINCITE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PINCITE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(rag.opening, "embedder_of", lambda *_, **__: HashEmbedder())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.txt").write_text(f"Marsh Days 2024 Papers\n\n{BITTERN}\n\n{DUNLIN}\n")
    (tmp_path / "two.jsonl").write_text(
        json.dumps({"id": "g24", "title": "Drones at Rest", "abstract": GODWIT})
    )

    def run(*arguments: str, stdin: bytes = b"") -> Result:
        return CliRunner().invoke(cli.pincite, arguments, input=stdin)

    return run


def table(result: Result) -> dict[str, str]:
    """The rows of the summary table."""
    lines = result.stdout.splitlines()
    rows = lines[lines.index("") + 1 :][:5]
    return {row[:14].strip(): row[14:].strip() for row in rows}


def test_the_summary_tells_each_file_and_the_collection(run: Run) -> None:
    result = run("index", "one.txt", "two.jsonl")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:2] == [
        "one.txt: 2 records, 2 new papers",
        "two.jsonl: 1 record, 1 new paper",
    ]
    counts = table(result)
    assert float(counts.pop("seconds")) < 60
    assert counts == {"papers": "3", "sentences": "12", "embedded now": "3", "problems": "0"}


def test_the_second_run_says_that_nothing_has_changed(run: Run) -> None:
    run("index", "one.txt")
    result = run("index", "one.txt")
    assert result.stdout.startswith("one.txt: unchanged since it was last read\n")
    assert result.stdout.endswith("Nothing has changed.\n") and table(result)["embedded now"] == "0"


def test_one_changed_abstract_is_the_only_one_embedded(run: Run, tmp_path: Path) -> None:
    run("index", "one.txt")
    (tmp_path / "one.txt").write_text(
        f"Marsh Days 2024 Papers\n\n{BITTERN}\n\n{DUNLIN.replace('maps', 'charts')}\n"
    )
    result = run("index", "one.txt")
    assert result.stdout.startswith("one.txt: 2 records, 0 new papers, 1 changed\n")
    assert table(result)["embedded now"] == "1" and "Nothing has changed" not in result.stdout


def test_without_embedding_the_next_run_embeds(run: Run) -> None:
    assert table(run("index", "--no-embed", "one.txt"))["embedded now"] == "0"
    assert table(run("index", "one.txt"))["embedded now"] == "2"


def test_rebuild_needs_no_file(run: Run, tmp_path: Path) -> None:
    run("index", "one.txt")
    (tmp_path / "one.txt").unlink()
    result = run("index", "--rebuild")
    assert result.exit_code == 0 and table(result)["embedded now"] == "0"  # refilled from the library
    both = run("index", "--rebuild", "--no-embed")
    assert both.exit_code == 2 and "--no-embed and --rebuild exclude each other" in both.stderr


def test_a_file_that_cannot_be_read_hides_no_other(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """C28. Alone it is an error; among others it is a problem of the report."""
    from rag import indexing

    real = indexing.file_digest

    def digest(path: Path) -> str:
        if path.name == "one.txt":
            raise InputError(f"{path} cannot be read: Permission denied.")
        return real(path)

    monkeypatch.setattr(indexing, "file_digest", digest)
    result = run("index", "one.txt", "two.jsonl", "--report", "report.json")
    assert result.exit_code == 0 and table(result)["papers"] == "1"
    assert "one.txt: 0 records, 0 new papers, 1 problem\n" in result.stdout
    assert "one.txt cannot be read: Permission denied. Check the file and its rights" in result.stderr
    assert [problem["source"] for problem in json.loads(Path("report.json").read_text())] == ["one.txt"]
    assert run("index", "one.txt", "two.jsonl", "--strict").exit_code == 1
    alone = run("index", "one.txt")
    assert isinstance(alone.exception, InputError) and "Permission denied" in str(alone.exception)


def test_problems_are_told_again_until_they_are_mended(run: Run, tmp_path: Path) -> None:
    (tmp_path / "half.jsonl").write_text(json.dumps({"abstract": BITTERN}) + '\n{"abstract": \n')
    for _ in range(2):
        result = run("index", "half.jsonl", "--strict", "--report", "report.json")
        assert result.exit_code == 1 and "half.jsonl, line 2" in result.stderr
        (problem,) = json.loads(Path("report.json").read_text())
        assert {"source", "record", "line", "field", "cause", "remedy"} <= set(problem)
    assert result.stdout.endswith("Nothing has changed.\n")


def test_a_list_and_then_its_titles_stay_the_same_papers(run: Run, tmp_path: Path) -> None:
    run("index", "one.txt")
    (tmp_path / "refs.jsonl").write_text(
        json.dumps({"title": "Radios That Sleep", "authors": ["Ada Reed"], "year": 2024, "abstract": BITTERN})
        + "\n"
    )
    result = run("index", "refs.jsonl")
    assert result.stdout.startswith("refs.jsonl: 1 record, 0 new papers, 1 changed, 1 already known\n")
    rows = [json.loads(line) for line in run("papers", "--json").stdout.splitlines()]
    assert [(row["title"], row["authors"], row["year"]) for row in rows] == [
        ("Radios That Sleep", ["Ada Reed"], 2024),
        (None, [], 2024),  # the year of the list's heading
    ]
    assert rows[1]["label"].startswith("Marsh Days 2024 Papers #2: ") and rows[1]["abstract"] == DUNLIN


def test_remove_tells_what_went_and_what_another_file_keeps(run: Run, tmp_path: Path) -> None:
    (tmp_path / "copy.txt").write_text(f"{BITTERN}\n\n{GODWIT}\n")
    run("index", "one.txt", "copy.txt")
    assert run("remove", "one.txt").stdout == "1 removed, 1 kept: another file holds them\n"
    assert len(run("papers").stdout.splitlines()) == 2
    hits = [
        json.loads(line) for line in run("search", "--json", "mudflats and ship logs").stdout.splitlines()
    ]
    assert "Tides" not in "".join(hit["quote"] for hit in hits)


# Where papers come from


def test_standard_input_is_a_file_like_any_other(run: Run) -> None:
    result = run("index", "-", "two.jsonl", "--no-embed", stdin=Path("one.txt").read_bytes())
    assert result.stdout.splitlines()[:2] == [
        "two.jsonl: 1 record, 1 new paper",
        "standard input: 2 records, 2 new papers",
    ]
    rows = [json.loads(line) for line in run("papers", "--json").stdout.splitlines()]
    assert {source for row in rows for source in row["sources"]} == {"standard input", "two.jsonl"}
    again = run("index", "-", "--no-embed", stdin=Path("one.txt").read_bytes())
    assert again.stdout.startswith("standard input: unchanged since it was last read\n")
    assert run("remove", "standard input").stdout == "2 removed\n"


def test_nothing_on_standard_input_is_a_problem(run: Run) -> None:
    result = run("index", "-", "--no-embed")
    assert "standard input: the file is empty" in result.stderr and result.exit_code == 0
    assert run("index", "-", "--no-embed", "--strict").exit_code == 1


def test_a_mixed_folder_gives_what_is_known_and_tells_the_rest(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.csv").write_text(f'Title,Abstract\nRadios,"{BITTERN}"\n')
    (folder / "deep" / "b.bib").write_text(f"@misc{{d24, title={{Shores}}, abstract={{{DUNLIN}}}}}\n")
    with zipfile.ZipFile(folder / "c.zip", "w") as zipped:
        zipped.writestr("list.md", f"## Drones\n\n<details>\n{GODWIT}\n</details>\n")
        zipped.writestr("photo.png", b"\x89PNG\r\n")
    (folder / "notes.ini").write_text("[main]\nkey = value\n")
    (folder / "empty.txt").write_text("")
    result = run("index", "mixed", "--no-embed", "--report", "report.json")
    assert result.exit_code == 0 and table(result) | {"seconds": ""} == {
        "papers": "3", "sentences": "12", "embedded now": "0", "problems": "3", "seconds": "",
    }  # fmt: skip
    assert {p["source"]: p["cause"] for p in json.loads(Path("report.json").read_text())} == {
        "c.zip!photo.png": "not text but a PNG image",
        "notes.ini": "nothing in it looks like an abstract",
        "empty.txt": "the file is empty",
    }
    assert run("index", "mixed", "--no-embed", "--strict").exit_code == 1
    assert run("remove", "c.zip").stdout == "1 removed\n"


def test_columns_of_a_table_are_named_by_the_user(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f'Paper Title,What it says\nRadios,"{BITTERN}"\n')
    unnamed = run("index", "t.csv", "--no-embed", "--strict")
    assert unnamed.exit_code == 1 and "its columns: 'Paper Title', 'What it says'" in unnamed.stderr
    result = run(
        "index", "t.csv", "--no-embed", "--map", "title=paper title", "--map", "abstract=What it says"
    )
    assert result.stdout.startswith("t.csv: 1 record, 1 new paper\n")
    assert run("papers").stdout.endswith("Radios\n")


def test_another_mapping_reads_an_unchanged_table_anew(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f'title,Long Title,abstract\nR,Radios That Sleep,"{BITTERN}"\n')
    run("index", "t.csv", "--no-embed")
    assert "unchanged" in run("index", "t.csv", "--no-embed").stdout
    result = run("index", "t.csv", "--no-embed", "--map", "title=Long Title")
    assert "unchanged" not in result.stdout
    assert run("papers").stdout.endswith("Radios That Sleep\n")


@pytest.mark.parametrize("mapping", ["title", "title=", "colour=Paint", "=x"])
def test_a_mapping_that_says_nothing_is_wrong_usage(run: Run, mapping: str) -> None:
    result = run("index", "one.txt", "--map", mapping)
    assert (
        result.exit_code == 2 and "give FIELD=COLUMN, where FIELD is one of abstract, title" in result.stderr
    )


def test_names_that_are_no_text_can_be_indexed_and_removed(run: Run, tmp_path: Path) -> None:
    for name, text in (("\udcff.txt", BITTERN), ("two\nlines.txt", DUNLIN)):
        (tmp_path / name).write_text(text)
        result = run("index", "--no-embed", name)
        assert result.exit_code == 0 and result.stdout.startswith(
            repr(name)[1:-1] + ": 1 record, 1 new paper\n"
        )
        assert run("index", "--no-embed", name).stdout.startswith(repr(name)[1:-1] + ": unchanged")
    assert run("remove", "\udcff.txt").stdout == "1 removed\n"


def test_one_file_named_in_two_ways_is_one_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    run("index", "--no-embed", "sub/../one.txt")
    assert run("index", "--no-embed", "one.txt").stdout.startswith("one.txt: unchanged")


def test_of_two_files_of_one_name_the_one_at_the_path_is_removed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "one.txt").write_text(f"{GODWIT}\n")
    run("index", "--no-embed", "one.txt", "sub/one.txt")
    assert run("remove", "one.txt").stdout == "2 removed\n"
    assert [json.loads(line)["abstract"] for line in run("papers", "--json").stdout.splitlines()] == [GODWIT]


def test_a_report_that_cannot_be_written_is_an_error_that_names_it(run: Run) -> None:
    result = run("index", "--no-embed", "one.txt", "--report", "nowhere/report.json")
    assert isinstance(result.exception, InputError)
    assert "The report nowhere/report.json cannot be written: No such file" in str(result.exception)


def test_problems_hold_nothing_that_a_terminal_obeys(run: Run, tmp_path: Path) -> None:
    (tmp_path / "evil.csv").write_text("Title,\x1b]0;owned\x07Text\n" + f"x,{BITTERN}\n")
    result = run("index", "--no-embed", "--map", "note=Notes", "evil.csv")
    assert "\x1b" not in result.stderr + result.stdout and "evil.csv" in result.stderr


def test_the_report_is_written_where_no_file_can_be_opened(run: Run) -> None:
    """The exit code is that of a failure all the same."""
    result = run("index", "--no-embed", "nosuch.bib", "--report", "report.json")
    assert isinstance(result.exception, InputError)
    [problem] = json.loads(Path("report.json").read_text())
    assert problem["source"] == "nosuch.bib"
    assert "nosuch.bib does not exist" in problem["cause"] and problem["remedy"]
