"""Retrieval measured three ways over one collection: full text alone, vectors alone, and both together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from eval import ranking
from eval.metrics import Abstracts, Share
from eval.progress import Report, counted, silent
from eval.questions import Question
from rag.embed import Embedder
from rag.errors import InputError
from rag.filling import fill
from rag.indexing import Progress, embed_pending, import_file, writer_lock
from rag.library import Library
from rag.retrieve import Retriever
from rag.understand import understand
from rag.vectors import VectorStore
from rag.words import terms

FUSED = "fused"
WAYS = ("full text", "vectors", FUSED)
MOST = 100  # papers ranked for a query

Documents = Mapping[str, Sequence[str]]  # paper key to the ids of a set's documents that became this paper


def build_collection(
    corpus: Path, folder: Path, embedder: Callable[[], Embedder], progress: Progress
) -> tuple[Library, VectorStore]:
    """A collection of its own for a set's corpus, by the ordinary way in; the next call goes on after a kill.

    `embedder` is opened only if there is something to embed.
    """
    with writer_lock(folder, lambda who: progress.step(f"waiting for {who}", 0, 0)):
        library = Library(folder)
        import_file(library, corpus, progress)
        vectors = VectorStore(folder / "vectors")
        fill(library, vectors, progress.step)
        if library.pending():
            embed_pending(library, vectors, embedder(), progress)
    return library, vectors


def documents_of(library: Library) -> dict[str, tuple[str, ...]]:
    """The ids that each paper has in its sources: two documents of a set can be one paper."""
    rows = library.db.execute(
        "SELECT p.key, json_extract(r.record, '$.citekey') FROM records r JOIN papers p ON p.id = r.paper_id "
        "ORDER BY r.id"
    )
    found: dict[str, dict[str, None]] = {}
    for key, document in rows:
        found.setdefault(key, {})[document or key] = None
    return {key: tuple(documents) for key, documents in found.items()}


def as_keys(questions: Sequence[Question], documents: Documents) -> dict[str, tuple[str, ...]]:
    """Of each question, the keys of the papers that its document ids have become.

    Raises InputError if the collection holds none of the documents.
    """
    keys = {document: key for key, ids in documents.items() for document in ids}
    found = {q.id: tuple(dict.fromkeys(keys[d] for d in q.papers if d in keys)) for q in questions}
    if any(q.papers for q in questions) and not any(found.values()):
        raise InputError("The collection holds none of the set's documents. Run again with --index-corpus.")
    return found


def gold_judgements(questions: Sequence[Question], abstracts: Abstracts) -> dict[str, dict[str, int]]:
    """Judgements of a question set: the papers that hold a question's evidence are relevant."""
    gold = {q.id: sorted(abstracts.gold(q)) for q in questions if q.answerable}
    return {query: dict.fromkeys(keys, 1) for query, keys in gold.items() if keys}


def measure(
    questions: Sequence[Question],
    retriever: Retriever,
    judgements: ranking.Judgements,
    out: Path,
    *,
    documents: Documents | None = None,
    report: Report = silent,
) -> dict[str, dict[str, Share]]:
    """Figures of each judged question, named "fused nDCG@10"; writes a TREC file for each way."""
    ranked: dict[str, dict[str, list[str]]] = {}
    retriever.vectors.refresh(retriever.library.generation())
    for q in counted(questions, len(questions), report):
        for way, keys in rank(retriever, understand(q.question, q.history).forms).items():
            ids = keys if documents is None else [d for key in keys for d in documents.get(key, (key,))]
            ranked.setdefault(way, {})[q.id] = ids
    wanted = {q.id: judgements[q.id] for q in questions if q.id in judgements}
    found: dict[str, dict[str, Share]] = {query: {} for query in wanted}
    for way, rankings in ranked.items():
        name = "run.trec" if way == FUSED else f"run.{way.replace(' ', '-')}.trec"
        (out / name).write_text(ranking.trec(rankings, f"pincite-{way.replace(' ', '-')}"), encoding="utf-8")
        for query, values in ranking.figures(wanted, rankings).items():
            found[query] |= {f"{way} {measure}": share for measure, share in values.items()}
    return found


def rank(retriever: Retriever, forms: Sequence[str], most: int = MOST) -> dict[str, list[str]]:
    """Paper keys by each way, best first; without vectors in the collection, vectors alone is left out.

    Of a follow-up, a way alone gets the form that carries the history's topic.
    """
    library = retriever.library
    text = [paper_id for paper_id, _ in library.bm25(terms(forms[-1]), most)]
    near: list[int] = []
    if retriever.vectors.count("window"):
        # A long abstract has several windows, so more windows than papers are asked for.
        hits = retriever.vectors.nearest(retriever.query_vector(forms[-1]), "window", 2 * most)
        near = list(dict.fromkeys(name.paper_id for name, _ in hits))[:most]
    papers = library.by_id({*text, *near})
    ways = {WAYS[0]: text} | ({WAYS[1]: near} if near else {})
    found = {way: [papers[i].key for i in ids if i in papers] for way, ids in ways.items()}
    return found | {FUSED: [hit.paper.key for hit in retriever.search(forms, most)]}
