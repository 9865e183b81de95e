"""Answers from the library's records, without a model: who wrote a paper, where it is from, whether it is here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from rag.about import Asked, asked_about
from rag.asking import Topic
from rag.meant import PRONOUN, Meant, Namer, is_name
from rag.nouns import Filters, Paper, Turn
from rag.people import same_person
from rag.records import Records, records_of
from rag.retrieve import Retriever
from rag.tallies import Tallies
from rag.telling import Reply, joined, quoted_name, venue_and_year

_STANDS_ALONE = re.compile(
    r"\b(?:papers|collection|library|corpus|in here|arbeiten|sammlung|articles|artículos)\b", re.IGNORECASE
)

_SECOND = re.compile(r",? and (?=(?:(?:at|in|from|on) )?(?:who|when|where|which|what|how)\b)", re.IGNORECASE)


def reply_to(
    question: str, history: Sequence[Turn], follow_up: bool, retriever: Retriever, filters: Filters
) -> Reply | None:
    """The answer to a question about the collection; None if it is none."""
    records = records_of(retriever.library)
    askings, missing = _askings(question, records)
    namer = Namer(records, retriever, filters, history if follow_up else ())
    reply = Reply(records, missing=missing)
    for asked in askings:
        if follow_up and not asked.paper and not _STANDS_ALONE.search(question):
            return None
        if not (_of_paper(reply, asked, namer) if asked.paper else Tallies(namer, reply).tell(asked)):
            return None
    return reply if askings else None


def _askings(question: str, records: Records) -> tuple[list[Asked], str]:
    """What a question asks of the records, one thing or two ("who wrote X, and when ...?"), and what else it asks."""
    halves = _SECOND.split(question, maxsplit=1)
    first = asked_about(halves[0], records)
    if len(halves) == 1 or first is None:
        whole = first if len(halves) == 1 else asked_about(question, records)
        return ([whole] if whole else []), ""
    second = asked_about(halves[1], records)
    if second:
        same = second.paper and PRONOUN.fullmatch(second.paper)
        return [first, replace(second, paper=first.paper) if same else second], ""
    return ([first], halves[1].strip(" ?!.")) if first.paper else ([], "")


def _of_paper(reply: Reply, asked: Asked, namer: Namer) -> bool:
    """Tell what is asked about one paper; False if what the question names need not be a paper."""
    meant, topic = namer.meant(asked.paper), asked.topics[0]
    if topic == "here":
        return _here(reply, meant, namer)
    whole = [p for p in meant.papers if meant.is_paper or namer.records.is_whole(meant.name, p)]
    papers = whole or (meant.papers if topic in ("authors_of", "published") else [])
    for paper in papers:
        _TOPICS[topic](reply, paper, asked)
    if not papers:
        reply.lack(f"{_holding(namer).capitalize()} no paper named “{meant.name}”.")
    return bool(papers) or meant.is_paper


def _holding(namer: Namer) -> str:
    """Under filters the collection may well hold what was not found."""
    return "this collection holds" if namer.filters == Filters() else "the papers searched hold"


def _authors_of(reply: Reply, paper: Paper, asked: Asked) -> None:
    people = paper.authors
    if not people:
        reply.lack(f"The records name no authors of {quoted_name(paper)}.")
    elif asked.detail == "how many":
        reply.say(
            f"{quoted_name(paper)} has {len(people)} author{'s' * (len(people) > 1)}: {joined(people)}.",
            [paper],
        )
    elif asked.detail in _FIRST:
        reply.say(f"The first author of {quoted_name(paper)} is {people[0]}.", [paper])
    elif asked.detail in _LAST:
        reply.say(f"The last author of {quoted_name(paper)} is {people[-1]}.", [paper])
    else:
        reply.say(f"{quoted_name(paper)} is by {joined(people)}.", [paper])


def _is_by(reply: Reply, paper: Paper, asked: Asked) -> None:
    if not paper.authors:
        reply.lack(f"The records name no authors of {quoted_name(paper)}.")
        return
    yes = any(same_person(a, asked.author) for a in paper.authors)
    reply.say(f"{'Yes' if yes else 'No'}, {quoted_name(paper)} is by {joined(paper.authors)}.", [paper])


def _published(reply: Reply, paper: Paper, asked: Asked) -> None:
    where = f" at {paper.venue}" if paper.venue else ""
    when = f" in {paper.year}" if paper.year else ""
    asks_when, asks_where = _asks_only(asked.detail, _WHENS), _asks_only(asked.detail, _WHERES)
    if not (where or when) or (asks_when and not when) or (asks_where and not where):
        what = "where" if asks_where else "when"
        reply.lack(f"The records do not say {what} {quoted_name(paper)} was published.")
    else:
        reply.say(f"{quoted_name(paper)} was published{where}{when}.", [paper])


def _is_from(reply: Reply, paper: Paper, asked: Asked) -> None:
    facets = asked.facets
    yes = (not facets.venues or paper.venue in facets.venues) and (
        not facets.years or paper.year in facets.years
    )
    where = venue_and_year(paper)
    if where:
        reply.say(f"{'Yes' if yes else 'No'}, {quoted_name(paper)} is from {where}.", [paper])
    else:
        reply.lack(f"The records do not say where {quoted_name(paper)} was published.")


def _link(reply: Reply, paper: Paper, asked: Asked) -> None:
    wanted = next((w for w in _LINKS if w in asked.detail), "")
    pubmed = paper.pmid and f"https://pubmed.ncbi.nlm.nih.gov/{paper.pmid}/"
    links = {"doi": paper.doi and f"https://doi.org/{paper.doi}", "arxiv": paper.arxiv and f"https://arxiv.org/abs/{paper.arxiv}",
             "openreview": paper.openreview and f"https://openreview.net/forum?id={paper.openreview}",
             "pubmed": pubmed, "pmid": pubmed}  # fmt: skip
    link = links[wanted] if wanted else paper.url or next(filter(None, links.values()), "")
    if link:
        reply.say(f"The {_LINKS.get(wanted, 'link')} of {quoted_name(paper)} is {link}", [paper])
    else:
        reply.lack(
            f"The records give no {_LINKS.get(wanted, 'link')} for {quoted_name(paper)}."
            + (f" They give {paper.url}" if paper.url else "")
        )


def _title(reply: Reply, paper: Paper, asked: Asked) -> None:
    if paper.title:
        reply.say(f"The title is {quoted_name(paper)}.", [paper])
    else:
        reply.lack(f"The records give no title for {quoted_name(paper)}.")


def _file_of(reply: Reply, paper: Paper, asked: Asked) -> None:
    reply.say(
        f"{quoted_name(paper)} is from the file{'s' * (len(paper.sources) > 1)} {joined(paper.sources)}.",
        [paper],
    )


def _here(reply: Reply, meant: Meant, namer: Namer) -> bool:
    if (
        meant.describes
        or _SUBJECT.match(meant.name)
        or not (meant.is_paper or meant.papers or is_name(meant.name))
    ):
        return False  # a subject, not a paper
    for paper in meant.papers:
        about = venue_and_year(paper)
        reply.say(
            f"Yes, {quoted_name(paper)} is in this collection{f' ({about})' if about else ''}.", [paper]
        )
    if not meant.papers:
        near = [hit.paper for hit in namer.retriever.search((meant.name,), 1, namer.filters)]
        nearest = "".join(f"; the nearest is {quoted_name(p)}" for p in near)
        reply.say(f"No, {_holding(namer)} no paper named “{meant.name}”{nearest}.", near)
    return True


_SUBJECT = re.compile(
    r"(?:any|some|papers?|works?|articles?|more)\b|(?:any|some|every)thing\b|an? ", re.IGNORECASE
)
_LINKS = {"doi": "DOI", "arxiv": "arXiv page", "openreview": "OpenReview page", "pubmed": "PubMed page",
          "pmid": "PubMed page"}  # fmt: skip
_FIRST = frozenset("first lead main erste premier primer".split())
_LAST = frozenset("last senior letzte dernier último".split())
_WHENS = re.compile(r"when|year|date|old|wann|jahr|quand|année|cu[aá]ndo|año", re.IGNORECASE)
_WHERES = re.compile(
    r"where|venue|conference|journal|wo\b|konferenz|où|conférence|d[oó]nde|conferencia", re.IGNORECASE
)
_TOPICS: dict[Topic, Callable[[Reply, Paper, Asked], None]] = {
    "authors_of": _authors_of,
    "is_by": _is_by,
    "published": _published,
    "is_from": _is_from,
    "link": _link,
    "title": _title,
    "file_of": _file_of,
}


def _asks_only(detail: str, one: re.Pattern[str]) -> bool:
    """Whether a question asks for the year alone, or for the venue alone."""
    other = _WHERES if one is _WHENS else _WHENS
    return bool(one.search(detail)) and not other.search(detail)
