"""What must hold of runs over the sample set before a change may go on; called by `scripts/gates`.

    python -m eval.gates STORED.json RETRIEVAL FIRST SECOND    the gates; exit 1 if one does not hold
    python -m eval.gates STORED.json RETRIEVAL --renew         take the figures of RETRIEVAL as the new ones

RETRIEVAL is a finished run with --retrieval-only, FIRST and SECOND are two runs of the same questions. How many
answers are right is printed and stops nothing: of a dozen answers it says little, and the small model is weak.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from eval.folder import ANSWERS, Scored, read_run, replace_file, whole_rows
from eval.metrics import STATUSES
from eval.runs import ALL
from rag.errors import PinciteError

TOLERANCE = 1e-6  # of a figure of retrieval, which is 0 to 1


def to_store(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a run of retrieval: the set's sum, and each figure over all questions."""
    figures = facts["figures"][ALL]
    kept = {name: {"value": round(one["value"], 9), "n": one["n"]} for name, one in figures.items()}
    return {"set": facts["set"]["sha256"], "figures": kept}


def retrieval_faults(facts: Mapping[str, Any], stored: Mapping[str, Any]) -> list[str]:
    """Where the retrieval of a run is not the stored one, in words."""
    if facts["set"]["sha256"] != stored["set"]:
        return ["the set is another than the one whose figures are stored"]
    now, before = to_store(facts)["figures"], stored["figures"]
    if now.keys() != before.keys():
        return [f"other figures than those stored: {', '.join(sorted(now.keys() ^ before.keys()))}"]
    return [
        f"{name}: {before[name]['value']:.6f} stored, {now[name]['value']:.6f} now"
        for name in before
        if abs(now[name]["value"] - before[name]["value"]) > TOLERANCE or now[name]["n"] != before[name]["n"]
    ]


def answer_faults(first: Path, second: Path) -> list[str]:
    """What must not be in two runs of the same questions: failed rows, inexact quotes, differences."""
    rows = [whole_rows(path / ANSWERS) for path in (first, second)]
    faults = [
        f"{row['id']} failed: {row.get('error', row.get('status'))}"
        for row in rows[0]
        if row.get("status") not in STATUSES
    ]
    shares = [one.figures["exact"] for one in read_run(first)[1] if "exact" in one.figures]
    exact, quotes = sum(s.hits for s in shares), sum(s.of for s in shares)
    if not quotes:
        faults.append("no answer has a quote")
    elif exact < quotes:
        faults.append(f"{quotes - exact:.0f} of {quotes:.0f} quotes are not exact")
    return faults + _differences(rows[0], rows[1])


def _differences(first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]]) -> list[str]:
    """Rows of two runs that are not equal apart from their timing."""
    if [row["id"] for row in first] != [row["id"] for row in second]:
        return ["the two runs asked different questions"]
    return [
        f"{one['id']} was answered differently the second time"
        for one, two in zip(first, second, strict=True)
        if {**one, "timing": None} != {**two, "timing": None}
    ]


def said(scored: Sequence[Scored]) -> str:
    """How many answers and refusals are right."""
    right = [one.figures["right"].hits for one in scored if "right" in one.figures]
    refused = [one.figures["refok"].hits for one in scored if "refok" in one.figures]
    return (
        f"right: {sum(right):.0f} of {len(right)}; rightly refused: {sum(refused):.0f} of {len(refused)} "
        "(not gated)"
    )


@click.command()
@click.argument("stored", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("retrieval", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("answers", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--renew", is_flag=True, help="Store the figures of RETRIEVAL instead of comparing them.")
def main(stored: Path, retrieval: Path, answers: tuple[Path, ...], renew: bool) -> None:
    """Hold runs against the gates."""
    facts, _ = read_run(retrieval)
    if renew:
        replace_file(stored, json.dumps(to_store(facts), indent=1) + "\n")
        click.echo(f"Stored: {stored}")
        return
    if len(answers) != 2:
        raise click.UsageError("Two runs of the same questions are wanted, FIRST and SECOND.")
    moved = retrieval_faults(facts, json.loads(stored.read_text(encoding="utf-8")))
    faults = [f"retrieval: {fault}" for fault in moved] + answer_faults(*answers)
    click.echo(said(read_run(answers[0])[1]))
    if moved:
        click.echo("If retrieval was meant to change: scripts/gates --renew, and commit the file.")
    if faults:
        raise click.ClickException("\n".join(faults))
    click.echo("All gates passed: no failed row, quotes exact, second run equal, retrieval as stored.")


if __name__ == "__main__":
    try:
        main.main()
    except PinciteError as error:
        raise SystemExit(f"eval.gates: {error}") from error
