"""How people ask about a collection: one pattern a line, which must cover a question from end to end.

`@paper` and `@author` stand for what is named; the other `@` words for the parts below. A line's other letters are
regular expressions over the question with single spaces; case does not matter.
"""

from __future__ import annotations

import re
from typing import Literal

from rag.facets import THINGS

Topic = Literal["count", "list", "overview", "venues", "years", "authors", "files", "newest", "oldest", "sentences",
                "authors_of", "published", "link", "title", "file_of", "here", "by", "is_from", "is_by"]  # fmt: skip

_PARTS = {
    "things": THINGS,
    "collection": r"(?:the|this|your|my|our) (?:collection|library|corpus|database|index)",
    "here": r"(?: (?:(?:stored|included|contained|held|listed|indexed) )?(?:in )?(?:here|@collection|"
    r"(?:der|dieser|deiner) (?:sammlung|bibliothek)|hier|ici|aquí|"
    r"(?:la|cette|esta) (?:collection|bibliothèque|colección|biblioteca)))?",
    "rank": r"(?:(?P<detail>first|last|senior|lead|main|erste|letzte|premier|dernier|primer|último)[rn]? )?",
    "year": r"(?:year|venue|conference|journal)",
    "when": r"(?P<detail>when and where|where and when|when|where|"
    r"(?:(?:in|at|from) )?(?:which|what) @year(?: and (?:(?:in |at )?(?:which|what) )?@year)?)",
    "date": r"(?:publication )?(?P<detail>(?:@year|date)(?: and (?:the )?@year)?)",
    "out": r"(?:published|appear(?:ed)?|come out|came out|presented|accepted|released|from|published (?:in|at)|"
    r"appear (?:in|at)|presented at)",
    "wann": r"(?P<detail>wann|wo|wann und wo|wo und wann|in welchem jahr|(?:auf|bei) welcher konferenz)",
    "quand": r"(?P<detail>quand|où|en quelle année|(?:dans|à) quelle conférence)",
    "cuando": r"(?P<detail>cu[aá]ndo|d[oó]nde|en qué año|en qué conferencia)",
    "link": r"(?P<detail>links?|urls?|dois?|arxiv(?: (?:id|link|number|identifier|page))?|"
    r"(?:openreview|pubmed)(?: (?:id|link|page))?|pmid|web ?(?:page|site|address)|pdf|adresse|lien|enlace)",
    "write": r"(?:(?:co-?)?(?:wr[io]te|written|author(?:ed)?|publish(?:ed)?|work(?:ed)? on|contribut(?:ed?) to))",
    "paper": r"(?P<paper>.+?)",
    "author": r"(?:(?:somebody|someone|anybody|anyone|an author|a person|people|a researcher) (?:called|named) )?"
    r"(?P<author>[^\W\d].*?)",
    "people": r"(?:people|(?:co-?)?authors|researchers)",
    "wrote": r"(?:wrote|written|(?:co-?)?authored|published)",
    "nameof": r"(?:(?:who|what) (?:is|are|was|were) |(?:give|tell|show|list|name)(?: me)? )?(?:all )?(?:the )?"
    r"(?:names? of (?:all )?(?:the )?)?",
    "giveme": r"(?:(?:what(?:['’]s| is| are)|give me|show me|i need|is there|do you have|where is|wie (?:ist|lautet)|"
    r"gib mir|quel est|donne-moi|cuál es|dame) )?(?:(?:the|an?|der|die|den|das|le|un|el) |l['’])?",
    "wer": r"(?:wer (?:sind|ist|war|waren)|nenne?(?: mir)?|wie heißen)",
    "of": r"(?:of|to|for|zu|zum|zur|von|vom|des|der|für|vers|du|de|pour|del|a|para)",
    "inhere": r"(?:part of @collection|among (?:the|these|your) @things|"
    r"(?:(?:included|contained|indexed|available|present) )?(?:in )?(?:here|@collection))",
}

_PATTERNS: dict[Topic, str] = {
    "authors_of": r"""
        (?:who|(?:which|what) @people) (?:has |have )?@wrote @paper
        @nameof@rank(?:co-?)?authors? (?:of|on|for|behind) @paper
        who (?:is|was|are|were) behind @paper
        who (?:is|was|are|were) @paper (?:written |authored )?by
        by whom (?:is|was|were) @paper(?: written| authored)?
        who (?:is|are) @paper['’]s? @rankauthors?
        (?P<detail>how many) @people (?:does|do|did) @paper (?:have|list)
        (?P<detail>how many) @people (?:@wrote|(?:are )?(?:there )?(?:on|behind)|has|have) @paper
        @paper ?[:,–-] ?(?:who wrote (?:it|that|this)|(?:who (?:are|is) )?(?:the )?authors?)
        wer (?:hat|haben) @paper (?:geschrieben|verfasst|veröffentlicht|publiziert)
        wer (?:schrieb|verfasste) @paper
        @wer (?:die|der|den) @rankautor(?:en|in|innen)? (?:von|vom|des|der|zu) @paper
        von wem (?:ist|stammt|wurde|sind) @paper(?: geschrieben| verfasst)?
        qui (?:a|ont) (?:écrit|ecrit|rédigé|publié) @paper
        (?:qui|quels?) (?:sont|est) (?:les? |l['’])@rankauteurs? (?:de |du |des |d['’])@paper
        de qui (?:est|vient) @paper
        qui[eé]n(?:es)? (?:ha |han )?(?:escribi[oó]|escribieron|escrito) @paper
        qui[eé]n(?:es)? (?:es|son|fueron) (?:el|la|los|las) @rankautor(?:es|a|as)? del? @paper
        """,
    "published": r"""
        @when (?:was|were|did|is|has|does) @paper (?:been |originally |first )?@out
        (?:what(?:['’]s| is| was) )?the @date (?:of|for) @paper
        (?P<detail>how old) is @paper
        @wann (?:ist|wurde|erschien) @paper(?: (?:erschienen|veröffentlicht|publiziert|vorgestellt)(?: worden)?)?
        @quand (?:a|est|fut) (?:été )?(?:publiée?|parue?|présentée?) @paper
        @quand @paper (?:a-t-(?:il|elle) été|a été|est) (?:publiée?|parue?|présentée?)
        @cuando (?:se (?:publicó|presentó)|fue publicad[oa]|apareció) @paper
        """,
    "link": r"""
        @giveme@link @of @paper
        where (?:can|could|do|may) (?:i|we|one) (?:find|read|get|download|access) @paper(?: online)?
        does @paper have an? @link
        wo (?:finde|kann) ich @paper(?: finden| lesen| nachlesen)?
        où (?:puis-je|peut-on) (?:trouver|lire) @paper
        d[oó]nde puedo (?:encontrar|leer) @paper
        """,
    "title": r"""
        (?:(?:what(?:['’]s| is)|give me|tell me) )?(?:the )?(?:(?:full|exact|complete|whole) )?title of @paper
        wie (?:lautet|ist) der (?:volle |genaue )?titel (?:von|des|der|vom) @paper
        quel est le titre (?:complet )?(?:de|du) @paper
        cuál es el título (?:completo )?del? @paper
        """,
    "file_of": r"""
        (?:(?:from|in) )?(?:which|what) (?:source )?file (?:is|does|did|was) @paper(?: (?:come )?(?:from|in))?
        (?:which|what) (?:source )?file (?:contains|holds|has) @paper
        (?:aus|in) welcher datei (?:ist|steht|stammt|kommt) @paper
        de quel fichier vient @paper
        de qué archivo (?:es|viene) @paper
        """,
    "is_by": r"""
        (?:did|has) @author @write (?P<paper>the .+|[“"].+)
        (?:is|was) @author (?:an?|the|one of the) (?:(?:first|last|main|lead) )?(?:co-?)?authors? (?:of|on) @paper
        """,
    "by": r"""
        what (?:else )?(?:has|have|did|does|do) @author @write@here
        (?P<detail>how many|which|what) @things (?:did|has|have|does) @author @write@here
        (?P<detail>how many|which|what) @things (?:is|are) @author (?:an? )?authors? (?:of|on)@here
        (?P<yes>did|has|have) @author @write (?:anything|something|any @things|an? @things|@things)@here
        (?P<yes>is|are) @author (?:among|one of) the authors@here
        was hat @author (?:geschrieben|veröffentlicht)@here
        (?P<yes>hat) @author etwas geschrieben@here
        qu['’]a (?:écrit|publié) @author
        qué (?:ha escrito|escribió) @author
        """,
    "here": r"""
        (?:is|are) there (?:an?|any) @things@here (?:called|titled|named|entitled|with the title) @paper@here
        (?:is|are) @paper (?:also )?@inhere
        (?:do|does) (?:you|we|i|@collection) (?:have|hold|contain|include|know) @paper@here
        ist @paper (?:hier(?: drin| dabei)?|in (?:der|dieser|deiner) (?:sammlung|bibliothek)(?: enthalten)?|dabei)
        (?:enthält (?:die|diese) sammlung|hast du) @paper
        (?:est-ce que )?@paper est(?:-il|-elle)? (?:ici|dans (?:la|cette) (?:collection|bibliothèque))
        está @paper (?:aquí|en (?:la|esta) (?:colección|biblioteca))
        """,
}  # fmt: skip


def _compiled(pattern: str) -> re.Pattern[str]:
    """A line with its `@` words filled in."""
    while found := re.search("@(" + "|".join(sorted(_PARTS, key=len, reverse=True)) + ")", pattern):
        pattern = pattern[: found.start()] + _PARTS[found[1]] + pattern[found.end() :]
    return re.compile(pattern, re.IGNORECASE)


RULES: tuple[tuple[Topic, re.Pattern[str]], ...] = tuple(
    (topic, _compiled(line.strip()))
    for topic, lines in _PATTERNS.items()
    for line in lines.strip().splitlines()
)

# Words about collections -> what they ask for; a question of such words and function words alone is about it.
_WORDS = {
    "count": r"how (?:many|large|big|much)|wie ?viele?|wie groß|combien(?: y a-t-il)?(?: de| d['’])?|cu[aá]nt[oa]s|"
    r"(?:total )?number of|count|anzahl|nombre (?:de|d['’])|número de|size",
    "newest": r"newest|latest|most recent(?:ly)?|neuest\w+|plus récente?s?|más recientes?",
    "oldest": r"oldest|earliest|ältest\w+|plus ancienn?e?s?|más antigu[oa]s?",
    "each": r"(?:by|per|(?:for|in|from|of) (?:each|every)|each|pro|je|par|por|cada)(?=\s+(?:venue|year|"
    r"conference|journal|konferenz|jahr|année|an|conférence|año|conferencia))|break ?down|distribution|distributed",
    "most": r"most|(?:most )?(?:frequent|prolific|productive)|biggest|largest|more than one(?: paper)?|"
    r"meisten|häufigsten|le plus|más",
    "sentence": r"sentences?|sätze|phrases|frases|oraciones",
    "one": r"paper|work|abstract|article|study|publication|document|arbeit|artikel|papier|artículo|trabajo",
    "paper": rf"{THINGS}|documents|dokumente|documentos|entries|records",
    "venue": r"venues?|conferences?|journals?|konferenz(?:en)?|zeitschrift(?:en)?|conférences?|revues?|conferencias?|"
    r"revistas?",
    "year": r"years?|jahr(?:e|en)?|années?|años?|time span|zeitraum",
    "author": r"authors?|researchers?|autor(?:en|es|as?|innen)?|auteurs?",
    "file": r"(?:source |bibtex )?files?|sources?|datei(?:en)?|quellen?|fichiers?|archivos?|fuentes?",
    "here": r"in here|here|(?:collection|library|corpus|database|knowledge base)(?:['’]s)?|you|we|i|there(?= in)|"
    r"sammlung|bibliothek|hier(?: drin)?|du|ihr|wir|bibliothèque|ici|vous|tu|colección|biblioteca|aquí|tienes",
    "some": r"anything|something|everything|alles|etwas|algo|tout",
    "topic": r"about|topics?|themes?|subjects?|fields?|areas?|contents?|overview|cover(?:s|ed)?|includ(?:e|es|ed)|"
    r"contain(?:s|ed)?|holds?|describe|summari[sz]e|inside|worum|themen?|inhalt|enthält|enthalten|sujets?|thèmes?|parle|"
    r"traite|temas?|trata|contiene",
    "title": r"titles?|titel|titres?|títulos?",
    "wrote": r"who|wer|qui|quién(?:es)?",
    "when": r"when|wann|quand|cuándo|how old|range|span",
}
KEYS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"(?<![\w#])(?:{pattern})(?!\w)", re.IGNORECASE), f" #{key} ")
    for key, pattern in _WORDS.items()
)
FILLERS = frozenset(
    """a all altogether am an and any appear appeared appearing are as at available be been besides by can come comes
    came different distinct do does each ever exactly exist for from get go got had has have hold how in indexed is it
    its kind kinds list listed loaded many me more my name names no of on once one only or our overall published
    publications represented scientific some sort than that the their them there these they this those to total type
    under up us was were what where which with written wrote your accepted presented
    alle aller als am auf aus bei beim da dabei dann das dem den der des die dies diese dieser ein eine einem einen
    einer er es geht gibt haben hast hat ihr im in insgesamt ist kommen liegen man mir mit nach sie sind stammen stehen
    und uns viele vom von vorhanden waren was welche welchem welchen welcher welches wie wo woher wurde wurden zu zum
    zur au aux avec avez avons ce ces cette dans de des d elle en est et il ils l la le les leur y a t ont par pour quel
    quelle quelles quels que qu quoi sont se sur un une vient viennent publié publiés publiées
    al con cuál cuáles del dónde el ella es esta este estos están está hay las lista los por qué sobre son su
    tiene tenemos tienen una unas unos publicado publicados vienen""".split()
)
