"""Fits the coefficients of rag/confidence.py on finished runs with gold-removed copies.

    PINCITE_REFUSE_BELOW=0 pincite eval run eval/sets/sample.jsonl --without-gold --out runs/sample
    python -m eval.fit_confidence runs/sample --save eval/sets/confidence.jsonl
    python -m eval.fit_confidence eval/sets/confidence.jsonl

Asks no model: every row holds the features of its answer. Prints the coefficients, their quality in ten-fold
cross-validation, what a threshold would cost and save, and the curve of risk over coverage.
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

SHUFFLES = 5  # of the cross-validation


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path, nargs="+", help="folders of runs, or files made by --save")
    parser.add_argument("--save", type=Path, help="where to write what was fitted on")
    args = parser.parse_args()
    found = [pair for run in args.runs for pair in (answered(run) if run.is_dir() else saved(run))]
    if args.save:
        lines = [json.dumps({"features": seen, "right": bool(right)}) for seen, right in found]
        args.save.write_text("\n".join(lines) + "\n")
    report([seen for seen, _ in found], np.array([right for _, right in found]))


def saved(file: Path) -> Iterator[tuple[Mapping[str, float], bool]]:
    """Features of answers and whether they were right, as --save wrote them."""
    for row in map(json.loads, file.open()):
        yield row["features"], row["right"]


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
    from sklearn.model_selection import (  # type: ignore[import-untyped]
        StratifiedKFold,
        cross_val_predict,
    )

    names = list(rows[0])
    table = np.array([[row[name] for name in names] for row in rows])
    model = LogisticRegression(C=1.0, max_iter=1000)
    every = []
    for seed in range(SHUFFLES):
        folds = StratifiedKFold(10, shuffle=True, random_state=seed)
        every.append(cross_val_predict(model, table, labels, cv=folds, method="predict_proba")[:, 1])
    guessed = np.mean(every, axis=0)
    model.fit(table, labels)
    say = sys.stdout.write
    auc = np.mean([roc_auc_score(labels, one) for one in every])
    say(
        f"{len(rows)} answers, {int(labels.sum())} right; area under ROC {auc:.3f}, mean of {SHUFFLES} shuffles\n"
    )
    say(f'    "bias": {float(model.intercept_[0]):.2f},\n')
    for name, weight in zip(names, model.coef_[0], strict=True):
        say(f'    "{name}": {float(weight):.2f},\n')
    for threshold in np.arange(0.1, 0.65, 0.05):
        below = guessed < threshold
        wrong, right = int((below & ~labels).sum()), int((below & labels).sum())
        say(f"below {threshold:.2f}: {wrong} of {int((~labels).sum())} wrong answers, ")
        say(f"{right} of {int(labels.sum())} right ones\n")
    order = np.argsort(-guessed, kind="stable")
    for share in np.arange(0.1, 1.01, 0.1):
        shown = order[: max(1, round(share * len(order)))]
        say(f"coverage {share:.1f}: risk {1 - labels[shown].mean():.2f}\n")


if __name__ == "__main__":
    main()
