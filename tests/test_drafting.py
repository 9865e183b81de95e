"""Facts from quotes, and drafts of questions over invented papers."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from desk import RECORDS
from fakes import ScriptedModel

import prompts
from eval.drafting import KINDS, Rejected, candidates, draft
from eval.facts import facts_of, forms_of
from eval.questions import Question, check, line_of, load
from rag.importing import Importer
from rag.library import Library
from rag.quantities import quantities
from rag.settings import Settings
from ui.commands.evaluate import evaluate

NUMBERS = (
    "On the Brest gauge TidalNet lowers the error of a transformer by 18%, "
    "and it trains 2.6 times faster on one V100."
)
CLAIM = "TidalNet replaces attention with a bank of learned recurrent filters."


@pytest.fixture
def library(tmp_path: Path) -> Library:
    made = Library(tmp_path / "collections" / "default")
    importer = Importer(made, tmp_path / "desk.bib")
    importer.add(RECORDS)
    importer.finish("sum")
    return made


# --- facts ---


def test_numbers_carry_their_units_in_every_surface_form() -> None:
    facts = facts_of(
        "It trains 2.6 times faster, with 18 percent less error.", [NUMBERS], "How fast is TidalNet?"
    )
    assert facts[0] == ("2.6 times", "2.6x", "2.6×", "2.6 ×", "2.6-fold")
    assert facts[1] == ("18 percent", "18%", "18 %")


def test_what_the_question_says_is_no_fact() -> None:
    assert facts_of("TidalNet is 2.6 times faster.", [NUMBERS], "Is TidalNet 2.6 times faster?") == ()


def test_what_the_quote_does_not_say_is_no_fact() -> None:
    assert facts_of("It runs on 7 GPUs with BERT.", [NUMBERS], "On what?") == ()


def test_names_are_facts() -> None:
    assert facts_of("A V100, on TidalNet.", [NUMBERS], "Which processor runs TidalNet?") == (("V100",),)


def test_without_numbers_and_names_the_longest_shared_phrase_is_the_fact() -> None:
    said = "It replaces attention with a bank of learned recurrent filters."
    assert facts_of(said, [CLAIM], "What does TidalNet replace?") == (("attention with a bank",),)


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("12.5%", ("12.5%", "12.5 %", "12.5 percent")),
        ("1,200 hours", ("1,200 hours", "1,200 h", "1200 h")),
        ("twelve", ("twelve", "12")),
        ("140", ("140",)),
        ("3M", ("3M", "3 million")),
    ],
)
def test_forms_of_a_number(text: str, forms: tuple[str, ...]) -> None:
    assert forms_of(quantities(text)[0]) == forms


# --- drafts ---


class Writer(ScriptedModel):
    """Words a question about the sentence it is given, good or bad, by a script of functions."""

    def __init__(self, *scripts: Any) -> None:
        super().__init__([])
        self.scripts = scripts
        self.given: list[dict[str, str]] = []

    def stream(self, prefix: Any, messages: Any, **more: Any) -> Any:
        lines = dict(line.split(": ", 1) for line in messages[0].content.splitlines())
        self._answers = [self.scripts[len(self.given) % len(self.scripts)](lines)]
        self.given.append(lines)
        return super().stream(prefix, messages, **more)


def good(given: dict[str, str]) -> str:
    if given["Wanted"].startswith("a question that begins"):
        return "Question: Which method is meant here?\nAnswer: that one"
    return f"Question: What is told of {given['Name']} by its authors?\nAnswer: {given['Sentence']}"


def test_drafts_are_exact_sound_and_unreviewed(library: Library) -> None:
    made = [one for one in draft(library, Writer(good)) if isinstance(one, Question)]
    abstracts = [paper.abstract for paper in library.papers()]
    assert {q.kind for q in made} == set(KINDS)
    assert all(any(quote in text for text in abstracts) for q in made for quote in q.evidence)
    assert check(made, abstracts) == []
    assert not any(q.reviewed for q in made)
    which = next(q for q in made if q.kind == "which")
    assert which.facts in ((("TidalNet",),), (("GraftTree",),), (("Mooring",),))


def test_the_same_seed_gives_the_same_drafts_and_another_other_ones(library: Library) -> None:
    first, again = ([*draft(library, Writer(good), seed=3)] for _ in range(2))
    assert first == again
    orders = {tuple(c.paper.key for c in candidates(library, "numeric", seed)) for seed in range(8)}
    assert len(orders) > 1


def test_kinds_take_turns_and_no_sentence_is_used_twice(library: Library) -> None:
    writer = Writer(good)
    [*draft(library, writer)]
    wanted = [given["Wanted"].split(";")[0].split(" and does")[0] for given in writer.given[:3]]
    assert wanted == [
        "a question about what is said",
        "a question about a number",
        'a question that begins with "Which method"',
    ]
    sentences = [given["Sentence"] for given in writer.given]
    assert len(sentences) == len(set(sentences))


@pytest.mark.parametrize(
    ("said", "kind", "reason"),
    [
        ("I cannot do that.", "lookup", "no question"),
        ("Question: Tell me of TidalNet.\nAnswer: Filters.", "lookup", "no question of usual length"),
        ("Question: What does this sentence say of {Name}?\nAnswer: A.", "lookup",
         "it points to a text that nobody sees"),
        ("Question: What does it replace in the end?\nAnswer: A.", "lookup", "it does not say what it is about"),
        ("Question: Which method is called {Name}?\nAnswer: {Name}.", "which", "it gives the name away"),
        ("Question: How good is {Name}?\nAnswer: It is 99% better.", "numeric", "a number that is not in the quote"),
        ("Question: How is {Name} on ImageNet?\nAnswer: Good.", "lookup", "a name that is not in the quote"),
        ("Question: How good is {Name} today?\nAnswer: It is good.", "numeric", "its answer is no number"),
        ("Question: How good is {Name} today?\nAnswer: Marvellous.", "lookup", "answerable, but it has no facts"),
        ("Question: How good is {Name} today?\nAnswer: " + " ".join("a" * n for n in range(1, 42)), "lookup",
         "a long answer"),
    ],
)  # fmt: skip
def test_what_does_not_fit_its_quote_is_dropped(library: Library, said: str, kind: str, reason: str) -> None:
    made = [*draft(library, Writer(lambda given: said.format(**given)), kinds=[kind])]
    assert made and {one.reason for one in made if isinstance(one, Rejected)} == {reason}


def test_orders_in_an_abstract_stay_data(library: Library) -> None:
    writer = Writer(good)
    [*draft(library, writer)]
    ordered = [given["Sentence"] for given in writer.given if "BANANA" in given["Sentence"]]
    assert all("[7]" not in sentence for sentence in ordered)
    assert (
        "they give" in prompts.load("draft").prefix[0][1]
        or "it gives orders" in prompts.load("draft").prefix[0][1]
    )


# --- the command ---


class Ctx:
    def __init__(self, home: Path, library: Library) -> None:
        self.settings = Settings(home=home)
        self.library = library

    def open_library(self) -> Library:
        return self.library

    def progress(self) -> Any:
        from ui.progress import Bar

        return Bar(True)


def new(
    tmp_path: Path, library: Library, monkeypatch: pytest.MonkeyPatch, *arguments: str, say: Any = good
) -> Any:
    monkeypatch.setattr("rag.opening.model_of", lambda settings, bar: Writer(say))
    return CliRunner().invoke(evaluate, ["new", *arguments], obj=Ctx(tmp_path, library))


def test_new_writes_a_set_that_check_accepts(
    tmp_path: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "draft.jsonl"
    done = new(tmp_path, library, monkeypatch, "--out", str(out), "-n", "3")
    assert done.exit_code == 0 and "3 drafts, none reviewed" in done.stderr
    questions = load(out)
    assert len(questions) == 3 and not any(q.reviewed or q.unknown for q in questions)
    checked = CliRunner().invoke(evaluate, ["check", str(out)], obj=Ctx(tmp_path, library))
    assert checked.exit_code == 0 and "3 questions, 3 of them not reviewed yet, no faults." in checked.stderr


def test_new_overwrites_nothing(tmp_path: Path, library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "mine.jsonl"
    out.write_text("{}\n")
    done = new(tmp_path, library, monkeypatch, "--out", str(out))
    assert "exists, and may hold work of yours" in str(done.exception) and out.read_text() == "{}\n"


def test_new_tells_what_it_dropped_and_leaves_no_empty_file(
    tmp_path: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "draft.jsonl"
    done = new(tmp_path, library, monkeypatch, "--out", str(out), say=lambda given: "Well ...")
    assert "No draft fits its quote" in str(done.exception) and "dropped: no question" in done.stderr
    assert not out.exists()


def test_unknown_kinds_are_wrong_usage(
    tmp_path: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = new(tmp_path, library, monkeypatch, "--out", str(tmp_path / "d"), "--kinds", "list")
    assert done.exit_code == 2 and "takes any of lookup, numeric, which" in done.stderr


# --- the format's two fields for drafts ---


def test_a_line_gives_the_question_back(tmp_path: Path, library: Library) -> None:
    made = [one for one in islice(draft(library, Writer(good)), 6) if isinstance(one, Question)]
    file = tmp_path / "set.jsonl"
    file.write_text("".join(line_of(q) + "\n" for q in made), encoding="utf-8")
    assert load(file) == made


def test_reviewed_questions_need_no_mark() -> None:
    row = json.loads(line_of(Question("a", "lookup", "Q?")))
    assert "reviewed" not in row and "note" not in row
