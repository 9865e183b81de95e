r"""LaTeX: where the formulas of a text stand, and LaTeX source as plain Unicode (by pylatexenc)."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pylatexenc import latex2text, latexwalker, macrospec  # type: ignore[import-untyped]

_FORMULA = re.compile(
    r"""
    \$\$ (?P<display> (?:[^$\\]|\\.)++ ) \$\$
  | \$ (?P<inline> (?:[^$\\]|\\.)++ ) \$
  | \\\( (?P<round> (?:[^\\]|\\[^()])++ ) \\\)
  | \\\[ (?P<square> (?:[^\\]|\\[^\[\]])++ ) \\\]
  | \\begin\{(?P<name>(?:equation|align|alignat|gather|multline|eqnarray|displaymath|math)\*?)\}
    (?P<environment> (?:(?!\\begin\{(?P=name)\}).)+? ) \\end\{(?P=name)\}
  | \\.
    """,
    re.VERBOSE | re.DOTALL,
)
_MARKED = re.compile(r"[\\^_{}]|^[-+<>=~≤≥±×]+$")  # what prose between two dollars lacks
_COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)", re.DOTALL)
_GROUP = re.compile(r"\{[^{}]*\}")
_WORD = re.compile(r"[^\W\d_]{2,}")
_MOST_WORDS = 5  # a longer run of words between two dollars is prose with a stray dollar

_RUNNING = re.compile(  # LaTeX in running text whose arguments hold no further braces
    r"""
    \\(?P<environment>begin|end)\{[^{}]*\}(?:\[[^\[\]{}]*\])?
  | \\(?:["'`^~=.]|[uvHtcdbrk](?![A-Za-z]))\s*(?:\{[^{}]*\}|\\[ij](?![A-Za-z])|[A-Za-z])
  | \\(?P<name>[A-Za-z]+)\*?(?:\[[^\[\]{}]*\](?=\{))?
      (?P<arguments>\s*\{[^{}]*\}(?:\{[^{}]*\})*)?(?P<space>\s*)
  | \\(?P<escaped>[^A-Za-z()\[\]])
    """,
    re.VERBOSE | re.DOTALL,
)
_STYLED_GROUP = re.compile(r"\{\s*\\(?:em|it|bf|sc|sl|tt|sf|rm|bfseries|itshape)(?![A-Za-z])\s*([^{}]*)\}")
_LINE_BREAK, _NOTHING = "\\,;:\t\n ", "!-/@"  # escapes that stand for a space, and for nothing
_DOUBLED = re.compile(r"\\\\(?=([A-Za-z]{2,}))")  # a backslash that some export escaped
_CONTRACTION = re.compile(r"(?<=[A-Za-z])\\'(?=(?:s|t|re|ve|ll|d|m)\b)")  # not an accent: Cruise\'s
_QUOTED = re.compile(r"(?<![A-Za-z])\\\"([^\"\\]+)\\\"(?![A-Za-z{\\])")

_ENTITY = re.compile(r"&(?:lt|gt|amp|#\d{1,6});")
_SUPERSCRIPTS = str.maketrans("0123456789+-−=", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼")
_SUBSCRIPTS = str.maketrans("0123456789+-−=", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌")
_RAISED = re.compile(r"\^(?=[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼°])|_(?=[₀₁₂₃₄₅₆₇₈₉₊₋₌])")  # a mark whose script is Unicode now
_STYLED = re.compile("[\U0001d400-\U0001d7ff]+")  # bold, script … letters: in few fonts, found by no search
_MISSING_ARGUMENT = (IndexError, KeyError, TypeError, ValueError)  # raised by pylatexenc: `\frac\hat x`
_LONGEST, _DEEPEST = 5_000, 40  # characters and nested braces that pylatexenc is given

_SILENT = """displaystyle textstyle scriptstyle left right middle big Big bigg Bigg bigl bigr Bigl Bigr
biggl biggr limits nolimits nonumber notag xspace noindent bf it em rm sc tt sf sl bfseries itshape scshape
ttfamily sffamily normalfont centering hfill protect small large Large footnotesize scriptsize tiny normalsize
bigskip medskip smallskip maketitle today smash""".split()
_DROPPED = "label vspace hspace phantom hphantom vphantom includegraphics input include".split()
_TRANSPARENT = """emph text textrm textit textbf textsc textsl textsf texttt textnormal textup textmd mbox
hbox mathrm mathbf mathit mathsf mathtt mathcal mathscr mathfrak boldsymbol bm pmb mathop operatorname mathbin
mathrel underline uline underbrace overbrace title author date part chapter section subsection subsubsection
paragraph subparagraph url ref autoref cref Cref eqref substack""".split()
_CITES = "cite citet citep citealt citealp citeauthor citeyear Citet Citep parencite textcite".split()
_FRACTIONS = "frac dfrac tfrac cfrac nicefrac sfrac".split()
_PAIRS = "binom underset overset stackrel href".split()
_SCRIPTS = "textsuperscript textsubscript".split()
_CHARACTERS = "textasciicircum textasciitilde textbraceleft textbraceright textless textgreater".split()
_ACCENTS = {"overline": "bar", "widehat": "hat", "widetilde": "tilde"}


def formulas(text: str) -> list[tuple[int, int]]:
    r"""Spans of the formulas in `text`, delimiters included: ordered, disjoint, found in linear time.

    Formulas are `$…$`, `$$…$$`, `\(…\)`, `\[…\]` and display environments such as `\begin{align}`. Single
    dollars follow pandoc's rule, with the exceptions of `_is_inline`, so that "$5 to $10" is money.
    """
    spans: list[tuple[int, int]] = []
    position = 0
    while ("$" in text or "\\" in text) and (match := _FORMULA.search(text, position)):
        position = match.end()
        if match.lastgroup == "inline" and not _is_inline(text, match):
            position = match.start() + 1
        elif match.lastgroup:
            spans.append(match.span())
    return spans


def _is_inline(text: str, match: re.Match[str]) -> bool:
    r"""Whether what stands between two single dollars is mathematics.

    Looser than pandoc where mathematics is certain (`$ x $`, `32$\times$32`), stricter where prose is
    ("$20 US or $", a long run of words).
    """
    content = match["inline"]
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    marked = _MARKED.search(content) is not None
    words = len(_WORD.findall(_GROUP.sub("", _COMMAND.sub("", content))))
    money = words and " " in content and (before.isdigit() or content[0].isdigit())
    if money or words > _MOST_WORDS:
        return False
    if content[0].isspace() or content[-1].isspace():
        return not words and (marked or any(c.isalpha() for c in content))
    return marked or not after.isdigit()


def formula_to_unicode(formula: str) -> str:
    """A formula, delimiters included, as plain Unicode; without delimiters as it stands if not parsable."""
    match = _FORMULA.fullmatch(formula)
    text = to_unicode(match[match.lastgroup] if match and match.lastgroup else formula).strip()
    text = re.sub(r"([\^_])([0-9])", lambda m: script(m[1], m[2]), text)
    return text.replace("^∘", "°").replace("^'", "'")


def expand(text: str) -> str:
    r"""`text` outside formulas with its LaTeX as Unicode: accents, macros, escapes, scripts (`CNN^{2}`).

    One level of braces a call. Names of unknown macros stay (`\foldflow` is foldflow), and so does what
    looks like a path (`C:\data`).
    """
    text = _DOUBLED.sub(lambda m: "\\" if _knows(m[1]) else m[0], text)
    text = _QUOTED.sub(r'"\1"', _CONTRACTION.sub("'", text))
    text = _RUNNING.sub(_expand_one, _STYLED_GROUP.sub(r"\1", text))
    return re.sub(r"([\^_])\{([^{}]*)\}", lambda m: script(m[1], m[2]), text)


def _expand_one(match: re.Match[str]) -> str:
    name, escaped, space = match["name"], match["escaped"], match["space"] or ""
    if escaped is not None:
        return _unescape(escaped, match)
    if match["environment"]:
        return " "
    before = match.string[match.start() - 1 : match.start()]
    if name and not _knows(name) and not match["arguments"] and (before.isalnum() or before == ":"):
        return match[0]
    text = to_unicode(match[0].removesuffix(space))
    return text + space if text or match["arguments"] else text


def _unescape(character: str, match: re.Match[str]) -> str:
    if character == "$" and not match.string[match.end() : match.end() + 1].isdigit():
        return match[0]  # unescaped, it could open a formula that is none
    if character in _LINE_BREAK:
        return " "
    return "" if character in _NOTHING else character.replace("|", "‖")


def script(mark: str, body: str) -> str:
    """`body` raised (`^`) or lowered (`_`): digits in Unicode, else `^x`, `_max`, `^(n+1)`."""
    body = body.strip()
    if mark == "^" and body == "∘":
        return "°"
    moved = body.translate(_SUPERSCRIPTS if mark == "^" else _SUBSCRIPTS)
    if body and not set(body) & set(moved):
        return moved
    simple = len(body) == 1 or body.isalpha() or (body.startswith("(") and body.endswith(")"))
    return mark + body if simple else f"{mark}({body})"


@lru_cache(maxsize=8192)
def to_unicode(latex: str) -> str:
    """LaTeX source without formula delimiters as plain Unicode on one line; as it stands if not parsable."""
    if len(latex) > _LONGEST or _depth(latex) > _DEEPEST:
        return latex
    source = _ENTITY.sub(lambda m: html.unescape(m[0]), latex)
    source = _DOUBLED.sub(lambda m: "\\" if _knows(m[1]) else m[0], source)
    source = re.sub(r"(?<!\\)%", r"\\%", source)
    to_text, parse_context = _converter()
    walker = latexwalker.LatexWalker(source, latex_context=parse_context, tolerant_parsing=False)
    try:
        text = to_text.nodelist_to_text(walker.get_latex_nodes()[0])
    except (latexwalker.LatexWalkerParseError, *_MISSING_ARGUMENT):
        return latex
    text = _STYLED.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text)
    return unicodedata.normalize("NFC", re.sub(r"\s+", " ", text))


def _depth(latex: str) -> int:
    deepest = depth = 0
    for brace in re.findall(r"[{}]", latex):
        depth += 1 if brace == "{" else -1
        deepest = max(deepest, depth)
    return deepest


def _knows(macro: str) -> bool:
    return bool(_converter()[0].latex_context.get_macro_spec(macro).macroname)


class _ToText(latex2text.LatexNodes2Text):  # type: ignore[misc]
    """pylatexenc drops the braces of scripts and the space between a function's name and what follows."""

    def nodelist_to_text(self, nodelist: list[Any]) -> str:
        text: str = super().nodelist_to_text(nodelist)
        return _RAISED.sub("", text)

    def group_node_to_text(self, node: Any) -> str:
        text: str = super().group_node_to_text(node)
        before = node.parsing_state.s[max(node.pos - 1, 0) : node.pos]
        return script(before, text).removeprefix(before) if before in ("^", "_") else text

    def macro_node_to_text(self, node: Any) -> str:
        text: str = super().macro_node_to_text(node)
        if len(text) < 2 or not (text.isascii() and text.isalpha()):
            return text
        source, end = node.parsing_state.s, node.pos + node.len
        lead = " " if source[max(node.pos - 1, 0) : node.pos].isalnum() else ""
        return lead + text + (" " if source[end : end + 1] == "\\" else "")

    def apply_simplify_repl(self, node: Any, simplify_repl: Any, what: str) -> str:
        if isinstance(simplify_repl, str) and "%s" in simplify_repl and hasattr(node, "macroname"):
            return simplify_repl % tuple(_arguments(node, self, simplify_repl.count("%s")))
        text: str = super().apply_simplify_repl(node, simplify_repl, what)
        return text


@lru_cache(maxsize=1)
def _converter() -> tuple[Any, Any]:
    """pylatexenc's converter and parse context, with what it drops or makes ambiguous put right."""
    shown = latex2text.get_default_latex_context_db().filter_context(exclude_categories=["latex-ethuebung"])
    shown.add_context_category("pincite", macros=list(_macro_texts(shown)), prepend=True)
    parse = latexwalker.get_default_latex_context_db().filter_context(
        exclude_categories=["nonascii-specials", "verbatim", "latex-ethuebung"]
    )
    framed = [
        m for m in shown.iter_macro_specs() if isinstance(m.simplify_repl, str) and "%s" in m.simplify_repl
    ]
    arguments = {m.macroname: "{" * m.simplify_repl.count("%s") for m in framed}
    arguments |= dict.fromkeys([*_DROPPED, *_ACCENTS, *_SCRIPTS], "{")
    arguments |= dict.fromkeys([*_FRACTIONS, *_PAIRS], "{{") | dict.fromkeys(_CITES, "*[[{")
    macros = [macrospec.std_macro(name, spec) for name, spec in arguments.items()]
    parse.add_context_category("pincite", macros=macros, prepend=True)
    shown.set_unknown_macro_spec(latex2text.MacroTextSpec("", simplify_repl=_unknown))
    return _ToText(shown, strict_latex_spaces={"between-latex-constructs": True}), parse


def _macro_texts(default: Any) -> Iterator[Any]:
    """What each macro becomes where pylatexenc's own choice will not do."""
    special: dict[str, Any] = {
        "\\": "; ",
        "|": "‖",
        "item": " • ",
        "footnote": " (%(2)s)",
        "binom": "C(%s, %s)",
        "href": "%(2)s",
        "sqrt": lambda node, l2tobj: _root(*_arguments(node, l2tobj, 2)),
        "underset": lambda node, l2tobj: _stacked("_", *_arguments(node, l2tobj, 2)),
        "overset": lambda node, l2tobj: _stacked("^", *_arguments(node, l2tobj, 2)),
        "textsuperscript": lambda node, l2tobj: script("^", *_arguments(node, l2tobj, 1)),
        "textsubscript": lambda node, l2tobj: script("_", *_arguments(node, l2tobj, 1)),
    }
    special |= {name: lambda node, l2tobj: "".join(_arguments(node, l2tobj)) for name in _TRANSPARENT}
    special |= {name: lambda node, l2tobj: f"[{_arguments(node, l2tobj, 1)[-1]}]" for name in _CITES}
    special |= {name: lambda node, l2tobj: _ratio(node, *_arguments(node, l2tobj, 2)) for name in _FRACTIONS}
    special |= {name: default.get_macro_spec(accent).simplify_repl for name, accent in _ACCENTS.items()}
    special |= {name: "" for name in (*_SILENT, *_DROPPED)} | {"stackrel": special["overset"]}
    special |= dict(zip(_CHARACTERS, "^~{}<>", strict=True))
    for name, text in special.items():
        yield latex2text.MacroTextSpec(name, simplify_repl=text, discard=True)


def _arguments(node: Any, converter: Any, count: int = 0) -> list[str]:
    """The text of each argument of a macro; "" for those of the first `count` that are absent."""
    given = node.nodeargd.argnlist if node.nodeargd and node.nodeargd.argnlist else []
    texts = [converter.nodelist_to_text([argument]) if argument else "" for argument in given]
    return texts + [""] * (count - len(texts))


def _unknown(node: Any) -> str:
    """A macro that nobody defines: the name of a method (`\\foldflow`), or a style around its argument."""
    end = node.pos + node.len
    argument = node.parsing_state.s[end : end + 2]
    return "" if argument[:1] == "{" and argument != "{}" else str(node.macroname)


def _ratio(node: Any, above: str, below: str) -> str:
    ratio = f"{_operand(above)}/{_operand(below)}"
    follows = node.parsing_state.s[node.pos + node.len :]
    return f"({ratio})" if re.match(r"\w|\^|\\(?!right)[A-Za-z]", follows) else ratio


def _root(degree: str, radicand: str) -> str:
    return (
        script("^", degree).removeprefix("^") if degree else ""
    ) + f"√{radicand if len(radicand) == 1 or radicand.isdigit() else f'({radicand})'}"


def _stacked(mark: str, above: str, base: str) -> str:
    return base + script(mark, above)


def _operand(text: str) -> str:
    """`text` in brackets unless it is one name or number."""
    text = text.strip()
    return text if re.fullmatch(r"\w[\w.]*", text) else f"({text})"
