"""All settings: one frozen record from flags, environment (`PINCITE_*`) and a TOML file, in that order."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from rag.errors import SettingsError

# What changes the text of an answer; the rest (folders, ports, addresses) is not part of a fingerprint.
ANSWER_FIELDS = (
    "embedder", "scorer", "llm", "llm_name", "context", "papers", "evidence_tokens", "answer_tokens",
    "refuse_below", "attempts",
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,47}")


class Settings(BaseSettings):
    """Unknown keys are refused; every number carries its bounds."""

    model_config = SettingsConfigDict(
        env_prefix="PINCITE_", env_ignore_empty=True, frozen=True, extra="forbid"
    )

    home: Path = Field(default_factory=lambda: Path(platformdirs.user_data_dir("pincite", False)))
    collection: str = "default"
    llm: str = "qwen2.5-coder-1.5b"
    llm_name: str = ""
    api_key: SecretStr = SecretStr("")
    embedder: str = "bge-small-en-v1.5"
    scorer: str = "smollm2-135m"  # takes a second look at close papers; "none": no second look
    chroma_url: str = Field("", pattern=r"^(https?://[^/\s]\S*)?$")
    offline: bool = False
    context: int = Field(4096, ge=1024, le=131072, description="tokens of model context")
    papers: int = Field(5, ge=1, le=8, description="papers whose sentences the model reads")
    evidence_tokens: int = Field(380, ge=100, le=8000, description="tokens of evidence at the most")
    answer_tokens: int = Field(220, ge=32, le=2048, description="tokens of an answer at the most")
    attempts: int = Field(
        1, ge=1, le=2, description="drafts at the most; a second, stricter one if nothing of the first holds"
    )
    # In ten-fold cross-validation 33 of 57 wrong answers lay below 0.35, and 2 of 52 right ones.
    refuse_below: float = Field(
        0.35, ge=0, le=1, description="confidence below which an answer is refused; 0: never"
    )

    @field_validator("collection")
    @classmethod
    def _named(cls, name: str) -> str:
        return collection_name(name)

    @field_validator("home")
    @classmethod
    def _expanded(cls, home: Path) -> Path:
        return home.expanduser()  # "~" in the settings file

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, toml_file=settings_file())

    @property
    def models_dir(self) -> Path:
        return self.home / "models"

    @property
    def cache_dir(self) -> Path:
        return self.home / "cache"

    @property
    def collection_dir(self) -> Path:
        return self.home / "collections" / self.collection

    @property
    def is_remote(self) -> bool:
        return self.llm.startswith(("http://", "https://"))

    def fingerprint(self) -> dict[str, Any]:
        """What an answer depends on, and a short hash of it."""
        values = {name: getattr(self, name) for name in ANSWER_FIELDS}
        values["llm"] = Path(self.llm).name  # a path of this machine has no place in an answer
        digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
        return {**values, "settings": digest[:12]}


def collection_name(name: str) -> str:
    """The name, if it can be a collection's, which is a folder's too; raises ValueError."""
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} cannot be the name of a collection: use 1 to 48 of a-z, A-Z, 0-9, - and _, "
            "with a letter or a digit first"
        )
    return name


def settings_file() -> Path:
    """Where the settings file is looked for; it need not be there."""
    return Path(platformdirs.user_config_dir("pincite", False)) / "pincite.toml"


def load(**flags: Any) -> Settings:
    """The settings of this run; `flags` that are None count as not given.

    Raises SettingsError naming each bad or unknown key.
    """
    try:
        return Settings(**{k: v for k, v in flags.items() if v is not None})
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, e['loc']))}: {_said(e)}" for e in error.errors()]
        raise SettingsError(
            f"Settings not understood. {'; '.join(lines)}. "
            f"They come from the options, from PINCITE_* variables, and from {settings_file()}."
        ) from None
    except ValueError as error:  # the TOML file itself
        raise SettingsError(f"The settings file {settings_file()} is not valid TOML: {error}") from None


def _said(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        return "there is no such setting"
    return error["msg"].removeprefix("Value error, ")
