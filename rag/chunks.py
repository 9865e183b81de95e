"""What of a paper is embedded: windows of sentences under the title, and every sentence alone.

Sizes are counted by the embedder's own tokenizer, so nothing is ever cut silently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rag.nouns import Chunk, Paper, Sentence

Lengths = Callable[[Sequence[str]], list[int]]

TITLE_SHARE = 4  # a title takes at most a quarter of a window
OVERLAP = 1  # sentences that two neighbouring windows share


def chunks(paper: Paper, sentences: Sequence[Sentence], lengths: Lengths, limit: int) -> list[Chunk]:
    """All chunks of a paper, each at most `limit` word pieces by `lengths`. Most abstracts are one window.

    A sentence that is over the limit by itself becomes several chunks, numbered by `part`.
    """
    title = next(iter(pieces(paper.title, lengths, limit // TITLE_SHARE)), "")
    head = f"{title}. " if title else ""
    out: list[Chunk] = []
    room = limit - (lengths([head])[0] if head else 0)
    for first, last in windows(sentences, lengths, room):
        text = " ".join(s.text for s in sentences[first : last + 1])
        for part, piece in enumerate(pieces(text, lengths, room)):
            out.append(Chunk(paper.id, "window", first, last, head + piece, part))
    for s in sentences:
        for part, piece in enumerate(pieces(s.text, lengths, limit)):
            out.append(Chunk(paper.id, "sentence", s.ordinal, s.ordinal, piece, part))
    return out


def windows(sentences: Sequence[Sentence], lengths: Lengths, room: int) -> Iterator[tuple[int, int]]:
    """(first, last) of each window: as many whole sentences as fit, sharing OVERLAP with the next."""
    # Special tokens are counted with every sentence, so a sum never falls short of the whole.
    costs = lengths([s.text for s in sentences])
    first = 0
    while first < len(sentences):
        last, used = first, costs[first]
        while last + 1 < len(sentences) and used + costs[last + 1] <= room:
            last += 1
            used += costs[last]
        yield first, last
        if last + 1 == len(sentences):
            return
        first = max(first + 1, last + 1 - OVERLAP)


def pieces(text: str, lengths: Lengths, limit: int) -> Iterator[str]:
    """The text, or its runs of words (a single word too long: of characters) that fit, in order."""
    if not text:
        return
    if lengths([text])[0] <= limit:
        yield text
        return
    middle = len(text) // 2
    cut = text.rfind(" ", 1, middle + 1)
    cut = cut if cut > 0 else text.find(" ", middle)
    cut = cut if cut > 0 else middle
    yield from pieces(text[:cut].strip(), lengths, limit)
    yield from pieces(text[cut:].strip(), lengths, limit)
