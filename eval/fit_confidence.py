"""Fits the coefficients of rag/confidence.py on a finished run with gold-removed copies.

    pincite eval run eval/sets/sample.jsonl --without-gold --out runs/sample
    python -m eval.fit_confidence runs/sample

Asks no model: the features of every answer are worked out again from its row and the collection. Prints the
coefficients, their quality in ten-fold cross-validation, and what a threshold would cost and save.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from eval.folder import ANSWERS, QUESTIONS, REMOVED, SCORES
from eval.questions import Question, kept
from rag.complete import compares
from rag.confidence import features
from rag.nouns import AnswerSentence, Citation, Filters
from rag.opening import retriever_of
from rag.settings import load
from rag.standing import depth
from rag.understand import understand

NO_MODEL = ("list", "count", "which", "about")  # answered without the model: other rules decide


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--collection", default="default")
    arguments = parser.parse_args()
    rows: list[dict[str, float]] = []
    labels: list[bool] = []
    retriever = retriever_of(load(collection=arguments.collection))
    for run in arguments.runs:
        for question, row, right, filters in answered(run):
            search = understand(question.question, question.history)
            allowed = retriever.library.allowed(filters)
            total = retriever.library.size()[0] if allowed is None else len(allowed)
            hits = retriever.search(search.forms, depth(total), filters)
            rows.append(features(sentences(row), hits, total, compares(question.question)))
            labels.append(right)
    report(rows, np.array(labels))


def answered(run: Path) -> Iterator[tuple[Question, dict[str, Any], bool, Filters]]:
    """(question, row, right, filters) of every answer of a run that the model gave."""
    questions = {q.id: q for q in kept(run / QUESTIONS)}
    scores = {s["id"]: s["figures"] for s in map(json.loads, (run / SCORES).open())}
    for name in (ANSWERS, REMOVED):
        for row in map(json.loads, (run / name).open()):
            question = questions[row["id"]]
            if row["status"] != "answered" or question.kind in NO_MODEL:
                continue
            if name == REMOVED:
                yield question, row, False, Filters(without=question.papers)
            else:
                yield question, row, scores[row["id"]].get("right", [0])[0] > 0, Filters()


def sentences(row: dict[str, Any]) -> list[AnswerSentence]:
    return [
        AnswerSentence(s["text"], s["support"], tuple(Citation(**c) for c in s["citations"]))
        for s in row["sentences"]
    ]


def report(rows: list[dict[str, float]], labels: Any) -> None:
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]
    from sklearn.model_selection import cross_val_predict  # type: ignore[import-untyped]

    names = list(rows[0])
    table = np.array([[row[name] for name in names] for row in rows])
    model = LogisticRegression(C=1.0, max_iter=1000)
    guessed = cross_val_predict(model, table, labels, cv=10, method="predict_proba")[:, 1]
    model.fit(table, labels)
    say = sys.stdout.write
    auc = roc_auc_score(labels, guessed)
    say(f"{len(rows)} answers, {int(labels.sum())} right; area under ROC {auc:.3f}\n")
    say(f'    "bias": {float(model.intercept_[0]):.2f},\n')
    for name, weight in zip(names, model.coef_[0], strict=True):
        say(f'    "{name}": {float(weight):.2f},\n')
    for threshold in np.arange(0.1, 0.65, 0.05):
        below = guessed < threshold
        wrong, right = int((below & ~labels).sum()), int((below & labels).sum())
        say(f"below {threshold:.2f}: {wrong} of {int((~labels).sum())} wrong answers, ")
        say(f"{right} of {int(labels.sum())} right ones\n")


if __name__ == "__main__":
    main()
