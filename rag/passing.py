"""Filters as conditions of the library's SQL."""

from __future__ import annotations

import json
from typing import Any

from rag.nouns import Filters


def passing(filters: Filters) -> tuple[list[str], list[Any]]:
    """Conditions on a row of papers, and the values in them."""
    clauses: list[str] = []
    values: list[Any] = []
    for column, wanted, word in (
        ("venue COLLATE NOCASE", filters.venues, "IN"),
        ("year", filters.years, "IN"),
        ("key", filters.papers, "IN"),
        ("key", filters.without, "NOT IN"),
    ):
        if wanted:
            clauses.append(f"{column} {word} (SELECT value FROM json_each(?))")
            values.append(json.dumps(wanted))
    if filters.authors:
        clauses.append("EXISTS (SELECT 1 FROM json_each(paper, '$.authors') WHERE any_person(value, ?))")
        values.append(json.dumps(filters.authors))
    return clauses, values
