"""A comparison is asked one side at a time."""

from rag.nouns import AnswerSentence, Evidence, Hit, Paper, Sentence, Why
from rag.parts import Part, parts_of, told_by_name

TIDAL = Paper(
    1,
    "roe24",
    "TidalNet: Filters for Sea Levels",
    "TidalNet filters gauges.",
    title="TidalNet: Filters for Sea Levels",
)
GRAFT = Paper(2, "lin23", "Pruning Forests", "We merge subtrees by Split Geometry.", title="Pruning Forests")


def evidence() -> list[Evidence]:
    return [
        Evidence(n, paper, Sentence(paper.key, 0, 0, len(paper.abstract), paper.abstract))
        for n, paper in enumerate((TIDAL, GRAFT), 1)
    ]


def hit(paper: Paper) -> Hit:
    return Hit(paper, 0.7, Why())


def test_a_question_about_one_paper_is_asked_whole():
    assert parts_of("Why?", evidence(), []) == [Part(tuple(evidence()), "Why?")]


def test_each_side_is_asked_with_its_own_sentences_and_name():
    question = "How do TidalNet and the Split Geometry paper save time?"
    first, second = parts_of(question, evidence(), [hit(TIDAL), hit(GRAFT)])
    assert ([e.n for e in first.evidence], first.name) == ([1], "TidalNet")
    assert ([e.n for e in second.evidence], second.name) == ([2], "Pruning Forests")
    assert first.question == f"{question} (Answer for TidalNet only.)"
    assert second.known == ("Split", "Geometry")


def test_a_side_without_evidence_is_not_asked():
    assert len(parts_of("Compare the two.", evidence()[:1], [hit(TIDAL), hit(GRAFT)])) == 1


def test_a_sentence_that_does_not_say_whose_it_is_gets_the_name():
    part = Part((), "", "Pruning Forests", ("Split", "Geometry"))
    for text, told in (
        ("It merges subtrees.", "Pruning Forests: It merges subtrees."),
        ("Split geometry decides.", "Split geometry decides."),
        ("Pruning forests is cheap.", "Pruning forests is cheap."),
    ):
        assert told_by_name(AnswerSentence(text, "supported", ()), part).text == told
    alone = AnswerSentence("It merges subtrees.", "supported", ())
    assert told_by_name(alone, Part((), "Why?")) is alone
