"""Fitting the confidence from what an earlier fit was made on."""

import json
import sys
from pathlib import Path

import pytest

from eval import fit_confidence


def test_a_saved_fit_gives_the_same_coefficients(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sure answers are right and others wrong: the weight is positive, no answer is kept or lost by saving."""
    file, again = tmp_path / "answers.jsonl", tmp_path / "again.jsonl"
    rows = [{"features": {"lead": n / 40}, "right": n > 20} for n in range(40)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = []
    for source, target in ((file, again), (again, tmp_path / "third.jsonl")):
        monkeypatch.setattr(sys, "argv", ["fit", str(source), "--save", str(target)])
        fit_confidence.main()
        out.append(capsys.readouterr().out)
    assert out[0] == out[1]
    assert out[0].startswith("40 answers, 19 right; area under ROC 0.999, mean of 5 shuffles")
    assert [json.loads(line) for line in again.read_text().splitlines()] == rows
    assert "coverage 0.5: risk 0.05\n" in out[0]  # 20 are shown, 19 of them right
