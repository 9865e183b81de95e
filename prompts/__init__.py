"""The words sent to the model: prose files with checked variables, and nothing else.

A file is a chat: `## system`, `## user` and `## assistant` sections in turn. All but the last section are
the stable prefix (rules and worked examples); the last is the user's turn, where `{{name}}` stands for a
variable. Filling raises on a missing and on an unknown variable.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_SECTION = re.compile(r"^## (system|user|assistant)\n", re.MULTILINE)
_VARIABLE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt file: (role, text) sections, its variables, and the hash that goes into fingerprints."""

    name: str
    sections: tuple[tuple[str, str], ...]
    digest: str

    @property
    def prefix(self) -> tuple[tuple[str, str], ...]:
        """The sections that are the same for every question."""
        return self.sections[:-1]

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(_VARIABLE.findall(self.sections[-1][1]))

    def fill(self, **values: str) -> str:
        """The last section with its variables replaced; raises KeyError naming what is missing or unknown.

        Values are put in as they are: a `{{name}}` inside a value stays text.
        """
        missing, unknown = self.variables - values.keys(), values.keys() - self.variables
        if missing or unknown:
            raise KeyError(f"prompt {self.name}: missing {sorted(missing)}, unknown {sorted(unknown)}")
        return _VARIABLE.sub(lambda m: values[m[1]], self.sections[-1][1])


@cache
def load(name: str) -> Prompt:
    """The prompt of `prompts/NAME.md`; raises ValueError if the file is not a chat ending in a user's turn."""
    text = (files("prompts") / f"{name}.md").read_text(encoding="utf-8")
    parts = _SECTION.split(text)
    sections = tuple((role, body.strip()) for role, body in zip(parts[1::2], parts[2::2], strict=True))
    if not sections or sections[-1][0] != "user" or any(_VARIABLE.search(body) for _, body in sections[:-1]):
        raise ValueError(f"prompts/{name}.md must end with a user section and have variables only there")
    return Prompt(name, sections, hashlib.sha256(text.encode()).hexdigest()[:12])
