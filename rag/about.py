"""Questions about the collection itself ("who wrote ...?", "how many papers from ICLR?"), recognised by rules.

A question is taken only if nothing of it asks for what papers say: patterns cover it from end to end, or every word
of it is a word about collections. English, and the main German, French and Spanish forms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag.asking import FILLERS, KEYS, RULES, Topic
from rag.facets import Facets, facets_of
from rag.records import Records


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question wants to know about the collection."""

    topics: tuple[Topic, ...]
    facets: Facets
    paper: str = ""  # as the question names it
    author: str = ""
    detail: str = ""  # "first" author, "doi", "count" of authors, "when", what is claimed
    yes_no: bool = False


_CLAIM = re.compile(
    r"(?:is|was) (?P<paper>.+?) (?P<detail>(?:an?|from|at|in|published (?:in|at)|presented at) \S.*)",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"^(?:\W|(?:please|hi|hello|hey|so|ok|and|bitte|hallo|(?:can|could) you (?:please )?(?:tell|show|list|give)(?: me)?"
    r"|do you know|tell me|i(?:['’]d| would) like to know|i want to know|sag mir|dis-moi|dime)\b)+"
    r"|(?:\W|\bplease|\bbitte|\bthanks)+$",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"^(?:show|list|give|tell|name|zeige?|nenne?|montre|liste|muestra)\b(?: me| mir)?", re.IGNORECASE
)
_CLAIMING = frozenset("a an from at in published presented paper".split())
_YES_NO = re.compile(
    r"(?:is|are|do|does|did|has|have|any|gibt|hast|habt|y a-t-il|est-ce|avez|hay|tienes|tenéis)\b",
    re.IGNORECASE,
)


def asked_about(question: str, records: Records) -> Asked | None:
    """What a question wants to know about the collection; None if it asks for what papers say."""
    text = _POLITE.sub("", " ".join(question.split()))
    return (
        _by_rule(text, of_one=True)
        or _of_words_alone(text, records)
        or _by_rule(text, of_one=False)
        or _claimed(text, records)
    )


def _by_rule(text: str, *, of_one: bool) -> Asked | None:
    """By a pattern; those of "is ... in here?" are wide, and come after all others (`of_one`)."""
    for topic, rule in RULES:
        found = rule.fullmatch(text) if (topic != "here") == of_one else None
        if found:
            groups = {name: value.strip() for name, value in found.groupdict().items() if value}
            paper, author = groups.get("paper", ""), groups.get("author", "")
            return Asked(
                (topic,), Facets(text), paper, author, groups.get("detail", "").casefold(), "yes" in groups
            )
    return None


def _claimed(text: str, records: Records) -> Asked | None:
    """ "Is FedDA an ICLR paper?" """
    claim = _CLAIM.fullmatch(text)
    claimed = facets_of(claim["detail"], records, loose=True) if claim else None
    if claim and claimed and set(_words(claimed.rest)) <= _CLAIMING:
        return Asked(("is_from",), claimed, claim["paper"], yes_no=True)
    return None


def _of_words_alone(text: str, records: Records) -> Asked | None:
    facets = facets_of(_ORDER.sub("", text), records, loose=True)
    rest = f" {facets.rest} "
    for pattern, key in KEYS:
        rest = pattern.sub(key, rest)
    said = _words(rest)
    if not all(w.startswith("#") or w in FILLERS for w in said):
        return None
    topics = _topics({w for w in said if w.startswith("#")}, facets, len(said))
    return Asked(topics, facets, yes_no=bool(_YES_NO.match(text))) if topics else None


def _words(text: str) -> list[str]:
    return re.findall(r"#?\w+", text.casefold())


def _topics(keys: set[str], facets: Facets, length: int) -> tuple[Topic, ...]:
    """What the words about collections ask for together."""
    some = bool(keys & {"#paper", "#one", "#here", "#some", "#title"})
    if "#file" in keys:
        return ("files",)
    if "#newest" in keys or "#oldest" in keys:
        return ("newest",) if "#newest" in keys else ("oldest",)
    if "#sentence" in keys and "#count" in keys:
        return ("sentences",)
    if not facets:
        return _without_facets(keys, length)
    if not some and not facets.authors and "#count" not in keys:
        return ()  # "what is ICLR?"
    if "#author" in keys and not facets.authors:
        return ("authors",)
    return ("count",) if "#count" in keys else ("list",)


def _without_facets(keys: set[str], length: int) -> tuple[Topic, ...]:
    if "#author" in keys or ("#wrote" in keys and keys & {"#most", "#paper"}):
        return ("authors",)
    told: tuple[Topic, ...] = ("venues",) if "#venue" in keys else ()
    if "#year" in keys or ("#when" in keys and keys & {"#paper", "#here"}):
        told += ("years",)
    if told:
        return told
    if "#count" in keys:
        return ("count",) if keys & {"#paper", "#here"} else ()
    if ("#topic" in keys and keys & {"#here", "#paper"}) or (keys == {"#here"} and length > 2):
        return ("overview",)
    return ("list",) if keys & {"#paper", "#title"} and length > 1 else ()
