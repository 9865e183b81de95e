"""What an abstract calls its own contribution: "we propose TidalNet, a ..." → TidalNet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from rag.nouns import Paper
from rag.text import plain
from rag.verify import bones

MOST = 2  # names told of one paper
RARE = 3  # papers that hold a name, above which it is no paper's own
REPEATED = 3  # times that an abstract says a name, from which it is its subject even if it is not introduced
_NAME = (
    r"(?<![\w.])(?<!\d )(?:[A-Za-z]+-)?(?:\w*[a-z]\w*[A-Z]\w*|[A-Z]{2,}\w*|[A-Z]+\d\w*|[A-Z]\w*(?=-[A-Z]))"
    r"(?:\([A-Z]+\)(?:\^?\d)?)?(?:[-+]\w+)*(?!\(\d)"
)
_MARKS = r"[\"“'‘*_]*"
_WHO = r"\b(?:we|this\s+(?:paper|work|article|study)|our\s+(?:work|paper|study|goal|aim)|the\s+paper)"
_MAKING = (
    rf"{_WHO}(?:\s+\w+){{0,3}}?\s+(?:propos|introduc|present|develop|design|devis|construct|releas|build|"
    r"creat|contribut|establish|provid|describ|conceiv)\w*\s+"
)
_CALLING = (
    r"\b(?:(?:the|our)\s+proposed|our(?:\s+(?:method|model|approach|framework|algorithm)),?|named|called|dubbed|termed|"
    r"coined|referred\s+to\s+as|denoted(?:\s+as|\s+by)?|namely)\s+"
)
_BRACKETED = rf"[^.;()]{{0,140}}?\({_MARKS}({_NAME}){_MARKS}\)"
_RULES = [
    re.compile(rf"(?:{_MAKING}|{_CALLING}){_BRACKETED}", re.IGNORECASE),
    re.compile(
        rf"(?:{_MAKING}|{_CALLING}){_MARKS}({_NAME})(?=[\s,.:;()*\"”'’]|$)(?![^.,;()]{{0,40}}\()",
        re.IGNORECASE,
    ),
    re.compile(rf"({_NAME})\s*(?:\([^()]{{3,80}}\)\s*)?[,:]\s+(?:an?|the\s+first)\s", re.IGNORECASE),
]
_CALLED_RUN = re.compile(rf"{_CALLING}{_MARKS}([A-Z]\w+(?:[ -][A-Z]\w+){{1,4}})")
_ANY = re.compile(rf"({_NAME})(?![\w-])")


def called(paper: Paper, shown: str, holders: Callable[[str], int]) -> str:
    """The names a paper coins, as far as what is shown of it does not hold them; or nothing."""
    seen = bones(shown)
    return ", ".join(name for name in coined(paper.abstract, holders) if bones(name) not in seen)


def coined(abstract: str, holders: Callable[[str], int]) -> tuple[str, ...]:
    """Names that the abstract gives to what it presents, at most MOST, in the order they first stand in.

    `holders` tells how many papers of the collection hold a word: what many hold is nobody's own name.
    """
    text = plain(abstract)
    found = [m[1] for rule in (*_RULES, _CALLED_RUN) for m in rule.finditer(text)]
    own = [name for name in dict.fromkeys(found) if _cased(name) and _rare(name, holders)]
    if not own:
        own = _repeated(text, holders)
    named = [form for name in sorted(own[:MOST], key=text.find) for form in (_expansion(text, name), name)]
    return tuple(filter(None, named))


def _repeated(text: str, holders: Callable[[str], int]) -> list[str]:
    """The name said most often; one that only shortens a phrase, after any other."""
    counts = Counter(m[1] for m in _ANY.finditer(text) if _cased(m[1]) and _rare(m[1], holders))
    often = [name for name, count in counts.items() if count >= REPEATED]
    return sorted(often, key=lambda name: (f"({name}" in text, -counts[name]))[:1]


def _expansion(text: str, name: str) -> str:
    """The words that a name in brackets behind them shortens: "robust satisficing (RS)"."""
    before, found, _ = text.partition(f"({name})")
    letters = [c for c in name.casefold() if c.isalpha()]
    last = list(re.finditer(r"[^\W_]+", before))[-len(letters) :]
    if not found or [m[0][0].casefold() for m in last] != letters:
        return ""
    return before[last[0].start() :].strip()


def _cased(name: str) -> bool:
    return any(c.isupper() for c in name[1:]) or any(c.isdigit() for c in name)


def _rare(name: str, holders: Callable[[str], int]) -> bool:
    return min(holders(word) for word in re.findall(r"\w+", name)) <= RARE
