"""Text as found in a source file made readable, and readable text made plain for terminals and search."""

from __future__ import annotations

import html
import re
import unicodedata

import ftfy

from rag.latex import expand, formula_to_unicode, formulas, script

__all__ = ["formulas", "plain", "printable", "readable"]

_ROUNDS = 20  # of conversion; what people write settles in two to five
_MARKUP = re.compile(
    r"[^ -~]|[\\{}<&*_~`\[^]|--|''|  |^ | $"
)  # a text without these is readable as it stands
_MARKS = dict.fromkeys(map(ord, "\\{}<>&*_~`[]^$'-"), " ")
_HOLD, _HOLDS = 0xF0000, 0x20000  # private characters that stand for formulas while the rest is converted
_NEVER = re.compile("[\0\ufdd0-\ufdef\U000f0000-\U0010ffff]")  # dropped even from a formula
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
    "|(?<![\u0600-\u1fff\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])[\u200c\u200d]"  # no script joins here
)
_REPAIRS = ftfy.TextFixerConfig(unescape_html=False, fix_character_width=False, uncurl_quotes=False)

_TAGS = """a abbr b big blockquote br cite code dd del details div dl dt em figcaption figure font h1 h2 h3
h4 h5 h6 hr i iframe img inf ins italic bold kbd li mark ol p pre scp script section small span strike strong
style sub summary sup svg table tbody td th thead tr tt u ul var""".split()
_BLOCKS = (
    "blockquote br dd div dl dt figure h1 h2 h3 h4 h5 h6 hr li ol p pre section table td th tr ul".split()
)
_TAG = re.compile(
    rf"<(?P<close>/?)(?P<name>(?:jats|mml):[\w-]+|(?:{'|'.join(_TAGS)})\b)"
    r"""(?P<attributes>(?:\s+[\w:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))*)\s*/?>|<!--[^<>]*-->""",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"<(script|style)\b[^<>]*>[^<]*</\1\s*>", re.IGNORECASE)
_RAISED = re.compile(r"<(sup|sub|inf)>([^<>]*)</\1>", re.IGNORECASE)
_JATS_HEADING = re.compile(r"<jats:title>([^<>]{0,100}?)[\s:.]*</jats:title>", re.IGNORECASE)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)")
_ADDRESS = re.compile(r"<(https?://[^<>\s]+)>")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")

_LINK = re.compile(r"(?<![\w\]])!?\[([^\[\]]*)\]\(((?:[^\s()]|\([^\s()]*\))*)\)")
_STRONG = re.compile(r"(?P<before>[^\W_]?)\*\*(?=[^\s*])(?P<text>[^*]*[^\s*])\*\*")
_RUN = re.compile(r"(?<=[^\W\d_])\*{3,}+|(?<!\*)\*{3,}+(?=[^\W\d_])")
_EMPHASIS = re.compile(r"(?<![\w*^])\*(?=[^\s*,;:.)\]}])([^*]*[^\s*({\[])\*(?![\w*])")
_UNDERSCORED = re.compile(r"(?<![^\s(\[\"'“‘—–-])(__?)(?=[^\s_])([^_]*[^\s_])\1(?![\w/])")

_SET = re.compile(r"[,:;|=]|\.\.\.|…")  # in braces that mean a set or code, not a protected word
_BRACES = re.compile(r"(?<![\^_$])\{([^{}]*)\}")
_TIE = re.compile(r"https?://\S+|(?<=[^\s~/(\[][^\s~/(\[])~(?=[^\s~/])(?<!\d~(?=\d))")
_QUOTES = re.compile(r"(?<!`)``(?!`)|(?<!')''(?!')")
_APOSTROPHES = re.compile(r"(?<![`\w])`([^`'\s][^`']{0,80})'(?!\w)")
_DASHES = {"--": "–", "---": "—"}
_DASH = re.compile(r"https?://\S+|(?<!-)---(?!-)|(?<=[^-\s])--(?!-)|(?<=\s)--(?=\s)")


def readable(found: str) -> str:
    """`found` as people read it: one line, no LaTeX, BibTeX, Markdown or HTML markup, whole characters.

    Formulas (`formulas`) stay as found, but for characters that UTF-8 cannot hold or files should not.
    Never raises; the result can be encoded as UTF-8, and `readable(readable(x)) == readable(x)`.
    """
    text = _NEVER.sub("", _join_surrogates(found))
    for _ in range(_ROUNDS):
        if not _MARKUP.search(text):
            return text
        before, text = text, _convert(text)
        if text == before:
            return text
    return _convert(_convert(text.translate(_MARKS)))  # endless markup is nothing that people wrote


def plain(text: str) -> str:
    """Readable text with its formulas in Unicode, for terminals and full-text search. Never raises.

    A formula that cannot be parsed stands as it is written, without its dollars.
    """
    if "$" not in text and "\\" not in text:
        return text
    pieces, end = [], 0
    for start, stop in formulas(text):
        pieces += [expand(text[end:start]), formula_to_unicode(text[start:stop])]
        end = stop
    return "".join([*pieces, expand(text[end:])])


def printable(name: str) -> str:
    """A name as it can be stored and shown: controls, and bytes that are no text, as `\\n` and `\\udcff`."""
    return "".join(c if c.isprintable() or c == "\u200d" else ascii(c)[1:-1] for c in name)


def _join_surrogates(text: str) -> str:
    """`text` without lone surrogates; a pair of them becomes the character it stands for."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


def _convert(text: str) -> str:
    """One round of conversion of all that is not a formula; white space collapsed."""
    spans = formulas(text)
    done, position = [], 0
    for first in range(0, len(spans) or 1, _HOLDS):
        batch = spans[first : first + _HOLDS]
        end = batch[-1][1] if first + _HOLDS < len(spans) else len(text)
        done.append(_convert_around(text, position, end, batch))
        position = end
    return "".join(done).strip()


def _convert_around(text: str, position: int, end: int, spans: list[tuple[int, int]]) -> str:
    """`text[position:end]` converted; each formula is held by one private character meanwhile."""
    pieces = []
    for index, (start, stop) in enumerate(spans):
        pieces += [_repair(text[position:start]), chr(_HOLD + index)]
        position = stop
    held = _drop_markup("".join([*pieces, _repair(text[position:end])]))
    return _NEVER.sub(lambda m: text[slice(*spans[ord(m[0]) - _HOLD])], held) if spans else held


def _repair(text: str) -> str:
    """Mojibake, ligatures, entities and invisible characters made whole, or dropped."""
    if "&" in text:
        text = _ENTITY.sub(lambda m: html.unescape(m[0]), text)
    if text.isascii():
        return text if text.isprintable() else _INVISIBLE.sub("", text)
    return _NEVER.sub("", unicodedata.normalize("NFC", _INVISIBLE.sub("", ftfy.fix_text(text, _REPAIRS))))


def _drop_markup(text: str) -> str:
    if "<" in text:
        text = _drop_tags(text)
    if "*" in text or "_" in text or "](" in text:
        text = _drop_markdown(text)
    if "\\" in text or "{" in text:
        expanded = expand(text)
        text = _BRACES.sub(_drop_braces, text) if expanded == text else expanded
    text = _TIE.sub(lambda m: " " if m[0] == "~" else m[0], text) if "~" in text else text
    if "`" in text or "''" in text:
        text = _APOSTROPHES.sub(r"'\1'", _QUOTES.sub('"', text))
    text = _DASH.sub(lambda m: _DASHES.get(m[0], m[0]), text) if "--" in text else text
    return re.sub(r"\s+", " ", text)


def _drop_tags(text: str) -> str:
    """HTML and JATS tags go; other angle brackets (`p < 0.05`, `<mask>`, `<x, y>`) stay."""
    text = _JATS_HEADING.sub(lambda m: "" if m[1].strip().lower() == "abstract" else f" {m[1]}: ", text)
    text = _RAISED.sub(_raise, _HIDDEN.sub(" ", _ADDRESS.sub(r"\1", text)))
    found = [(m["name"].lower(), bool(m["close"])) for m in _TAG.finditer(text) if m["name"]]
    paired = {name for name, close in found if close} & {name for name, close in found if not close}

    def replace(match: re.Match[str]) -> str:
        name = (match["name"] or "!").lower().removeprefix("jats:")
        if name in _BLOCKS:
            return " "
        known = name in paired or match["attributes"] or name == "!" or ":" in match[0]
        return "" if known else match[0]

    return _TAG.sub(replace, text)


def _raise(match: re.Match[str]) -> str:
    if _ORDINAL.fullmatch(match[2]) or not match[2].strip():
        return match[2]
    return script("^" if match[1].lower() == "sup" else "_", match[2])


def _drop_markdown(text: str) -> str:
    """Links and emphasis go; products (`2*3`), snake_case and `__dunder__` stay."""
    text = _LINK.sub(lambda m: m[1] if set(m[2]) & set(":/.#") else m[0], text)
    text = _RUN.sub("", _STRONG.sub(_unbold, text))
    text = _EMPHASIS.sub(r"\1", text)
    return _UNDERSCORED.sub(lambda m: m[0] if m[1] == "__" and m[2].islower() else m[2], text)


def _unbold(match: re.Match[str]) -> str:
    """Inside a word only letters are bold (`mod**E**l`); `2**3 + 4**5` is arithmetic."""
    before, text = match["before"], match["text"]
    plain_word = not before or (before.isalpha() and text.isalpha())
    return before + text if plain_word and any(c.isalnum() for c in text) else match[0]


def _drop_braces(match: re.Match[str]) -> str:
    whole = match.start() == 0 and match.end() == len(match.string)
    return match[0] if _SET.search(match[1]) and not whole else match[1]
