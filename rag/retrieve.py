"""Papers for a question: three witnesses, weighed. Measured against rank fusion in docs/design/retrieval.md.

- how near the whole abstract is in meaning (cosine of its best window),
- how near its best sentence is,
- how much of the question's *rarity* its words cover: a match on a name says much, on "people" little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from rag import stored
from rag.embed import Embedder, Vectors
from rag.library import Library
from rag.nouns import Filters, Hit, Paper, Why
from rag.vectors import VectorStore
from rag.words import rarity, terms

# Weights beside the whole abstract's cosine, chosen from the tables of docs/design/retrieval.md.
SENTENCE, COVER = 0.5, 0.25
ASKED = 0.35  # weight of a follow-up as asked, beside the same with the topic of the history
WINDOWS, SENTENCES, TEXTS = 100, 300, 50  # candidates taken from each witness
COMMON = 5000  # holders of a word from which it makes no paper a candidate by itself


@dataclass
class _Candidate:
    abstract: float = 0.0
    sentence: float = 0.0
    best: int = 0
    terms: list[str] = field(default_factory=list)
    cover: float = 0.0
    text_rank: int | None = None
    vector_rank: int | None = None
    known: bool = False  # whether its vectors are stored
    fused: float | None = None  # the score over several forms of a question, or without vectors

    @property
    def near(self) -> float:
        return self.abstract + SENTENCE * self.sentence

    @property
    def score(self) -> float:
        """0 to 1."""
        return _weighed(self.near, self.cover) if self.fused is None else self.fused


def _weighed(near: float, cover: float) -> float:
    return (near + COVER * cover) / (1 + SENTENCE + COVER)


class Retriever:
    """Searches one collection; sees what other processes have indexed meanwhile."""

    def __init__(self, library: Library, vectors: VectorStore, embedder: Embedder) -> None:
        self.library = library
        self.vectors = vectors
        self.embedder = embedder
        self.query_vector = lru_cache(maxsize=64)(embedder.query)

    def search(self, queries: Sequence[str], most: int = 20, filters: Filters | None = None) -> list[Hit]:
        """The best papers for a question, best first; of two forms (a follow-up) the one as asked counts ASKED."""
        self.vectors.refresh(self.library.generation())
        allowed = self.library.allowed(filters or Filters())
        runs = [self._candidates(query, allowed) for query in dict.fromkeys(queries)]
        found = _joined(runs)
        order = sorted(found, key=lambda i: (-found[i].score, i))[:most]
        papers = self.library.by_id(order)
        return [_hit_of(papers[i], found[i]) for i in order if i in papers]

    def _candidates(self, query: str, allowed: set[int] | None) -> dict[int, _Candidate]:
        found: dict[int, _Candidate] = {}
        self._by_text(query, allowed, found)
        if stored.any_stored(self.library):
            self._by_meaning(self.query_vector(query), allowed, found)
        return found

    def _by_text(self, query: str, allowed: set[int] | None, found: dict[int, _Candidate]) -> None:
        papers = self.library.size()[0]
        wanted = terms(query)
        ranked = self.library.bm25(wanted, TEXTS, allowed)
        for rank, (paper_id, _) in enumerate(ranked, 1):
            found[paper_id] = _Candidate(text_rank=rank)
        total = 0.0
        holders = {term: self.library.postings(term, papers) for term in wanted}
        for term in sorted(wanted, key=lambda term: len(holders[term]) > COMMON):
            weight = rarity(len(holders[term]), papers)
            total += weight
            for paper_id in found.keys() & holders[term] if len(holders[term]) > COMMON else holders[term]:
                if allowed is None or paper_id in allowed:
                    one = found.setdefault(paper_id, _Candidate())
                    one.cover += weight
                    one.terms.append(term)
        for one in found.values():
            one.cover /= total or 1.0

    def _by_meaning(self, vector: Vectors, allowed: set[int] | None, found: dict[int, _Candidate]) -> None:
        near = self.vectors.nearest(vector, "window", WINDOWS, allowed)
        near += self.vectors.nearest(vector, "sentence", SENTENCES, allowed)
        fresh = self.library.contents({name.paper_id for name, _ in near})
        near = [(name, cosine) for name, cosine in near if fresh.get(name.paper_id) == name.content]
        full = {name.paper_id for name, _ in near if name.kind == "window"}
        for name, cosine in near:
            _note(found.setdefault(name.paper_id, _Candidate()), name.kind, name.first, cosine)
        self._complete(vector, found, full)
        known = sorted((one for one in found.values() if one.known), key=lambda one: -one.near)
        for rank, one in enumerate(known, 1):
            one.vector_rank = rank
        typical = sum(one.near for one in known) / (len(known) or 1)
        for one in found.values():
            if not one.known:  # not embedded yet: taken to be as near as the others are
                one.fused = _weighed(typical, one.cover)

    def _complete(self, vector: Vectors, found: dict[int, _Candidate], full: set[int]) -> None:
        """Exact cosines for the promising papers that not every witness has named."""
        partly = [i for i in found if i not in full or not found[i].sentence]
        # One that only shares common words cannot win: the best by words and by what is known are enough.
        partly.sort(key=lambda i: -(found[i].score + (found[i].text_rank is not None)))
        wanted = partly[: 2 * TEXTS]
        for paper_id in partly[2 * TEXTS :]:
            del found[paper_id]
        for name, one in stored.of_papers(self.library, wanted):
            _note(found[name.paper_id], name.kind, name.first, min(1.0, float(one @ vector)))


def _joined(runs: Sequence[dict[int, _Candidate]]) -> dict[int, _Candidate]:
    """Candidates of two forms of a question, as asked and with its topic; one that a form missed counts as that
    form's last."""
    if len(runs) == 1:
        return runs[0]
    floors = [min((c.score for c in run.values()), default=0.0) for run in runs]
    joined: dict[int, _Candidate] = {}
    for paper_id in {i for run in runs for i in run}:
        seen = [run[paper_id] for run in runs if paper_id in run]
        best = max(seen, key=lambda c: c.score)
        scores = [run[paper_id].score if paper_id in run else f for run, f in zip(runs, floors, strict=True)]
        joined[paper_id] = replace(best, fused=ASKED * scores[0] + (1 - ASKED) * scores[-1])
    return joined


def _note(one: _Candidate, kind: str, first: int, cosine: float) -> None:
    one.known = True
    if kind == "window":
        one.abstract = max(one.abstract, cosine)
    elif cosine > one.sentence:
        one.sentence, one.best = cosine, first


def _hit_of(paper: Paper, one: _Candidate) -> Hit:
    why = Why(
        terms=tuple(one.terms),
        text_rank=one.text_rank,
        vector_rank=one.vector_rank,
        text_score=round(one.cover, 6),
        abstract_score=round(one.abstract, 6),
        sentence_score=round(one.sentence, 6),
    )
    return Hit(paper=paper, score=one.score, why=why, best_sentence=one.best)
