"""Authors, venue, year and identifiers, read from whatever a source calls them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from urllib.parse import unquote

from rag.text import readable
from rag.venues import BY_NAME, VENUES, edition_year

_YEAR = re.compile(r"(?<![\d.])(19[5-9]\d|20[0-4]\d)(?!\d|\.\d)")  # not the 2001 of arXiv:2001.04451
_SHORT_YEAR = re.compile(r"(?<=[A-Za-z])\s?['’](\d\d)\b")  # ICLR'24
_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv)\.?", re.I)
_DROPPED = re.compile(r"(?:et\.? al\.?|others|and|n/?a|none|unknown|anonymous(?: authors?)?)", re.I)
_ET_AL = re.compile(r",?\s+et\.?\s+al\.?$")
_PARTICLE = re.compile(r"(?:van|von|der|den|de|del|della|da|di|du|dos|la|le|ter|ten|bin|al|el)\b")
_INDEXED = re.compile(r"(?P<last>(?=.*[a-zß-ÿ])\S.*?)\s+(?P<first>(?:[A-ZÀ-Þ]\.[ -]?){1,4}|[A-ZÀ-Þ]{1,3})")
_INITIALS = re.compile(r"(?:[A-Z]\.?[ -]?){1,4}")
_FIRST = ("given", "first", "firstname", "givenname", "givennames", "forename")
_LAST = ("family", "last", "lastname", "surname", "familyname")
_WHOLE = ("name", "fullname", "displayname", "value", "text", "author")

_ACRONYM = re.compile(
    r"(?<![A-Za-z])(" + "|".join(sorted(map(re.escape, BY_NAME), key=len, reverse=True)) + r")(?![A-Za-z])",
    re.I,
)
_IN_BRACKETS = re.compile(r"\(\s*((?=\S*[A-Z]\S*[A-Z])[A-Za-z][\w&/ -]{1,14}?)[\s'’,-]*(?:\d{2,4})?\s*\)")
_BEFORE = re.compile(
    r"^(?:(?:in:?\s*)?(?:the\s+)?proceedings\s+(?:of|from)\s+(?:the\s+)?)?(?:\d+(?:st|nd|rd|th)\s+)?", re.I
)

_ISSUE = re.compile(r"(?<=\w\w)[\s.,;]+(?:vol(?:ume|\.)|no\.|issue|pp?\.|\d+\s*[:(,]).*$", re.I)

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|\\^`]+", re.I)
_ARXIV_OLD = r"(?:math|cs|physics|stat|nlin|q-(?:bio|fin|alg)|[a-z]{2,5}-(?:ph|ex|th|lat|mat|qc|geom|lg))"
_MONTH = r"\d\d(?:0[1-9]|1[0-2])"
_ARXIV_NUMBER = rf"((?:{_MONTH}\.\d{{4,5}}|{_ARXIV_OLD}(?:\.[A-Z]{{2}})?/{_MONTH}\d{{3}})(?!\d))(?:v\d+)?"
_ARXIV_BARE = re.compile(_ARXIV_NUMBER)
_ARXIV = re.compile(
    r"(?:arxiv(?:\.org/(?:abs|pdf|html|ps|format)/|\s*:\s*|[./]|\s+)|huggingface\.co/papers/)"
    + _ARXIV_NUMBER,
    re.I,
)
_OPENREVIEW = re.compile(r"openreview\.net/\w+\?(?:[^\s]*?&)?(?:id|noteId)=([\w-]{6,16})")
_PMLR = re.compile(
    r"(?:proceedings\.mlr\.press/|jmlr\.org/proceedings/papers/|mlresearch/|\bpmlr-)(v\d+)"
    r"(?:/(?:main|gh-pages)/assets/|[/-])([a-z][a-z-]*\d\d[a-z]*)"
)
_PMID = re.compile(
    r"(?:\bpmid\s*[:=]?\s*|\bpubmed\.ncbi\.nlm\.nih\.gov/|\bncbi\.nlm\.nih\.gov/(?:m/)?pubmed/|"
    r"\beuropepmc\.org/(?:article|abstract)/med/)0*([1-9]\d{0,7})(?!\d)",
    re.I,
)


def names(value: object) -> tuple[str, ...]:
    """Names as "First Last", in order, from a string, a list or the objects of a JSON file.

    "et al." and BibTeX's "and others" are dropped.
    """
    if isinstance(value, Mapping):
        return _of_mapping({re.sub(r"[^a-z]", "", str(k).lower()): v for k, v in value.items()})
    if isinstance(value, list | tuple):
        return tuple(name for item in value for name in names(item))
    if not isinstance(value, str):
        return ()
    people = _pieces(_ET_AL.sub("", " ".join(value.split())))
    indexed = len(people) > 1 and all(map(_INDEXED.fullmatch, people))
    return _all_turned(map(_from_index, people) if indexed else people)


def indexed_names(values: Iterable[str]) -> tuple[str, ...]:
    """Names given one by one as citation indexes do: "Last, First", "Last F.", or the name of a group."""
    return _all_turned(_from_index(name) for value in values for name in _split(value, r";"))


def _from_index(name: str) -> str:
    """ "Last F." as "Last, F."; anything else as it is."""
    found = _INDEXED.fullmatch(name.strip())
    return f"{found['last']}, {found['first']}" if found and "," not in name else name


def bibtex_names(value: str) -> tuple[str, ...]:
    """Names of a BibTeX field: "and" parts people, a comma parts surname and first name."""
    people = _split(" ".join(value.split()), r"\s+and\s+")
    each = ([p] if len(_split(p, r",")) <= 2 else _pieces(p) for p in people)
    return _all_turned([name for some in each for name in some])


def _all_turned(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in map(_turned, found) if name)


def _of_mapping(value: Mapping[str, object]) -> tuple[str, ...]:
    def part(keys: tuple[str, ...]) -> object:
        return next((value[key] for key in keys if value.get(key)), "")

    last, first = part(_LAST), part(_FIRST)
    if isinstance(last, str) and last:
        given = (first, part(("nondroppingparticle", "droppingparticle")), last, part(("suffix",)))
        whole = " ".join(text for text in given if isinstance(text, str) and text)
        return _all_turned([f"{{{whole}}}"])
    group = part(("literal",))
    return _all_turned([f"{{{group}}}"]) if isinstance(group, str) and group else names(part(_WHOLE))


def _pieces(text: str) -> list[str]:
    """One string a name, each still as it stands."""
    if ";" in text:
        return _split(text, r";")
    people = [p for p in _split(text, r",?\s+and\s+|\s+&\s+") if not _DROPPED.fullmatch(p)]
    parts = [_split(person, r",") for person in people]
    inverted = len(people) > 1 and all(len(p) == 2 for p in parts)
    each = ([person] if inverted or _one(p) else _paired(p) for person, p in zip(people, parts, strict=True))
    return [name for some in each for name in some]


def _split(text: str, separator: str) -> list[str]:
    """Split outside braces: `{Barnes and Noble}` is one name."""
    pieces, depth, start = [], 0, 0
    for mark in re.finditer(rf"(?<!\\)[{{}}]|{separator}", text, re.I):
        if mark[0] == "{":
            depth += 1
        elif mark[0] == "}":
            depth = max(0, depth - 1)
        elif depth == 0:
            pieces.append(text[start : mark.start()])
            start = mark.end()
    return [piece.strip() for piece in (*pieces, text[start:]) if piece.strip()]


def _one(parts: list[str]) -> bool:
    """Whether what the commas part is one name ("Doe, Jane") and not several people."""
    if len(parts) == 3:
        return any(map(_SUFFIX.fullmatch, parts[1:]))
    if len(parts) != 2:
        return len(parts) == 1
    full = all(len(part.split()) > 1 for part in parts)
    return not full or bool(_PARTICLE.match(parts[0]) or re.search(r"\b[A-Z]\.?$", parts[1]))


def _paired(parts: list[str]) -> list[str]:
    """The people of a comma-separated list; "Doe, J., Roe, R." pairs surnames with first names."""
    inverted = all(_INITIALS.fullmatch(given) for given in parts[1::2]) or not any(" " in p for p in parts)
    if len(parts) % 2 == 0 and inverted:
        return [f"{last}, {given}" for last, given in zip(parts[::2], parts[1::2], strict=True)]
    return parts


def _turned(name: str) -> str:
    """ "Last, First" and "Last, Jr, First" as "First Last" and "First Last Jr"; readable."""
    parts = _split(name, r",")
    suffix = next((part for part in parts[1:] if _SUFFIX.fullmatch(part)), "")
    parts = [part for part in parts if part != suffix]
    if len(parts) == 2 and (after := re.fullmatch(rf"(.*\S)\s+({_SUFFIX.pattern})", parts[1], re.I)):
        parts[1], suffix = after[1], suffix or after[2]
    parts = [*reversed(parts), suffix] if len(parts) == 2 else [*parts, suffix]
    text = " ".join(readable(_ET_AL.sub("", " ".join(parts))).split())
    return "" if _DROPPED.fullmatch(text) or not any(c.isalpha() for c in text) else text


def year(value: object) -> int | None:
    """A year from 1950 on, from a number, a date or a text that states one."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and 10**11 < value < 10**13:  # milliseconds since 1970
        return datetime.fromtimestamp(value / 1000, UTC).year
    found = _YEAR.search(str(value))
    return int(found[1]) if found else None


def known_venue(text: str) -> str:
    """The usual short name of a venue that the text names, or ""."""
    whole = text.strip().upper()
    if whole in BY_NAME:
        return BY_NAME[whole]
    short = _acronym(text) or next((name for name, long in VENUES if long.search(text)), "")
    if short and re.search(r"\bworkshops?\b", text, re.I):
        return f"{short} Workshop"
    if short and re.match(r"\s*findings\b", text, re.I):
        return f"{short} Findings"
    return short


def _acronym(text: str) -> str:
    """A known acronym, written as one: in its own or capital letters, or beside a year."""
    shorts = []
    for found in _ACRONYM.finditer(text):
        short = BY_NAME[found[1].upper()]
        beside_year = re.match(r"[\s_'’-]?(?:19|20)?\d\d\b", text[found.end() :])
        if found[1] in (short, found[1].upper()) or beside_year:
            shorts.append(short)
    return next((short for short in shorts if short != "arXiv"), "".join(shorts[:1]))


def venue_year(text: str) -> tuple[str, int | None]:
    """A venue's short name and the year the text states: ("ICML", 2024).

    A venue that is not known keeps its name, without "Proceedings of the 5th" and the year.
    """
    stated = year(text)
    abbreviated = _SHORT_YEAR.search(text)
    if stated is None and abbreviated:
        stated = 2000 + int(abbreviated[1]) if int(abbreviated[1]) < 50 else 1900 + int(abbreviated[1])
    short = known_venue(text)
    if short:
        return short, stated or edition_year(short, text)
    bracketed = _IN_BRACKETS.search(text)
    return bracketed[1].strip() if bracketed else _cut(text), stated


def _cut(text: str) -> str:
    name = re.sub(r"\(\s*\)", "", _SHORT_YEAR.sub("", _YEAR.sub("", text)))
    name = _ISSUE.sub("", _BEFORE.sub("", " ".join(name.split()))).strip(" ,;:-")
    return name if len(name) <= 80 else name[:80].rsplit(" ", 1)[0] + " …"


def doi(text: str) -> str:
    """The DOI a text holds, in lower case, or ""."""
    found = _DOI.search(unquote(text))
    if not found:
        return ""
    name = found[0].rstrip(".,;:'’")
    while name.endswith((")", "]")) and name.count(name[-1]) > name.count("(" if name[-1] == ")" else "["):
        name = name[:-1].rstrip(".,;:")
    return name.lower()


def arxiv_id(text: str) -> str:
    """The arXiv number a text is or names, without its version, or "": "2301.00001", "math/0309136"."""
    found = _ARXIV_BARE.fullmatch(text.strip()) or _ARXIV.search(text)
    if not found:
        return ""
    return re.sub(r"\.[A-Za-z]{2}/", "/", found[1]).lower()


def openreview_id(text: str) -> str:
    """The OpenReview forum a link names, or a bare text that has the looks of one, or ""."""
    linked = _OPENREVIEW.search(text)
    if linked:
        return linked[1]
    bare = text.strip()
    if not re.fullmatch(r"(?=.*[A-Z])(?=.*[a-z])[\w-]{9,12}", bare, re.ASCII):
        return ""
    if re.match(r"[A-Z][a-z]|[a-z]{3}", bare):  # a surname or a word begins so, and few forums do
        return ""
    kinds = [(c.islower(), c.isupper()) for c in bare]
    return bare if sum(a != b for a, b in itertools.pairwise(kinds)) >= 4 else ""


def pmlr_id(url: str) -> str:
    """Volume and paper of a Proceedings of Machine Learning Research link ("v235/roe24a"), or ""."""
    found = _PMLR.search(url)
    return f"{found[1]}/{found[2]}" if found else ""


def pmid(text: str) -> str:
    """PubMed's number of an article, from its link or where it is called so ("PMID: 123"), or ""."""
    found = _PMID.search(text)
    return found[1] if found else ""
