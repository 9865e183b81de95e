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
TAGS = set(
    "a article b button caption code dd details div dl dt footer h1 h2 h3 header input li mark p progress section "
    "span summary table tbody td th thead tr ul".split()
)
# What a button asks the page to do: `data-NAME`, read by page.js and by the tabs.
DEEDS = {
    f"data-{name}"
    for name in "alike ask close copy edit go make n only open other paper press retry same turn unfilter value "
    "verdict wide".split()
}
CLEANER = nh3.Cleaner(
    tags=TAGS | MATH_TAGS,
    attributes={
        "*": {"class", "title", "role"},
        "a": {"href", "target"},
        "button": {"type", "aria-label", "aria-pressed", "aria-current"} | DEEDS,
        "details": {"open", "data-fold"},
        "h2": {"tabindex"},
        "p": {"aria-live"},
        "input": {"type", "maxlength", "placeholder", "aria-label"},
        "progress": {"max", "value", "aria-label"},
        "span": {"aria-current", "aria-hidden"},
        "summary": {"aria-label"},
        "th": {"scope", "aria-sort"},
    }
    | {tag: MATH_ATTRIBUTES for tag in MATH_TAGS},
    url_schemes={"http", "https"},
    link_rel="noopener noreferrer",
)


def clean(html: str) -> str:
    """The HTML without anything the page does not use; the second wall behind escaping."""
    return CLEANER.clean(html)
