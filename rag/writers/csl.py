"""CSL-JSON, which Zotero, pandoc and citeproc read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from rag.nouns import Paper
from rag.writers.parts import Keys, arxiv, kind, links, parted

_TYPES = {"conference": "paper-conference", "journal": "article-journal", "other": "article"}


def write(papers: Iterable[Paper]) -> Iterator[str]:
    """One array, an item a line."""
    keys = Keys()
    before = "[\n"
    for paper in papers:
        yield before + json.dumps(_item(keys.of(paper), paper), ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _item(key: str, paper: Paper) -> dict[str, Any]:
    item = {
        "id": key,
        "type": _TYPES[kind(paper)],
        "title": paper.title,
        "author": [_name(name) for name in paper.authors],
        "issued": {"date-parts": [[paper.year]]} if paper.year else None,
        "container-title": paper.venue_as_found,
        "URL": paper.url,
        "DOI": paper.doi,
        "PMID": paper.pmid,
        "abstract": paper.abstract,
        "note": paper.note,
        # Where the schema of CSL lets a program put what CSL has no name for.
        "custom": {k: v for k, v in (("arxiv", arxiv(paper)), ("link", " ".join(links(paper)))) if v},
    }
    return {name: value for name, value in item.items() if value}


def _name(name: str) -> dict[str, str]:
    given, family = parted(name)
    return {"family": family, "given": given} if given else {"literal": name}
