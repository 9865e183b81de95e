"""From evidence to checked sentences: the model writes, every sentence is verified, what is left out is quoted."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from prompts import Prompt
from rag import markers
from rag.complete import NEW, WORDS, WORDS_OF_SIDES, cited, numbers_told, quoted, quotes
from rag.confidence import at_best, confidence, features
from rag.model import Model, Reader
from rag.nouns import Draft, Dropped, Event, Found, Settled, Turn, Waiting
from rag.parts import Part, parts_of, told_by_name
from rag.prompting import messages_of, prefix_of, room
from rag.queueing import Turnstile
from rag.reading import Reading, read_closest
from rag.refusal import NOT_FOUND, is_refusal, numberless
from rag.retrieve import Retriever
from rag.run import Run
from rag.settings import Settings
from rag.verify import Verifier, is_english

# What a second attempt adds to the question.
STRICTER = "(Answer in one sentence, in the words of the numbered sentence that gives the answer.)"
MOST = 3  # sentences of one draft that are kept: what a model goes on to say is filler


class Writer:
    """Writes answers with one model; askers queue for it."""

    def __init__(
        self, retriever: Retriever, model: Model, settings: Settings, prompt: Prompt, turnstile: Turnstile
    ) -> None:
        self.retriever = retriever
        self.model = model
        self.settings = settings
        self.prompt = prompt
        self.turnstile = turnstile

    def write(self, run: Run, history: Sequence[Turn], cancel: threading.Event) -> Iterator[Event]:
        """The model's draft, each sentence checked as soon as it is complete; what it leaves out; how sure it is.

        Events: Waiting*, Found?, (Draft | Settled)*. The sentences and all else go into `run`.
        """
        told = " ".join(f"{turn.question} {turn.answer}" for turn in history)
        with self.turnstile.enter(cancel) as ticket:
            for position in ticket:
                yield Waiting(position)
            if cancel.is_set() or not ticket.admitted:
                return
            closer = self._read(run, history, cancel)
            if closer:
                run.hits, run.evidence, run.gap = closer.hits, closer.evidence, closer.gap
                yield Found(run.search.text, tuple(run.evidence), tuple(run.hits))
                run.features = at_best(run, closer.watched)
                if confidence(run.features) < self.settings.refuse_below:
                    run.refused = True
                    return
            parts = parts_of(run.question, run.evidence, run.sides)
            run.refused = yield from self._drafts(run, parts, told, history, cancel)
            nothing = not (run.refused or run.sentences or run.against)
            if nothing and self.settings.attempts > 1 and not cancel.is_set():
                again = [replace(part, question=f"{part.question} {STRICTER}") for part in parts]
                run.refused = yield from self._drafts(run, again, told, history, cancel)
        if not run.refused:
            yield from self._complete(run)
            if run.sentences:
                run.features = features(run)
                run.confidence = round(confidence(run.features), 4)
                run.refused = run.confidence < self.settings.refuse_below or numberless(
                    run.question, (s.text for s in run.sentences)
                )

    def _read(self, run: Run, history: Sequence[Turn], cancel: threading.Event) -> Reading | None:
        """A closer look of the model where no paper stands out, neither by its lead nor by what was said before, and it
        is not asked to set papers side by side."""
        if run.sure or run.search.follow_up or len(run.sides) > 1 or not isinstance(self.model, Reader):
            return None
        return read_closest(
            self.model,
            self.prompt,
            self.retriever,
            run.hits,
            run.search.forms,
            run.question,
            history,
            room(self.model, self.prompt, run.question, history, self.settings),
            cancel,
        )

    def _drafts(
        self, run: Run, parts: Sequence[Part], told: str, history: Sequence[Turn], cancel: threading.Event
    ) -> Generator[Event, None, bool]:
        """What the model says to each prompt, checked; returns whether it refused all of them."""
        refused = []
        for part in parts:
            refused.append((yield from self._draft(run, part, told, history, cancel)))
        return all(refused)

    def _draft(
        self, run: Run, part: Part, told: str, history: Sequence[Turn], cancel: threading.Event
    ) -> Generator[Event, None, bool]:
        """What the model says to one prompt, checked; returns whether it refused."""
        verifier = Verifier(self.retriever.embedder, part.evidence, part.question, told)
        text, checked = "", 0
        for piece in self._pieces(run, part, history, cancel):
            if run.first_token_s is None:
                run.first_token_s = run.clock()
            text += piece
            drafts = markers.settled(text)
            yield from self._settle(run, verifier, drafts[checked:], part)
            checked = len(drafts)
            if not NOT_FOUND.startswith(text.strip()[: len(NOT_FOUND)]):
                yield Draft(markers.tail(text))
        whole = markers.drafts(text)
        if _was_cut(run, text):
            whole = whole[:-1]
        refused = is_refusal(text)
        if not refused:
            yield from self._settle(run, verifier, whole[checked:], part)
        run.against += verifier.against
        return refused

    def _complete(self, run: Run) -> Iterator[Event]:
        """Quotes behind the model's sentences: what contradicted them, and what they leave out."""
        added = [quoted(e) for e in dict.fromkeys(run.against)]
        said = [*run.sentences, *added]
        # Beside what will be translated the best sentence stands as it was written.
        new = NEW if run.language == "en" else 0.0
        if len(run.sides) > 1:
            added += quotes(said, run.evidence, [hit.paper.key for hit in run.sides], WORDS_OF_SIDES, new)
        elif said and not (new and numbers_told(run.question, said)):
            added += quotes(said, run.evidence, cited(said)[:1], WORDS, new)
        elif not said and not run.dropped and all(f.reason != "cancelled" for f in run.finishes):
            # no sentence at all came of the model
            added += quotes([], run.evidence, [run.evidence[0].paper.key], WORDS)
        for sentence in added:
            run.sentences.append(sentence)
            yield Settled(sentence)

    def _pieces(
        self, run: Run, part: Part, history: Sequence[Turn], cancel: threading.Event
    ) -> Generator[str, None, None]:
        messages = messages_of(self.prompt, part.evidence, part.question, history)
        finish = yield from self.model.stream(
            prefix_of(self.prompt),
            messages,
            max_tokens=self.settings.answer_tokens,
            watch=NOT_FOUND,
            cancel=cancel,
        )
        run.finishes.append(finish)

    def _settle(
        self, run: Run, verifier: Verifier, drafts: Sequence[markers.Draft], part: Part
    ) -> Iterator[Event]:
        """Check sentences; those that hold are told by the name of their side, MOST at the most."""
        numbers = {e.n for e in part.evidence}
        for draft in drafts:
            if sum(s.citations[0].n in numbers for s in run.sentences) >= MOST:
                return
            checked = verifier.check(draft)
            if isinstance(checked, Dropped):
                run.dropped.append(checked)
            elif checked.support == "weak" and is_english(checked.text) and run.sentences:
                run.dropped.append(Dropped(checked.text, "weakly supported, beside better supported ones"))
            elif not is_refusal(checked.text):
                run.sentences.append(told_by_name(checked, part))
                yield Settled(run.sentences[-1])


def _was_cut(run: Run, text: str) -> bool:
    """Whether the last sentence of a draft was cut in the middle, and so is no sentence."""
    ended = run.finishes and run.finishes[-1].reason == "stop"
    return not ended and not text.rstrip().endswith((".", "!", "?", "]"))
