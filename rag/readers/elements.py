"""XML as a stream of the elements that stand for papers, each parsed alone by lxml.

Nothing before them is parsed, so that no document type, entity or DTD of a file ever takes effect; a broken
element costs only itself; a file may be of any length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from rag.nouns import Problem
from rag.readers.source import Source
from rag.readers.window import Window

ELEMENT_LIMIT = 4_000_000  # characters; an article with its 3,000 authors has a tenth of it
Element = Any  # lxml has no types

_DECLARED = re.compile(r"\bxmlns:([A-Za-z][\w.-]{0,40})\s*=")
_WHERE = re.compile(r",? line \d+(?:, column \d+)?|\s+$")  # of the element alone, not of the file
_NO_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def elements(source: Source, *names: str) -> Iterator[tuple[int, int, Element] | Problem]:
    """Number, line and tree of each element of one of these names, or the problem that it is broken.

    The tree's names have no namespaces: `arxiv:doi` is found as `doi`.
    """
    begins = re.compile(rf"<({'|'.join(names)})(?=[\s>])")
    prefixes = sorted(set(_DECLARED.findall(source.head)))
    window = Window(source)
    number = 0
    while found := window.find(begins):
        number += 1
        window.move(found.start())
        line = window.line
        text = _whole(window, found[1])
        if not text:
            cause = f"<{found[1]}> is not closed, or has more than {ELEMENT_LIMIT:,} characters"
            yield Problem(source.name, cause, "Fetch or export the file again", record=number, line=line)
            continue
        try:
            tree = _parsed(text, prefixes)
        except etree.XMLSyntaxError as error:
            at = line + max(0, error.lineno - 1)
            cause = f"not valid XML: {_WHERE.sub('', error.msg or 'of no kind')}"
            yield Problem(source.name, cause, "Mend or delete this element", record=number, line=at)
        else:
            yield number, line, tree


def _whole(window: Window, name: str) -> str:
    """The text of the element that begins here, empty if it is not closed; the window goes behind it."""
    marks = re.compile(rf"</{name}\s{{0,9}}>|<{name}(?=[\s>])")
    start = window.at
    window.move(start + 1)
    end = window.find(marks, ELEMENT_LIMIT)
    start = window.at - 1  # reading on may have moved it
    if end is None or not end[0].startswith("</"):
        if end:
            window.move(end.start())
        return ""
    text = window.text[start : end.end()]
    window.move(end.end())
    return text


def _parsed(text: str, prefixes: Sequence[str]) -> Element:
    """The tree of an element; raises XMLSyntaxError."""
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    root = " ".join(["x", *(f'xmlns:{prefix}="{prefix}"' for prefix in prefixes)])
    wrapped = f"<{root}>{_NO_XML.sub('', text)}</x>"
    tree = etree.fromstring(wrapped.encode("utf-8", "replace"), parser)[0]
    for element in tree.iter(etree.Element):
        element.tag = etree.QName(element).localname
    return tree


def text_of(element: Element | None) -> str:
    """All text inside an element, tags of raised and lowered characters kept."""
    if element is None:
        return ""
    pieces = [element.text or ""]
    for child in element:
        inner = text_of(child) if isinstance(child.tag, str) else ""
        pieces += [
            f"<{child.tag}>{inner}</{child.tag}>" if child.tag in ("sub", "sup") else inner,
            child.tail or "",
        ]
    return "".join(pieces)
