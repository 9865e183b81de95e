"""Which language a question is in, by its script and function words, and the program's own words in each language.

English is what everything else is taken for: a question in English must never be translated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Language = Literal["en", "de", "fr", "es", "zh"]
NAMES: Mapping[Language, str] = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "zh": "Chinese",
}
HAN = re.compile(r"[\u3400-\u9fff]")
_OTHER_SCRIPTS = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")  # kana and hangul beside Han: not Chinese
_WORD = re.compile(r"[^\W\d_]+")
LEAST_HAN = 0.2  # share of a text's letters; a Chinese question may be mostly names in Latin letters

# Words that only this language has, and that are no name, abbreviation or typing error of another one.
_OWN: Mapping[Language, frozenset[str]] = {
    "en": frozenset(
        """the of and what which how who whom whose why where when does did do is are were been has have had can could
        should would that this these those there for with without from by to its their they them it not be between
        than into about any some other each only more most""".split()
    ),
    "de": frozenset(
        """wie wer wen wem wessen warum weshalb wieso wann wo womit wozu wodurch woran worauf wofür welche welcher
        welches welchen welchem wieviel viele und oder ist sind wird werden wurde wurden haben kann können das ein eine
        einer eines einem einen nicht kein keine mit ohne für über zur zum auf aus bei beim nach durch gegen zwischen
        sich gibt auch noch nur mehr als vom erkläre nenne zeige zeig mir alle""".split()
    ),
    "fr": frozenset(
        """quel quelle quels quelles qu que qui quoi pourquoi combien où quand est sont était été avec sans pour dans
        sur une ne pas cette ces elle elles leur leurs peut peuvent fait sert selon moins aussi explique fonctionne
        montre donne cela ça lequel laquelle traitent""".split()
    ),
    "es": frozenset(
        """qué que cuál cuáles cual cuales cómo como cuánto cuánta cuántos cuántas cuantos cuantas dónde donde cuándo
        quién quiénes quien por son están está fueron sobre una unos unas del sus más menos tiene tienen puede pueden
        esta este estos estas explica explique muestra""".split()
    ),
}
# Words that other languages, names and abbreviations hold too ("de Finetti", "aux loss"): they count where
# no English word stands beside them, and tell a language alone only if there are two.
_WEAK: Mapping[Language, frozenset[str]] = {
    "de": frozenset("der die den dem von des hat es im um".split()),
    "fr": frozenset("le la les de en un du des ou il aux entre comment à".split()),
    "es": frozenset("el la los las lo de en un al se su es con sin para hay entre fue".split()),
}
_SIGNS: Mapping[Language, str] = {"de": "ß", "es": "¿¡"}


def language_of(text: str, before: str = "") -> Language:
    """The language of a question; where nothing in it tells, that of the question `before` it."""
    return _told_by(text) or (before and _told_by(before)) or "en"


def is_in(text: str, language: Language) -> bool:
    """Whether a text can be in that language: nothing in it tells of another one."""
    return (_told_by(text) or language) == language and (language == "zh") == bool(HAN.search(text))


def _told_by(text: str) -> Language | Literal[""]:
    letters = sum(map(str.isalpha, text))
    if len(HAN.findall(text)) > LEAST_HAN * letters:
        return "" if _OTHER_SCRIPTS.search(text) else "zh"
    words = _WORD.findall(text.casefold())
    counts = {code: 2 * sum(w in own for w in words) for code, own in _OWN.items()}
    for code, signs in _SIGNS.items():
        counts[code] += 2 * any(sign in text for sign in signs)
    if not counts["en"]:
        for code, weak in _WEAK.items():
            counts[code] += sum(w in weak for w in words)
    best = max(counts, key=lambda code: (counts[code], code == "en"))
    return best if counts[best] > 1 else ""


Text = Literal["refusal", "from", "by", "closest", "one", "many", "first", "opposite", "lacking"]
_TEXTS: Mapping[Text, Mapping[Language, str]] = {
    "refusal": {
        "en": "I could not find this in these papers.",
        "de": "Das habe ich in diesen Arbeiten nicht gefunden.",
        "fr": "Je n'ai pas trouvé cela dans ces articles.",
        "es": "No he encontrado esto en estos artículos.",
        "zh": "我在这些论文中没有找到相关内容。",
    },
    "from": {
        "en": "Only papers from {only} were searched.",
        "de": "Durchsucht wurde nur: {only}.",
        "fr": "Seule recherche faite : {only}.",
        "es": "Solo se ha buscado en: {only}.",
        "zh": "仅搜索了：{only}。",
    },
    "by": {
        "en": "Only papers {only} were searched.",
        "de": "Durchsucht wurde nur: {only}.",
        "fr": "Seule recherche faite : {only}.",
        "es": "Solo se ha buscado en: {only}.",
        "zh": "仅搜索了：{only}。",
    },
    "closest": {
        "en": "Closest: {papers}.",
        "de": "Am nächsten: {papers}.",
        "fr": "Les plus proches : {papers}.",
        "es": "Los más cercanos: {papers}.",
        "zh": "最接近的论文：{papers}。",
    },
    "one": {
        "en": "{number} of {total} papers is about this",
        "de": "Eine ({count}) von {total} Arbeiten handelt davon",
        "fr": "Un ({count}) article sur {total} en traite",
        "es": "Uno ({count}) de {total} artículos trata de esto",
        "zh": "{total} 篇论文中有一篇（{count}）与此有关",
    },
    "many": {
        "en": "{number} of {total} papers are about this",
        "de": "{count} von {total} Arbeiten handeln davon",
        "fr": "{count} articles sur {total} en traitent",
        "es": "{count} de {total} artículos tratan de esto",
        "zh": "{total} 篇论文中有 {count} 篇与此有关",
    },
    "first": {
        "en": "; the first {first}",
        "de": "; die ersten {first}",
        "fr": " ; les {first} premiers",
        "es": "; los {first} primeros",
        "zh": "；前 {first} 篇",
    },
    "opposite": {
        "en": "The papers say the opposite of what the question takes for granted.",
        "de": "Die Arbeiten sagen das Gegenteil dessen, was die Frage voraussetzt.",
        "fr": "Les articles disent le contraire de ce que la question suppose.",
        "es": "Los artículos dicen lo contrario de lo que la pregunta da por hecho.",
        "zh": "论文所说与问题的前提相反。",
    },
    "lacking": {
        "en": "These papers do not mention {names}.",
        "de": "Diese Arbeiten erwähnen nicht: {names}.",
        "fr": "Ces articles ne mentionnent pas : {names}.",
        "es": "Estos artículos no mencionan: {names}.",
        "zh": "这些论文没有提到：{names}。",
    },
}


def said(text: Text, language: Language = "en", **values: object) -> str:
    """A text of the program in a language, with its values."""
    return _TEXTS[text][language].format(**values)
