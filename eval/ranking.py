"""Figures of a ranking, by ir-measures (trec_eval's arithmetic): nDCG@10, recall, reciprocal rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ir_measures
from ir_measures import RR, R, nDCG

from eval.metrics import Share

MEASURES = {
    "nDCG@10": nDCG @ 10,
    "recall@5": R @ 5,
    "recall@10": R @ 10,
    "recall@100": R @ 100,
    "MRR": RR,
}
Judgements = Mapping[str, Mapping[str, int]]  # query id, document id, grade; above 0 is relevant
Rankings = Mapping[str, Sequence[str]]  # query id, document ids best first


def figures(judgements: Judgements, rankings: Rankings) -> dict[str, dict[str, Share]]:
    """Each measure of each judged query, 0 to 1; a query without a ranking has 0, one not judged is left out.

    Averages over queries are the shares' totals (`eval.bootstrap.totals`).
    """
    scores = {query: _scores(rankings.get(query, ())) for query in judgements}
    names = {measure: name for name, measure in MEASURES.items()}
    found: dict[str, dict[str, Share]] = {query: {} for query in judgements}
    for metric in ir_measures.iter_calc(list(MEASURES.values()), judgements, scores):
        found[metric.query_id][names[metric.measure]] = Share(metric.value, 1)
    return {query: {name: values[name] for name in MEASURES} for query, values in found.items()}


def trec(rankings: Rankings, tag: str) -> str:
    """The rankings as a TREC run file; scores are ranks counted down, so that no tie can change the order."""
    lines = []
    for query, documents in rankings.items():
        for document, score in _scores(documents).items():
            rank = len(documents) - int(score) + 1
            lines.append(f"{query} Q0 {document} {rank} {score:g} {tag}\n")
    return "".join(lines)


def _scores(documents: Sequence[str]) -> dict[str, float]:
    return {document: float(len(documents) - i) for i, document in enumerate(documents)}
