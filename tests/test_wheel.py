"""The wheel holds all that Pincite needs, and works from another folder than the repository."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from process import ROOT, environment

DATA = {
    "eval/sets/about.jsonl",
    "eval/sets/sample.jsonl",
    "models/catalog.toml",
    "models/README.md",
    "prompts/answer.md",
    "prompts/draft.md",
    "prompts/judge.md",
    "sample/iclr2024.bib",
    "sample/icml2024.bib",
    "ui/web/page.js",
    "ui/web/style.css",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built without network, from a copy: a build leaves folders behind."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "source"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "tests"))
    command = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder, copy]
    pip(*command)
    (built,) = folder.glob("*.whl")
    return built


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_the_wheel_holds_every_module_and_all_data(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    packages = ("prompts", "rag", "eval", "ui", "models", "sample")
    modules = {str(f.relative_to(ROOT)) for package in packages for f in (ROOT / package).rglob("*.py")}
    prompts = {str(f.relative_to(ROOT)) for f in (ROOT / "prompts").glob("*.md")}
    assert (modules | prompts | DATA) - names == set()
    rest = {name for name in names if ".dist-info/" not in name}
    assert {name for name in rest if name.split("/")[0] not in packages} == set()
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_installed_wheel_lists_models_and_reads_its_sample(wheel: Path, tmp_path: Path) -> None:
    place, home = tmp_path / "site", tmp_path / "home"
    home.mkdir()
    pip("install", "--no-deps", "--no-index", "--target", place, wheel)

    def run(*command: str | Path) -> str:
        done = subprocess.run(
            [sys.executable, *map(str, command)],
            env=environment(home, PYTHONPATH=str(place)),
            cwd=home,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    packages = "eval, models, prompts, rag, sample, ui"
    where = f"import {packages}; print(*(m.__file__ for m in ({packages})), sep='\\n')"
    assert {Path(file).parents[1] for file in run("-c", where).split()} == {place}
    installed = place / "bin" / "pincite"
    assert "qwen2.5-coder-1.5b" in run(installed, "models", "list")
    out = run(installed, "index", "--no-embed", place / "sample")
    assert "papers                38" in out
    assert len(run(installed, "papers").splitlines()) == 38
