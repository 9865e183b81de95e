"""Text formats that are not read, told by their names, with what to export instead."""

from __future__ import annotations

import re
from typing import NamedTuple


class Foreign(NamedTuple):
    """A format that is not read: its name, what shows it, and what to do."""

    name: str
    mark: re.Pattern[str]
    remedy: str


_COMMENTS = re.compile(r"(?:\s*<!--(?:(?!-->).)*-->)*\s*", re.S)  # browsers put one above a saved page
_BIBTEX = "Export it as BibTeX or RIS, with abstracts"
# XML and HTML before the plain text that they would pass for; a text may begin with <p> or <i>.
_FOREIGN = (
    Foreign(
        "Zotero's RDF",
        re.compile(r"<rdf:RDF\b"),
        "In Zotero choose Export Library, and BibTeX or RIS as its format",
    ),
    Foreign(
        "EndNote's XML",
        re.compile(r"<source-app\b[^<>]*\bEndNote|<database\b[^<>]*\.enl", re.I),
        "In EndNote export with the output style BibTeX Export or RefMan (RIS) Export",
    ),
    Foreign("MODS", re.compile(r"<(?:\w+:)?mods(?:Collection)?\b"), _BIBTEX),
    Foreign("JATS", re.compile(r"<article\b[^<>]*\b(?:article-type|dtd-version)="), _BIBTEX),
    Foreign("an RSS feed", re.compile(r"\A(?:<\?xml[^>]*>\s*)?<rss\b", re.I), _BIBTEX),
    Foreign(
        "an HTML page",
        re.compile(
            r"\A(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body|main|div|table|section|meta|script)\b",
            re.I,
        ),
        "Look on the site for an export as BibTeX or RIS, or copy the papers' texts into a text file",
    ),
    Foreign(
        "XML",
        re.compile(
            r"\A<(?:\?xml\b|!doctype\b|\w+:\w|[A-Za-z][^<>]*\sxmlns|"
            r"(?!(?:p|i|b|em|strong|span|su[bp]|u|small|br)\b)[A-Za-z][^<>]*>\s*<[A-Za-z])",
            re.I,
        ),
        _BIBTEX,
    ),
    Foreign("rich text (RTF)", re.compile(r"\A\{\\rtf"), "Save it as plain text"),
    Foreign(
        "LaTeX source", re.compile(r"^[ \t]*\\documentclass\b", re.M), "Give its PDF, or its abstract as text"
    ),
    Foreign(
        "PubMed's list for reading",
        re.compile(
            r"\A1\. [^\n]{0,300}\b(?:19|20)\d\d\b.{0,20000}?^PMID: \d|\A1: .{0,2000}?\bPMID: \d", re.M | re.S
        ),
        "In PubMed choose Save or Send to, and PubMed (nbib) as the format",
    ),
)


def foreign(head: str) -> Foreign | None:
    """The format of a text that begins like one that is not read."""
    begun = head[_COMMENTS.match(head).end() :]  # type: ignore[union-attr]  # matches nothing too
    return next((known for known in _FOREIGN if known.mark.search(begun)), None)
