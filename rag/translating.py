"""Questions into English and answers back, by the answering model; what a translation loses is not shown.

The embedder, the rules and the checks of answers are English, so the whole way of a question is. A translation is
data as the question is: it is searched for, and shown.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

import prompts
from rag.languages import HAN, NAMES, is_in, language_of
from rag.model import Finish, Message, Model
from rag.nouns import Draft, Event, Settled, Turn, Waiting
from rag.prompting import inline, prefix_of, shortened
from rag.quantities import quantities
from rag.queueing import Turnstile
from rag.run import Run
from rag.understand import leans_on_history, strong_names
from rag.verify import bones

LONGEST = 160  # tokens of a translation
SHORTEST_SHARE, LONGEST_SHARE = 0.45, 2.2  # of the other text's length, in letters
HAN_LETTERS = 3.0  # Latin letters that say as much as one Chinese character
_COMMA = re.compile(r"(?<=\d),(?=\d)")  # of decimals, or of thousands: told apart by neither side
_GAP = re.compile(r"(?<=\d)[\s  ](?=\d{3}(?!\d))")
_FIGURE = re.compile(r"\d+(?:\.\d+)*")
_SCALED = re.compile(r"\d\s?(k?Hz|[KMGT]B|dB|[KMB])\b")  # units that no language writes otherwise
_FORMULA = re.compile(r"\$[^$\n]+\$")
_UNITS = (
    re.compile(r"%|％|\b(?:percent|prozent|pour cent|por ciento)|百分", re.IGNORECASE),
    re.compile(
        r"×|\d\s?x\b|\d times\b|\d-?fold\b|\d[ -]?mal\b|\d[ -]?fach|\d fois\b|\d veces\b|倍", re.IGNORECASE
    ),
)
# Of little worth in Chinese, which negates within words ("不同", different): `keeps` lets it pass there.
_DENIALS = re.compile(
    r"\b(?:not|no|none|never|without|neither|nor|cannot|nicht|kein\w*|ohne|weder|nie|pas|sans|aucune?|jamais|ni|sin|"
    r"ning\w+|nunca|tampoco)\b|n't\b|[不没無无未非]",
    re.IGNORECASE,
)
# Abbreviations that have another form in English.
_ENGLISH_FORMS = {"ki": "ai", "ia": "ai", "adn": "dna", "dns": "dna", "arn": "rna", "irm": "mri"}


class Translator:
    """Translates with one model; askers queue for it."""

    def __init__(self, model: Model, turnstile: Turnstile) -> None:
        self.model = model
        self.turnstile = turnstile
        self.into, self.back = prompts.load("to_english"), prompts.load("from_english")

    @property
    def digest(self) -> str:
        return f"{self.into.digest}-{self.back.digest}"

    def question(
        self, run: Run, question: str, history: Sequence[Turn], cancel: threading.Event
    ) -> Generator[Event, None, tuple[str, Sequence[Turn]]]:
        """Question and earlier turns in English; a text whose translation does not hold stays as it is.

        Of the turns only the last is needed, and that only where the question points back.
        """
        asked = yield from self._english(run, question, cancel)
        if not history or not leans_on_history(asked):
            return asked, ()
        last = shortened(history[-1:], self.model.count)[0]
        said = yield from self._english(run, last.question, cancel)
        answer = yield from self._english(run, last.answer, cancel)
        return asked, (Turn(said, answer),)

    def sentences(self, run: Run, cancel: threading.Event) -> Iterator[Event]:
        """The model's sentences of an answer in the question's language, drafts first; quotes as they are.

        A sentence whose translation does not hold stays English.
        """
        for n, sentence in enumerate(run.sentences):
            text = ""
            if sentence.support != "quoted" and not cancel.is_set():
                asked = self.back.fill(language=NAMES[run.language], text=inline(sentence.text))
                text = yield from self._say(run, self.back, asked, cancel, shown=True)
            holds = text and is_in(text, run.language) and keeps(sentence.text, text)
            if holds:
                run.sentences[n] = replace(sentence, text=text)
            yield Settled(run.sentences[n])

    def _english(self, run: Run, text: str, cancel: threading.Event) -> Generator[Event, None, str]:
        if not text or language_of(text) == "en":
            return text
        asked = self.into.fill(text=inline(text))
        english = yield from self._say(run, self.into, asked, cancel)
        return english if language_of(english) == "en" and keeps(text, english) else text

    def _say(
        self, run: Run, prompt: prompts.Prompt, text: str, cancel: threading.Event, *, shown: bool = False
    ) -> Generator[Event, None, str]:
        """What the model makes of a text, whole; nothing if it was cut."""
        with self.turnstile.enter(cancel) as ticket:
            for position in ticket:
                yield Waiting(position)
            if cancel.is_set() or not ticket.admitted:
                return ""
            written, finish = yield from self._written(prompt, text, cancel, shown)
        # A translation that was cut is not shown: the answer itself was not.
        run.finishes.append(finish if finish.reason == "cancelled" else replace(finish, reason="stop"))
        return written if finish.reason == "stop" else ""

    def _written(
        self, prompt: prompts.Prompt, text: str, cancel: threading.Event, shown: bool
    ) -> Generator[Event, None, tuple[str, Finish]]:
        messages = [Message("user", text)]
        written = ""
        with closing(
            self.model.stream(prefix_of(prompt), messages, max_tokens=LONGEST, stop=("\n",), cancel=cancel)
        ) as stream:
            while True:
                try:
                    written += next(stream)
                except StopIteration as end:
                    return written.strip(), end.value
                if shown:
                    yield Draft(written.strip())


def keeps(text: str, translation: str) -> bool:
    """Whether a translation has the numbers, units, names, formulas and denial of the text, none beside them, and
    about its length."""
    return bool(
        SHORTEST_SHARE <= _length(translation) / max(1.0, _length(text)) <= LONGEST_SHARE
        and text.rstrip().endswith(("?", "？")) == translation.rstrip().endswith(("?", "？"))
        and _figures(text) <= _figures(translation) <= _figures(text) | {q.value for q in quantities(text)}
        and all(bool(unit.search(text)) == bool(unit.search(translation)) for unit in _UNITS)
        and (HAN.search(text) or bool(_DENIALS.search(text)) <= bool(_DENIALS.search(translation)))
        and all(bones(f) in bones(translation) for f in _FORMULA.findall(text))
        and _names_stand(text, translation)
        and _names_stand(translation, text)
    )


def _length(text: str) -> float:
    """Letters, a Chinese character for the Latin letters that it stands for."""
    han = len(HAN.findall(text))
    return sum(map(str.isalnum, text)) + (HAN_LETTERS - 1) * han


def _figures(text: str) -> set[str]:
    """Figures with a point for a comma; those of names count too."""
    plain = _GAP.sub("", _COMMA.sub(".", text))
    return {*_FIGURE.findall(plain), *(unit.casefold() for unit in _SCALED.findall(plain))}


def _names_stand(text: str, other: str) -> bool:
    """Whether the names of a text stand in the other; of a compound ("A100-GPU", "GPU-Stunden") the parts that are
    names by themselves, or else its first part."""
    there = bones(other)
    for name in strong_names(HAN.sub(" ", text)):
        parts = re.split(r"[-/+]", name)
        for part in [p for p in parts if strong_names(p)] or parts[:1]:
            form = bones(part).removesuffix("s")
            if form not in there and _ENGLISH_FORMS.get(form, form) not in there:
                return False
    return True
