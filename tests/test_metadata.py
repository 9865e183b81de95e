"""Authors, venues, years and identifiers, as sources write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.metadata import (
    arxiv_id,
    bibtex_names,
    doi,
    indexed_names,
    known_venue,
    names,
    openreview_id,
    pmlr_id,
    venue_year,
    year,
)


@pytest.mark.parametrize(
    ("value", "people"),
    [
        ("Roe, Ann and van der Berg, Bob", ("Ann Roe", "Bob van der Berg")),
        ("Roe, Ann and Carl Poe", ("Ann Roe", "Carl Poe")),
        ("Ann Roe; Bob Poe", ("Ann Roe", "Bob Poe")),
        ("Roe, Ann; Poe, Bob", ("Ann Roe", "Bob Poe")),
        ("Ann Roe;Bob Poe;", ("Ann Roe", "Bob Poe")),
        ("Ann Roe, Bob Poe, Carl M. Doe", ("Ann Roe", "Bob Poe", "Carl M. Doe")),
        ("Ann Roe, Bob Poe and Carl Doe", ("Ann Roe", "Bob Poe", "Carl Doe")),
        ("Ann Roe, Bob Poe, and Carl Doe", ("Ann Roe", "Bob Poe", "Carl Doe")),
        ("Ann Roe, Bob M. Poe", ("Ann Roe", "Bob M. Poe")),
        ("Ann Roe & Bob Poe", ("Ann Roe", "Bob Poe")),
        ("Roe, A., Poe, B. C.", ("A. Roe", "B. C. Poe")),
        ("Roe, Ann, Poe, Bob", ("Ann Roe", "Bob Poe")),
        ("Roe, Ann", ("Ann Roe",)),
        ("Roe Poe, Ann B.", ("Ann B. Roe Poe",)),
        ("Roe Poe, Ann Eve and Doe, Carl", ("Ann Eve Roe Poe", "Carl Doe")),
        ("Roe, Jr., Ann and Poe, Bob", ("Ann Roe Jr.", "Bob Poe")),
        ("{Pebble and Sand Team} and Roe, Ann", ("Pebble and Sand Team", "Ann Roe")),
        (r"{\'E}mile Roe and Po{\"e}, Bj{\o}rn", ("Émile Roe", "Bjørn Poë")),
        ("Ann Roe et al.", ("Ann Roe",)),
        ("Roe, Ann, et al.", ("Ann Roe",)),
        ("Roe, A., Poe, B., et al.", ("A. Roe", "B. Poe")),
        ("Roe, Ann and others", ("Ann Roe",)),
        ("Platon", ("Platon",)),
        ("", ()),
        (";,", ()),
        (["Roe, Ann", "Bob Poe", None, 5, ""], ("Ann Roe", "Bob Poe")),
        ([{"name": "Ann Roe"}, {"given": "Bob", "family": "Poe"}], ("Ann Roe", "Bob Poe")),
        ([{"first": "Ann", "last": "Roe"}, {"firstName": "Bob", "lastName": "Poe"}], ("Ann Roe", "Bob Poe")),
        ([{"literal": "The Pebble Team"}, {"name": None}], ("The Pebble Team",)),
        ({"value": ["Ann Roe", "Bob Poe"]}, ("Ann Roe", "Bob Poe")),
        (
            [{"family": "Berg", "given": "Bob", "non-dropping-particle": "van der", "suffix": "Jr."}],
            ("Bob van der Berg Jr.",),
        ),
        ([{"literal": "Pebble, Sand and Gravel Group"}], ("Pebble, Sand and Gravel Group",)),
        ("Liu R., Adler D.G., van der Roe A.-B.", ("R. Liu", "D.G. Adler", "A.-B. van der Roe")),
        ("Karthik S.", ("Karthik S.",)),
        ("Roe, Ann, Jr. and Poe, Bob", ("Ann Roe Jr.", "Bob Poe")),
        ("Roe, Ann Jr and Poe, Bob III", ("Ann Roe Jr", "Bob Poe III")),
        ("Anonymous", ()),
        (["Anonymous Authors", "Ann Roe"], ("Ann Roe",)),
        (None, ()),
        (7, ()),
    ],
)
def test_names(value: object, people: tuple[str, ...]) -> None:
    assert names(value) == people


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("Roe, Ann B", "Ann B Roe"),
        ("Roe, A.B.", "A.B. Roe"),
        ("Roe A.B.", "A.B. Roe"),
        ("Roe AB", "AB Roe"),
        ("de la Roe-Poe A. B.", "A. B. de la Roe-Poe"),
        ("Ørsted É.", "É. Ørsted"),
        ("Ann Roe", "Ann Roe"),
        ("Roe, Ann, Jr.", "Ann Roe Jr."),
        ("Roe, Ann B 3rd", "Ann B 3rd Roe"),
        ("Pebble and Sand Group", "Pebble and Sand Group"),
        ("Sand TEAM", "Sand TEAM"),
        ("ROE A", "ROE A"),
        ("", ""),
    ],
)
def test_names_of_citation_indexes(value: str, name: str) -> None:
    assert indexed_names([value, "Poe, Bob"]) == (*([name] if name else []), "Bob Poe")


def test_bibtex_commas_never_part_people() -> None:
    assert bibtex_names("Roe Poe, Ann Eve") == ("Ann Eve Roe Poe",)
    assert bibtex_names("Roe Poe, Ann Eve and Carl\n   Doe and others") == ("Ann Eve Roe Poe", "Carl Doe")
    assert bibtex_names("Ann Roe, Bob Poe, Carl Doe") == ("Ann Roe", "Bob Poe", "Carl Doe")  # a common slip


@given(st.text(alphabet="ab ,;{}.\\&and", max_size=40))
def test_names_of_anything_are_names(text: str) -> None:
    for name in names(text) + bibtex_names(text):
        assert name == " ".join(name.split()) and any(c.isalpha() for c in name)


@pytest.mark.parametrize(
    ("text", "venue", "stated"),
    [
        ("ICML 2024", "ICML", 2024),
        ("ICML 2024 Papers", "ICML", 2024),
        ("Proceedings of the 41st International Conference on Machine Learning", "ICML", 2024),
        ("Proceedings of the 41st International Conference on Machine Learning, PMLR 235", "ICML", 2024),
        ("International Conference on Learning Representations (ICLR)", "ICLR", None),
        ("Advances in Neural Information Processing Systems 36", "NeurIPS", 2023),
        ("NIPS 2017", "NeurIPS", 2017),
        ("Submitted to ICLR 2024", "ICLR", 2024),
        ("ICLR.cc/2024/Conference", "ICLR", 2024),
        ("ICLR 2024 Workshop on Pebbles", "ICLR Workshop", 2024),
        ("ICLR'24", "ICLR", 2024),
        ("KDD '98: the 4th conference", "KDD", 1998),
        ("icml2024", "ICML", 2024),
        ("arXiv preprint arXiv:2001.04451", "arXiv", None),
        ("CoRR", "arXiv", None),
        ("arXiv, accepted at CoRL 2023", "CoRL", 2023),
        ("2023 IEEE/CVF Conference on Computer Vision and Pattern Recognition (CVPR)", "CVPR", 2023),
        ("European Conference on Computer Vision", "ECCV", None),
        ("International Conference on Computer Vision", "ICCV", None),
        (
            "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics",
            "ACL",
            2023,
        ),
        ("Findings of the Association for Computational Linguistics: EMNLP 2023", "EMNLP Findings", 2023),
        (
            "Conference of the North American Chapter of the Association for Computational Linguistics",
            "NAACL",
            None,
        ),
        ("Proceedings of the AAAI Conference on Artificial Intelligence", "AAAI", None),
        ("International Joint Conference on Artificial Intelligence", "IJCAI", None),
        ("Knowledge Discovery and Data Mining", "KDD", None),
        ("International Conference on Artificial Intelligence and Statistics", "AISTATS", None),
        ("Conference on Uncertainty in Artificial Intelligence", "UAI", None),
        ("Conference on Learning Theory", "COLT", None),
        ("Journal of Machine Learning Research", "JMLR", None),
        ("Trans. Mach. Learn. Res., 2023", "TMLR", 2023),
        ("First Conference on Language Modeling", "COLM", 2024),
        ("Forty-first International Conference on Machine Learning", "ICML", 2024),
        ("The Twelfth International Conference on Learning Representations", "ICLR", 2024),
        ("The Thirty-eighth Annual Conference on Neural Information Processing Systems", "NeurIPS", 2024),
        ("Advances in Neural Information Processing Systems, volume 33", "NeurIPS", 2020),
        ("The Fortieth Conference on Uncertainty in Artificial Intelligence", "UAI", 2024),
        ("Proceedings of the 3rd International Conference on Machine Learning", "ICML", None),
        ("the 5th Workshop at the International Conference on Machine Learning", "ICML Workshop", None),
        ("41st International Conference on Machine Learning and Applications", "ICMLA", None),
        ("Fourth Conference on Pebbles", "Fourth Conference on Pebbles", None),
        ("InProceedings of the 31st Symposium on Pebbles", "Symposium on Pebbles", None),
        ("Medical Image Computing and Computer-Assisted Intervention – MICCAI 2021", "MICCAI", 2021),
        ("Proc. VLDB Endowment", "VLDB", None),
        ("Journal of Pebbles, Vol. 3, No. 2, pp. 5-10", "Journal of Pebbles", None),
        ("Pebble Rev. Lett. 104, 123 (2010)", "Pebble Rev. Lett", 2010),
        ("ActaPebb.56:1-50,2006", "ActaPebb", 2006),
        ("Pebbles 2.0", "Pebbles 2.0", None),
        ("INTERSPEECH 2023", "Interspeech", 2023),
        ("IEEE International Conference on Acoustics, Speech and Signal Processing", "ICASSP", None),
        ("International Conference on Machine Learning and Applications", "ICMLA", None),
        ("Proceedings of the 5th Meeting on Pebbles (MOP 2023)", "MOP", 2023),
        ("Proceedings of the 5th Meeting on Pebbles, 2023", "Meeting on Pebbles", 2023),
        ("The Journal of Pebbles", "The Journal of Pebbles", None),
        ("In Vivo", "In Vivo", None),
        ("we study alt text in colt sales", "we study alt text in colt sales", None),
        ("", "", None),
    ],
)
def test_venue_and_year(text: str, venue: str, stated: int | None) -> None:
    assert venue_year(text) == (venue, stated)


def test_long_unknown_names_are_cut_at_a_word() -> None:
    short, _ = venue_year("A Most Remarkable Gathering of " + "Remarkable " * 20 + "People")
    assert len(short) <= 82 and short.endswith("Remarkable …")


def test_known_venue_knows_only_what_it_knows() -> None:
    assert [known_venue(t) for t in ("My reading list", "ICML papers", "uai")] == ["", "ICML", "UAI"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2024, 2024),
        ("2024-07-08T00:00:00Z", 2024),
        (2024.0, 2024),
        (1_704_067_200_000, 2024),  # milliseconds: 1 January 2024
        ({"date-parts": [[2024, 1, 5]]}, 2024),
        ("arXiv:2001.04451", None),
        ("12024", None),
        ("n/a", None),
        (None, None),
        (True, None),
        (float("nan"), None),
        (10**30, None),
    ],
)
def test_year(value: object, expected: int | None) -> None:
    assert year(value) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://doi.org/10.1016/S0140-6736(20)30183-5.", "10.1016/s0140-6736(20)30183-5"),
        ("(doi:10.1000/ABC)", "10.1000/abc"),
        ("https://doi.org/10.1000%2Fabc", "10.1000/abc"),
        ("10.48550/arXiv.2301.00001", "10.48550/arxiv.2301.00001"),
        ("version 10.1/2", ""),
        ("", ""),
    ],
)
def test_doi(text: str, expected: str) -> None:
    assert doi(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2301.00001", "2301.00001"),
        ("arXiv:2301.00001v2", "2301.00001"),
        ("https://arxiv.org/abs/2301.00001v1", "2301.00001"),
        ("http://arxiv.org/pdf/2301.00001v3.pdf", "2301.00001"),
        ("10.48550/arXiv.2301.00001", "2301.00001"),
        ("arXiv preprint arXiv:2301.00001 [cs.LG]", "2301.00001"),
        ("math.GT/0309136", "math/0309136"),
        ("https://arxiv.org/abs/astro-ph/0601001v1", "astro-ph/0601001"),
        ("cs/0112017", "cs/0112017"),
        ("2313.00001", ""),  # no thirteenth month
        ("10.1109/2301.12345", ""),
        ("pebbles/0112017", ""),
        ("arXiv:2301.0000123", ""),
    ],
)
def test_arxiv_id(text: str, expected: str) -> None:
    assert arxiv_id(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://openreview.net/forum?id=aB3dE6gH9j", "aB3dE6gH9j"),
        ("https://openreview.net/pdf?id=aB3dE6gH9j&name=x", "aB3dE6gH9j"),
        ("https://openreview.net/forum?noteId=x&id=aB3dE6gH9j#here", "aB3dE6gH9j"),
        ("aB3dE6gH9j", "aB3dE6gH9j"),
        ("0123456789", ""),
        ("roe2024pebble", ""),
        ("PebbleNetV2", ""),
        ("RoeD20Pebble", ""),
        ("c31c87c591a2", ""),
        ("https://example.org/?id=aB3dE6gH9j", ""),
    ],
)
def test_openreview_id(text: str, expected: str) -> None:
    assert openreview_id(text) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://proceedings.mlr.press/v235/roe24a.html", "v235/roe24a"),
        ("https://proceedings.mlr.press/v235/roe24a/roe24a.pdf", "v235/roe24a"),
        (
            "https://raw.githubusercontent.com/mlresearch/v235/main/assets/roe-poe24a/roe-poe24a.pdf",
            "v235/roe-poe24a",
        ),
        ("http://jmlr.org/proceedings/papers/v28/roe13.html", "v28/roe13"),
        ("pmlr-v235-roe24a", "v235/roe24a"),
        ("https://jmlr.org/papers/v25/23-1.html", ""),
        ("", ""),
    ],
)
def test_pmlr_id(url: str, expected: str) -> None:
    assert pmlr_id(url) == expected
