"""Small invented files in each format, and what is needed to read them."""

from __future__ import annotations

import gc
import json
import tracemalloc
from pathlib import Path

from rag.nouns import Problem, Record
from rag.readers import read

A1 = "We propose TidyNet, a small network for sorting pebbles. It needs 12 % less memory than before."
A2 = "Rivers are hard to model on a laptop. We show that a coarse grid is enough for nine of ten rivers."
T1, T2 = "Sorting Pebbles with TidyNet", "Are Coarse Grids Enough?"


def read_all(folder: Path, content: str | bytes, name: str = "papers.txt") -> list[Record | Problem]:
    """What a file of this content gives."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read(path))


def records(items: list[Record | Problem]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def problems(items: list[Record | Problem]) -> list[Problem]:
    return [item for item in items if isinstance(item, Problem)]


def peak(folder: Path, content: str) -> int:
    """Bytes of memory that reading a file of this content takes at most, nothing kept."""
    path = folder / "peak.txt"
    path.write_text(content)
    gc.collect()
    tracemalloc.start()
    for _ in read(path):
        pass
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def pubmed(title: str, abstract: str, more: str = "") -> str:
    """An article of PubMed's XML."""
    return f"""<PubmedArticle>
    <MedlineCitation Status="MEDLINE" Owner="NLM">
      <PMID Version="1">11</PMID>
      <Article PubModel="Print">
        <Journal>
          <JournalIssue CitedMedium="Print"><PubDate><MedlineDate>2021 Nov-Dec</MedlineDate></PubDate></JournalIssue>
          <Title>The Journal of Pebbles</Title>
        </Journal>
        <ArticleTitle>{title}</ArticleTitle>
        {abstract}
        <AuthorList CompleteYN="Y">
          <Author><LastName>Roe</LastName><ForeName>Ann B</ForeName><Initials>AB</Initials><Suffix>Jr</Suffix></Author>
          <Author><CollectiveName>Pebble, Sand and Gravel Group</CollectiveName></Author>
        </AuthorList>
        {more}
      </Article>
    </MedlineCitation>
  </PubmedArticle>
"""


def entry(title: str, abstract: str, more: str = "", number: int = 1) -> str:
    """An entry of arXiv's feed."""
    return f"""  <entry>
    <id>http://arxiv.org/abs/2301.0000{number}v2</id>
    <title>{title}</title>
    <published>2023-01-02T00:00:00Z</published>
    <link href="https://arxiv.org/abs/2301.0000{number}v2" rel="alternate" type="text/html"/>
    <summary>  {abstract}
    </summary>
    {more}
    <author><name>Ann Roe</name><arxiv:affiliation>Marsh College</arxiv:affiliation></author>
    <author><name>Bob van der Poe</name></author>
  </entry>
"""


def feed(entries: str, total: int = 2) -> str:
    """arXiv's feed."""
    return f"""<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom" \
xmlns="http://www.w3.org/2005/Atom">
  <id>https://arxiv.org/api/abc</id>
  <title>arXiv Query: search_query=all:pebbles</title>
  <opensearch:totalResults>{total}</opensearch:totalResults>
{entries}</feed>
"""


def abstract_text(text: str) -> str:
    return f"<Abstract><AbstractText>{text}</AbstractText></Abstract>"


OPENREVIEW_1 = {
    "notes": [
        {
            "id": f"aB3dE6gH9{n}",
            "forum": f"aB3dE6gH9{n}",
            "cdate": 1_640_995_200_000,
            "invitation": "ICLR.cc/2022/Conference/-/Blind_Submission",
            "content": {"title": title, "abstract": abstract, "authors": ["Ann Roe", "Bob Poe"]},
        }
        for n, title, abstract in ((1, T1, A1), (2, T2, A2))
    ],
    "count": 2,
}
CSL = [
    {
        "id": "roe2024",
        "type": "paper-conference",
        "title": T1,
        "abstract": A1,
        "container-title": "Proceedings of the 41st International Conference on Machine Learning",
        "author": [
            {"family": "Roe", "given": "Ann", "suffix": "Jr."},
            {"family": "Berg", "given": "Bob", "non-dropping-particle": "van der"},
            {"literal": "Pebble, Sand and Gravel Group"},
        ],
        "issued": {"date-parts": [[2024, 7, 21]]},
        "DOI": "10.1234/Pebble.5",
        "URL": "https://pebbles.example/roe24",
    },
    {"id": "poe2023", "type": "article-journal", "title": T2, "abstract": A2, "issued": {"raw": "2023-05"}},
]

SAMPLES = {
    "RIS": f"""TY  - JOUR
TI  - {T1}
AU  - Roe, Ann
AU  - van der Berg, Bob
T2  - The Journal of Pebbles
AB  - {A1}
PY  - 2024
DO  - 10.1234/Pebble.5
ER  - 

TY  - CONF
T1  - {T2}
A1  - Poe C.
N2  - {A2}
ER  - 
""",
    "nbib": f"""PMID- 11
OWN - NLM
DP  - 2021 Nov-Dec
TI  - Sorting Pebbles
      with TidyNet
AB  - {A1[:40]}
      {A1[40:].strip()}
FAU - Roe, Ann B
AU  - Roe AB
JT  - The Journal of Pebbles

PMID- 12
TI  - {T2}
AB  - {A2}
""",
    "Web of Science": f"""FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Roe, A
   Poe, B
TI {T1}
SO JOURNAL OF PEBBLES
AB {A1}
PY 2021
ER

PT J
TI {T2}
AB {A2}
ER

EF
""",
    "CSV": f'Title,Abstract,Year\r\n{T1},"{A1}",2024\r\n"{T2}","{A2}",\r\n',
    "Markdown": f"## {T1}\n\n<details><summary>Abstract</summary>\n\n{A1}\n\n</details>\n\n"
    f"## {T2}\n\n- **Abstract**: {A2}\n",
    "labelled text": f"Title: {T1}\nAuthors: Ann Roe\nAbstract: {A1}\n\nTitle: {T2}\nAbstract: {A2}\n",
    "enw": f"%0 Journal Article\n%T {T1}\n%A Roe, Ann\n%J The Journal of Pebbles\n%D 2021\n%X {A1}\n\n"
    f"%0 Conference Proceedings\n%T {T2}\n%X {A2}\n",
    "PubMed XML": '<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n'
    + pubmed(T1, abstract_text(A1))
    + pubmed(T2, abstract_text(A2))
    + "</PubmedArticleSet>\n",
    "arXiv Atom": feed(entry(T1, A1) + entry(T2, A2, number=2)),
    "JSON": json.dumps([{"title": T1, "abstract": A1}, {"title": T2, "abstract": A2}], indent=1),
    "JSON on one line": json.dumps(
        {"papers": [{"title": T1, "abstract": A1}, {"title": T2, "abstract": A2}]}
    ),
    "JSON Lines": "".join(json.dumps({"title": t, "abstract": a}) + "\n" for t, a in ((T1, A1), (T2, A2))),
    "OpenReview": json.dumps(OPENREVIEW_1, indent=2),
    "CSL-JSON": json.dumps(CSL, indent=2),
    "BibTeX": f"@article{{roe24,\n  title = {{{T1}}},\n  author = {{Roe, Ann and Poe, Bob}},\n"
    f"  abstract = {{{A1}}}\n}}\n\n@article{{poe24, title = {{{T2}}}, crossref = {{whole}},\n"
    f"  abstract = {{{A2}}}}}\n@proceedings{{whole, title = {{W}}}}\n",
}
