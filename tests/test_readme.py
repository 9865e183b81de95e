"""What the README promises about the repository itself."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PACKAGES = ("prompts", "rag", "eval", "ui", "models", "sample")


def named() -> dict[str, str]:
    """The file tree of the README: path and its line of explanation."""
    section = README.split("## The files", 1)[1]
    tree = re.search(r"```text\n(.*?)```", section, re.S)
    assert tree
    lines = [line.split(maxsplit=1) for line in tree[1].splitlines()]
    return {path: "".join(said) for path, *said in lines}


def test_the_file_tree_names_every_module_and_says_what_it_is() -> None:
    modules = {str(f.relative_to(ROOT)) for package in PACKAGES for f in (ROOT / package).rglob("*.py")}
    assert sorted(modules - set(named())) == [], "add a line for each to the file tree of README.md"
    assert [path for path, said in named().items() if not said] == []


def test_the_file_tree_names_nothing_that_is_gone() -> None:
    assert [path for path in named() if not (ROOT / path).exists()] == []


def test_the_data_and_the_scripts_are_in_the_tree() -> None:
    wanted = [*ROOT.glob("prompts/*.md"), *ROOT.glob("models/*.toml"), *ROOT.glob("sample/*.bib")]
    wanted += [*ROOT.glob("scripts/*"), *ROOT.glob("ui/web/*.css"), *ROOT.glob("ui/web/*.js")]
    assert {str(path.relative_to(ROOT)) for path in wanted} - set(named()) == set()


def test_the_first_two_commands_are_start_and_test() -> None:
    blocks = re.findall(r"^```bash\n(.*?)^```", README, re.S | re.M)
    assert blocks[:2] == ["scripts/start\n", "scripts/test\n"]
    for command in ("start", "test"):
        assert (ROOT / "scripts" / command).stat().st_mode & 0o111 == 0o111


def test_files_that_the_readme_points_to_are_there() -> None:
    paths = re.findall(r"`((?:docs|models|scripts|\.ci)/[\w./-]*)`", README)
    paths += re.findall(r"\]\((?!https?:|#)([^)]+)\)", README)
    assert {path for path in paths if not (ROOT / path).exists()} == set() and paths
