"""Answer rows read back from a file that anybody may have edited: checked, or refused with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag.errors import InputError

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Tokens = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)  # fields that later versions add are passed over


class Quote(_Part):
    """A numbered sentence of a paper."""

    n: int
    paper: str
    quote: str
    start: int
    end: int
    title: str = ""


class Said(_Part):
    """A sentence of an answer."""

    text: str
    support: str = ""
    citations: tuple[Quote, ...] = ()


class Left(_Part):
    """A sentence that was left out of the answer, and why."""

    text: str
    reason: str = ""


class Near(_Part):
    """A paper that is close to a question."""

    paper: str
    title: str = ""
    why: str = ""


class Times(_Part):
    evidence_s: Seconds | None = None
    first_token_s: Seconds | None = None
    total_s: Seconds | None = None
    prompt_tokens: Tokens | None = None
    output_tokens: Tokens | None = None


class Row(_Part):
    """What a report needs of an answer row (docs/interfaces.md)."""

    id: str
    status: str
    error: str = ""
    searched_for: str = ""
    text: str = ""
    sentences: tuple[Said, ...] = ()
    dropped: tuple[Left, ...] = ()
    evidence: tuple[Quote, ...] = ()
    nearest: tuple[Near, ...] = ()
    note: str = ""
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    timing: Times = Times()

    @property
    def is_answer(self) -> bool:
        return self.status in ("answered", "partial")


def read_rows(file: Path) -> list[Row]:
    """The rows of a file, in its order; a half-written last line is passed over, and nothing is changed.

    Raises InputError naming the file and line.
    """
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from error
    whole = data[: data.rfind(b"\n") + 1]
    return [_row(line, f"{file}, line {n}") for n, line in enumerate(whole.split(b"\n")[:-1], 1)]


def _row(line: bytes, where: str) -> Row:
    try:
        value: Any = json.loads(line)
        return Row.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the line"
        raise InputError(f"{where}: no answer row; {field}: {first['msg']}. Run the set again.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON ({error}). Run the set again.") from error
