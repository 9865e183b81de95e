"""The whole way of a question, on one screen: understand, retrieve, evidence, generate, verify."""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import prompts
from rag.coined import RARE
from rag.complete import (
    compares,
    contradicting,
    joins_names,
    quoted,
    sides,
)
from rag.errors import ModelError
from rag.evidence import SIDES, best_each, choose, shares
from rag.examples import examples
from rag.languages import language_of, said
from rag.ledger import reply_to
from rag.likelihood import Scorer, reranked
from rag.model import Model
from rag.narrowing import narrow
from rag.nouns import (
    Answer,
    Done,
    Event,
    Filters,
    Found,
    Hit,
    Paper,
    Sentence,
    Settled,
    Turn,
)
from rag.prompting import prefix_of, room, shortened
from rag.queueing import Turnstile
from rag.refusal import hopeless
from rag.retrieve import Retriever
from rag.run import Run, answer_of
from rag.sample import is_sample_only
from rag.sets import CANDIDATES, MOST, Kind, kind_of, members, paper_named, sentences_of
from rag.settings import Settings
from rag.standing import depth, lead
from rag.telling import Reply
from rag.translating import Translator
from rag.understand import understand
from rag.writing import Writer

SIDE = 0.10  # lead of a paper from which it is a side of a comparison that does not name it
LOOKED_AT = 8  # papers kept of those retrieved
SURE = (
    0.13  # lead of the best paper from which it stands out: others need not be read, weak sentences are shown
)


class Assistant:
    """Answers questions about one collection. Safe for many threads: the model is behind a turnstile."""

    def __init__(
        self,
        retriever: Retriever,
        model: Model,
        settings: Settings,
        scorer: Scorer | None = None,
        turnstile: Turnstile | None = None,
    ) -> None:
        """`scorer` takes a second look at close papers; without one the first order stands.

        `turnstile`: the queue before the model, where other assistants use it too.
        """
        self.scorer = scorer
        self.retriever = retriever
        self.library = retriever.library
        self.model = model
        self.settings = settings
        self.prompt = prompts.load("answer")
        self.writer = Writer(retriever, model, settings, self.prompt, turnstile or Turnstile())
        self.translator = Translator(model, self.writer.turnstile)

    def stream(
        self,
        question: str,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        cancel: threading.Event | None = None,
    ) -> Iterator[Event]:
        """Events of one answer: Found, Waiting*, Found?, (Draft | Settled)*, Done. A second Found replaces the first.

        A question in another language is answered in English first, drafts only, then in its own language; before
        it is translated there may be Waiting too.

        Closing the generator, or setting `cancel`, stops the model within a token. Raises PinciteError.
        """
        started, search = time.perf_counter(), understand(question, history)
        run = Run(question, question, search, started, filters or Filters())
        cancel = cancel or threading.Event()
        reply = reply_to(question, history, search.follow_up, self.retriever, run.filters)
        run.language = language_of(question, history[-1].question if history else "")
        if not reply and run.language != "en":
            question, history = yield from self.translator.question(run, question, history, cancel)
            run.search = understand(question, history)
            reply = reply_to(question, history, run.search.follow_up, self.retriever, run.filters)
        if reply:
            yield from self._by_records(run, reply)
            return
        run.question, run.search, run.filters = narrow(question, run.search, run.filters, self.library)
        kind = kind_of(run.question)
        if kind != "other" and not run.search.follow_up:
            yield from self._by_papers(run, kind)
        else:
            yield from self._by_model(run, history, cancel)

    def ask(
        self,
        question: str,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        cancel: threading.Event | None = None,
    ) -> Answer:
        """The answer alone; not whole if `cancel` is set on the way."""
        for event in self.stream(question, history, filters, cancel):
            if isinstance(event, Done):
                return event.answer
        raise ModelError("The answer ended before it was complete.")

    def _by_model(self, run: Run, history: Sequence[Turn], cancel: threading.Event) -> Iterator[Event]:
        """A question about what papers say: evidence, then what the model makes of it, checked."""
        history = shortened(history, self.model.count) if run.search.follow_up else ()
        self._retrieve(run, cancel)
        if not hopeless(run.question, run.hits, self._holders(run.filters)):
            self._gather(run, history)
        run.evidence_s = run.clock()
        yield Found(run.search.text, tuple(run.evidence), tuple(run.hits))
        against = contradicting(run.question, run.evidence) if run.evidence and run.sure else []
        if against:
            run.note = said("opposite", run.language)
            run.sentences = [quoted(e) for e in against]
            yield from map(Settled, run.sentences)
        elif run.evidence:
            yield from self._written(run, history, cancel)
        yield self._done(run)

    def _retrieve(self, run: Run, cancel: threading.Event) -> None:
        """The closest papers, looked at twice where none stands out and the history does not tell which is meant."""
        run.total = self._searched(run.filters)
        hits = self.retriever.search(run.search.forms, depth(run.total), run.filters)
        run.found, run.sure = hits, lead(hits, run.total) >= SURE
        if self.scorer and not run.sure and not run.search.follow_up:
            hits = reranked(self.scorer, run.search.forms[-1], hits, cancel)
        run.hits = hits[:LOOKED_AT]

    def _gather(self, run: Run, history: Sequence[Turn]) -> None:
        """The papers that a comparison sets beside each other, and the sentences put before the model."""
        question = run.question
        if compares(question) or joins_names(question):
            stands = run.hits[0].score - lead(run.found, run.total) + SIDE
            run.sides, missing = sides(
                question,
                run.hits,
                stands if compares(question) else math.inf,
                lambda name: self.retriever.search([name], 3, run.filters),
            )
            run.missing = missing if compares(question) else ()
        several = len(run.sides) > 1
        papers = run.sides if several else run.hits[: self.settings.papers]
        room_for_one = room(self.model, self.prompt, question, history, self.settings)
        run.evidence = choose(
            self.retriever,
            papers,
            run.search.forms,
            share=SIDES if several else shares(papers, run.sure, run.search.follow_up),
            budget=2 * room_for_one if several else room_for_one,
            count=self.model.count,
        )

    def _written(self, run: Run, history: Sequence[Turn], cancel: threading.Event) -> Iterator[Event]:
        """What the model writes, in the question's language: English sentences are settled once translated."""
        for event in self.writer.write(run, history, cancel):
            if run.language == "en" or not isinstance(event, Settled):
                yield event
        if run.language != "en" and not run.refused:
            yield from self.translator.sentences(run, cancel)

    def _by_papers(self, run: Run, kind: Kind) -> Iterator[Event]:
        """A question whose answer is papers: decided over the whole collection, without the model."""
        total, holders = self._searched(run.filters), self._holders(run.filters)
        hits = self.retriever.search(run.search.forms, CANDIDATES, run.filters)
        chosen: Sequence[Hit] = ()
        if not hopeless(run.question, hits[:LOOKED_AT], holders):
            chosen = hits[:1] if kind == "which" else members(hits, total, run.question)
            run.evidence = best_each(self.retriever, chosen[:MOST], run.search.forms)
        run.hits = hits[:LOOKED_AT]
        run.evidence_s = run.clock()
        yield Found(run.search.text, tuple(run.evidence), tuple(run.hits))
        if kind == "which":
            run.sentences = paper_named(hits, run.evidence, total, holders)
        elif run.evidence:
            run.sentences = sentences_of(run.evidence, len(chosen), total, holders, run.language)
        yield from map(Settled, run.sentences)
        yield self._done(run)

    def _by_records(self, run: Run, reply: Reply) -> Iterator[Event]:
        """A question about the collection itself: told from the library's records, without the model."""
        run.evidence, run.sentences, run.refusal = reply.evidence, reply.sentences, reply.refusal
        if reply.missing:
            run.missing, run.note = (reply.missing,), f"Not in the library's records: {reply.missing}."
        run.evidence_s = run.clock()
        yield Found(run.search.text, tuple(run.evidence), ())
        yield from map(Settled, run.sentences)
        yield self._done(run)

    def _done(self, run: Run) -> Done:
        translated = {} if run.language == "en" else {"translation": self.translator.digest}
        return Done(answer_of(run, {**self.fingerprint(), **translated}))

    def _holders(self, filters: Filters) -> Callable[[str], int]:
        """Tells how many of the papers searched hold a word, counted as far as it matters to `rag.coined`."""
        allowed = self.library.allowed(filters)
        every = self.library.size()[0]

        def holders(word: str) -> int:
            found = self.library.postings(word, RARE + 1 if allowed is None else every)
            return len(found) if allowed is None else len(allowed.intersection(found))

        return holders

    def _searched(self, filters: Filters) -> int:
        """How many papers a search with these filters looks through."""
        allowed = self.library.allowed(filters)
        return self.library.size()[0] if allowed is None else len(allowed)

    # --- what the faces ask beside answers ---

    def paper(self, key: str) -> tuple[Paper, tuple[Sentence, ...]] | None:
        """A paper and its sentences."""
        paper = self.library.paper(key)
        return None if paper is None else (paper, self.library.sentences(paper))

    def size(self) -> tuple[int, int]:
        """Papers and sentences of the collection, as other processes have left it."""
        return self.library.size()

    def examples(self, n: int = 4) -> list[str]:
        """Starter questions for the collection at hand."""
        return examples(self.library, n)

    @property
    def is_sample(self) -> bool:
        """Whether the collection is the sample that ships with the program."""
        return is_sample_only(self.library)

    def warm(self) -> None:
        """Have the stable prefix evaluated before the first question."""
        self.model.warm(prefix_of(self.prompt))

    def fingerprint(self) -> dict[str, Any]:
        """Everything the answer depends on: settings, index, model, prompt."""
        return {
            **self.settings.fingerprint(),
            "scorer": self.scorer.name if self.scorer else "none",
            "index": index_digest(self.library.generation(), self),
            "model": dict(self.model.fingerprint),
            "prompt": self.prompt.digest,
        }


def index_digest(generation: int, assistant: Assistant) -> str:
    """A hash of all texts of the collection and of the embedder."""
    library = assistant.library
    digest = hashlib.sha256(library.get("embedder").encode())
    for (content,) in library.db.execute("SELECT content FROM papers ORDER BY content"):
        digest.update(content.encode())
    return digest.hexdigest()[:12]
