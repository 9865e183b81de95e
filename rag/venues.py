"""Venues by the names they go by, and the years of their editions."""

from __future__ import annotations

import re

# Short name, then what the long form says. The more special come before what their names contain.
VENUES = tuple(
    (short, re.compile(long, re.I))
    for short, long in (
        ("ICMLA", r"Machine Learning and Applications"),
        ("ICMLC", r"Machine Learning and (?:Cybernetics|Computing)"),
        ("ACML", r"Asian Conference on Machine Learning"),
        (
            "ECML PKDD",
            r"European Conference on Machine Learning|Principles and Practice of Knowledge Discovery",
        ),
        ("ICML", r"International Conference on Machine Learning"),
        ("ICLR", r"Conference on Learning Representations"),
        ("NeurIPS", r"Neural Information Processing Systems"),
        ("CVPR", r"Computer Vision and Pattern Recognition"),
        ("WACV", r"Winter Conference on Applications of Computer Vision"),
        ("ACCV", r"Asian Conference on Computer Vision"),
        ("ECCV", r"European Conference on Computer Vision"),
        ("ICCV", r"International Conference on Computer Vision"),
        ("TACL", r"Transactions of the Association for Computational Linguistics"),
        ("NAACL", r"North American Chapter of the (?:Association|ACL)|Nations of the Americas Chapter"),
        ("EACL", r"European Chapter of the (?:Association|ACL)"),
        ("AACL", r"Asia-Pacific Chapter of the (?:Association|ACL)"),
        ("IJCNLP", r"International Joint Conference on Natural Language Processing"),
        ("EMNLP", r"Empirical Methods in Natural Language Processing"),
        ("CoNLL", r"Computational Natural Language Learning"),
        ("COLING", r"International Conference on Computational Linguistics"),
        ("ACL", r"Association for Computational Linguistics"),
        ("IJCAI", r"International Joint Conferences? on Artificial Intelligence"),
        ("ECAI", r"European Conference on Artificial Intelligence"),
        ("AAAI", r"AAAI Conference|Association for the Advancement of Artificial Intelligence"),
        ("PAKDD", r"Pacific-Asia Conference on Knowledge Discovery"),
        ("KDD", r"Knowledge Discovery (?:and|&) Data Mining"),
        ("AISTATS", r"Artificial Intelligence (?:and|&) Statistics"),
        ("UAI", r"Uncertainty in Artificial Intelligence"),
        ("COLT", r"Conference on Learning Theory|Computational Learning Theory"),
        ("ALT", r"Algorithmic Learning Theory"),
        ("JMLR", r"Journal of Machine Learning Research|J\. Mach\. Learn\. Res"),
        ("TMLR", r"Transactions on Machine Learning Research|Trans\. Mach\. Learn\. Res"),
        ("CoRL", r"Conference on Robot Learning"),
        ("COLM", r"Conference on Language Modeling"),
        ("MLSys", r"Machine Learning and Systems"),
        ("Interspeech", r"Interspeech|International Speech Communication Association"),
        ("ICASSP", r"International Conference on Acoustics,? Speech,? (?:and|&) Signal Processing"),
        ("ICRA", r"International Conference on Robotics and Automation"),
        ("IROS", r"Intelligent Robots and Systems"),
        ("RSS", r"Robotics:? Science and Systems"),
        ("SIGIR", r"Research and Development in Information Retrieval"),
        ("CIKM", r"Conference on Information and Knowledge Management"),
        ("WSDM", r"Web Search and Data Mining"),
        ("RecSys", r"Conference on Recommender Systems"),
        (
            "WWW",
            r"World Wide Web Conference|International (?:Conference on )?World Wide Web|The Web Conference",
        ),
        ("SIGMOD", r"International Conference on Management of Data"),
        ("VLDB", r"Very Large Data ?Bases|VLDB Endowment"),
        ("ICDE", r"International Conference on Data Engineering"),
        ("ICDM", r"International Conference on Data Mining"),
        ("AAMAS", r"Autonomous Agents and Multi-?agent Systems"),
        ("FAccT", r"Fairness,? Accountability,? and Transparency"),
        ("SaTML", r"Secure and Trustworthy Machine Learning"),
        ("MLHC", r"Machine Learning for Health-?care"),
        ("L4DC", r"Learning for Dynamics and Control"),
        ("CoLLAs", r"Lifelong Learning Agents"),
        ("MICCAI", r"Medical Image Computing and Computer[- ]Assisted Intervention"),
        ("BMVC", r"British Machine Vision Conference"),
        ("ISMIR", r"Music Information Retrieval"),
        ("CHI", r"Human Factors in Computing Systems"),
        ("LoG", r"Learning on Graphs"),
        ("JAIR", r"Journal of Artificial Intelligence Research"),
        ("TPAMI", r"Transactions on Pattern Analysis and Machine Intelligence"),
        ("IJCV", r"International Journal of Computer Vision"),
        ("arXiv", r"arXiv|Computing Research Repository"),
        ("PMLR", r"Proceedings of Machine Learning Research"),
    )
)
_OTHER_NAMES = {"NIPS": "NeurIPS", "CORR": "arXiv", "INTERSPEECH": "Interspeech", "SIGKDD": "KDD"}
# PMLR is a series, and stands beside the names of its conferences.
BY_NAME = {short.upper(): short for short, _ in VENUES if short != "PMLR"} | _OTHER_NAMES

# The year before the first edition of a yearly conference, and the edition from which the count holds.
_BEFORE_FIRST = {
    "ICML": (1983, 10),
    "ICLR": (2012, 1),
    "NeurIPS": (1986, 1),
    "COLM": (2023, 1),
    "CoRL": (2016, 1),
    "AISTATS": (1997, 12),
    "UAI": (1984, 1),
    "COLT": (1987, 1),
    "ALT": (1989, 12),
    "ACML": (2008, 1),
    "AAAI": (1986, 24),
    "ACL": (1962, 1),
    "IJCAI": (1991, 25),
    "KDD": (1994, 1),
    "SIGIR": (1977, 10),
    "LoG": (2021, 1),
}
_UNITS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
_TENS = {"twent": 20, "thirt": 30, "fort": 40, "fift": 50, "sixt": 60}
_ORDINAL = re.compile(
    rf"\b(?:(?P<number>\d{{1,2}})(?:st|nd|rd|th)|(?:(?P<tens>{'|'.join(_TENS)})(?:ieth|y[- ]))?"
    rf"(?P<unit>{'|'.join(sorted(_UNITS, key=len, reverse=True))})?)\b",
    re.I,
)
_VOLUME = re.compile(r"Neural Information Processing Systems,? (?:vol(?:ume|\.) )?(\d{1,2})\b", re.I)


def edition_year(short: str, text: str) -> int | None:
    """The year of a conference that states its edition ("41st", "Forty-first") and no year."""
    before, since = _BEFORE_FIRST.get(short, (0, 0))
    volume = _VOLUME.search(text)
    if volume and short == "NeurIPS":
        return 1987 + int(volume[1])
    edition = next(filter(None, map(_count, _ORDINAL.finditer(text))), 0) if before else 0
    return before + edition if edition and edition >= since else None


def _count(found: re.Match[str]) -> int:
    if found["number"]:
        return int(found["number"])
    unit = _UNITS.index(found["unit"].lower()) + 1 if found["unit"] else 0
    return _TENS.get((found["tens"] or "").lower(), 0) + unit
