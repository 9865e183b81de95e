"""Records into the library: what becomes one paper, what is changed, what is forgotten."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from shelf import BITTERN, DUNLIN, GODWIT, mark_embedded, numbered, pending, put, record

from rag import importing
from rag.duplicates import explain
from rag.importing import Counts, Importer, import_stream
from rag.indexing import Quiet, import_file
from rag.keeping import remove
from rag.library import Library
from rag.nouns import Problem, Record
from rag.sample import is_sample_only, leave_sample, sample_files

LIST = f"Marsh Days 2024 Papers\n\n{BITTERN}\n\n{DUNLIN}\n\n{GODWIT}\n"


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "collection")


def keys(library: Library) -> list[str]:
    return [paper.key for paper in library.papers()]


def read(library: Library, folder: Path, name: str, text: str) -> Counts:
    """Write a file and read it through the real readers."""
    (folder / name).write_text(text, "utf-8")
    return import_file(library, folder / name, Quiet()).counts


# ----------------------------------------------------------------------------- the same papers again


def test_the_same_file_twice_and_under_another_name_adds_nothing(library: Library, tmp_path: Path) -> None:
    """C13."""
    assert read(library, tmp_path, "list.txt", LIST) == Counts(records=3, added=3)
    mark_embedded(library)
    again = import_file(library, tmp_path / "list.txt", Quiet())
    assert again.unchanged and again.counts == Counts()
    generation = library.generation()
    assert read(library, tmp_path, "copy.txt", LIST) == Counts(records=3, joined=3, changed=3)
    assert library.size() == (3, 12) and library.generation() > generation
    assert pending(library) == [], "that another file holds them too is nothing to embed"
    assert [paper.sources for paper in library.papers()] == [("list.txt", "copy.txt")] * 3


def test_identical_abstracts_and_blank_records_in_one_file(library: Library, tmp_path: Path) -> None:
    """C15."""
    lines = [
        {"abstract": BITTERN},
        {"abstract": ""},
        {"abstract": BITTERN},
        {"abstract": "  "},
        {"abstract": DUNLIN},
    ]
    (tmp_path / "list.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = import_file(library, tmp_path / "list.jsonl", Quiet())
    assert report.counts == Counts(records=3, added=2)
    assert [(p.record, p.field) for p in report.problems] == [(2, "abstract"), (4, "abstract")]
    assert library.size()[0] == 2


def test_one_abstract_under_two_titles_stays_two_papers(library: Library) -> None:
    """C14."""
    twins = [record(title="Reed Radios for Marshes"), record(title="Sleeping Radios in Winter")]
    assert put(library, twins) == Counts(records=2, added=2)
    assert put(library, twins) == Counts(records=2)
    assert put(library, list(reversed(twins)), "copy.bib") == Counts(records=2, joined=2, changed=2)
    assert library.size()[0] == 2


def test_a_name_that_very_many_papers_share_joins_none(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or each new paper would be compared with all of them."""
    looked_at: list[int] = []
    real = importing.belongs
    monkeypatch.setattr(
        importing, "belongs", lambda new, groups: looked_at.append(len(groups)) or real(new, groups)
    )
    people = [
        record(numbered(n), n, title="Editorial of the Board", authors=(f"Ada Reed{n}",)) for n in range(80)
    ]
    assert put(library, people).added == 80
    assert max(looked_at) == importing.COMMON - 1 and looked_at[-1] == 0
    same_text = [record(BITTERN, n, title=f"Volume {n} of the Radio Almanac") for n in range(80)]
    assert put(library, same_text).added == 80
    assert max(looked_at[80:]) == 0, "titled records are not looked for by their text"
    assert put(library, same_text[:3], "copy.bib").joined == 3, "a title of its own still tells"


def test_a_file_is_read_in_time_linear_in_its_length(library: Library) -> None:
    """No statement may search through all records of the file: 12,000 took three and a half minutes so."""
    put(library, [record(numbered(1), citekey="a1")])
    looked_up: list[str] = []
    again = Importer(library, Path("/files/list.txt"))
    library.db.set_trace_callback(looked_up.append)
    again.add([record(numbered(2), citekey="a2"), record(numbered(1) + " More.", citekey="a1")])
    library.db.set_trace_callback(None)
    plans = {
        step[3]
        for statement in looked_up
        if statement.lstrip().upper().startswith(("SELECT", "UPDATE", "DELETE"))
        for step in library.db.execute(f"EXPLAIN QUERY PLAN {statement}")
    }
    searches = {plan for plan in plans if "records" in plan or " r " in plan}
    assert searches and all(plan.startswith("SEARCH") for plan in searches), searches
    # Of the indexes that begin with the file, one column is what all of its records share.
    assert not [plan for plan in searches if plan.endswith("(source_id=?)")], searches


# ------------------------------------------------------------------------------------ changed records


def test_one_edited_word_in_a_list_changes_that_paper_only(library: Library, tmp_path: Path) -> None:
    """C16: the key is kept, the new word is found, the old one is not, and only this paper is embedded anew."""
    read(library, tmp_path, "list.txt", LIST)
    before = keys(library)
    mark_embedded(library)
    edited = LIST.replace("boom of", "yodel of")
    assert read(library, tmp_path, "list.txt", edited) == Counts(records=3, changed=1)
    assert keys(library) == before
    assert pending(library) == [before[0]]
    assert library.postings("yodel", 9) == [1] and library.postings("boom", 9) == []
    paper = library.paper(before[0])
    assert paper and paper.abstract == BITTERN.replace("boom of", "yodel of")
    assert library.sentences(paper)[1].text.endswith("by the yodel of a bird.")
    assert len(explain(library, before[0])) == 1, "the earlier version is gone"


def test_of_two_similar_papers_the_edited_one_is_changed(library: Library, tmp_path: Path) -> None:
    """Their order in the file is turned round, too."""
    near = BITTERN.replace("In three winters Bittern lost 2 of 140 messages.", "It never lost a message.")
    first, second = f"{BITTERN}\n\n{near}\n", f"{near.replace('copper', 'brass')}\n\n{BITTERN}\n"
    assert read(library, tmp_path, "list.txt", first).added == 2
    assert read(library, tmp_path, "list.txt", second) == Counts(records=2, changed=1)
    assert [paper.abstract for paper in library.papers()] == [BITTERN, near.replace("copper", "brass")]


def test_an_entry_with_a_new_title_and_its_old_key_is_the_same_paper(library: Library) -> None:
    old = record(citekey="reed24", title="Bittern: A Raido That Sleeps")
    put(library, [old])
    assert put(library, [replace(old, title="Bittern: A Radio That Sleeps")]) == Counts(records=1, changed=1)
    assert [(p.key, p.title) for p in library.papers()] == [("reed24", "Bittern: A Radio That Sleeps")]


def test_an_entry_with_a_new_abstract_and_its_old_key_is_the_same_paper(library: Library) -> None:
    put(library, [record(BITTERN, citekey="reed24")])
    assert put(library, [record(GODWIT, citekey="reed24")]) == Counts(records=1, changed=1)
    assert [(p.key, p.abstract) for p in library.papers()] == [("reed24", GODWIT)]


def test_a_key_given_to_another_paper_makes_a_second_paper(library: Library) -> None:
    put(library, [record(BITTERN, citekey="reed24", title="Bittern: A Radio That Sleeps")])
    counts = put(library, [record(GODWIT, citekey="reed24", title="Godwit: Drones That Rest")])
    assert counts == Counts(records=1, added=1, gone=1)
    assert keys(library) == ["reed24", "reed24-2"]


def test_an_edit_keeps_the_order_of_what_files_tell(library: Library) -> None:
    """The first file's title stays, whichever file was edited last."""
    mine = record(citekey="reed24", title="Bittern, My Radio", doi="10.1/x")
    put(library, [mine], "mine.bib")
    put(library, [record(title="Bittern, Their Radio", doi="10.1/x")], "theirs.bib")
    put(library, [replace(mine, year=2024)], "mine.bib")
    (paper,) = library.papers()
    assert (paper.title, paper.year, paper.sources) == ("Bittern, My Radio", 2024, ("mine.bib", "theirs.bib"))


def test_moving_a_record_changes_nothing(library: Library, tmp_path: Path) -> None:
    read(library, tmp_path, "list.txt", LIST)
    mark_embedded(library)
    before, generation = list(library.papers()), library.generation()
    moved = f"Marsh Days 2024 Papers\n\n{GODWIT}\n\n\n\n{BITTERN}\n\n{DUNLIN}\n"
    assert read(library, tmp_path, "list.txt", moved) == Counts(records=3)
    assert list(library.papers()) == before and library.generation() == generation
    assert pending(library) == []


def test_what_a_new_version_of_a_file_leaves_out_is_kept_and_counted(
    library: Library, tmp_path: Path
) -> None:
    read(library, tmp_path, "list.txt", LIST)
    assert read(library, tmp_path, "list.txt", LIST.replace(DUNLIN, "")) == Counts(records=2, gone=1)
    assert library.size()[0] == 3


def test_titles_and_authors_upgrade_papers_in_place(library: Library, tmp_path: Path) -> None:
    read(library, tmp_path, "list.txt", LIST)
    mark_embedded(library)
    before = keys(library)
    bib = "".join(
        f"@inproceedings{{k{n}, title={{{title}}}, author={{Ada Reed and Bo Marsh}}, booktitle={{Marsh Days}},\n"
        f" year={{2024}}, abstract={{{text}}} }}\n"
        for n, (title, text) in enumerate([("Sleeping Radios", BITTERN), ("Maps of Mud", DUNLIN)])
    )
    assert read(library, tmp_path, "refs.bib", bib) == Counts(records=2, joined=2, changed=2)
    assert keys(library) == before and pending(library) == before[:2], "the title is embedded with the text"
    papers = list(library.papers())
    assert [p.title for p in papers] == ["Sleeping Radios", "Maps of Mud", ""]
    assert papers[0].label == "Sleeping Radios" and papers[2].label.startswith("Marsh Days 2024 Papers #3: ")
    assert papers[0].authors == ("Ada Reed", "Bo Marsh") and papers[0].sources == ("list.txt", "refs.bib")


# --------------------------------------------------------------------------------- files that fail


def test_a_file_whose_import_broke_off_is_read_again(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C14: a file counts as read only when it was read to its end; what was stored before stays."""
    monkeypatch.setattr(importing, "BATCH", 1)

    def broken(path: Path, *_: object) -> object:
        yield record(BITTERN, 1)
        yield record(DUNLIN, 2)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("rag.indexing.read", broken)
        read(library, tmp_path, "list.txt", LIST)
    assert library.size()[0] == 2
    report = import_file(library, tmp_path / "list.txt", Quiet())
    assert not report.unchanged and report.counts.records == 3
    assert library.size()[0] == 3
    assert import_file(library, tmp_path / "list.txt", Quiet()).unchanged


def test_a_batch_that_fails_leaves_nothing_of_itself(library: Library) -> None:
    importer = Importer(library, Path("/files/list.txt"))
    importer.add([record(BITTERN, 1)])
    with pytest.raises(AttributeError):
        importer.add([record(DUNLIN, 2), None])  # type: ignore[list-item]
    assert [p.abstract for p in library.papers()] == [BITTERN]
    assert library.postings("tides", 9) == []


def test_the_problems_of_a_file_are_told_on_every_run(library: Library, tmp_path: Path) -> None:
    """Or the second `--strict` run would find nothing wrong."""
    (tmp_path / "half.jsonl").write_text(json.dumps({"abstract": BITTERN}) + '\n{"abstract": \n')
    for added in (1, 0):
        report = import_file(library, tmp_path / "half.jsonl", Quiet())
        assert (report.unchanged, report.counts.added) == (False, added)
        assert [p.line for p in report.problems] == [2]
    (tmp_path / "half.jsonl").write_text(json.dumps({"abstract": BITTERN}) + "\n")
    assert not import_file(library, tmp_path / "half.jsonl", Quiet()).problems
    assert import_file(library, tmp_path / "half.jsonl", Quiet()).unchanged


def test_problems_pass_through_and_records_are_stored_in_batches(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    importer = Importer(library, Path("/files/list.txt"))
    problem = Problem("list.txt", "cause", "remedy")
    stream: list[Record | Problem] = [record(numbered(1)), problem, record(numbered(2)), record(numbered(3))]
    assert import_stream(importer, stream) == [problem]
    assert importer.counts == Counts(records=3, added=3)


@pytest.mark.parametrize("nothing", [{}, {"venue": None, "year": None, "url": None, "doi": None}])
def test_missing_and_listed_metadata_are_stored(
    library: Library, tmp_path: Path, nothing: dict[str, None]
) -> None:
    """C19."""
    row = {"title": "Radios in the Reed", "authors": ["Ada Reed", "Bo Marsh"], "abstract": BITTERN, **nothing}
    read(library, tmp_path, "one.jsonl", json.dumps(row))
    (paper,) = library.papers()
    assert paper.authors == ("Ada Reed", "Bo Marsh")
    assert (paper.year, paper.venue, paper.url, paper.doi) == (None, "", "", "")


# ------------------------------------------------------------------------------------------- removal


def test_removing_a_file_takes_what_only_it_brought(library: Library) -> None:
    put(library, [record(BITTERN, citekey="b"), record(DUNLIN, citekey="d")], "one.bib")
    put(library, [record(DUNLIN, title="Maps of Mud"), record(GODWIT, citekey="g")], "two.bib")
    assert remove(library, "one.bib") == (1, 1)
    assert [(p.key, p.title, p.sources) for p in library.papers()] == [
        ("d", "Maps of Mud", ("two.bib",)),
        ("g", "", ("two.bib",)),
    ]
    assert library.postings("batteries", 9) == [] and library.size() == (2, 8)
    for table in ("records", "names", "sentences"):
        orphans = f"SELECT count(*) FROM {table} WHERE paper_id NOT IN (SELECT id FROM papers)"
        assert library.db.execute(orphans).fetchone() == (0,), table
    assert put(library, [record(BITTERN)], "one.bib") == Counts(records=1, added=1), "it can come again"


def test_removing_by_path_or_by_key(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    read(library, tmp_path / "real", "list.txt", LIST)
    first = keys(library)[0]
    assert remove(library, first) == (1, 0) and first not in keys(library)
    assert remove(library, first) == (0, 0) and remove(library, "nothing.bib") == (0, 0)
    monkeypatch.chdir(tmp_path)
    assert remove(library, "link/list.txt") == (2, 0)
    assert library.size() == (0, 0)


def test_removal_raises_the_generation_only_if_something_went(library: Library) -> None:
    put(library, [record(citekey="b")])
    before = library.generation()
    remove(library, "nothing")
    assert library.generation() == before
    remove(library, "b")
    assert library.generation() == before + 1


def test_numbers_of_removed_papers_are_not_used_again(library: Library) -> None:
    """Vectors are named by them."""
    put(library, [record(BITTERN, citekey="b")])
    remove(library, "b")
    put(library, [record(DUNLIN, citekey="d")], "more.txt")
    assert [p.id for p in library.papers()] == [2]


def test_explain_lists_the_records_of_a_paper(library: Library) -> None:
    put(library, [record(BITTERN, 3, citekey="b")], "one.bib")
    put(library, [record(BITTERN, 8)], "two.txt")
    assert [(t.record.source, t.record.number) for t in explain(library, "b")] == [
        ("one.bib", 3),
        ("two.txt", 8),
    ]
    assert explain(library, "nobody") == []


# -------------------------------------------------------------------------------------------- sample


def test_the_sample_makes_room_for_the_users_own_papers(library: Library, tmp_path: Path) -> None:
    assert not is_sample_only(library)
    for file in sample_files():
        assert not import_file(library, file, Quiet()).problems
    shipped = library.size()[0]
    assert shipped == 38 and is_sample_only(library)
    assert read(library, tmp_path, "list.txt", LIST).added == 3
    assert not is_sample_only(library)
    assert leave_sample(library) == shipped
    assert [p.abstract for p in library.papers()] == [BITTERN, DUNLIN, GODWIT]
