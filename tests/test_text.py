"""Readable text: every markup that files hold goes, and what only looks like markup stays."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.latex import script, to_unicode
from rag.text import formulas, plain, readable

LATEX = [
    (r"{{B}ayesian {\textbf{ADAM}} for Erd{\H o}s--R{\'e}nyi $\mathbb{R}^d$}",
     r"Bayesian ADAM for Erdős–Rényi $\mathbb{R}^d$"),  # C26
    (r"Schr\"odinger, Poincar\'e, na{\"\i}ve, Nystr\"{o}m, L{{\'e}}vy", "Schrödinger, Poincaré, naïve, Nyström, Lévy"),
    (r"\c{c} \v{s} \'{\i} {\o}re \ss \ae \L{}ojasiewicz", "ç š í øre ß æ Łojasiewicz"),
    (r"we call it \textbf{tiny}, \emph{fast} and \textit{cheap}", "we call it tiny, fast and cheap"),
    (r"\textit{\textbf{F}rom \textbf{A}ll \underline{t}asks}", "From All tasks"),
    (r"{\em the same} and {\bf i.e., bold} and \em loose \em end", "the same and i.e., bold and loose end"),
    (r"85\% of S\&P 500, a\_b, \#1, \{0,1\}", "85% of S&P 500, a_b, #1, {0,1}"),
    (r"a feedback~(RLX) of Figure~3, et al.~(2019)", "a feedback (RLX) of Figure 3, et al. (2019)"),
    ("we use ``quoted'' and `single' words", "we use \"quoted\" and 'single' words"),
    ("maps -- as here -- and scores---both--and", "maps – as here – and scores—both–and"),
    (r"we introduce \flowfold, a model, and \ours{} too", "we introduce flowfold, a model, and ours too"),
    (r"we build on \citep{tan2021} and \cite[p.~3]{lind,okafor}", "we build on [tan2021] and [lind,okafor]"),
    (r"see \url{https://example.org/a_2b%20~x} or \href{https://example.org}{here}",
     "see https://example.org/a_2b%20~x or here"),
    (r"\begin{itemize} \item one \item two \end{itemize}", "• one • two"),
    (r"\\emph{Twice} escaped", "Twice escaped"),
    (r"CNN^{2} in R^{d} with x_{t+1} and \mathcal{P}_{2}", "CNN² in R^d with x_(t+1) and P₂"),
    (r"it costs \$15K", "it costs $15K"),
    (r"the author\'s \"own\" words", "the author's \"own\" words"),
    ("{ImageNet} and {GPT-4} but {0,1}^n and {\"a\": 1}", "ImageNet and GPT-4 but {0,1}^n and {\"a\": 1}"),
]  # fmt: skip
MARKUP = [
    ("**TI**ny **D**ense mod**E**l (**TIDE**), *e.g.*, _tuned_", "TIny Dense modEl (TIDE), e.g., tuned"),
    ("see our [examples page](https://example.org/x_(1)/).", "see our examples page."),
    ("![plot](http://127.0.0.1:9/p.png)[c](javascript:alert(1))", "plotc"),
    ("***both*** and **_a)_** end", "both and a) end"),
    ("a <b>B</b>est <em>case</em> of H<sub>2</sub>O, 10<sup>-3</sup>, DF<sup>p</sup>, 1<sup>st</sup>",
     "a Best case of H₂O, 10⁻³, DF^p, 1st"),
    ("<p>One.</p><p>Two<br/>three.</p><!-- no -->", "One. Two three."),
    ("<jats:p>Some <jats:italic>text</jats:italic></jats:p>", "Some text"),
    ("A <style>body{display:none}</style><img src=x onerror=alert(1)> B", "A B"),
    ("p &lt; 0.05 &amp; q &#60; 1 &#x3b1; &mdash; &amp;lt;b", "p < 0.05 & q < 1 α — <b"),
]  # fmt: skip
CHARACTERS = [
    ("eﬃcient diﬀusion ﬁne-tuning", "efficient diffusion fine-tuning"),  # C25
    ("Graph\0Net \udbff and \ud83d\ude00", "GraphNet and 😀"),  # C24
    ("&#983040;a $x$ ó°\x80\x81b", "a $x$ b"),  # characters that stand for formulas inside
    ("co\u00adop\u200beration\ufeff of\u00a0all \u202ekinds", "cooperation of all kinds"),
    ("e\u0301 and A\u030a", "é and Å"),
    ("the robotâ\x80\x99s MÃ¶bius arm", "the robot’s Möbius arm"),
    ("x² ∇ ½ ｆull 3.4×/2.5×", "x² ∇ ½ ｆull 3.4×/2.5×"),
    ("  two\n\nlines\tand \r\n tabs ", "two lines and tabs"),
    ("می\u200cخواهم 👩\u200d🔬 e\u200df", "می\u200cخواهم 👩\u200d🔬 ef"),
]
UNTOUCHED = [
    "2 * 3 * 4, a*b*c, 2**3 + 4**5, A* search and D* lite, p<0.05*, q<0.01**",
    "snake_case_name, __init__, x_i and _ alone, https://example.org/_a_/~b--c?x=1&copy=2",
    "p < 0.05, n<5, a<b and c>d, <mask>, <s>, <act, topic>, [text](bounding boxes), f[i](a.b)",
    "AT&T and R&D, ~10% of 47~50 dB, x ~ N(0,1), --flag, `code`, C:\\data\\new, {a, b}",
    "costs $5 to $10, $3000 and $3000, US$5 or US$6, 300$CAD, under $50 (or €4)",
    "“curly” ‘quotes’ – and — dashes…",
]
FORMULAS = [
    (r"costs $5 to $10 per run with $O(n \log n)$ memory and \(\alpha\), \[x^2\]",
     [r"$O(n \log n)$", r"\(\alpha\)", r"\[x^2\]"]),  # C54
    ("$3000 and $3000, between $5-$10, $5 to US$ and $x$", ["$x$"]),
    (r"32$\times$32, $\sim$1.1%, $>$500, $ T $ and $ \rightarrow $", [r"$\times$", r"$\sim$", "$>$", "$ T $",
     r"$ \rightarrow $"]),
    (r"saves \$15K with $x$ and \\$y$", ["$x$", "$y$"]),
    ("$x$$y$ and $$a+b$$ and the $$ norm", ["$x$", "$y$", "$$a+b$$"]),
    (r"so \begin{equation*} a_1 = b \end{equation*} holds", [r"\begin{equation*} a_1 = b \end{equation*}"]),
    ("we win $20 million, our method extracts the whole matrix for less than half. A $ sign", []),
    (r"\textbf{M}$\textbf{a}$tch, SF(DA)$^2$", [r"$\textbf{a}$", "$^2$"]),
    ("an open $x never closes, \\( neither", []),
]  # fmt: skip
PLAIN = [
    (r"$\tilde{O}(K^{-1}\epsilon^{-1.5})$", "Õ(K⁻¹ϵ^(-1.5))"),
    (r"the $\ell_p$ norm of SF(DA)$^2$", "the ℓ_p norm of SF(DA)²"),
    (r"$\frac{a+b}{c-d}$, $\frac{1}{2}x$, $\sqrt{n+1}$, $\sqrt[3]{x}$", "(a+b)/(c-d), (1/2)x, √(n+1), ³√x"),
    (r"$\mathbb{R}^{n\times d}$, $\mathcal{O}(1)$, $\mathbf{x}_{\mathrm{max}}$", "ℝ^(n× d), O(1), x_max"),
    (r"$O(n \log n)$, $\log\log n$, $d\log d$", "O(n log n), log log n, d log d"),
    (r"$\|x\|_{\infty} \leq 360^{\circ}$, $f''(x)$, $45 \%$, $95%$", "‖x‖_∞ ≤ 360°, f''(x), 45 %, 95%"),
    (r"$\text{Fold-Base}$ or $\flowfold$ or \flowfold", "Fold-Base or flowfold or flowfold"),
    (r"$\{0,1\}^n$, $\underset{x}{\arg\min} f$, $\binom{n}{k}$", "{0,1}^n, arg min_x f, C(n, k)"),
    (r"$a &lt; b$ and \(x\) and \[y^2\]", "a < b and x and y²"),
    (r"$\frac{1}$ and $x}$ and $\begin{foo} x$", r"\frac{1} and x} and \begin{foo} x"),
    ("$5 to $10", "$5 to $10"),
]
# Pieces that mean something to some stage, so that random texts hit what the stages do to one another.
PIECES = st.sampled_from(
    r"{ } { } [ ] ( ) $ $ $$ \( \) \[ \] \\ \ ^ _ & % # ~ ` ' '' `` * ** *** __ - -- --- < > <b> </b> <sup> </sup>"
    r" \textbf{ \emph{ \' \" \H \frac \hat \alpha \em \cite{ \begin{equation} \end{equation} &lt; &amp; &#36; &#92;"
    r" [a](http://b) https://e.org/ <!-- --> a b x 1 2 . , ; ! 。 $x$ $5 \$ {\em".split(" ")
    + [" ", "\n", "\t", "\0", "é", "ﬁ", "\u0301", "\u0338", "\u200b", "\u200d", "\ud800", "\udc00"]
    + ["\U000f0001", "&#983040;", "ó°\x80\x80", "â\x80\x99"]
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=25).map("".join), st.text(max_size=60))


@pytest.mark.parametrize(("found", "expected"), LATEX + MARKUP + CHARACTERS)
def test_markup_becomes_readable(found: str, expected: str) -> None:
    assert readable(found) == expected
    assert readable(expected) == expected


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_only_looks_like_markup_stays(text: str) -> None:
    assert readable(text) == text


@pytest.mark.parametrize(("text", "expected"), FORMULAS)
def test_formulas_are_found_and_money_is_not(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in formulas(text)] == expected


def test_formulas_stay_byte_for_byte() -> None:
    formula = r"$\textbf{b}_{1}*c*_d_ <e> &lt; ``x''~--  \% ﬁ$"
    assert readable(f"{{\\em so}} {formula}  *holds*") == f"so {formula} holds"
    assert readable(f"\\textbf{{with {formula} inside}}") == f"with {formula} inside"


@pytest.mark.parametrize(("text", "expected"), PLAIN)
def test_plain_writes_formulas_in_unicode(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_scripts() -> None:
    pairs = [script("^", "2"), script("_", "12"), script("^", "x"), script("^", "(k)"), script("_", "t+1")]
    assert pairs == ["²", "₁₂", "^x", "^(k)", "_(t+1)"]


def test_latex_that_is_too_deep_or_too_long_stays_source() -> None:
    assert to_unicode("{" * 60 + "x" + "}" * 60) == "{" * 60 + "x" + "}" * 60
    assert to_unicode(r"\alpha" * 1000) == r"\alpha" * 1000


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_readable_is_idempotent_and_encodable(text: str) -> None:
    once = readable(text)
    once.encode("utf-8")
    assert readable(once) == once
    assert "\0" not in once and once == once.strip()


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_formulas_are_ordered_and_disjoint(text: str) -> None:
    once = readable(text)
    spans = formulas(once)
    assert spans == sorted(spans) and all(a < b for a, b in spans)
    assert all(first[1] <= second[0] for first, second in zip(spans, spans[1:], strict=False))
    plain(once)


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_plain_never_raises(text: str) -> None:
    assert isinstance(plain(text), str)
    assert isinstance(to_unicode(text), str)


@pytest.mark.parametrize(
    "unit", ["{", "*", r"\textbf{", "[a](", "<b ", "$", r"\(", "`a", "_a ", "~", "&#", '\\"a ']
)
def test_hostile_repetition_takes_linear_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    start = time.perf_counter()
    plain(readable(text))
    assert time.perf_counter() - start < 10  # measured below 0.5 s; quadratic code takes minutes
