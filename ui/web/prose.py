"""Text of papers, users and models as HTML: escaped piece by piece, formulas as MathML, spans marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape, unescape
from itertools import groupby, pairwise
from typing import NamedTuple
from xml.etree import ElementTree

from latex2mathml import exceptions
from latex2mathml.converter import Converter

from rag.latex import formulas

LONGEST_FORMULA = 1_000  # characters; conversion time grows with the square of the length
WIDE = 40  # characters; MathML does not wrap, so a longer formula gets a scroll bar of its own
DELIMITERS = (("$$", "$$", "block"), ("\\[", "\\]", "block"), ("\\(", "\\)", "inline"), ("$", "$", "inline"))

_TIED = re.compile(r"([(\[]*)(<math\b.*?</math>)([-.,;:!?)\]]*)", re.DOTALL)
FUNCTIONS = frozenset(
    "arccos arcsin arctan arg cos cosh deg det dim exp gcd ln log sin sinh tan tanh".split()
)

# latex2mathml has no common base class, and lets lookups and conversions of its own fail on bad input.
UNCONVERTIBLE: tuple[type[Exception], ...] = (
    *(e for e in vars(exceptions).values() if isinstance(e, type) and issubclass(e, Exception)),
    AttributeError,
    IndexError,
    KeyError,
    TypeError,
    ValueError,
    StopIteration,
    RuntimeError,  # RecursionError and a StopIteration inside a generator
)


class Mark(NamedTuple):
    """A span of characters to be shown inside `<mark class=name>`."""

    start: int
    end: int
    name: str


def prose(text: str, marks: Sequence[Mark] = ()) -> str:
    """HTML of a text; where marks overlap the first wins, and a formula is never cut by a mark."""
    html = []
    for name, pieces in groupby(_pieces(text, marks), key=lambda piece: piece[1]):
        inner = _TIED.sub(_tie, "".join(piece for piece, _ in pieces))
        html.append(f'<mark class="{escape(name)}">{inner}</mark>' if name else inner)
    return "".join(html)


def _tie(found: re.Match[str]) -> str:
    """A formula keeps its brackets and its full stop: none of them begins or ends a line alone."""
    before, math, after = found.groups()
    return f'<span class="tied">{found[0]}</span>' if before or after else math


def _pieces(text: str, marks: Sequence[Mark]) -> Iterator[tuple[str, str]]:
    """(HTML, name of its mark or "") of each stretch that lies wholly in or outside every mark."""
    at = 0
    for start, end in [*formulas(text), (len(text), len(text))]:
        cuts = {c for mark in marks for c in (mark.start, mark.end) if at < c < start}
        for a, b in pairwise(sorted(cuts | {at, start})):
            yield escape(text[a:b]), _mark_at(a, b, marks)
        if start < end:
            yield formula(text[start:end]), _mark_at(start, end, marks)
        at = end


def _mark_at(start: int, end: int, marks: Sequence[Mark]) -> str:
    return next((mark.name for mark in marks if mark.start < end and start < mark.end), "")


def formula(source: str) -> str:
    """MathML of a formula with its delimiters; what cannot be converted stays readable as code."""
    html = _mathml(*_undelimited(source)) or f'<code class="tex">{escape(source)}</code>'
    return f'<span class="wide">{html}</span>' if len(source) > WIDE else html


def _undelimited(source: str) -> tuple[str, str]:
    r"""What stands between the delimiters, and how it is set; environments (`\begin{align}`) stay whole."""
    for left, right, display in DELIMITERS:
        if source.startswith(left) and source.endswith(right) and len(source) >= len(left + right):
            return source[len(left) : -len(right)], display
    return source, "block"


@lru_cache(maxsize=4_096)
def _mathml(latex: str, display: str) -> str | None:
    """None where latex2mathml fails or passes a command through as text."""
    if len(latex) > LONGEST_FORMULA:
        return None
    try:
        tree = Converter(display=display).convert_to_element(latex)
    except UNCONVERTIBLE:
        return None
    for element in tree.iter():
        # The tree holds entities as text; its own serialiser unescapes them, and "<" of the source too.
        element.text = unescape(element.text or "")
        if element.text.startswith("\\") and element.text not in ("\\{", "\\}"):
            return None
        if element.tag == "mi" and element.text in FUNCTIONS:  # or "n log n" reads "nlogn"
            element.tag, element.attrib = "mo", {"lspace": "0.17em", "rspace": "0.17em"}
    return ElementTree.tostring(tree, encoding="unicode")
