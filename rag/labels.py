"""A readable stand-in for the title of a paper that has none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from rag.text import plain

LENGTH = 90  # characters of a label
HEADING = 32  # characters of it that the heading may take
FIRST = 0.29  # worth of the first sentence, if it does not say itself what the paper does
SCANT = 12  # characters below which a phrase tells little
ENOUGH = 36  # characters a phrase must keep when it is cut at a clause

_ADVERBS = (
    r"(?:\s+(?:\w+ly|also|then|first|further|thus|hence|here|therefore|next|instead)(?:\s+and\s+\w+ly)?)*"
)
_WHO = r"(?:\bwe|\bthis\s+(?:paper|work|article|study)|\bour\s+(?:work|paper|research|study)|\bthe\s+paper)"
_MAKING = (
    r"propos\w+|introduc\w+|present\w*|develop\w*|design\w*|devis\w+|construct\w*|releas\w+|train|"
    r"(?:aims?|seeks?)\s+to"
)
_STUDYING = (
    r"stud(?:y|ies)|investigat\w+|explor\w+|analy[sz]e\w*|argue\w*\s+that|focus\w*\s+on|provid\w+|describ\w+|"
    r"identif\w+|deriv\w+|address\w*|examin\w+|show\w*\s+(?:that|how)|revisit\w*|consider\w*|discuss\w*|apply|"
    r"advocat\w+\s+for"
)
_SAID = re.compile(rf"{_WHO}{_ADVERBS}\s+(?:(?P<making>{_MAKING})|(?:{_STUDYING}))\s+(?!to\b)", re.I)
_NAMED = re.compile(r"\b(?:named|called|dubbed|termed|referred\s+to\s+as)\s+(?=\S)", re.I)
_AND_MAKING = re.compile(rf"\band\s+(?:{_MAKING})\s+(?=an?\s)", re.I)
_LEAD = re.compile(
    r"(?:(?:an?|as|the|novel|new|simple|some)\s+|(?:novel|new),\s+|"
    r"(?:approach|method|framework|technique|algorithm|model),?\s+(?:named|called|dubbed|termed|referred\s+to\s+as)\s+)+",
    re.I,
)
_BACKWARD = re.compile(r"(?<!such )\b(?:this|these|such(?!\s+as)|our|it|its|their|them|recently)\b", re.I)
_NAME = re.compile(r"\b(?:[A-Za-z]+-)?(?:\w*[a-z]\w*[A-Z]\w*|[A-Z]{2,}\w*)(?:-\w+)*")
_WORD = re.compile(r"[A-Za-z][\w-]{3,}")
_SENTENCE_END = re.compile(r"[.!?](?=\s+[A-Z\"“(]|\s*$)|[。！？]")
_CLAUSE = re.compile(
    r"[,;]\s(?=(?:which|where|while|that|to|for|by|using|with|and\s(?:show|prove|apply|explore|then))\b)|;\s|\s[–—]\s|(?<=[A-Za-z]\))\s"
    r"|\s(?=(?:that|which|where|while|to|for|by|using|with|via|based|is|are|has|have|can)\s)"
)
_LOOSE_END = re.compile(
    r"(?:[\s,;:–—(-]|\b(?:an?|the|of|and|or|to|for|with|in|on|by|that|which|is|are|prove|show|as|such|at|from|its|their|can|be|"
    r"both|i\.e|e\.g|using|via|over|under|into|between|based|grounded|designed|inspired|used|yet|a\s+new|a\s+novel)\b[.]?)+$"
)
_OPENING = re.compile(
    r"(?:With|In|Despite|Although|While|As|Due to|Given|Recently|Today|Currently|For|To|By)\b[^,.;]{0,90},\s+"
)
_EMPTY = re.compile(
    r"(?:approach|method|framework|technique|algorithm|model|system|strategy)(?:e?s)?\b", re.I
)
_COMMON = frozenset(
    "with that this from which these those their than have been more such also over under".split()
)


def label(abstract: str, heading: str, number: int) -> str:
    """Heading and number, then the words by which the abstract introduces its subject.

    At most `LENGTH` characters of plain text; the phrase is a contiguous part of `plain(abstract)`.
    """
    head = f"{_shortened(plain(heading), HEADING)} #{number}" if heading else f"Paper #{number}"
    phrase = _phrase(" ".join(plain(abstract).split()), LENGTH - len(head) - 2)
    return f"{head}: {phrase}" if any(map(str.isalnum, phrase)) else head


def _phrase(text: str, room: int) -> str:
    """The best of the phrases that tell what a paper is about, within `room` characters."""
    counts = Counter(_stem(word) for word in _WORD.findall(text))
    best, best_score = "", float("-inf")
    for place, (start, worth) in enumerate(_starts(text)):
        phrase = _cut(_sentence(text, start), room)
        score = worth + _topicality(phrase, counts) + min(len(_WORD.findall(phrase)), 6) / 10 - place / 20
        named = any(text.find(name) >= start for name in _NAME.findall(phrase))  # for the first time
        score += 0.5 * (named and worth > FIRST)
        score -= bool(_BACKWARD.search(phrase)) + 0.5 * bool(_EMPTY.match(phrase)) + (len(phrase) < SCANT)
        if score > best_score:
            best, best_score = phrase, score
    return best


def _starts(text: str) -> Iterator[tuple[int, float]]:
    """Where a phrase may begin, and how likely it then names the paper's own contribution."""
    found = [(m.end(), 1.0 if m["making"] else 0.6) for m in _SAID.finditer(text)]
    found += [(m.end(), 0.3) for m in _NAMED.finditer(text)] + [
        (m.end(), 0.9) for m in _AND_MAKING.finditer(text)
    ]
    sentences = [0, *(m.end() + 1 for m in islice(_SENTENCE_END.finditer(text), 2))]
    for worth, start in zip((FIRST, FIRST - 0.1, FIRST - 0.2), sentences, strict=False):
        opening = _OPENING.match(text, start)
        begin = opening.end() if opening else start
        if not _SAID.match(text, begin):
            found.append((begin, worth))
    for start, worth in sorted(found):
        lead = _LEAD.match(text, start) if start else None
        yield (lead.end() if lead else start), worth


def _topicality(phrase: str, counts: Counter[str]) -> float:
    """How often, 0 to 1, the words of a phrase return in the abstract."""
    stems = [_stem(word) for word in _WORD.findall(phrase) if word.lower() not in _COMMON]
    return sum(min(counts[stem] - 1, 3) for stem in stems) / (3 * len(stems)) if stems else 0.0


def _stem(word: str) -> str:
    return word.lower()[:6]


def _sentence(text: str, start: int) -> str:
    end = _SENTENCE_END.search(text, start)
    return text[start : end.start() if end else len(text)]


def _cut(sentence: str, room: int) -> str:
    """A sentence's beginning that fits: whole, up to a clause, or up to a word and an ellipsis."""
    if len(sentence) <= room:
        return _closed(sentence)
    ends = [m.start() for m in _CLAUSE.finditer(sentence, ENOUGH, room)]
    for end in reversed(ends):
        phrase = _closed(sentence[:end])
        if len(phrase) >= ENOUGH:
            return phrase
    return _shortened(sentence, room)


def _closed(phrase: str) -> str:
    """Without a bracket left open and without words that only lead on."""
    while phrase.count("(") > phrase.count(")"):
        phrase = phrase[: phrase.rindex("(")]
    return _LOOSE_END.sub("", phrase)


def _shortened(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    cut = text[: room - 2].rsplit(" ", 1)[0]
    closed = _closed(cut)
    return (
        f"{closed} …"
        if len(closed) > ENOUGH / 2
        else _LOOSE_END.sub("", cut) + (" …)" if "(" in cut else " …")
    )
