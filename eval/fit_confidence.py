"""Fits the coefficients of rag/confidence.py on finished runs with gold-removed copies.

    PINCITE_REFUSE_BELOW=0 pincite eval run eval/sets/sample.jsonl --without-gold --out runs/sample
    python -m eval.fit_confidence runs/sample

Asks no model: every row holds the features of its answer. Prints the coefficients, their quality in ten-fold
cross-validation, and what a threshold would cost and save.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from eval.folder import ANSWERS, QUESTIONS, REMOVED, SCORES
from eval.questions import kept


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path, nargs="+")
    found = [pair for run in parser.parse_args().runs for pair in answered(run)]
    report([seen for seen, _ in found], np.array([right for _, right in found]))


def answered(run: Path) -> Iterator[tuple[Mapping[str, float], bool]]:
    """The features of every answer that the model gave, and whether it was right. Without its gold papers none is."""
    questions = {q.id: q for q in kept(run / QUESTIONS)}
    scores = {s["id"]: s["figures"] for s in map(json.loads, (run / SCORES).open())}
    for name in (ANSWERS, REMOVED):
        for row in map(json.loads, (run / name).open()) if (run / name).exists() else ():
            if row["status"] != "not_found" and row["features"]:
                asked = name == ANSWERS and questions[row["id"]].answerable
                yield row["features"], asked and scores[row["id"]].get("right", [0])[0] > 0


def report(rows: list[Mapping[str, float]], labels: Any) -> None:
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
