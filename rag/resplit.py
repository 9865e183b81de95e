"""Sentences of a collection that another version of the splitter cut: found anew from the stored abstracts."""

from __future__ import annotations

from collections.abc import Callable

from rag.keeping import content_of, keep_sentences
from rag.library import PAGE, Library
from rag.sentences import SPLITTER, split


def resplit(library: Library, step: Callable[[str, int, int], None]) -> int:
    """Store the sentences of this program's splitter; returns papers whose sentences differ from those stored.

    Those papers count as not embedded, and their vectors as stale, like those of a paper with a new abstract.
    One transaction: a kill leaves the collection as it was. For the writer of the collection.
    """
    if library.get("splitter") == SPLITTER:
        return 0
    total, changed = library.size()[0], []
    for done, paper in enumerate(library.papers()):
        if done and done % PAGE == 0:
            step("splitting sentences anew", done, total)
        spans = split(paper.abstract)
        if spans != [(sentence.start, sentence.end) for sentence in library.sentences(paper)]:
            changed.append((paper, spans))
    with library.writing() as db:
        for paper, spans in changed:
            keep_sentences(db, paper.id, spans)
            content = content_of(paper, spans)
            db.execute("UPDATE papers SET content = ? WHERE id = ?", (content, paper.id))
        library.put("splitter", SPLITTER)
        if changed:
            library.raise_generation()
    return len(changed)
