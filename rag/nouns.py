"""The nouns of Pincite: frozen records without I/O. Every other module is a verb on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["answered", "partial", "not_found"]
Grade = Literal["quoted", "supported", "weak", "unsupported"]


@dataclass(frozen=True, slots=True)
class Record:
    """One paper as one source file tells it, before it is matched with what the library holds.

    Text fields hold readable text (`rag.text.readable`); `*_found` hold it as it stands in the file.
    """

    source: str  # the file's name as shown to people, not a path to open
    number: int  # ordinal of the record in its file, from 1
    abstract: str
    abstract_found: str
    line: int | None = None  # first line of the record, from 1, where the format has lines
    heading: str = ""  # a list's heading line ("ICML 2024 Papers"); names papers that have no title
    citekey: str = ""
    title: str = ""
    title_found: str = ""
    authors: tuple[str, ...] = ()  # "First Last", in order
    year: int | None = None
    venue: str = ""  # short and filterable: "ICML"
    venue_as_found: str = ""
    url: str = ""
    doi: str = ""
    arxiv: str = ""
    openreview: str = ""
    pmlr: str = ""
    pmid: str = ""  # PubMed's number
    note: str = ""  # said beside the abstract, e.g. that it is a summary


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a source that could not be read; the other records survive it."""

    source: str
    cause: str
    remedy: str
    record: int | None = None
    line: int | None = None
    field: str = ""


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper of the collection, merged from all its records."""

    id: int  # row number in the library; never shown
    key: str  # stable, unique in the collection
    label: str  # the title, or a readable stand-in for it
    abstract: str  # readable text; what is quoted, shown and lit
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    venue_as_found: str = ""
    url: str = ""
    doi: str = ""
    arxiv: str = ""
    openreview: str = ""
    pmlr: str = ""
    pmid: str = ""
    note: str = ""
    citekey: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an abstract; `abstract[start:end]` (code points) is exactly its text."""

    paper: str  # the paper's key
    ordinal: int  # from 0
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is embedded: sentences `first`..`last` (inclusive) of a paper, as one text."""

    paper_id: int
    kind: Literal["window", "sentence"]
    first: int
    last: int
    text: str
    part: int = 0  # a single sentence that is over the embedder's limit becomes several chunks


@dataclass(frozen=True, slots=True)
class Why:
    """Why a paper was found."""

    terms: tuple[str, ...] = ()  # question words that its title or abstract holds
    text_rank: int | None = None  # from 1; None: not among the full-text hits
    vector_rank: int | None = None
    text_score: float = 0.0  # share of the question's rarity that was matched, 0 to 1
    abstract_score: float = 0.0  # cosine of question and abstract
    sentence_score: float = 0.0  # cosine of question and best sentence


@dataclass(frozen=True, slots=True)
class Hit:
    """A paper found for a question; a larger score is better."""

    paper: Paper
    score: float
    why: Why
    best_sentence: int = 0  # ordinal of the sentence that fits the question best


@dataclass(frozen=True, slots=True)
class Evidence:
    """A numbered sentence `[n]` put before the model for one question."""

    n: int
    paper: Paper
    sentence: Sentence
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Citation:
    """A marker of an answer, resolved to the sentence it stands for."""

    n: int
    paper: str
    title: str  # title or label
    quote: str
    start: int
    end: int
    support: Grade


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """One sentence of an answer, without markers, with the citations that support it."""

    text: str
    support: Grade
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Dropped:
    """A sentence of the model's draft that is not shown as answer text, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds from the question, with the models loaded; `first_token_s` is None if no model ran."""

    evidence_s: float = 0.0
    first_token_s: float | None = None
    total_s: float = 0.0
    prompt_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question and the text that answered it."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Filters:
    """Restrictions on the papers searched; empty means all."""

    venues: tuple[str, ...] = ()
    years: tuple[int, ...] = ()
    papers: tuple[str, ...] = ()  # keys: only these
    without: tuple[str, ...] = ()  # keys: never these
    authors: tuple[str, ...] = ()  # last or full names; a paper of any of them passes


@dataclass(frozen=True, slots=True)
class Answer:
    """A verified answer, or a refusal (`status == "not_found"`, no sentences)."""

    question: str
    searched_for: str
    status: Status
    text: str  # the sentences joined, with markers [n]; the refusal for not_found
    sentences: tuple[AnswerSentence, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    nearest: tuple[Hit, ...] = ()
    timing: Timing = Timing()
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""  # e.g. "stopped", "cut: the model repeated itself"
    confidence: float | None = None  # the chance (0 to 1) that it is right; None: not the model's answer
    features: Mapping[str, float] = field(default_factory=dict)  # what the confidence was worked out from


# What the assistant yields while it answers, in this order: Found, Waiting*, Found?, (Draft | Settled)*,
# Done. A second Found replaces the first.


@dataclass(frozen=True, slots=True)
class Waiting:
    """Another question has the model; `position` askers are ahead (1 = next, 0: the model is still to come)."""

    position: int


@dataclass(frozen=True, slots=True)
class Found:
    """The evidence, before the model has written anything."""

    searched_for: str
    evidence: tuple[Evidence, ...]
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """The sentence being written, as far as it is there; replaces the previous draft."""

    text: str


@dataclass(frozen=True, slots=True)
class Settled:
    """A sentence whose citations have been checked."""

    sentence: AnswerSentence


@dataclass(frozen=True, slots=True)
class Done:
    """The whole answer; what it holds replaces everything shown so far."""

    answer: Answer


Event = Waiting | Found | Draft | Settled | Done
