import pytest

from rag.markers import Draft
from rag.nouns import AnswerSentence, Dropped, Evidence, Paper, Sentence
from rag.verify import Verifier, denies
from tests.fakes import HashEmbedder

SPEED = "On one V100, TidalNet trains 2.6 times faster than a transformer and lowers its error by 18%."
FILTERS = "This method replaces attention with a bank of learned recurrent filters."
FOREST = "GraftTree merges similar subtrees by their split geometry alone."


def evidence() -> list[Evidence]:
    out = []
    for n, (key, title, text) in enumerate(
        [("roe24", "TidalNet: Sea-Level Forecasts", SPEED), ("roe24", "TidalNet: Sea-Level Forecasts", FILTERS),
         ("lin23", "GraftTree: Forests Without Data", FOREST)], 1
    ):  # fmt: skip
        paper = Paper(n, key, title, f"{SPEED} {FILTERS}" if key == "roe24" else FOREST, title=title)
        start = paper.abstract.index(text)
        out.append(Evidence(n, paper, Sentence(key, n, start, start + len(text), text)))
    return out


def check(text: str, *numbers: int, question: str = "What does it do?") -> AnswerSentence | Dropped:
    return Verifier(HashEmbedder(dim=256, max_tokens=512), evidence(), question).check(Draft(text, numbers))


def cited(result: AnswerSentence | Dropped) -> list[int]:
    assert isinstance(result, AnswerSentence), result
    return [c.n for c in result.citations]


def test_a_verbatim_run_is_quoted() -> None:
    result = check("TidalNet trains 2.6 times faster than a transformer")
    assert isinstance(result, AnswerSentence)
    assert result.support == "quoted"
    assert cited(result) == [1]


def test_a_wrong_marker_is_moved_to_the_sentence_that_says_it() -> None:
    assert cited(check("GraftTree merges subtrees by the geometry of their splits.", 1)) == [3]


def test_a_missing_marker_is_found() -> None:
    assert cited(check("TidalNet replaces attention with learned recurrent filters.")) == [2]


def test_two_facts_get_two_citations() -> None:
    text = "TidalNet replaces attention with a bank of recurrent filters and trains 2.6 times faster."
    assert cited(check(text)) == [1, 2]


def test_two_papers_get_two_citations() -> None:
    text = "TidalNet lowers the error by 18%, while GraftTree merges similar subtrees by split geometry."
    assert cited(check(text)) == [1, 3]


def test_a_name_of_the_title_stands_for_this_method() -> None:
    assert cited(check("TidalNet uses a bank of learned recurrent filters instead of attention.")) == [2]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "TidalNet trains 6.2 times faster than a transformer.",
            "the number 6.2 times is not in the cited sentences",
        ),
        ("TidalNet trains 2.6% faster than a transformer.", "the number 2.6% is not in the cited sentences"),
        ("TidalNet trains faster than PatchTST on one V100.", "the name PatchTST is not in the cited papers"),
        ("GraftTree trains 2.6 times faster than a transformer.", "the number 2.6 times is not GraftTree's"),
        ("Sparse kernels accelerate protein folding pipelines.", "no sentence of the papers says this"),
    ],
)
def test_what_is_not_shown(text: str, reason: str) -> None:
    assert check(text) == Dropped(text, reason)


def test_giving_the_question_back_is_no_answer() -> None:
    text = "The filters that replace attention are learned recurrent filters."
    question = "Which learned recurrent filters replace attention?"
    assert check(text, question=question) == Dropped(text, "it only repeats the question")


def test_a_name_of_the_question_may_be_denied_but_not_claimed() -> None:
    question = "Does TidalNet use LoRA?"
    assert isinstance(
        check("TidalNet replaces attention with recurrent filters, not LoRA.", question=question),
        AnswerSentence,
    )
    claimed = "TidalNet replaces attention with LoRA and recurrent filters."
    assert check(claimed, question=question) == Dropped(claimed, "the name LoRA is not in the cited papers")


def test_a_plural_of_an_acronym_is_the_acronym() -> None:
    assert cited(check("TidalNet trains 2.6 times faster on V100s than a transformer.")) == [1]


def test_a_name_of_the_question_that_no_paper_holds_is_not_claimed() -> None:
    text = "Recurrent filters like Mamba replace attention."
    result = check(text, question="How do filters like Mamba compare with attention?")
    assert result == Dropped(text, "the name Mamba is not in the cited papers")


def test_nouns_of_other_languages_are_no_names() -> None:
    assert cited(
        check("TidalNet ersetzt attention durch recurrent filters, eine Bank gelernter Filter.")
    ) == [2]


def test_quotes_are_exact_spans() -> None:
    result = check("TidalNet lowers the error of a transformer by 18%.")
    assert isinstance(result, AnswerSentence)
    (citation,) = result.citations
    abstract = evidence()[0].paper.abstract
    assert abstract[citation.start : citation.end] == citation.quote == SPEED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is not trained.", True),
        ("A training-free method.", True),
        ("It doesn’t need data.", True),
        ("It is fast.", False),
    ],
)
def test_denies(text: str, expected: bool) -> None:
    assert denies(text) is expected


def test_a_number_of_another_comparison_is_not_shown_but_its_sentence_is() -> None:
    text = "The layer runs 1.7 times faster than the dense kernel and 13 times faster than the sparse kernel."
    paper = Paper(1, "roe24", "Layers", text)
    source = Evidence(1, paper, Sentence("roe24", 0, 0, len(text), text))
    verifier = Verifier(HashEmbedder(dim=256, max_tokens=512), [source], "How fast is the layer?")
    for claim in (
        "The layer runs 13 times faster than the dense kernel and 13 times faster than the sparse kernel.",
        "The layer runs 13 times faster than the dense kernel.",
    ):
        reason = "the number 13 times belongs to something else in the cited sentence"
        assert verifier.check(Draft(claim, (1,))) == Dropped(claim, reason)
    assert verifier.against == [source, source]


def test_a_number_of_another_paper_is_not_given_to_what_the_question_asks_about() -> None:
    text = "The Lotus filters lower the error of a transformer by 18%."
    reason = "the number 18% is not Lotus's"
    assert check(text, question="By how much does the Lotus paper lower the error?") == Dropped(text, reason)


def test_a_number_that_is_no_part_of_a_name_does_not_make_it() -> None:
    """ "GPT-4" is not in a paper that says "GPT-3.5" and "4 abilities"."""
    text = "GPT-3.5 marks the answers, which cover 4 abilities."
    paper = Paper(1, "k", "Marks", text)
    source = Evidence(1, paper, Sentence("k", 0, 0, len(text), text))
    claim = "GPT-4 marks the answers."
    result = Verifier(HashEmbedder(dim=256, max_tokens=512), [source], "Who marks?").check(Draft(claim, (1,)))
    assert result == Dropped(claim, "the name GPT-4 is not in the cited papers")


def test_the_only_one_must_be_said_to_be_that() -> None:
    """A question may put "the only" into the model's mouth; the sentence that it leans on is kept to be shown."""
    texts = ("Weight asymmetry contributes to the bias beside the finite nudge.",)
    question = "Since the finite nudge is the only source of bias, can I ignore weight asymmetry?"
    claim = "Yes, because the finite nudge is the only source of bias."
    for text, held in ((texts[0], False), ("The finite nudge alone is the source of bias.", True)):
        paper = Paper(1, "k", "Nudges", text)
        source = Evidence(1, paper, Sentence("k", 0, 0, len(text), text))
        verifier = Verifier(HashEmbedder(dim=256, max_tokens=512), [source], question)
        result = verifier.check(Draft(claim, (1,)))
        reason = "the cited sentences do not say that it is the only one"
        assert isinstance(result, Dropped) is not held
        assert held or result == Dropped(claim, reason)
        assert [e.n for e in verifier.against] == ([] if held else [1])


def test_a_name_set_into_the_questions_own_words_needs_a_sentence_that_means_it() -> None:
    """ "GPT-4 came out on top" where the sentence only says that GPT-4 marks the answers."""
    text = "Language models such as GPT-4 mark the replies of the vision systems in Buoy-Bench."
    paper = Paper(1, "k", "Buoy-Bench", text)
    source = Evidence(1, paper, Sentence("k", 0, 0, len(text), text))
    question = "Which system came out on top in the Buoy-Bench evaluation?"
    verifier = Verifier(HashEmbedder(dim=256, max_tokens=512), [source], question)
    claim = "GPT-4 came out on top in the Buoy-Bench evaluation."
    assert verifier.check(Draft(claim, (1,))) == Dropped(claim, "no sentence of the papers says this")
    bare = verifier.check(Draft("GPT-4.", (1,)))
    assert isinstance(bare, AnswerSentence)
