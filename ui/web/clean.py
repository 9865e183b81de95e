"""The second wall behind escaping: HTML with nothing in it that the page does not use."""

import nh3

MATH_ATTRIBUTES = set(
    "accent columnalign columnlines columnspacing display displaystyle fence form linethickness lspace "
    "mathvariant maxsize minsize movablelimits rowlines rowspacing rspace scriptlevel separator stretchy "
    "symmetric width".split()
)
MATH_TAGS = set(
    "math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mroot mrow mspace msqrt mstyle msub "
    "msubsup msup mtable mtd mtext mtr munder munderover".split()
)
TAGS = set("a article button code details footer h1 h2 h3 header li mark p section span summary ul".split())
CLEANER = nh3.Cleaner(
    tags=TAGS | MATH_TAGS,
    attributes={
        "*": {"class", "title", "role"},
        "a": {"href", "target"},
        "button": {"type", "data-turn", "data-n", "data-paper", "data-ask", "data-close", "aria-label"},
        "details": {"open", "data-fold"},
        "h2": {"tabindex"},
        "p": {"aria-live"},
        "span": {"aria-hidden"},
    }
    | {tag: MATH_ATTRIBUTES for tag in MATH_TAGS},
    url_schemes={"http", "https"},
    link_rel="noopener noreferrer",
)


def clean(html: str) -> str:
    """The HTML without anything the page does not use; the second wall behind escaping."""
    return CLEANER.clean(html)
