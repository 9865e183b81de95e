"""The command line as scripts and people meet it."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from click.testing import CliRunner
from fakes import HashEmbedder, ScriptedModel
from process import BIB, COMMAND, EMBEDDER, ROOT, SMALL, environment, home_with, pincite

import rag.opening
from ui import cli

HELP = Path(__file__).parent / "golden" / "help.txt"
INTERFACES = (ROOT / "docs" / "interfaces.md").read_text("utf-8")
HEAVY = {"torch", "chromadb", "gradio", "llama_cpp", "sentence_transformers", "onnxruntime", "tiktoken"}
QUESTION = "How many voices does Pipit separate?"


class Ran(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`pincite` in this process, with a fresh home, no weights, and a bag of words for an embedder."""
    for name in [name for name in os.environ if name.startswith("PINCITE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PINCITE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PINCITE_OFFLINE", "1")
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.setenv(name, "1")  # the command sets them; afterwards they are as they were
    monkeypatch.setattr(rag.opening, "embedder_of", lambda *_, **__: HashEmbedder())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ours.bib").write_text(BIB, "utf-8")

    def run(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["pincite", *arguments])
        code = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture
def filled(run: Run) -> Run:
    assert run("index", "ours.bib").code == 0
    return run


# ------------------------------------------------------------------------------------------- help


def commands(group: click.Group, names: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every command, the group's own first."""
    yield names
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from commands(command, (*names, name))
        else:
            yield (*names, name)


def help_of(names: tuple[str, ...]) -> str:
    done = CliRunner().invoke(cli.pincite, [*names, "--help"], prog_name="pincite", terminal_width=80)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_help_texts_are_those_that_were_reviewed() -> None:
    """To accept new texts: PINCITE_WRITE_GOLDEN=1 pytest tests/test_cli.py, and read the difference."""
    line = "-" * 80
    text = "\n".join(
        f"{line}\n$ pincite {' '.join((*names, '--help'))}\n\n{help_of(names)}"
        for names in commands(cli.pincite)
    )
    if os.environ.get("PINCITE_WRITE_GOLDEN"):
        HELP.write_text(text, "utf-8")
    assert text == HELP.read_text("utf-8")


@pytest.mark.parametrize("names", list(commands(cli.pincite)), ids=" ".join)
def test_every_help_shows_an_example(names: tuple[str, ...]) -> None:
    assert re.search(r"^  Examples?:\n    pincite .*" + " ".join(names), help_of(names), re.M | re.S)


def test_help_is_shown_whatever_the_settings_file_holds(run: Run, tmp_path: Path) -> None:
    settings_file(tmp_path, "llm = ")
    assert run("papers", "--help").code == 0


def test_help_and_lists_load_no_heavy_library(tmp_path: Path) -> None:
    script = (
        "import contextlib, io, sys; from ui.cli import pincite\n"
        "with contextlib.redirect_stdout(io.StringIO()) as out:\n"
        "    for words in ['--help'], ['ask', '--help'], ['papers'], ['models', 'list']:\n"
        "        pincite.main(words, standalone_mode=False)\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment(tmp_path), capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


# ------------------------------------------------------------------------- exit codes and streams


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["papers"], 0, "The collection 'default' is empty. To fill it: pincite index FILE"),
        (["index"], 2, "Name at least one file or folder"),
        (["index", "nowhere.bib"], 1, "nowhere.bib does not exist"),
        (["papers", "show", "nobody24"], 1, "no paper 'nobody24'"),
        (["remove", "nobody24"], 1, "no paper and no file 'nobody24'"),
        (["ask", " "], 2, "The question is empty"),
        (["search"], 2, "Missing argument 'QUERY'"),
        (["search", "x", "-k", "0"], 2, "0 is not in the range"),
        (["frobnicate"], 2, "No such command 'frobnicate'"),
        (["--frobnicate"], 2, "No such option"),
        (["--port", "0"], 2, "Invalid value for '--port'"),
        (["models", "pull", "gpt-9"], 1, "no model 'gpt-9'. `pincite models list` shows the names"),
        (["--llm", "gpt-9", "ask", "What?"], 1, "no model 'gpt-9'"),
        (["--collection", "birds", "papers"], 1, "no collection 'birds'"),
        (["--collection", "birds", "search", "x"], 1, "To make it: pincite --collection birds index FILE"),
        (["--collection", "birds", "ask", "x"], 1, "no collection 'birds'"),
        (["--collection", "birds", "remove", "x"], 1, "no collection 'birds'"),
        (["--collection", "../birds", "papers"], 1, "collection"),
        (["eval", "compare", "a", "b"], 1, "a holds no run"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_exit_codes_and_messages(run: Run, arguments: list[str], code: int, said: str) -> None:
    done = run(*arguments)
    assert (done.code, done.out) == (code, "")
    assert said in done.err and "Traceback" not in done.err


def test_a_name_typed_wrong_makes_no_collection(run: Run, tmp_path: Path) -> None:
    for command in (["papers"], ["search", "x"], ["remove", "x"]):
        run("--collection", "birds", *command)
    assert not (tmp_path / "home" / "collections" / "birds").exists()


def test_data_goes_to_stdout_and_progress_to_stderr(run: Run) -> None:
    first = run("index", "ours.bib")
    assert first.code == 0
    assert first.out.startswith("ours.bib: 2 records, 2 new papers\n")
    assert re.search(r"^papers +2$", first.out, re.M) and re.search(r"^sentences +6$", first.out, re.M)
    assert "embedding: 2 of 2\n" in first.err
    second = run("--quiet", "index", "ours.bib")
    assert second.err == "" and second.out.endswith("Nothing has changed.\n")
    listed = run("papers")
    assert listed.err == ""
    assert listed.out.splitlines() == [
        "vole24  Vole: Burrowing Caches for Long Songs  (ICML 2024)",
        "pipit24  Pipit: Counting Birds from Roof Microphones  (ICLR 2024)",
    ]


def test_bad_records_are_named_on_stderr_and_fail_only_when_strict(run: Run, tmp_path: Path) -> None:
    (tmp_path / "half.jsonl").write_text('{"title": "Wren", "abstract": "Wrens sing."}\n{"title": \n')
    done = run("index", "half.jsonl", "--report", "problems.json")
    assert done.code == 0
    assert "half.jsonl, line 2" in done.err and "half.jsonl, line 2" not in done.out
    problems = json.loads((tmp_path / "problems.json").read_text())
    assert [(p["source"], p["line"]) for p in problems] == [("half.jsonl", 2)]
    assert run("index", "half.jsonl", "--strict").code == 1


# -------------------------------------------------------------------------------------- JSON rows


def documented(command: str) -> list[str]:
    """The keys of a command's row, from its line in docs/interfaces.md."""
    line = next(line for line in INTERFACES.splitlines() if line.startswith(f"| `pincite {command}"))
    cell = line.split("|", 2)[2].split("one object a line", 1)[1]
    return [name for group in re.findall(r"`([\w, ]+)`", cell) for name in group.split(", ")]


def answer_keys() -> list[str]:
    """The top-level keys of the answer row, from docs/interfaces.md."""
    row = re.search(r"An answer row:\*\* `\{(.*)\}`", INTERFACES)
    assert row
    flat = re.sub(r"\[\{.*?\}\]|\{[^{}]*\}", "", re.sub(r'"citations":\[\{[^}]*\}\]', "", row[1]))
    return [name for name in re.findall(r'"(\w+)"', flat) if name != "id"]


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_paper_rows_have_the_documented_keys(filled: Run) -> None:
    vole, pipit = rows(filled("papers", "--json").out)
    assert list(vole) == list(pipit) == documented("papers")
    assert (vole["title"], vole["authors"]) == (
        "Vole: Burrowing Caches for Long Songs",
        ["Petra Vole", "Iwan Reed"],
    )
    assert (vole["year"], vole["venue"], vole["url"]) == (2024, "ICML", "https://papers.example/vole")
    assert vole["venue_as_found"] == "International Conference on Machine Learning"


def test_a_paper_without_a_title_has_null_and_a_label(run: Run, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(
        "Bird Papers\n\nA wren sings twelve notes to a second. We count them.\n\n"
        "Owls fly without a sound over the fields at night. We ask which feathers do it.\n"
    )
    run("index", "list.txt")
    found = rows(run("papers", "--json").out)
    assert [row["title"] for row in found] == [None, None] and all(row["label"] for row in found)


def test_search_rows_have_the_documented_keys(filled: Run) -> None:
    done = filled("search", "--json", "-k", "1", "roof microphones hear birds")
    (row,) = rows(done.out)
    assert list(row) == documented("search")
    assert (row["rank"], row["paper"], row["quote"]) == (
        1,
        "pipit24",
        "Roof microphones hear many birds at once.",
    )
    abstract = rows(filled("papers", "--json").out)[1]["abstract"]
    assert abstract[row["start"] : row["end"]] == row["quote"]


def answering(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    """From now on the language model gives these answers."""
    model = ScriptedModel(answers)
    monkeypatch.setattr(rag.opening, "model_of", lambda *_, **__: model)


def test_answer_rows_have_the_documented_keys(filled: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "Pipit separates up to 14 voices with a sparse mask [2].")
    (row,) = rows(filled("ask", "--json", QUESTION).out)
    assert list(row) == answer_keys()
    assert (row["question"], row["status"]) == (QUESTION, "answered")
    cited = row["sentences"][0]["citations"][0]
    assert cited["quote"] == "Pipit separates up to 14 voices with a sparse mask."
    assert row["evidence"][cited["n"] - 1]["quote"] == cited["quote"]


def test_ask_prints_the_answer_and_below_it_the_quotes(filled: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "Pipit separates up to 14 voices with a sparse mask [2].")
    done = filled("ask", QUESTION)
    assert done.code == 0
    answer, _, sources = done.out.partition("\n\n")
    n = re.fullmatch(r"Pipit separates up to 14 voices with a sparse mask \[(\d)\]\.", answer)
    assert n and f"[{n[1]}] “Pipit separates up to 14 voices with a sparse mask.”" in sources
    assert sources.startswith("Pipit: Counting Birds from Roof Microphones\n  Sol Pipit\n  ICLR 2024\n")


def test_a_refusal_is_no_failure(filled: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch)
    done = filled("ask", "--json", "Who won the chess olympiad of 1972?")
    (row,) = rows(done.out)
    assert (done.code, row["status"], row["sentences"]) == (0, "not_found", [])


def test_flags_narrow_a_question_a_search_and_a_conversation(
    filled: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, *["NOT FOUND"] * 3)
    (row,) = rows(
        filled("ask", "--json", QUESTION, "--venue", "icml", "--year", "2024", "--author", "Reed").out
    )
    assert {e["paper"] for e in row["evidence"]} == {"vole24"}
    assert row["searched_for"] == f"{QUESTION} (only: icml 2024, by Reed)"
    found = rows(
        filled("search", "--json", "birds", "--venue", "ICML", "--venue", "ICLR", "--author", "Pipit").out
    )
    assert [r["paper"] for r in found] == ["pipit24"]
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{QUESTION}\n\n"))
    done = filled("chat", "--author", "Vole")
    assert "Only papers by Vole were searched. Closest: Vole: Burrowing" in " ".join(done.out.split())


def test_flags_that_no_paper_passes_are_told(filled: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch)
    done = filled("ask", "--venue", "ICLM", QUESTION)
    assert (done.code, done.err) == (0, "No paper of this collection passes the flags (ICLM).\n")
    assert "Only papers from ICLM were searched." in done.out


def test_chat_answers_each_line_until_an_empty_one(filled: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, *["Pipit separates up to 14 voices with a sparse mask [2]."] * 2)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{QUESTION}\n{QUESTION}\n\nnever asked\n"))
    done = filled("chat")
    assert done.code == 0
    assert done.out.count("Pipit separates up to 14 voices with a sparse mask. [") == 2
    assert done.out.startswith("Pipit separates") and "2 papers" in done.err


# --------------------------------------------------------------------- what goes wrong out there


def settings_file(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "config" / "pincite" / "pincite.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")
    return file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("llm = ", "is not valid TOML"),
        ("[", "is not valid TOML"),
        ("paper = 3", "paper: there is no such setting"),
        ("context = 9", "context: Input should be greater than or equal to 1024"),
    ],
)
def test_a_bad_settings_file_is_named(run: Run, tmp_path: Path, text: str, said: str) -> None:
    file = settings_file(tmp_path, text)
    done = run("papers")
    assert (done.code, done.out) == (1, "")
    assert said in done.err and str(file) in done.err and "Traceback" not in done.err


def test_a_home_that_cannot_be_one_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for home in ("file/home", "/proc/home"):
        for command in (["papers"], ["index", "ours.bib"]):
            done = run("--home", home, *command)
            assert done.code == 1 and home in done.err and "Traceback" not in done.err


def test_folders_that_may_not_be_read_or_written_are_named(tmp_path: Path) -> None:
    """Root is held to the rights of a file's owner, or nothing could be locked."""
    plain = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if plain and not shutil.which("setpriv"):
        pytest.skip("needs setpriv (util-linux) where the tests run as root")
    locked, home = tmp_path / "locked", tmp_path / "home"
    locked.mkdir()
    home.mkdir()
    file = tmp_path / "a.bib"
    file.write_text(BIB)
    locked.chmod(0)
    file.chmod(0)
    try:
        for code, *arguments in ((1, "index", locked), (1, "index", file), (2, "--home", locked, "papers")):
            done = subprocess.run(
                [*plain, COMMAND, *arguments],
                env=environment(home),
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert done.returncode == code, arguments
            assert str(arguments[1]) in done.stderr and "Traceback" not in done.stderr
    finally:
        locked.chmod(0o755)


def test_a_taken_port_is_told_before_anything_is_loaded(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = pincite(tmp_path, "--no-browser", "--offline", "--port", port)
    assert done.returncode == 1
    assert f"Port {port}" in done.stderr and "--port" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "collections").exists()


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "many.jsonl").write_text(many(2_000))
    assert pincite(tmp_path, "index", "--no-embed", "many.jsonl").returncode == 0
    for arguments in ("papers", "papers --json"):
        script = f'"{COMMAND}" {arguments} | head -1; echo "${{PIPESTATUS[*]}}"'
        done = subprocess.run(
            ["bash", "-c", script], env=environment(tmp_path), capture_output=True, text=True, timeout=60
        )
        assert done.stdout.splitlines()[1:] == ["0 0"] and done.stderr == ""


def test_a_full_disk_is_an_error_and_no_traceback(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [COMMAND, "models", "list"],
            env=environment(tmp_path),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1 and done.stderr == "pincite: No space left on device\n"


def test_ctrl_c_during_index_is_130_and_the_next_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "many.jsonl").write_text(many(5_000))
    command = [COMMAND, "index", "--no-embed", "many.jsonl"]
    with subprocess.Popen(
        command, env=environment(tmp_path), cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr and "reading many.jsonl" in process.stderr.readline()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert rest.strip() == "Interrupted; what was finished is kept."
    assert pincite(tmp_path, "index", "--no-embed", "many.jsonl").returncode == 0
    assert len(pincite(tmp_path, "papers").stdout.splitlines()) == 5_000


def many(count: int) -> str:
    """That many papers as JSON Lines, each with words of its own."""
    return "".join(
        json.dumps({"title": f"Paper {n}", "abstract": f"Item {n} weighs {n * 7} grams. It is round."}) + "\n"
        for n in range(count)
    )


# ------------------------------------------------------------------------------- with real models


@pytest.mark.model
def test_chat_on_a_terminal_with_a_real_model(tmp_path: Path) -> None:
    home = home_with(tmp_path / "home", EMBEDDER, SMALL)
    (home / "ours.bib").write_text(BIB)
    assert pincite(home, "index", "ours.bib").returncode == 0
    terminal, other = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "--llm", SMALL, "--offline", "chat"],
        env=environment(home, TERM="dumb"),
        stdin=other,
        stdout=other,
        stderr=other,
        close_fds=True,
    )
    os.close(other)
    try:
        seen = until(terminal, r"\n> $")
        assert "2 papers" in seen
        os.write(terminal, f"{QUESTION}\n".encode())
        seen = until(terminal, r"\n> $")
        # Among the sources of an answer, or named as closest where the small model refuses.
        assert "Pipit: Counting Birds from Roof Microphones" in seen and "pincite:" not in seen
        os.write(terminal, b"\x04")
        assert process.wait(20) == 0
    finally:
        process.kill()
        os.close(terminal)


def until(terminal: int, pattern: str, seconds: float = 120) -> str:
    """What the terminal shows until it ends with the pattern."""
    seen = ""
    end = time.monotonic() + seconds
    while not re.search(pattern, seen):
        assert time.monotonic() < end, seen
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 65_536).decode().replace("\r", "")
    return seen
