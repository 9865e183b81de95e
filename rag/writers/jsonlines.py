"""JSON Lines: the rows of `pincite papers --json`, with the identifiers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from rag.nouns import Paper
from rag.rows import paper_row

_MORE = ("doi", "arxiv", "openreview", "pmlr", "pmid", "citekey")


def write(papers: Iterable[Paper]) -> Iterator[str]:
    """One object a line."""
    for paper in papers:
        row = paper_row(paper) | {name: getattr(paper, name) for name in _MORE}
        yield json.dumps(row, ensure_ascii=False) + "\n"
