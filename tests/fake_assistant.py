"""A scripted assistant with the real interface, and a small invented collection for it to speak of."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from rag.errors import PinciteError
from rag.importing import Importer
from rag.library import Library
from rag.nouns import (
    Answer,
    AnswerSentence,
    Citation,
    Done,
    Draft,
    Dropped,
    Event,
    Evidence,
    Filters,
    Found,
    Hit,
    Paper,
    Record,
    Sentence,
    Settled,
    Timing,
    Turn,
    Waiting,
    Why,
)
from rag.settings import Settings

Script = Sequence[Event | PinciteError]


def made(key: str, title: str, *sentences: str, **fields: object) -> tuple[Paper, tuple[Sentence, ...]]:
    """A paper whose abstract is those sentences, and the sentences with their spans."""
    abstract, spans = " ".join(sentences), []
    for ordinal, text in enumerate(sentences):
        start = sum(len(s) + 1 for s in sentences[:ordinal])
        spans.append(Sentence(key, ordinal, start, start + len(text), text))
    facts = {"id": 1, "key": key, "label": title, "title": title, "abstract": abstract} | fields
    return Paper(**facts), tuple(spans)  # type: ignore[arg-type]


LANTERN = made(
    "lantern2024",
    "Lantern: Pruning Networks While They Train",
    "Large networks are slow to train and slower to serve.",
    "Lantern removes weights in blocks of $4 \\times 4$ during training, at a cost of $O(n \\log n)$ a step.",
    "On a laptop processor it runs 2.7 times faster than the dense network.",
    "Accuracy drops by 0.4 points.",
    authors=("Ada Quill", "Bo Tern", "Chidi Amsel"),
    year=2024,
    venue="ICLR",
    venue_as_found="International Conference on Learning Representations",
    url="https://papers.example/lantern",
)
HARBOUR = made(
    "harbour2024",
    "Harbour: Federated Averaging with Late Clients",
    "Clients that answer late bias the average.",
    "Harbour reaches the optimum in $\\tilde{O}(K^{-1}\\epsilon^{-1.5})$ rounds without full gradients.",
    "It needs 38% fewer messages than plain averaging.",
    authors=("Dana Ferry",),
    year=2024,
    venue="ICML",
    url="https://papers.example/harbour",
    note="Our summary, not the authors' abstract.",
)
MAGPIE = made(
    "magpie2023",
    "Magpie: Stealing Good Initialisations",
    "A network can borrow its first weights from a larger one.",
    "Magpie picks the layers to borrow by a bandit.",
    year=2023,
    venue="ICLR",
)
PAPERS = {papers[0].key: papers for papers in (LANTERN, HARBOUR, MAGPIE)}


def numbered(*picks: tuple[tuple[Paper, tuple[Sentence, ...]], int]) -> tuple[Evidence, ...]:
    """Evidence from (made paper, ordinal of the sentence), numbered from 1."""
    return tuple(Evidence(n, made[0], made[1][ordinal]) for n, (made, ordinal) in enumerate(picks, start=1))


def cite(evidence: Evidence, support: str = "supported") -> Citation:
    s = evidence.sentence
    return Citation(evidence.n, s.paper, evidence.paper.label, s.text, s.start, s.end, support)  # type: ignore[arg-type]


EVIDENCE = numbered((LANTERN, 1), (LANTERN, 2), (LANTERN, 3), (HARBOUR, 1), (MAGPIE, 1))
SENTENCES = (
    AnswerSentence(
        "Lantern prunes blocks of $4 \\times 4$ weights during training.", "supported", (cite(EVIDENCE[0]),)
    ),
    AnswerSentence(
        "On a laptop processor it runs 2.7 times faster than the dense network.",
        "quoted",
        (cite(EVIDENCE[1], "quoted"),),
    ),
    AnswerSentence(
        "Harbour also avoids extra work.", "weak", (cite(EVIDENCE[3], "weak"), cite(EVIDENCE[2], "weak"))
    ),
)
ANSWER = Answer(
    question="What does Lantern speed up?",
    searched_for="What does Lantern speed up?",
    status="answered",
    text=" ".join(f"{s.text} {''.join(f'[{c.n}]' for c in s.citations)}" for s in SENTENCES),
    sentences=SENTENCES,
    dropped=(Dropped("It was trained on 512 GPUs.", "512 does not occur in the sources"),),
    evidence=EVIDENCE,
    timing=Timing(0.21, 3.4, 4.8, 612, 57),
)
REFUSAL = Answer(
    question="What is quantum error correction?",
    searched_for="quantum error correction",
    status="not_found",
    text="I could not find this in these papers.",
    nearest=(Hit(MAGPIE[0], 0.2, Why(terms=("error",)), best_sentence=1), Hit(HARBOUR[0], 0.1, Why())),
    timing=Timing(0.2, None, 0.3),
)


def script_of(answer: Answer, step: int = 1) -> list[Event]:
    """The events of an answer, its sentences drafted `step` words at a time."""
    events: list[Event] = [Found(answer.searched_for, answer.evidence, answer.nearest)]
    for sentence in answer.sentences:
        words = sentence.text.split(" ")
        events += [Draft(" ".join(words[:i])) for i in range(step, len(words) + 1, step)]
        events.append(Settled(sentence))
    return [*events, Done(answer)]


class FakeAssistant:
    """Plays a script for each question, one event every `delay` seconds, for one asker at a time.

    `steps` counts the events it made, `streams` the streams that are open; both are for tests of Stop.
    Its library is real and holds `papers`; everything lies in `home`, a temporary folder if none is given.
    """

    def __init__(
        self,
        scripts: Mapping[str, Script],
        delay: float = 0.0,
        is_sample: bool = False,
        home: Path | None = None,
        collection: str = "default",
    ) -> None:
        self.scripts, self.delay, self.is_sample = scripts, delay, is_sample
        self._folder = None if home else tempfile.TemporaryDirectory()  # lives as long as the assistant
        home = home or Path(self._folder.name)  # type: ignore[union-attr]
        self.settings = Settings(home=home, collection=collection)
        self.retriever = self
        self.filters: list[Filters] = []
        self.papers = dict(PAPERS)
        self.steps = self.streams = 0
        self.asked: list[tuple[str, tuple[Turn, ...]]] = []
        self._model = threading.Lock()
        self._askers = 0

    def beside(self, settings: Settings) -> FakeAssistant:
        """The assistant of another collection, with what was put into that: the same script, and one queue."""
        other = FakeAssistant(self.scripts, self.delay, home=settings.home, collection=settings.collection)
        other.papers, other._model = {}, self._model
        return other

    def stream(
        self,
        question: str,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        cancel: threading.Event | None = None,
    ) -> Iterator[Event]:
        cancel = cancel or threading.Event()
        self.asked.append((question, tuple(history)))
        self.filters.append(filters or Filters())
        self._askers += 1
        self.streams += 1
        try:
            ahead = self._askers - 1
            while not self._model.acquire(timeout=0.02):
                if cancel.is_set():
                    return
                yield Waiting(ahead)
            try:
                yield from self._play(self.scripts[question], cancel)
            finally:
                self._model.release()
        finally:
            self._askers -= 1
            self.streams -= 1

    def _play(self, script: Script, cancel: threading.Event) -> Iterator[Event]:
        for event in script:
            time.sleep(self.delay)
            if cancel.is_set():
                return
            if isinstance(event, PinciteError):
                raise event
            self.steps += 1
            yield event

    @cached_property
    def library(self) -> Library:
        library = Library(self.settings.collection_dir)
        if self.papers and not library.size()[0]:
            fill(library, [paper for paper, _ in self.papers.values()])
        return library

    def search(self, queries: Sequence[str], most: int = 20, filters: Filters | None = None) -> list[Hit]:
        """All papers in their order, but those that the filters leave out."""
        without = filters.without if filters else ()
        return [Hit(p, 0.5, Why(terms=("a",))) for p, _ in self.papers.values() if p.key not in without][
            :most
        ]

    def paper(self, key: str) -> tuple[Paper, tuple[Sentence, ...]] | None:
        """One of `papers`, as they are now, or what was added to the library meanwhile."""
        added = self.library.paper(key)
        return self.papers.get(key) or ((added, self.library.sentences(added)) if added else None)

    def examples(self, n: int = 4) -> list[str]:
        return list(self.scripts)[:n]

    def fingerprint(self) -> dict[str, object]:
        return {"model": "scripted"}

    def size(self) -> tuple[int, int]:
        return self.library.size()


def fill(library: Library, papers: Sequence[Paper], file: str = "fake.bib") -> None:
    """Put papers into a library as if they had been read from a file, under their own keys."""
    importer = Importer(library, Path("/files") / file)
    importer.add(
        Record(
            file, n, p.abstract, p.abstract, title=p.title, citekey=p.key, authors=p.authors,
            year=p.year, venue=p.venue, venue_as_found=p.venue_as_found, url=p.url, note=p.note,
        )
        for n, p in enumerate(papers, 1)
    )  # fmt: skip
    importer.finish("")
