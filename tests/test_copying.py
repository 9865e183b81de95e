"""An answer taken away as text: readable, cited, and nothing in it is markup or commands of the papers."""

import re
from dataclasses import replace

import pytest
from fake_assistant import ANSWER, LANTERN, cite, made, numbered
from payloads import PAYLOADS

from rag.nouns import AnswerSentence
from rag.writers import write
from ui.web.copying import as_latex, as_markdown, as_plain, keys_of
from ui.web.followups import followups


def test_plain_has_numbers_unicode_formulas_and_the_papers() -> None:
    lines = as_plain(ANSWER).split("\n")
    assert lines[0].startswith("Lantern prunes blocks of 4 × 4 weights during training. [1] On a laptop")
    assert lines[2] == (
        "[1] Ada Quill, Bo Tern, Chidi Amsel. Lantern: Pruning Networks While They Train. ICLR 2024. "
        "https://papers.example/lantern."
    )
    assert len(lines) == 6


def test_markdown_has_references_and_keeps_formulas() -> None:
    lines = as_markdown(ANSWER).split("\n")
    assert "blocks of $4 \\times 4$ weights during training \\[1\\]." in lines[0]
    assert lines[0].endswith("Harbour also avoids extra work \\[4\\]\\[3\\].")
    assert lines[5] == (
        "- \\[4\\] Dana Ferry. Harbour: Federated Averaging with Late Clients. ICML 2024. "
        "<https://papers.example/harbour>"
    )


def test_latex_cites_by_key_and_each_paper_once() -> None:
    assert as_latex(ANSWER) == (
        "Lantern prunes blocks of $4 \\times 4$ weights during training~\\cite{lantern2024}. "
        "On a laptop processor it runs 2.7 times faster than the dense network~\\cite{lantern2024}. "
        "Harbour also avoids extra work~\\cite{harbour2024,lantern2024}."
    )


def test_latex_escapes_what_is_not_mathematics() -> None:
    evidence = numbered((LANTERN, 1))
    text = "It costs $5 & 10% of #1_{a}~^ \\input{/etc/passwd} and $\\input{/etc/passwd}$."
    answer = replace(ANSWER, sentences=(AnswerSentence(text, "weak", (cite(evidence[0]),)),))
    assert as_latex(answer) == (
        "It costs \\$5 \\& 10\\% of \\#1\\_\\{a\\}\\textasciitilde{}\\textasciicircum{} "
        "\\textbackslash{}input\\{/etc/passwd\\} and \\$\\textbackslash{}input\\{/etc/passwd\\}\\$"
        "~\\cite{lantern2024}."
    )


def test_keys_are_those_of_the_bibtex_file_and_end_no_command() -> None:
    odd = replace(LANTERN[0], key="a", citekey="a}\\input{b,c")
    twin = replace(LANTERN[0], key="b", citekey="lantern2024")
    keys = keys_of([LANTERN[0], odd, twin, LANTERN[0]])
    written = re.findall(r"@\w+{([^,]*),", "".join(write([LANTERN[0], odd, twin], "bibtex")))
    assert list(keys.values()) == written
    assert not set("".join(written)) & set("{}\\")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_payload_is_markup_in_markdown(payload: str) -> None:
    source = made("k", payload, payload, authors=(payload,), venue=payload, url=payload)
    evidence = numbered((source, 0))
    answer = replace(
        ANSWER, evidence=evidence, sentences=(AnswerSentence(payload, "weak", (cite(evidence[0]),)),)
    )
    bare = re.sub(r"\\[\\`*_{}\[\]<>#|~&]", "", as_markdown(answer))
    assert "<" not in bare and "[" not in bare and "`" not in bare


def test_followups_are_about_the_cited_papers_and_new() -> None:
    assert followups(ANSWER) == [
        "How do Lantern and Harbour differ?",
        "What results does Lantern reach?",
        "What results does Harbour reach?",
    ]
    asked = replace(ANSWER, question="How do Lantern and Harbour differ?")
    assert "How do Lantern and Harbour differ?" not in followups(asked)
    genre = made("g", "Position: Think Before Pruning", "Position papers argue. We argue.")
    assert followups(replace(ANSWER, evidence=numbered((genre, 0)), sentences=())) == []
    untitled = replace(ANSWER, evidence=numbered((made("u", "A Study of Things", "A sentence."), 0)))
    assert followups(replace(untitled, sentences=())) == []
