"""Questions about the collection itself: what is told from the records, and what is left to the papers."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.assistant import Assistant
from rag.ledger import reply_to
from rag.nouns import Filters, Turn
from rag.records import records_of
from rag.retrieve import Retriever
from rag.settings import Settings
from tests.fakes import ScriptedModel
from tests.shelf_of_authors import retriever_at

KELP, GULLS, TIDAL = (
    "“KELP: Seaweed Maps From Kayak Sonar”",
    "“Counting Gulls by the Sound of Their Feet”",
    "“TidalNet: Filters for Sea-Level Forecasting”",
)
FROST, FERRY, PEAR = (
    "“Frost Warnings Without a Weather Station”",
    "“Ferries That Learn Their Timetable”",
    "“Pruning Pear Trees With GraftTree”",
)
BEE = "“Paper #8: BeeLine, a planner for pollination flights”"


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    return retriever_at(tmp_path_factory.mktemp("shelf"))


def told(retriever: Retriever, question: str, filters: Filters | None = None) -> str | None:
    reply = reply_to(question, (), False, retriever, filters or Filters())
    return None if reply is None else " ".join(s.text for s in reply.sentences)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many papers are in here?", "This collection holds 8 papers."),
        ("how many papers do you have", "This collection holds 8 papers."),
        ("¿Cuántos artículos hay?", "This collection holds 8 papers."),
        ("Combien d'articles y a-t-il ?", "This collection holds 8 papers."),
        ("How many papers from ICLR?", "Three (3) of 8 papers are from ICLR."),
        ("how many NIPS papers are there", "One (1) of 8 papers is from NeurIPS."),
        ("How many of the papers are from ICML 2024?", "One (1) of 8 papers is from ICML 2024."),
        ("Wie viele Papers sind von der ICLR?", "Three (3) of 8 papers are from ICLR."),
        ("How many papers from the Journal of Orchard Studies?",
         "One (1) of 8 papers is from Journal of Orchard Studies."),
        ("How many papers from CVPR?", "None (0) of the 8 papers is from CVPR."),
        ("Are there any papers from 2019?", "No, none of the 8 papers is from 2019."),
        ("How many papers from NeurIPS and how many from ICML?",
         "One (1) of 8 papers is from NeurIPS. Two (2) of 8 papers are from ICML."),
        ("How many papers were published since 2023?",
         "Five (5) of 8 papers are from 2023–2024: 2023 (2) and 2024 (3)."),
        ("Which venues are the papers from?", "The papers are from four (4) venues: ICLR (3), ICML (2), Journal of "
         "Orchard Studies (1) and NeurIPS (1); 1 name none."),
        ("How many papers per year?",
         "The papers are from four (4) years: 2021 (1), 2022 (1), 2023 (2) and 2024 (3); 1 name none."),
        ("Which files are they from?", "The papers are from two (2) files: harbor.bib (4) and orchard.bib (4)."),
        ("Aus welchen Dateien kommen die Papers?",
         "The papers are from two (2) files: harbor.bib (4) and orchard.bib (4)."),
        ("How many authors are there?",
         "The 8 papers have 8 authors. With more than one paper: Ada Roe (2), Bo Lin (2), Wei Zhang (2)."),
        ("What is the oldest paper in the collection?", f"The oldest paper is {FROST}, from 2021."),
        ("Which is the newest paper?", f"The newest 3 papers are from 2024: {KELP}, {TIDAL} and {PEAR}."),
        ("How many sentences do the abstracts have?", "The abstracts of the 8 papers have 24 sentences."),
        ("Who wrote the KELP paper?", f"{KELP} is by Ada Roe and Bo Lin."),
        ("Wer hat das KELP-Paper geschrieben?", f"{KELP} is by Ada Roe and Bo Lin."),
        ("Qui a écrit l'article TidalNet ?", f"{TIDAL} is by Léa Dupont-Moreau."),
        ("¿Quién escribió el artículo KELP?", f"{KELP} is by Ada Roe and Bo Lin."),
        ("who wrote tidlnet: filters for sea level forcasting?", f"{TIDAL} is by Léa Dupont-Moreau."),
        ("Who are the authors of \"Ferries That Learn Their Timetable\"?", f"{FERRY} is by Wei Zhang and Bo Lin."),
        ("Who is the last author of the gull paper?", f"The last author of {GULLS} is Ada Roe."),
        ("How many authors does the gulls paper have?",
         f"{GULLS} has 3 authors: Jürgen Müller, Cy Kay and Ada Roe."),
        ("Who wrote the paper on counting gulls by footsteps?",
         f"{GULLS} is by Jürgen Müller, Cy Kay and Ada Roe."),
        ("Who wrote the KELP paper and when was it published?",
         f"{KELP} is by Ada Roe and Bo Lin. {KELP} was published at ICML in 2024."),
        ("Papers by Bo Lin", "Two (2) of 8 papers are by Bo Lin: KELP: Seaweed Maps From Kayak Sonar Ferries That "
         "Learn Their Timetable"),
        ("Is there anything by Muller?",
         "Yes, one (1) of 8 papers is by Jürgen Müller: Counting Gulls by the Sound of Their Feet"),
        ("papers by orsted", "One (1) of 8 papers is by Ola Ørsted: Frost Warnings Without a Weather Station"),
        ("What has Dupont-Moreau written?",
         "One (1) of 8 papers is by Léa Dupont-Moreau: TidalNet: Filters for Sea-Level Forecasting"),
        ("How many papers did somebody called Zhang write?", "Two (2) of 8 papers are by Wei Zhang."),
        ("Do you have papers by Geoffrey Hinton?", "No, none of the 8 papers is by Geoffrey Hinton."),
        ("How many papers by Ada Roe are from ICML?", "Two (2) of 8 papers are from ICML, by Ada Roe."),
        ("Did Ada Roe write the KELP paper?", f"Yes, {KELP} is by Ada Roe and Bo Lin."),
        ("Is the KELP paper in here?", f"Yes, {KELP} is in this collection (ICML 2024)."),
        ("Is there a paper called Counting Gulls by the Sound of Their Feet?",
         f"Yes, {GULLS} is in this collection (ICML 2023)."),
        ("Is TidalNet an ICLR paper?", f"Yes, {TIDAL} is from ICLR 2024."),
        ("Is TidalNet from ICML?", f"No, {TIDAL} is from ICLR 2024."),
        ("Give me the link to TidalNet", f"The link of {TIDAL} is https://example.org/tidalnet"),
        ("What is the DOI of the KELP paper?", f"The DOI of {KELP} is https://doi.org/10.1234/kelp.7"),
        ("What is the PubMed ID of the frost paper?",
         f"The PubMed page of {FROST} is https://pubmed.ncbi.nlm.nih.gov/31207604/"),
        ("When was KELP published?", f"{KELP} was published at ICML in 2024."),
        ("Wann wurde TidalNet veröffentlicht?", f"{TIDAL} was published at ICLR in 2024."),
        ("Où a été publié TidalNet ?", f"{TIDAL} was published at ICLR in 2024."),
        ("Where was the ferry timetable paper published?", f"{FERRY} was published at NeurIPS in 2022."),
        ("From which file is the frost paper?", f"{FROST} is from the file orchard.bib."),
        ("What is the title of the SawBot paper?", f"The title is {PEAR}."),
    ],
)  # fmt: skip
def test_told_from_the_records(retriever: Retriever, question: str, answer: str) -> None:
    assert told(retriever, question) == answer


@pytest.mark.parametrize(
    "question",
    [
        "How many papers mention Flan-T5?",
        "How many papers deal with diffusion?",
        "How many ICLR papers prune trees?",
        "How many papers cite Smith?",
        "How many authors does KELP acknowledge?",
        "How many people took part in the KELP study?",
        "How many roofs were heard?",
        "How many venues did the kayak visit?",
        "Who uses Flan-T5?",
        "Who counts gulls?",
        "Who replaces attention with recurrent filters?",
        "Who wrote the dictionary entries for made-up words?",
        "Who authored the labels?",
        "Who is behind the noise on tin roofs?",
        "When does a ferry wait?",
        "When was ImageNet released?",
        "When was TidalNet trained?",
        "Where are gulls counted?",
        "Where was GraftTree tested?",
        "Where can I find pear trees?",
        "What is KELP?",
        "What is ICLR?",
        "What is the paper about?",
        "What does the KELP paper say about sonar?",
        "What did the authors find?",
        "What do the papers show?",
        "What is the link between frost and blossom?",
        "What are the sources of error in KELP?",
        "What is common to the ICLR papers?",
        "What is the title role of GraftTree?",
        "Which paper counts gulls?",
        "Which authors use diffusion?",
        "Which year had the most frost?",
        "Which file format does KELP use?",
        "Which works best?",
        "Which conference rooms are heard?",
        "Are there papers on diffusion?",
        "Do you have anything on LoRA?",
        "Does the collection hold papers about frost?",
        "Is there a paper on frost?",
        "Is TidalNet faster than attention?",
        "Is Brenier's map from 1991?",
        "How does it work?",
        "Show me the results",
        "Name the data sets",
        "List the steps of KELP",
        "In ICML 2024 papers, what errs by 4 percent?",
        "How many papers are from ICLR and which ones prune trees?",
        "Wer zählt Möwen?",
        "Wie viele Arbeiten nutzen Diffusion?",
        "Qui utilise Flan-T5 ?",
    ],
)
def test_left_to_what_the_papers_say(retriever: Retriever, question: str) -> None:
    assert told(retriever, question) is None


@pytest.mark.parametrize(
    ("question", "refusal"),
    [
        ("Who wrote the BeeLine paper?", f"The records name no authors of {BEE}."),
        ("When was the BeeLine paper published?", f"The records do not say when {BEE} was published."),
        ("What's the DOI of TidalNet?",
         f"The records give no DOI for {TIDAL}. They give https://example.org/tidalnet"),
        ("What is the PMID of TidalNet?",
         f"The records give no PubMed page for {TIDAL}. They give https://example.org/tidalnet"),
        ("Who wrote the LoRA paper?", "This collection holds no paper named “LoRA”."),
        ("Who are the authors of the BeeLine paper and at which university do they work?",
         f"The records name no authors of {BEE}."),
    ],
)  # fmt: skip
def test_what_the_records_do_not_hold_is_not_found(
    retriever: Retriever, tmp_path: Path, question: str, refusal: str
) -> None:
    answer = Assistant(retriever, ScriptedModel([]), Settings(home=tmp_path)).ask(question)
    assert (answer.status, answer.text, answer.sentences) == ("not_found", refusal, ())


def test_what_else_is_asked_is_named_as_missing(retriever: Retriever, tmp_path: Path) -> None:
    question = "Who are the authors of the KELP paper and at which university do they work?"
    answer = Assistant(retriever, ScriptedModel([]), Settings(home=tmp_path)).ask(question)
    assert answer.status == "partial"
    assert answer.text == f"{KELP} is by Ada Roe and Bo Lin [1]."
    assert answer.note == "Not in the library's records: at which university do they work."


def test_the_collection_in_words_says_how_much_it_holds(retriever: Retriever) -> None:
    text = told(retriever, "What is in here?")
    assert text is not None
    assert text.startswith("This collection holds 8 papers: ICLR 2024 (2), ICLR 2023 (1), ")
    assert told(retriever, "What is this collection about?") == text


def test_no_paper_of_a_title_is_said_with_the_nearest(retriever: Retriever) -> None:
    text = told(retriever, "Is “Tidal Harps on Mars” in the collection?")
    assert text is not None
    assert text.startswith("No, this collection holds no paper named “Tidal Harps on Mars”; the nearest is “")


def test_every_sentence_is_pinned_to_the_first_sentence_of_papers_it_counts(retriever: Retriever) -> None:
    reply = reply_to("List the ICLR papers", (), False, retriever, Filters())
    assert reply is not None
    opening, *each = reply.sentences
    assert opening.text == "Three (3) of 8 papers are from ICLR:"
    assert [s.citations[0].n for s in each] == [1, 2, 3] == [c.n for c in opening.citations]
    for c in opening.citations:
        paper = retriever.library.paper(c.paper)
        assert paper is not None
        assert paper.venue == "ICLR"
        assert paper.abstract[c.start : c.end] == c.quote
        assert c.start == 0


def test_the_library_is_read_anew_when_it_changes(retriever: Retriever) -> None:
    before = records_of(retriever.library)
    assert records_of(retriever.library) is before
    with retriever.library.writing():
        retriever.library.raise_generation()
    assert records_of(retriever.library) is not before


def test_given_filters_hold_for_the_records_too(retriever: Retriever) -> None:
    icml = Filters(venues=("ICML",))
    assert told(retriever, "How many papers are in here?", icml) == "This collection holds 2 papers."
    assert told(retriever, "Who wrote the ferry paper?", icml) == ""


def test_a_follow_up_asks_about_the_paper_of_the_last_turn(retriever: Retriever) -> None:
    history = [Turn("How fast is TidalNet?", "Training is 2.6 times faster [1].")]
    reply = reply_to("Who wrote it?", history, True, retriever, Filters())
    assert reply is not None
    assert reply.sentences[0].text == f"{TIDAL} is by Léa Dupont-Moreau."
    assert reply_to("How many are there?", history, True, retriever, Filters()) is None


def test_under_filters_a_paper_that_is_not_found_may_still_be_in_the_collection(retriever: Retriever) -> None:
    filters = Filters(venues=("ICLR",))
    reply = reply_to("Who wrote the LoRA paper?", (), False, retriever, filters)
    assert reply is not None and reply.refusal == "The papers searched hold no paper named “LoRA”."
    text = told(retriever, "Is “Tidal Harps on Mars” in the collection?", filters)
    assert text is not None and text.startswith("No, the papers searched hold no paper named “Tidal Harps on")
