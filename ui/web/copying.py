r"""An answer as text to take away: plain, Markdown with references, LaTeX with `\cite`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from rag.latex import formulas
from rag.nouns import Answer, AnswerSentence, Paper
from rag.text import plain
from ui.web.links import web_address
from ui.web.prose import formula

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~&])")
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def as_plain(answer: Answer) -> str:
    """The answer with its numbers, formulas as Unicode, and the papers they stand for."""
    lines = [f"[{n}] {plain(_reference(paper))}" for n, paper in cited(answer)]
    return "\n".join([plain(answer.text), *([""] if lines else []), *lines])


def as_markdown(answer: Answer) -> str:
    """The answer with its numbers, and the references they stand for; nothing in it is markup of the papers."""
    text = _said(answer, markdown_text, lambda numbers: "".join(rf"\[{n}\]" for n in numbers))
    lines = [_markdown_reference(n, paper) for n, paper in cited(answer)]
    return "\n".join([text, *([""] if lines else []), *lines])


def as_latex(answer: Answer) -> str:
    r"""The answer with `\cite{key}` for its numbers."""
    papers = dict(cited(answer))
    keys = keys_of(papers.values())

    def cite(numbers: list[int]) -> str:
        return rf"~\cite{{{','.join(dict.fromkeys(keys[papers[n].key] for n in numbers if n in papers))}}}"

    return _said(answer, latex_text, cite)


def cited(answer: Answer) -> list[tuple[int, Paper]]:
    """The papers that the answer cites, by evidence number."""
    numbers = {c.n for s in answer.sentences for c in s.citations}
    return [(e.n, e.paper) for e in sorted(answer.evidence, key=lambda e: e.n) if e.n in numbers]


def keys_of(papers: Iterable[Paper]) -> dict[str, str]:
    """The citation keys that a BibTeX file of these papers, in this order, gives them, by the papers' keys."""
    from rag.writers.parts import Keys

    keys, found = Keys(), {}
    for paper in papers:
        if paper.key not in found:
            found[paper.key] = keys.of(paper)
    return found


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is; formulas stay formulas."""
    return _pieces(text, lambda t: _MARKDOWN.sub(r"\\\1", t), lambda f: f.replace("<", r"\lt "))


def latex_text(text: str) -> str:
    """Text that LaTeX prints as it is; only formulas that are known to be mathematics stay formulas."""

    def escaped(piece: str) -> str:
        return "".join(_LATEX.get(c, c) for c in piece)

    return _pieces(text, escaped, lambda f: f if "<math" in formula(f) else escaped(f))


def _pieces(text: str, prose: Callable[[str], str], math: Callable[[str], str]) -> str:
    out, at = [], 0
    for start, end in formulas(text):
        out += [prose(text[at:start]), math(text[start:end])]
        at = end
    return "".join([*out, prose(text[at:])])


def _said(answer: Answer, text: Callable[[str], str], mark: Callable[[list[int]], str]) -> str:
    if not answer.sentences:
        return text(answer.text)
    return " ".join(_sentence(s, text, mark) for s in answer.sentences)


def _sentence(sentence: AnswerSentence, text: Callable[[str], str], mark: Callable[[list[int]], str]) -> str:
    numbers = [c.n for c in sentence.citations]
    if not numbers:
        return text(sentence.text)
    body, stop = sentence.text, ""
    if body[-1:] in (".", "!", "?"):
        body, stop = body[:-1].rstrip(), body[-1]
    marked = mark(numbers)
    return f"{text(body)}{marked if marked.startswith('~') else ' ' + marked}{stop}"


def _facts(paper: Paper) -> Iterable[str]:
    yield from filter(
        None,
        (", ".join(paper.authors), paper.label, " ".join(filter(None, (paper.venue, str(paper.year or ""))))),
    )


def _reference(paper: Paper) -> str:
    return ". ".join([*(f.rstrip(".") for f in _facts(paper)), web_address(paper.url)]).rstrip(". ") + "."


def _markdown_reference(n: int, paper: Paper) -> str:
    facts = ". ".join(markdown_text(f.rstrip(".")) for f in _facts(paper))
    url = web_address(paper.url)
    link = f" <{url}>" if url and not re.search(r"[\s<>\"]", url) else ""
    return f"- \\[{n}\\] {facts}.{link}"
