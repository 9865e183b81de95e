"""How texts are compared with facts and quotes: by their words, layout and markup aside."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_COMMAND = re.compile(r"\\(textbf|textit|emph|mathrm|mathbb|mathbf|text|tilde|times|sim)\b")
_SIGNS = {"times": "×", "sim": "~"}
_MARKUP = re.compile(r"[$\\{}~^_*`]")
_TYPOGRAPHY = str.maketrans("–—‑−’", "----'")
_NO_LETTER = re.compile(r"[\W_]+")
_MARKERS = re.compile(r"\[[\d,\s-]+\]")
_NUMBER = re.compile(r"[\d.]+|one|two|three|four|five|six|seven|eight|nine|ten|none|zero")
_CLAUSE_END = re.compile(r"[:\n]|\.\s")
_OUT_OF = re.compile(r"\b(of|among|out of)\s+(the\s+)?\d+")
_FIGURES = re.compile(r"\d+(?:[.,]\d+)*")


def folded(text: str) -> str:
    """Lower case, without LaTeX and Markdown markup, plain dashes, single spaces."""
    text = unicodedata.normalize("NFKC", text).lower()
    text = _COMMAND.sub(lambda m: _SIGNS.get(m[1], ""), text)
    return " ".join(_MARKUP.sub("", text).translate(_TYPOGRAPHY).split())


def skeleton(text: str) -> str:
    """Letters and digits of a folded text: equal for a quote as found and as made readable."""
    return _NO_LETTER.sub("", folded(text))


def without_markers(text: str) -> str:
    """An answer's text with a space in the place of each citation marker."""
    return _MARKERS.sub(" ", text)


def numbers(text: str) -> list[str]:
    """The numbers of a text, as written: "2.7", "10,000"."""
    return _FIGURES.findall(text)


def is_number(text: str) -> bool:
    """Whether a fact is a bare number, in digits or as a word up to ten."""
    return _NUMBER.fullmatch(folded(text)) is not None


def holds(text: str, phrase: str) -> bool:
    """Whether a *folded* text holds a phrase; a number must not be cut out of a longer one or a word."""
    wanted = folded(phrase)
    before = after = ""
    if _NUMBER.fullmatch(wanted):
        before = r"(?<![\w.,])"
        after = r"(?!\d|\.\d)" if "." in wanted else r"(?![\w%]|[.,]\d)"
    elif wanted[:1].isdigit():
        before = r"(?<![\d.,])"
    return re.search(before + re.escape(wanted) + after, text) is not None


def opening(text: str) -> str:
    """The opening clause, without "of 38": where a count is claimed."""
    return _OUT_OF.sub("", _CLAUSE_END.split(text, maxsplit=1)[0])


def fact_found(alternatives: Sequence[str], text: str, *, counted: bool) -> bool:
    """Whether any surface form of a fact stands in an answer's text (without markers).

    `counted`: the question asks for a number of papers, which must stand in the opening clause.
    """
    if counted and all(map(is_number, alternatives)):
        text = opening(text)
    whole = folded(text)
    return any(holds(whole, one) for one in alternatives)
