"""PubMed's XML: replies of efetch, and the yearly baseline and update files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.metadata import names, year
from rag.nouns import Problem, Record
from rag.readers.elements import Element, elements, text_of
from rag.readers.record import Found, build
from rag.readers.source import Source

_FITS = re.compile(r"<(?:PubmedArticleSet|PubmedArticle|PubmedBookArticle|MedlineCitation)\b")
_DATES = (
    "MedlineCitation/Article/Journal/JournalIssue/PubDate",
    "MedlineCitation/Article/ArticleDate",
    "BookDocument/Book/PubDate",
    "BookDocument/ContributionDate",
)


def fits(head: str) -> bool:
    """Whether a text is XML that holds PubMed's articles."""
    return head.lstrip().startswith("<") and bool(_FITS.search(head))


def read(source: Source) -> Iterator[Record | Problem]:
    """Read the articles and book chapters; `number` counts them."""
    for item in elements(source, "PubmedArticle", "PubmedBookArticle"):
        if isinstance(item, Problem):
            yield item
            continue
        number, line, article = item
        yield build(source.name, number, line, _found(article))


def _found(article: Element) -> Found:
    citation = article.find("MedlineCitation")
    told = citation.find("Article") if citation is not None else article.find("BookDocument")
    told = article if told is None else told
    pmid = "".join(
        article.findtext(path) or "" for path in ("MedlineCitation/PMID", "BookDocument/PMID")
    ).strip()
    return Found(
        abstract=_abstract(article, told),
        title=_first(told, "ArticleTitle", "VernacularTitle", "Book/BookTitle"),
        authors=tuple(name for person in told.iterfind("AuthorList/Author") for name in _name(person)),
        year=next(filter(None, (year(_date(article.find(path))) for path in _DATES)), None),
        venue=_first(
            told, "Journal/Title", "Journal/ISOAbbreviation", "Book/BookTitle", "Book/Publisher/PublisherName"
        ),
        url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid.isdigit() else "",
        ids=(
            f"PMID:{pmid}",
            *(
                (element.text or "")
                for path, kind in (
                    ("ELocationID", "EIdType"),
                    ("ArticleIdList/ArticleId", "IdType"),
                )
                for element in [*told.iterfind(path), *article.iterfind(f"PubmedData/{path}")]
                if element.get(kind) == "doi"
            ),
        ),
    )


def _abstract(article: Element, told: Element) -> str:
    """The authors' abstract, each part behind its label; one in another language where there is no other."""
    parts = [*told.iterfind("Abstract/AbstractText")] or [
        *article.iterfind("MedlineCitation/OtherAbstract[1]/AbstractText")
    ]
    texts = []
    for part in parts:
        text, label = text_of(part).strip(), (part.get("Label") or "").strip()
        texts.append(f"{label}: {text}" if label and label != "UNLABELLED" and text else text)
    return "\n".join(texts)


def _name(person: Element) -> tuple[str, ...]:
    last, first, suffix, group = (
        (person.findtext(part) or "").strip() for part in ("LastName", "ForeName", "Suffix", "CollectiveName")
    )
    first = first or (person.findtext("Initials") or "").strip()
    return names({"given": first, "family": last, "suffix": suffix, "literal": group})


def _date(element: Element | None) -> str:
    return (
        "" if element is None else f"{element.findtext('Year') or ''} {element.findtext('MedlineDate') or ''}"
    )


def _first(element: Element, *paths: str) -> str:
    return next(filter(None, (text_of(element.find(path)).strip() for path in paths)), "")
