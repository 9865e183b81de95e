"""Settings: where they come from, what is refused, what an answer depends on."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from rag.errors import SettingsError
from rag.settings import ANSWER_FIELDS, Settings, load


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No settings of the machine; the folder of the settings file."""
    for name in [name for name in os.environ if name.startswith("PINCITE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "pincite").mkdir()
    return tmp_path / "pincite" / "pincite.toml"


def test_flags_go_before_the_environment_and_that_before_the_file(
    own_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load().papers == Settings.model_fields["papers"].default
    own_place.write_text('papers = 1\nllm = "from-file"\n')
    assert (load().papers, load().llm) == (1, "from-file")
    monkeypatch.setenv("PINCITE_PAPERS", "2")
    assert (load().papers, load().llm) == (2, "from-file")
    assert (load(papers=3).papers, load(papers=3, llm=None).llm) == (3, "from-file"), "None is not given"


def test_an_empty_variable_is_not_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Or an empty PINCITE_HOME would put the collection wherever the user happens to be."""
    monkeypatch.setenv("PINCITE_HOME", "")
    monkeypatch.setenv("PINCITE_PAPERS", "")
    assert load().home == tmp_path / "data" / "pincite"
    assert load().papers == Settings.model_fields["papers"].default


def test_a_tilde_is_the_users_home(own_place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    own_place.write_text('home = "~/papers"\n')
    assert load().home == tmp_path / "papers"


def test_an_unknown_key_is_refused_by_name(own_place: Path) -> None:
    with pytest.raises(SettingsError, match="papres: there is no such setting"):
        load(papres=3)
    own_place.write_text("papres = 3\ncontext = 99\n")
    with pytest.raises(SettingsError, match="papres: there is no such setting") as told:
        load()
    assert "context: Input should be greater than or equal to 1024" in str(told.value)
    assert str(own_place) in str(told.value)


NUMBERS = [name for name, field in Settings.model_fields.items() if field.annotation in (int, float)]


@pytest.mark.parametrize("key", NUMBERS)
def test_every_number_has_bounds(key: str) -> None:
    limits = {type(limit).__name__: limit for limit in Settings.model_fields[key].metadata}
    least, most = limits["Ge"].ge, limits["Le"].le
    for value in (least, most):
        assert getattr(load(**{key: value}), key) == value
    for value in (least - 1, most + 1, "many"):
        with pytest.raises(SettingsError, match=f"^Settings not understood. {key}: Input should be"):
            load(**{key: value})


@pytest.mark.parametrize("name", ["", "../other", "a/b", ".hidden", "x" * 49, "ünder"])
def test_a_collection_is_named_so_that_it_can_be_a_folder(name: str) -> None:
    with pytest.raises(SettingsError, match="collection: "):
        load(collection=name)
    assert load(collection="ICML_2024-a").collection_dir.name == "ICML_2024-a"


@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("", True),
        ("http://127.0.0.1:8000", True),
        ("https://chroma.example", True),
        ("127.0.0.1:8000", False),
        ("http://", False),
        ("ftp://chroma.example", False),
    ],
)
def test_the_address_of_a_chroma_server_is_one(url: str, good: bool) -> None:
    if good:
        assert load(chroma_url=url).chroma_url == url
    else:
        with pytest.raises(SettingsError, match="chroma_url: "):
            load(chroma_url=url)


def test_a_file_that_is_no_toml_is_named(own_place: Path) -> None:
    own_place.write_text("papers = ")
    with pytest.raises(SettingsError, match="not valid TOML") as told:
        load()
    assert str(own_place) in str(told.value)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        load().papers = 9  # type: ignore[misc]


def test_everything_lies_under_home(tmp_path: Path) -> None:
    settings = load(home=tmp_path, collection="mud")
    assert settings.models_dir == tmp_path / "models" and settings.cache_dir == tmp_path / "cache"
    assert settings.collection_dir == tmp_path / "collections" / "mud"


def test_a_key_is_not_shown() -> None:
    settings = load(api_key="s3cret")
    assert "s3cret" not in repr(settings) + json.dumps(settings.fingerprint())
    with pytest.raises(SettingsError) as told:
        load(api_key=["s3cret"])
    assert "s3cret" not in str(told.value)


def test_a_fingerprint_holds_no_path(tmp_path: Path) -> None:
    settings = load(home=tmp_path, llm=str(tmp_path / "weights" / "tiny.gguf"))
    assert settings.fingerprint()["llm"] == "tiny.gguf"
    assert str(tmp_path) not in json.dumps(settings.fingerprint())


def test_a_fingerprint_changes_with_what_an_answer_depends_on_only(tmp_path: Path) -> None:
    base = load().fingerprint()["settings"]
    places = {
        "home": tmp_path,
        "collection": "mud",
        "offline": True,
        "api_key": "k",
        "chroma_url": "http://a",
    }
    for key, value in places.items():
        assert load(**{key: value}).fingerprint()["settings"] == base, key
    others = {name: field.default for name, field in Settings.model_fields.items() if name not in places}
    assert set(others) == set(ANSWER_FIELDS), (
        "a new setting is part of the fingerprint, or of the places above"
    )
    changed = {
        key: value + "x" if isinstance(value, str) else value + 1 if isinstance(value, int) else value / 2
        for key, value in others.items()
    }
    seen = {load(**{key: value}).fingerprint()["settings"] for key, value in changed.items()}
    assert len(seen) == len(others) and base not in seen
