"""RIS, by rispy: what EndNote, Zotero, Mendeley and most databases exchange."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import rispy  # type: ignore[import-untyped]

from rag.nouns import Paper
from rag.writers.parts import Keys, arxiv, kind, links, parted

_TYPES = {"conference": "CPAPER", "journal": "JOUR", "other": "GEN"}


class _Writer(rispy.RisWriter):  # type: ignore[misc]
    """Without the ordinal above each reference."""

    def set_header(self, count: int) -> str:
        return ""


def write(papers: Iterable[Paper]) -> Iterator[str]:
    """The references, an empty line between two."""
    keys = Keys()
    for n, paper in enumerate(papers):
        text: str = rispy.dumps([_reference(keys.of(paper), paper)], implementation=_Writer)
        yield ("\n" if n else "") + text


def _reference(key: str, paper: Paper) -> dict[str, Any]:
    preprint = [f"https://arxiv.org/abs/{arxiv(paper)}"] if arxiv(paper) else []
    fields = {
        "type_of_reference": _TYPES[kind(paper)],
        "id": key,
        "title": paper.title,
        "authors": [", ".join(filter(None, reversed(parted(name)))) for name in paper.authors],
        "year": str(paper.year or ""),
        "secondary_title": paper.venue_as_found,
        "doi": paper.doi,
        "accession_number": paper.pmid,
        "name_of_database": "PubMed" if paper.pmid else "",
        "urls": list(filter(None, (paper.url, *preprint, *links(paper)))),
        "abstract": paper.abstract,
        "notes": [paper.note] if paper.note else [],
    }
    return {name: value for name, value in fields.items() if value}
