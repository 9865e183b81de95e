import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from made_run import ANSWERS, BREAKS, FALLS, FAST, GPUS, QUESTIONS, attacked, made, said
from payloads import PAYLOADS

from eval.folder import Scored
from eval.metrics import Share
from eval.questions import Question
from eval.report import pages
from eval.report.figures import COPIES, MARKED, kinds, refusal_totals, sureness, tables
from eval.report.items import entries
from eval.report.pages import html, markdown, markdown_escaped
from eval.report.plots import DARK, LIGHT, plots
from eval.report.reading import Run, read, read_sets
from eval.report.rows import read_rows
from eval.report.summary import main_figures, summary
from eval.runs import ALL, GOLD_REMOVED
from rag.errors import InputError
from ui import cli


class Page(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def values(self, name: str) -> list[str]:
        return [value for _, one, value in self.attributes if one == name]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made(tmp_path / "made", without_gold=True)


@pytest.fixture
def one(folder: Path) -> Run:
    return read([folder], {})[0]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of the made run with its plots; the other tests do without, as drawing takes seconds."""
    return html(read([made(tmp_path_factory.mktemp("whole") / "made", without_gold=True)], {}))


@pytest.fixture(autouse=True)
def without_plots(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pages, "plots", lambda runs: [])
    monkeypatch.setenv("PINCITE_HOME", str(tmp_path / "home"))


def report(*arguments: object) -> Result:
    return CliRunner().invoke(cli.pincite, ["eval", "report", *map(str, arguments)], catch_exceptions=True)


def rewrite(file: Path, number: int, **changes: Any) -> None:
    """Change fields of one line of a file, counted from 0."""
    lines = file.read_text("utf-8").splitlines()
    lines[number] = json.dumps(json.loads(lines[number]) | changes)
    file.write_text("\n".join(lines) + "\n", "utf-8")


# --- reading ---


def test_a_run_keeps_its_questions_with_their_gold(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["fast", "same", "falls", "gpus", "cup", "breaks"]
    assert rows[1]["facts"] == [["laptop"], ["3.4 times", "3.4x"]]
    assert rows[1]["history"] == [{"question": FAST, "answer": "3.4 times."}]
    assert [row["papers"] for row in rows] == [["kiln"], ["kiln"], ["kiln"], [], [], ["kiln"]]


def test_a_finished_run_is_read_whole(one: Run) -> None:
    assert (one.name, one.asked, one.total, one.notes) == ("made", 6, 6, ())
    assert [item.scored.id for item in one.items[6:]] == [
        "fast without gold",
        "same without gold",
        "falls without gold",
        "breaks without gold",
    ]
    assert one.items[0].scored.figures["exact"] == Share(1, 1)


def test_a_half_finished_run_says_how_far_it_is(folder: Path) -> None:
    facts = json.loads((folder / "run.json").read_text("utf-8"))
    (folder / "run.json").write_text(json.dumps(facts | {"finished": None}), "utf-8")
    (folder / "scores.jsonl").unlink()
    (folder / "without_gold.jsonl").unlink()
    lines = (folder / "answers.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "answers.jsonl").write_bytes(b"".join(lines[:2]) + lines[2][:30])  # killed while writing
    before = (folder / "answers.jsonl").read_bytes()
    (run,) = read([folder], {})
    assert (run.asked, run.total) == (2, 6)
    assert summary(run)[0] == "2 of 6 questions asked."
    assert run.notes[0] == (
        "The run is not finished. To go on with it: pincite eval run made.jsonl --out made"
    )
    figures = run.items[0].scored.figures
    assert figures["right"] == Share(1, 1) and "exact" not in figures  # no collection to look into
    assert run.items[5].scored.figures == {}  # not asked: not dead
    assert "2 of 6 questions asked." in html([run]) and "Not asked yet." in html([run])
    assert (folder / "answers.jsonl").read_bytes() == before  # nothing is mended on the side


def test_a_run_that_has_not_kept_its_questions(folder: Path, tmp_path: Path) -> None:
    shutil.move(folder / "questions.jsonl", tmp_path / "set.jsonl")
    (bare,) = read([folder], {})
    assert "Name the set with --set." in bare.notes[0]
    assert (bare.asked, bare.total, len(bare.items)) == (6, 6, 10)
    assert bare.items[6].row is not None and bare.items[6].row.status == "not_found"
    assert "Facts" not in Page(html([bare])).texts
    sets = read_sets([tmp_path / "set.jsonl"])
    facts = json.loads((folder / "run.json").read_text("utf-8"))
    facts["set"]["sha256"] = next(iter(sets))
    (folder / "run.json").write_text(json.dumps(facts), "utf-8")
    (full,) = read([folder], sets)
    assert full.notes == () and full.items[1].gold is not None
    assert full.items[1].gold.facts == QUESTIONS[1].facts


def test_runs_of_the_same_name_are_told_apart(folder: Path, tmp_path: Path) -> None:
    other = shutil.copytree(folder, tmp_path / "new" / "made")
    assert [run.name for run in read([folder, other], {})] == [f"{tmp_path.name}/made", "new/made"]
    with pytest.raises(InputError, match="named twice"):
        read([folder, folder], {})


@pytest.mark.parametrize(
    ("file", "line", "said"),
    [
        ("answers.jsonl", b"{", r"answers\.jsonl, line 1: not valid JSON"),
        ("answers.jsonl", b"[]", r"answers\.jsonl, line 1: no answer row; the line"),
        ("answers.jsonl", b'{"id": "a", "status": "answered", "sentences": 3}', "no answer row; sentences"),
        ("answers.jsonl", b'{"id": "a", "status": "x", "confidence": 7}', "no answer row; confidence"),
        ("answers.jsonl", b'{"id": "a", "status": "x", "timing": {"total_s": NaN}}', "timing.total_s"),
        ("answers.jsonl", b"[" * 100_000, "not valid JSON"),
        ("scores.jsonl", b'{"id": "fast"}', r"scores\.jsonl, line 1: not the figures"),
        ("scores.jsonl", b"\xff", r"scores\.jsonl is not UTF-8"),
        ("questions.jsonl", b'{"id": 3}', r"questions\.jsonl, line 1"),
        ("run.json", b"[]", r"run\.json is no JSON object"),
        ("run.json", b"{", r"run\.json cannot be read"),
        ("run.trec", b"q1 Q0 kiln", r"run\.trec, line 1: not a line of a TREC run"),
    ],
)
def test_a_damaged_run_is_named(folder: Path, file: str, line: bytes, said: str) -> None:
    (folder / file).write_bytes(line + b"\n")
    with pytest.raises(InputError, match=said):
        read([folder], {})


def test_fields_of_later_versions_are_passed_over(folder: Path) -> None:
    rewrite(folder / "answers.jsonl", 0, confidence=0.75, something={"new": 1})
    assert read_rows(folder / "answers.jsonl")[0].confidence == 0.75


# --- figures ---


def test_the_verdict_of_every_question(one: Run) -> None:
    found = {entry.id: entry.verdicts for entry in entries([one], "A")}
    assert found == {
        "fast": ("right",),
        "same": ("wrong",),
        "falls": ("refused wrongly",),
        "gpus": ("answered wrongly",),
        "cup": ("refused rightly",),
        "breaks": ("failed",),
        "fast without gold": ("refused rightly",),
        "same without gold": ("answered wrongly",),
        "falls without gold": ("refused rightly",),
        "breaks without gold": ("failed",),
    }


def test_what_was_found_of_the_gold(one: Run) -> None:
    fast, same, falls = entries([one], "A")[:3]
    assert fast.asked[0].cited == (True,) and fast.asked[0].facts == (True,)
    assert same.asked[0].facts == (True, False)  # the laptop, and not 3.4 times
    assert same.asked[0].forbidden == ("12.5 times",)
    assert (same.asked[0].shown, same.asked[0].cited) == ((True,), (False,))
    assert falls.asked[0].facts == (False,) and falls.asked[0].cited_numbers == frozenset()


def test_both_errors_of_refusal_with_and_without_gold(one: Run) -> None:
    found = refusal_totals(one.scored)
    marked, copies = found[MARKED], found[COPIES]
    assert marked["refpre"].value == 1 / 2  # "falls" wrongly, "cup" rightly
    assert marked["refrec"].value == 1 / 2  # of "gpus" and "cup"
    assert marked["refover"].value == 1 / 4  # of fast, same, falls, breaks
    assert copies["refpre"].value == pytest.approx(2 / 3)  # fast, falls without gold; falls with it
    assert copies["refrec"].value == 2 / 4  # fast and falls of fast, same, falls, breaks
    assert copies["refover"].value == 1 / 4


def test_a_copy_and_its_question_are_drawn_together() -> None:
    scored = [Scored(str(i), "lookup", "?", "", {"over": Share(i % 2, 1)}) for i in range(40)]
    copies = [
        Scored(f"{i} without gold", GOLD_REMOVED, "?", "", {"refok": Share(i % 2, 1)}) for i in range(40)
    ]
    one = refusal_totals([*scored, *copies])[COPIES]["refpre"]
    assert (one.value, one.low, one.high) == (0.5, 0.5, 0.5)  # each pair has one wrong, one right refusal


def test_figures_of_the_report(one: Run) -> None:
    found = tables([one])
    lines = {
        line.name: line.cells[0] for group in ("Answers", "Citations", "Sentences") for line in found[group]
    }
    value = {name: cell.value.replace("\N{NO-BREAK SPACE}", " ") for name, cell in lines.items() if cell}
    assert value["right"] == "25.0 %"  # of fast, same, falls, breaks
    assert (value["citpre"], value["citrec"]) == ("50.0 %", "50.0 %")  # fast, not same
    assert (value["supported"], value["weak"], value["quoted"]) == ("50.0 %", "50.0 %", "0.0 %")
    assert value["exact"] == "100 %"
    time = {line.name: line.cells[0] for line in found["Time"]}
    assert time["total_s"] is not None and time["total_s"].n == 8  # the two failed rows have no time
    assert "Retrieval" not in found
    assert [(kind, counts) for kind, counts, _ in kinds([one])] == [
        *(("numeric", (2,)), ("followup", (1,)), ("absent_near", (1,)), ("absent_far", (1,))),
        *(("lookup", (1,)), (GOLD_REMOVED, (4,)), (ALL, (6,))),
    ]


def test_confidence_by_grades_and_by_the_rows_own(folder: Path, one: Run) -> None:
    found = sureness(one)
    assert found is not None and "graded" in found.source
    # answered: fast (sure, right), same (weak, wrong), gpus (sure, wrong); six were asked
    assert found.curve.coverage == (2 / 6, 3 / 6)
    assert found.curve.risk == (1 / 2, pytest.approx(2 / 3))
    assert found.curve.area == pytest.approx((1 / 2 + 1 / 2 + 2 / 3) / 3)
    both = sureness(one, copies=True)
    assert both is not None and both.curve.coverage == (2 / 10, 4 / 10)
    rewrite(folder / "answers.jsonl", 0, confidence=0.9)
    rewrite(folder / "answers.jsonl", 1, confidence=0.2)
    own = sureness(read([folder], {})[0])
    assert own is not None and own.source == "the answer's own confidence"
    assert own.curve.coverage == (1 / 6, 2 / 6) and own.curve.risk == (0, 1 / 2)
    assert [(b.confidence, b.right) for b in own.bins] == [(0.2, 0), (0.9, 1)]


def test_without_sentences_there_is_no_curve(tmp_path: Path) -> None:
    only = [q for q in QUESTIONS if q.question in (FALLS, BREAKS)]
    (run,) = read([made(tmp_path / "r", only)], {})
    assert sureness(run) is None
    assert [plot.title for plot in plots([run])] == ["By kind", "Time"]


def test_the_summary_in_words(one: Run) -> None:
    words = " ".join(summary(one)).replace("\N{NO-BREAK SPACE}", " ")
    assert words == (
        "6 questions asked, 4 of them again without their gold papers; 2 answers failed. "
        "Of 100 questions with an answer, 25 are answered rightly. Of 100 answerable ones, 25 are refused. "
        "Of 100 unanswerable ones, 50 are refused, as they should be. Every sentence is cited; every quote is "
        "exact. Weakest: absent_near (0.0 %), followup (0.0 %), lookup (0.0 %)."
    )
    # four answers of 2.0 s, four refusals of 0.1 s
    assert dict(main_figures(one))["a whole answer, median"].value == "1.05 s"


# --- pages ---


def test_the_page_holds_everything(whole: str) -> None:
    page = Page(whole)
    for text in (
        "Kiln is 3.4 times faster.",
        "It keeps 12.5% of the weights and runs 3.4 times faster than the dense network on a laptop.",
        "Kiln: Sparse in One Pass",
        "Left out (no support):",
        "It flies.",
        "cut at the length limit",
        "Says what proves it wrong: 12.5 times",
        "3.4 times / 3.4x",
        "in the evidence, not cited",
        "The model file is broken.",
        "2.00 s in all, evidence after 0.10 s, first token after 0.50 s, 100 + 9 tokens.",
        "Before: How much faster is Kiln?",
        "pincite eval run made.jsonl --out made",
    ):
        assert text in page.text, text
    assert page.tags["details"] >= 10 and page.tags["img"] == 4
    marks = [text for text in page.texts if text in ("found", "missing")]
    assert marks == ["found", "found", "missing", "missing", "missing"]  # fast; same twice; falls; breaks


def test_the_page_may_load_nothing_but_what_it_holds(whole: str, one: Run) -> None:
    page = Page(whole)
    policy = page.values("content")[0]
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in policy and "http" not in policy
    addresses = [v for name in ("src", "srcset", "href", "action", "poster") for v in page.values(name)]
    assert addresses and all(re.match(r"(data:(image/svg\+xml;base64)?,|#)", one) for one in addresses)
    assert {name for _, name, _ in page.attributes if name.startswith("on") or name == "style"} == set()
    for plot in plots([one]):
        for image in (plot.light, plot.dark):
            assert b"<script" not in image and b"<image" not in image
            links = set(re.findall(rb'(?:href|src)="([^"]*)"', image))
            assert all(link.startswith(b"#") for link in links)
    assert "://" not in PICTURE.sub("", whole)


PICTURE = re.compile(r"data:image/svg\+xml;base64,[^\"]*")


def test_plots_have_the_colours_of_their_page(one: Run) -> None:
    for plot in plots([one, replace(one, name="other")]):
        for image, theme, other in ((plot.light, LIGHT, DARK), (plot.dark, DARK, LIGHT)):
            found = {colour.decode() for colour in re.findall(rb"#[0-9a-f]{6}", image)}
            assert found <= {theme.ink, theme.line, *theme.runs}, plot.title
            assert not found & {other.ink, other.line, *other.runs}


def test_texts_that_attack_are_shown_and_do_nothing(tmp_path: Path) -> None:
    runs = read([attacked(tmp_path / "<script>window.pwned=1<")], {})
    page = Page(html(runs))
    expected = {"script": 1, "style": 1, "img": 0, "form": 1, "link": 1, "meta": 5}
    assert {tag: page.tags[tag] for tag in expected} == expected
    for tag in ("svg", "iframe", "math", "object", "embed", "base", "noscript", "textarea", "animate"):
        assert page.tags[tag] == 0
    assert {name for _, name, _ in page.attributes if name.startswith("on") or name == "style"} == set()
    for payload in PAYLOADS:
        assert page.text.count(" ".join(payload.split())) >= 8, payload
    said = markdown(runs)
    assert not re.search(r"(?<!\\)[<>`]|(?<!\\)!\[|(?<!\\)\]\(|://", said.replace("\n> ", "\n"))


def test_kinds_that_no_axis_can_hold(tmp_path: Path) -> None:
    strange = ["$\\frac{", "a\x00b\x1f\ufffe", "漢字" * 40, "", "\u202e", "__", "x" * 500]
    questions = [Question(str(i), kind, FAST, facts=(("3.4 times",),)) for i, kind in enumerate(strange)]
    (run,) = read([made(tmp_path / "_$x$", questions)], {})
    assert len(plots([run, replace(run, name="_b")])) == 4
    assert b"\x00" not in plots([run])[0].light


def test_the_same_run_gives_the_same_report(one: Run) -> None:
    assert (html([one]), plots([one])) == (html([one]), plots([one]))


def test_markdown_shows_values_as_they_are() -> None:
    assert markdown_escaped("a|b\n# c <i> [x](http://y)") == ("a\\|b \\# c \\<i\\> \\[x\\]\\(http:\\/\\/y\\)")


def test_the_markdown(one: Run) -> None:
    lines = markdown([one]).replace("\N{NO-BREAK SPACE}", " ").splitlines()
    assert lines[0] == "# Evaluation report"
    assert "| right answers | 25.0 % (0 to 75), n 4 |" in lines
    assert "| fast | numeric | How much faster is Kiln? | right |" in lines
    assert (
        "| falls without gold | gold\\_removed | How much accuracy does it lose? | refused rightly |" in lines
    )
    start = lines.index("| figure | A |")
    assert lines[start + 1] == "|---|---|" and lines[start - 1] == ""


def test_two_runs_stand_side_by_side(folder: Path, tmp_path: Path) -> None:
    better = ANSWERS | {FALLS: said(FALLS, "It loses 0.2 points.", 3), GPUS: ANSWERS[FAST]}
    other = made(tmp_path / "better", answers=better, conditions={"fingerprint": {"llm": "large"}})
    page = Page(html(read([folder, other], {})))
    assert "B against A: No difference beyond noise in right answers" in page.text
    assert "6 questions in both, 1 flipped." in page.text
    assert "fingerprint.llm: small → large" in page.text
    assert "+ falls (numeric): refused → right. How much accuracy does it lose?" in page.text
    assert "A: refused wrongly" in page.text and "B: right" in page.text
    assert json.dumps(["refused wrongly", "right", "verdicts differ"]) in page.values("data-verdicts")
    assert "**B against A:**" in markdown(read([folder, other], {}))


def test_other_questions_under_the_same_ids_are_not_compared(folder: Path, tmp_path: Path) -> None:
    other = made(
        tmp_path / "other", [replace(QUESTIONS[0], question=CUP_INSTEAD)], {CUP_INSTEAD: ANSWERS[FAST]}
    )
    runs = read([folder, other], {})
    assert "no question in common" in Page(html(runs)).text
    assert len([e for e in entries(runs, "AB") if e.id == "fast"]) == 2


CUP_INSTEAD = "Who lost the cup?"


def test_a_retrieval_run(tmp_path: Path) -> None:
    def retrieve(questions: Any, out: Path) -> dict[str, dict[str, Share]]:
        (out / "run.trec").write_text("fast Q0 a mole 1 2 p\nfast Q0 kiln 2 1 p\n", "utf-8")
        return {"fast": {"fused nDCG@10": Share(0.63, 1), "fused MRR": Share(0.5, 1)}}

    from eval.metrics import Abstracts
    from eval.runs import run
    from tests.made_run import CONDITIONS, KILN

    run(
        QUESTIONS[:1],
        [],
        tmp_path / "r",
        abstracts=Abstracts({"kiln": KILN}),
        conditions=CONDITIONS | {"mode": "retrieval"},
        retrieve=retrieve,
    )
    runs = read([tmp_path / "r"], {})
    page = Page(html(runs))
    assert summary(runs[0]) == ["1 questions asked.", "The fused ranking has nDCG@10 0.630."]
    assert [line.name for line in tables(runs)["Retrieval"]] == ["fused nDCG@10", "fused MRR"]
    assert "fused nDCG@10: 0.630; fused MRR: 0.500" in page.text
    assert "Papers found, best first: a mole kiln gold" in page.text
    assert entries(runs, "A")[0].verdicts == ("searched",)
    assert [plot.title for plot in plots(runs)] == ["By kind"]


# --- the command ---


def test_the_command_writes_both_files(folder: Path, tmp_path: Path) -> None:
    done = report(folder)
    assert (done.exit_code, done.stdout.split()) == (0, [f"{folder}/report.html", f"{folder}/report.md"])
    assert (folder / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert report(folder, "--out", tmp_path / "new" / "r.html").exit_code == 0
    assert (tmp_path / "new" / "r.md").read_text("utf-8").startswith("# Evaluation report")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ((), 2, "Missing argument 'DIR...'"),
        (("nowhere",), 1, "nowhere holds no run: there is no run.json"),
        (("{run}", "--out", "report.pdf"), 2, "--out must end in .html"),
        (("{run}", "--out", "{run}/run.json/r.html"), 1, "cannot be written"),
        (("{run}", "{run}"), 1, "named twice"),
        (("{run}",) * 5, 2, "5 runs are too many for one page; name at most 4"),
        (("{run}", "--set", "nowhere.jsonl"), 2, "does not exist"),
    ],
)
def test_what_the_command_refuses(
    folder: Path, arguments: tuple[str, ...], code: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    done = report(*(one.format(run=folder) for one in arguments))
    text = done.output if done.exit_code else ""
    message = text if isinstance(done.exception, SystemExit) else str(done.exception)
    assert says in message.replace("\n", " ")
    assert isinstance(done.exception, InputError if code == 1 else SystemExit)
