"""What a draft left out follows in the authors' words."""

from rag.complete import WORDS, cited, compares, contradicting, quotes, sides
from rag.nouns import AnswerSentence, Citation, Evidence, Hit, Paper, Sentence, Why

FAST = "TidalNet trains 2.6 times faster than a transformer on one V100."
WHY = "It replaces attention with a bank of learned recurrent filters."
WAVES = "Mooring aligns wave spectra with wind records by a contrastive loss."


def evidence() -> list[Evidence]:
    rows = [("roe24", FAST, 0.9), ("roe24", WHY, 0.4), ("lin23", WAVES, 0.7)]
    papers = {
        "roe24": Paper(1, "roe24", "TidalNet", f"{FAST} {WHY}"),
        "lin23": Paper(2, "lin23", "Mooring", WAVES),
    }
    return [
        Evidence(n, papers[key], Sentence(key, n, 0, len(text), text), score)
        for n, (key, text, score) in enumerate(rows, 1)
    ]


def denying() -> list[Evidence]:
    text = "TidalNet works without any fine-tuning data."
    return [Evidence(1, Paper(1, "roe24", "TidalNet", text), Sentence("roe24", 0, 0, len(text), text))]


def said(text: str, paper: str, n: int = 1) -> AnswerSentence:
    return AnswerSentence(text, "supported", (Citation(n, paper, paper, text, 0, len(text), "supported"),))


def test_the_best_sentence_of_a_paper_follows_when_most_of_it_is_not_told():
    (added,) = quotes([said("It uses filters.", "roe24")], evidence(), ["roe24"], WORDS)
    assert (added.text, added.support) == (FAST, "quoted")
    assert [(c.n, c.paper, c.quote) for c in added.citations] == [(1, "roe24", FAST)]


def test_what_is_told_is_not_said_again():
    told = said("On one V100, TidalNet trains 2.6 times faster than a transformer.", "roe24")
    assert quotes([told], evidence(), ["roe24"], WORDS) == []


def test_every_side_is_heard_within_the_words():
    told = said("TidalNet trains 2.6 times faster than a transformer on a V100.", "roe24")
    assert [s.text for s in quotes([told], evidence(), ["roe24", "lin23"], 40)] == [WAVES]
    assert quotes([told], evidence(), ["roe24", "lin23"], 20) == []


def test_the_most_cited_paper_comes_first():
    assert cited([said("a", "lin23"), said("b", "roe24"), said("c", "roe24")]) == ["roe24", "lin23"]


def test_a_comparison_is_recognised():
    for question in (
        "Compare TidalNet and Mooring.",
        "TidalNet vs Mooring: which needs more data?",
        "How do TidalNet and GraftTree each save time?",
        "How does TidalNet differ from Mooring?",
        "What do the two sea papers have in common?",
    ):
        assert compares(question), question
    assert not compares("How good is TidalNet compared with the competition?")
    assert not compares("What does TidalNet use instead of attention?")


def test_sides_are_the_papers_named_then_those_that_stand_out():
    hits = [
        Hit(Paper(n, key, name, f"We present {name}."), score, Why())
        for n, (key, name, score) in enumerate(
            [("a", "GraftTree", 0.8), ("b", "TidalNet", 0.7), ("c", "MoorNet", 0.6), ("d", "KilnNet", 0.3)], 1
        )
    ]
    asked: list[str] = []

    def search(name: str) -> list[Hit]:
        asked.append(name)
        return hits[3:]

    named, missing = sides("How do TidalNet and MoorNet differ?", hits, 0.75, search)
    assert ([h.paper.key for h in named], missing, asked) == (["b", "c"], [], [])
    one, _ = sides("How does MoorNet differ from the other paper?", hits, 0.75, search)
    assert [h.paper.key for h in one] == ["c", "a"]
    unnamed, _ = sides("Compare the two papers.", hits, 0.65, search)
    assert [h.paper.key for h in unnamed] == ["a", "b"]
    two, _ = sides("Of the two sea papers, which is faster?", hits, 0.95, search)
    assert [h.paper.key for h in two] == ["a", "b"]
    one, _ = sides("Which two methods does GraftTree combine?", hits, 0.95, search)
    assert [h.paper.key for h in one] == ["a"]
    far, missing = sides("Contrast KilnNet with GraftTree and WhoNet.", hits[:3], 0.9, search)
    assert ([h.paper.key for h in far], missing, asked) == (["d", "a"], ["WhoNet"], ["KilnNet", "WhoNet"])


def test_a_premise_that_the_first_paper_contradicts_is_found():
    found = contradicting("Why does TidalNet train slower than a transformer?", evidence())
    assert [e.sentence.text for e in found] == [FAST]
    (denied,) = contradicting("Which fine-tuning data does TidalNet need?", denying())
    assert denied.sentence.text == "TidalNet works without any fine-tuning data."
    assert contradicting("Why does TidalNet train faster than a transformer?", evidence()) == []


def test_a_negating_prefix_contradicts_a_why_only():
    text = "Mooring exploits unpaired wave records of many buoys."
    there = [Evidence(1, Paper(1, "m", "Mooring", text), Sentence("m", 0, 0, len(text), text))]
    assert contradicting("Why does Mooring need paired wave records of buoys?", there) == there
    assert contradicting("How many paired wave records of buoys does Mooring need?", there) == []
