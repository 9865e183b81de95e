"""Markdown for people to read: a heading a paper, who and where, the abstract."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rag.latex import formulas
from rag.nouns import Paper

_MARK = re.compile(r"[\\`*_\[\]<>|~$&#]|^[-+](?=\s)|^\d+(?=[.)]\s)")
_LINK = re.compile(r"https?://[^\s<>\"\\^`{}|]+")


def write(papers: Iterable[Paper]) -> Iterator[str]:
    """A section a paper. Nothing of a paper is markup in it but its formulas."""
    for n, paper in enumerate(papers):
        yield ("\n" if n else "") + _section(paper)


def _section(paper: Paper) -> str:
    where = " ".join(filter(None, (paper.venue, str(paper.year or ""))))
    about = [", ".join(map(escaped, paper.authors)), escaped(where), *_links(paper)]
    lines = [f"## {escaped(paper.label)}", " · ".join(filter(None, about))]
    lines += [f"*{escaped(paper.note)}*" if paper.note else "", escaped(paper.abstract)]
    return "\n\n".join(filter(None, lines)) + "\n"


def _links(paper: Paper) -> list[str]:
    addresses = [paper.url, f"https://doi.org/{paper.doi}" if paper.doi else ""]
    addresses.append(f"https://arxiv.org/abs/{paper.arxiv}" if paper.arxiv and not paper.url else "")
    pubmed = f"https://pubmed.ncbi.nlm.nih.gov/{paper.pmid}/"
    addresses.append(pubmed if paper.pmid and not paper.doi else "")
    return [f"<{address}>" for address in dict.fromkeys(addresses) if _LINK.fullmatch(address)]


def escaped(text: str) -> str:
    """Text that Markdown shows as it is; formulas keep their TeX, without what could open an HTML tag."""
    pieces, end = [], 0
    for start, stop in formulas(text):
        pieces += [_plain(text[end:start]), re.sub(r"<(?! )", "< ", text[start:stop])]
        end = stop
    return "".join([*pieces, _plain(text[end:])])


def _plain(text: str) -> str:
    return _MARK.sub(lambda m: "\\" + m[0] if len(m[0]) == 1 and not m[0].isdigit() else m[0] + "\\", text)
