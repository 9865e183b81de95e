"""The JSON rows others script against (`docs/interfaces.md`)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rag.nouns import Answer, Citation, Evidence, Hit, Paper

if TYPE_CHECKING:
    from rag.duplicates import Told


def answer_row(answer: Answer, question_id: str | None = None) -> dict[str, Any]:
    """The answer row; nothing but `timing` depends on the clock or the machine."""
    row: dict[str, Any] = {} if question_id is None else {"id": question_id}
    row |= {
        "question": answer.question,
        "searched_for": answer.searched_for,
        "status": answer.status,
        "text": answer.text,
        "sentences": [
            {"text": s.text, "support": s.support, "citations": [citation_row(c) for c in s.citations]}
            for s in answer.sentences
        ],
        "dropped": [asdict(d) for d in answer.dropped],
        "evidence": [evidence_row(e) for e in answer.evidence],
        "nearest": [nearest_row(h) for h in answer.nearest],
        "confidence": answer.confidence,
        "features": dict(answer.features),
        "note": answer.note,
        "timing": asdict(answer.timing),
        "fingerprint": dict(answer.fingerprint),
    }
    return row


def citation_row(c: Citation) -> dict[str, Any]:
    return asdict(c)


def evidence_row(e: Evidence) -> dict[str, Any]:
    s = e.sentence
    return {
        "n": e.n,
        "paper": e.paper.key,
        "title": e.paper.label,
        "quote": s.text,
        "start": s.start,
        "end": s.end,
    }


def nearest_row(hit: Hit) -> dict[str, Any]:
    return {"paper": hit.paper.key, "title": hit.paper.label, "why": why_text(hit)}


def why_text(hit: Hit) -> str:
    """Why a paper was found, in words: matched terms first, then closeness in meaning."""
    parts = []
    if hit.why.terms:
        parts.append("mentions " + ", ".join(hit.why.terms))
    closeness = max(hit.why.abstract_score, hit.why.sentence_score)
    if closeness > 0:
        parts.append(f"closeness in meaning {closeness:.2f}")
    return "; ".join(parts)


def search_row(rank: int, hit: Hit, quote: str, start: int, end: int) -> dict[str, Any]:
    return {
        "rank": rank,
        "paper": hit.paper.key,
        "title": hit.paper.label,
        "score": round(hit.score, 6),
        "why": why_text(hit),
        "quote": quote,
        "start": start,
        "end": end,
    }


def paper_row(paper: Paper) -> dict[str, Any]:
    return {
        "key": paper.key,
        "title": paper.title or None,
        "label": paper.label,
        "authors": list(paper.authors),
        "year": paper.year,
        "venue": paper.venue,
        "venue_as_found": paper.venue_as_found,
        "url": paper.url,
        "abstract": paper.abstract,
        "note": paper.note,
        "sources": list(paper.sources),
    }


def told_row(told: Told) -> dict[str, Any]:
    return {
        "source": told.record.source,
        "number": told.record.number,
        "version": told.version,
        "title": told.record.title or None,
        "why": told.why,
        "gave": list(told.gave),
    }
