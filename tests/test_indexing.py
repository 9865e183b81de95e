"""From the library to the vectors: kills, locks, other embedders, damage, and other processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from fakes import HashEmbedder
from shelf import BITTERN, DUNLIN, GODWIT, mark_embedded, numbered, pending, put, record

import rag.opening
from rag import schema
from rag.embed import Vectors
from rag.errors import IndexMismatch, InputError, LibraryError, SettingsError
from rag.filling import disagreement, empty, lacking
from rag.indexing import (
    Quiet,
    bring_up_to_date,
    check_settings,
    embed_pending,
    file_digest,
    forget_vectors,
    import_file,
    writer_lock,
)
from rag.keeping import remove
from rag.library import Library
from rag.opening import retriever_of
from rag.retrieve import Retriever
from rag.settings import Settings
from rag.stored import after
from rag.vectors import VectorStore

HERE = Path(__file__).parent
Progress = tuple[str, int, int]


class Heard(Quiet):
    """Remembers the steps it was told."""

    def __init__(self) -> None:
        self.steps: list[Progress] = []

    def step(self, what: str, done: int, total: int) -> None:
        self.steps.append((what, done, total))


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


@pytest.fixture
def vectors(tmp_path: Path) -> Iterator[VectorStore]:
    store = VectorStore(tmp_path / "vectors")
    yield store
    store.close()


def stored(library: Library) -> list[str]:
    return [row[0] for row in library.db.execute("SELECT vector FROM chunks ORDER BY vector")]


def stored_vectors(library: Library) -> dict[str, Vectors]:
    _, names, vectors = after(library, 0, 100_000)
    return dict(zip(names, vectors, strict=True))


def agree(library: Library, vectors: VectorStore) -> bool:
    """Whether every paper is embedded, and the vectors are exactly those of the present texts, all findable."""
    vectors.refresh(library.generation())
    counts = vectors.count("window") + vectors.count("sentence")
    every = stored_vectors(library)
    some = dict(list(every.items())[:: 1 + len(every) // 200])
    return library.pending() == 0 and counts == len(every) and vectors.missing(some) == []


# ----------------------------------------------------------------------------------------- embedding


def test_papers_are_embedded_once_and_only_anew_when_they_change(
    library: Library, vectors: VectorStore
) -> None:
    embedder, heard = HashEmbedder(), Heard()
    put(library, [record(numbered(n), n, citekey=f"n{n}") for n in range(70)])
    assert embed_pending(library, vectors, embedder, heard) == 70
    assert heard.steps == [("embedding", done, 70) for done in (0, 32, 64, 70)]
    assert embedder.encoded == 70 * 4 and agree(library, vectors), "a window and three sentences each"
    assert embed_pending(library, vectors, embedder, Quiet()) == 0 and embedder.encoded == 70 * 4
    put(library, [record(numbered(n) + " New." * (n == 5), n, citekey=f"n{n}") for n in range(70)])
    assert pending(library) == ["n5"]
    assert embed_pending(library, vectors, embedder, Quiet()) == 1 and embedder.encoded == 70 * 4 + 5
    assert agree(library, vectors)


def test_vectors_of_removed_and_changed_papers_are_swept(library: Library, vectors: VectorStore) -> None:
    embedder = HashEmbedder()
    put(library, [record(BITTERN, citekey="b"), record(DUNLIN, citekey="d"), record(GODWIT, citekey="g")])
    embed_pending(library, vectors, embedder, Quiet())
    before = set(stored(library))
    remove(library, "b")
    put(library, [record(DUNLIN.replace("maps", "charts"), citekey="d"), record(GODWIT, citekey="g")])
    embed_pending(library, vectors, embedder, Quiet())
    now = set(stored(library))
    assert {name.split(".")[0] for name in now} == {"2", "3"}
    assert len(now) == 10 and not before & now - {n for n in before if n.startswith("3.")}
    assert agree(library, vectors)


def test_the_generation_rises_with_every_batch(library: Library, vectors: VectorStore) -> None:
    """So that a page answers from the first papers while the others are still being embedded."""
    put(library, [record(numbered(n), n) for n in range(70)])
    before = library.generation()
    embed_pending(library, vectors, HashEmbedder(), Quiet())
    assert library.generation() == before + 3


# ----------------------------------------------------------------------------------- kills and Ctrl-C


@contextmanager
def indexer(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """An indexer in a process of its own, killed at the end of the block."""
    process = subprocess.Popen(
        [sys.executable, HERE / "indexer.py", folder, *arguments],
        env=os.environ | {"PYTHONPATH": f"{HERE}{os.pathsep}{HERE.parent}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until(process: subprocess.Popen[str], line: str) -> None:
    """Wait for a line of the indexer."""
    assert process.stdout
    for said in process.stdout:
        if said.startswith(line):
            return
    raise AssertionError(f"the indexer never said {line!r}: {process.stderr and process.stderr.read()}")


@pytest.mark.parametrize(
    ("after", "sent"),
    [("embedding 64", signal.SIGKILL), ("embedding 0", signal.SIGKILL), ("embedding 64", signal.SIGINT)],
    ids=["kill", "kill-at-once", "ctrl-c"],
)
def test_a_killed_run_loses_nothing_that_was_finished(
    tmp_path: Path, after: str, sent: signal.Signals
) -> None:
    """C62, C63: the next run goes on, and then every vector is found."""
    with indexer(tmp_path, "300", "--slow") as process:
        until(process, after)
        time.sleep(0.25)  # into the middle of the next batch
        process.send_signal(sent)
        assert process.wait(30) != 0
    library, embedder = Library(tmp_path), HashEmbedder()
    assert library.size()[0] == 300
    left = library.pending()
    assert (300 - left) % 32 == 0 and 300 - left >= int(after.split()[1])
    with writer_lock(tmp_path, lambda who: pytest.fail(f"still locked by {who}")):
        store = VectorStore(tmp_path / "vectors")
        assert disagreement(library, store) in ("", "the vectors were left unfinished")
        assert embed_pending(library, store, embedder, Quiet()) == left
    assert embedder.encoded == left * 4, "nothing is embedded twice"
    assert agree(library, store)


def test_vectors_stored_by_a_killed_run_do_not_outlive_a_change(
    library: Library, vectors: VectorStore
) -> None:
    """Killed between giving the vectors to Chroma and noting that; then the paper is changed."""

    class Killed(VectorStore):
        def upsert(self, *a: object, **k: object) -> None:
            super().upsert(*a, **k)  # type: ignore[arg-type]
            raise KeyboardInterrupt

    put(library, [record(BITTERN, citekey="b")])
    killed = Killed(vectors.folder)
    with pytest.raises(KeyboardInterrupt):
        embed_pending(library, killed, HashEmbedder(), Quiet())
    killed.close()
    assert library.pending() == 0 and lacking(library, vectors) == 5
    put(library, [record(BITTERN + " It is red.", citekey="b")])
    vectors.refresh(library.generation())
    embed_pending(library, vectors, HashEmbedder(), Quiet())
    assert agree(library, vectors) and len(stored(library)) == 6


@pytest.fixture(scope="module")
def nearly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of 300 papers: Chroma holds 900 sentences, and writes its index out at 1,000."""
    folder = tmp_path_factory.mktemp("nearly")
    grown(folder, 300)
    return folder


@pytest.fixture(scope="module")
def made(nearly: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with 400 papers, made by runs that nothing broke."""
    folder = tmp_path_factory.mktemp("made") / "made"
    shutil.copytree(nearly, folder)
    grown(folder, 400)
    return folder


def grown(folder: Path, papers: int) -> None:
    library = Library(folder)
    put(library, [record(numbered(n), n) for n in range(papers)])
    with closing(VectorStore(folder / "vectors")) as store:
        embed_pending(library, store, HashEmbedder(), Quiet())
    library.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    library.close()


def found_by(library: Library, store: VectorStore) -> list[tuple[str, float]]:
    """What some questions find, with scores."""
    questions = [f"It comes to {n} grams of quent{n}, zabu{n} and hemm{n}." for n in range(0, 400, 40)]
    with closing(store):
        retriever = Retriever(library, store, HashEmbedder())
        return [
            (hit.paper.key, hit.score) for question in questions for hit in retriever.search([question], 5)
        ]


def index_files(folder: Path) -> list[tuple[str, int, int]]:
    """What Chroma has written out: name, size and time of each file."""
    found = []
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError):  # replaced this very moment
            if file.suffix in (".bin", ".pickle"):
                found.append((file.name, file.stat().st_size, file.stat().st_mtime_ns))
    return sorted(found)


@pytest.mark.parametrize("delay", [0.0, 0.002, 0.01])
def test_a_kill_while_chroma_writes_its_index_out_repeats_no_embedding(
    tmp_path: Path, nearly: Path, made: Path, delay: float
) -> None:
    """C62: this left an index that lost vectors, or crashed who opened it."""
    folder = tmp_path / "killed"
    shutil.copytree(nearly, folder)
    before = index_files(folder)
    with indexer(folder, "400") as process:
        until(process, "embedding 0")
        while process.poll() is None and index_files(folder) == before:
            pass
        time.sleep(delay)
        process.kill()
        process.wait(30)
    library, embedder = Library(folder), HashEmbedder()
    left = library.pending()
    with writer_lock(folder, lambda who: pytest.fail(f"still locked by {who}")):
        store = VectorStore(folder / "vectors")
        if disagreement(library, store):
            empty(library, store)
        assert embed_pending(library, store, embedder, Quiet()) == left
    assert embedder.encoded == left * 4, "nothing that was marked is embedded again"
    assert agree(library, store) and disagreement(library, store) == ""
    assert found_by(library, store) == found_by(Library(made), VectorStore(made / "vectors"))


# --------------------------------------------------------------------------------------------- locks


def test_a_second_indexer_waits_and_says_who_holds_the_lock(tmp_path: Path) -> None:
    with indexer(tmp_path, "200", "--slow") as first:
        until(first, "embedding 0")
        with indexer(tmp_path) as second:
            until(second, f"waiting for process {first.pid}")
            until(first, "done")
            until(second, "holding")
            until(second, "done")
    library = Library(tmp_path)
    assert library.size()[0] == 200 and agree(library, VectorStore(tmp_path / "vectors"))


def test_a_killed_indexer_leaves_no_lock(tmp_path: Path) -> None:
    with indexer(tmp_path, "200", "--slow") as first, indexer(tmp_path, "--slow") as second:
        until(first, "embedding")
        first.kill()
        until(second, "embedding")


def test_waiting_can_be_limited_and_the_lock_is_given_back(tmp_path: Path) -> None:
    told: list[str] = []
    with writer_lock(tmp_path, told.append):
        with pytest.raises(LibraryError, match=f"is being written by process {os.getpid()}; try again later"):
            with writer_lock(tmp_path, told.append, timeout=0.1):
                raise AssertionError("two writers")
        assert told == [f"process {os.getpid()}"]
    with pytest.raises(ValueError), writer_lock(tmp_path, told.append):
        raise ValueError
    with writer_lock(tmp_path, told.append):
        pass
    assert len(told) == 1


def test_a_holder_that_left_no_name_is_another_process(tmp_path: Path) -> None:
    told: list[str] = []
    with writer_lock(tmp_path, told.append):
        (tmp_path / "writer.pid").write_text("")
        with pytest.raises(LibraryError), writer_lock(tmp_path, told.append, timeout=0):
            pass
    assert told == ["another process"]


def test_a_place_that_cannot_be_locked_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LibraryError, match=r"file/home cannot be written: .*\. Check its rights"):
        with writer_lock(tmp_path / "file" / "home", print):
            raise AssertionError("no lock")


# ----------------------------------------------------------------------------------- other embedders


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (HashEmbedder(dim=64), r"indexed with hash \(32 numbers a vector\), the settings say hash \(64\)"),
        (
            HashEmbedder(name="other"),
            r"indexed with hash \(32 numbers a vector\), the settings say other \(32\)",
        ),
    ],
    ids=["another size", "the same size"],
)
def test_vectors_of_two_embedders_never_mix(
    library: Library, vectors: VectorStore, other: HashEmbedder, said: str
) -> None:
    """C22: two models of one size would give no error by themselves, only nonsense."""
    put(library, [record(BITTERN)])
    embed_pending(library, vectors, HashEmbedder(), Quiet())
    put(library, [record(DUNLIN)], "more.txt")
    for refused in (
        lambda: check_settings(library, other),
        lambda: embed_pending(library, vectors, other, Quiet()),
    ):
        with pytest.raises(IndexMismatch, match=said + r"\. Run: pincite index --rebuild"):
            refused()
    assert library.pending() == 1 and other.encoded == 0
    forget_vectors(library)
    assert embed_pending(library, vectors, other, Quiet()) == 2
    assert agree(library, vectors)
    with pytest.raises(IndexMismatch):
        check_settings(library, HashEmbedder())


def test_other_weights_or_chunks_under_the_same_name_are_told_as_such(
    library: Library, vectors: VectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed_pending(library, vectors, HashEmbedder(), Quiet())
    changed = HashEmbedder()
    changed.fingerprint = "other-bytes"
    with pytest.raises(
        IndexMismatch, match=r"say hash \(32, with other weights or chunks\). Run: pincite index"
    ):
        check_settings(library, changed)
    monkeypatch.setattr("rag.indexing.CHUNKING", "another way")
    with pytest.raises(IndexMismatch, match="with other weights or chunks"):
        check_settings(library, HashEmbedder())


def test_looking_does_not_bind_an_empty_collection_to_an_embedder(library: Library) -> None:
    check_settings(library, HashEmbedder(name="first"))
    check_settings(library, HashEmbedder(name="second"))


# ------------------------------------------------------------------------- agreement, and mending it


@pytest.fixture
def hundred(library: Library, vectors: VectorStore) -> Library:
    put(library, [record(numbered(n), n) for n in range(100)])
    embed_pending(library, vectors, HashEmbedder(), Quiet())
    return library


def test_what_agrees_is_found_to_agree(hundred: Library, vectors: VectorStore, tmp_path: Path) -> None:
    assert disagreement(hundred, vectors) == ""
    put(hundred, [record(DUNLIN)], "more.txt")
    assert disagreement(hundred, vectors) == "", "a paper that is not embedded yet is no disagreement"
    assert disagreement(Library(tmp_path / "new"), vectors) == "", "nothing to look for"


def test_vectors_that_were_lost_are_noticed(hundred: Library, vectors: VectorStore) -> None:
    vectors.delete([name for name in stored(hundred) if ".s" in name])
    found = disagreement(hundred, vectors)
    lost = int(found.split()[0])
    assert found == f"{lost} of 12 sampled vectors are not found" and lost > 4, "three in four are gone"
    vectors.close()
    shutil.rmtree(vectors.folder)
    assert disagreement(hundred, VectorStore(vectors.folder)) == "12 of 12 sampled vectors are not found"


def test_a_store_that_fails_is_a_disagreement(hundred: Library, vectors: VectorStore) -> None:
    class Broken(VectorStore):
        def missing(self, names: object) -> list[str]:
            raise LibraryError("it burns")

    assert disagreement(hundred, Broken(vectors.folder)) == "the vectors cannot be searched (it burns)"


# ---------------------------------------------------- what `pincite index` and the page run at the end


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", offline=True)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[HashEmbedder]:
    """Embedders that were opened, each of them a bag of words."""
    made: list[HashEmbedder] = []

    def embedder_of(*_: object, **__: object) -> HashEmbedder:
        made.append(HashEmbedder())
        return made[-1]

    monkeypatch.setattr(rag.opening, "embedder_of", embedder_of)
    return made


@pytest.fixture
def large(made: Path, settings: Settings) -> Library:
    """A copy of it, in the place of the settings' collection."""
    shutil.copytree(made, settings.collection_dir)
    return Library(settings.collection_dir)


def fresh(settings: Settings) -> VectorStore:
    return VectorStore(settings.collection_dir / "vectors")


def test_the_embedder_is_opened_only_if_there_is_something_to_embed(
    settings: Settings, opened: list[HashEmbedder]
) -> None:
    library = Library(settings.collection_dir)
    assert bring_up_to_date(settings, library, Quiet()) == 0 and opened == []
    put(library, [record(BITTERN, citekey="b"), record(DUNLIN, citekey="d")])
    assert bring_up_to_date(settings, library, Quiet()) == 2 and len(opened) == 1
    remove(library, "b")
    assert bring_up_to_date(settings, library, Quiet()) == 0 and len(opened) == 1
    assert agree(library, fresh(settings))


def test_other_settings_of_answers_embed_nothing_anew(settings: Settings, opened: list[HashEmbedder]) -> None:
    """C63."""
    library = Library(settings.collection_dir)
    put(library, [record(BITTERN)])
    bring_up_to_date(settings, library, Quiet())
    other = settings.model_copy(update={"papers": 2, "answer_tokens": 99, "llm": "another", "context": 2048})
    assert bring_up_to_date(other, library, Quiet()) == 0 and len(opened) == 1


def damaged_by(how: str) -> Callable[[Path], None]:
    def deleted(folder: Path) -> None:
        shutil.rmtree(folder)

    def emptied(folder: Path) -> None:
        store = VectorStore(folder)
        store.clear()
        store.close()

    def killed(folder: Path) -> None:
        folder.with_name("vectors.whole").unlink()

    def garbage(folder: Path) -> None:
        file = folder / "chroma.sqlite3"
        file.write_bytes(b"garbage" * file.stat().st_size)

    def cut(folder: Path) -> None:
        files = list(folder.rglob(how))
        assert files
        for file in files:
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])

    return {"deleted": deleted, "emptied": emptied, "a kill": killed, "garbage": garbage}.get(how, cut)


DAMAGE = [
    "deleted",
    "emptied",
    "chroma.sqlite3",
    "*.bin",
    "header.bin",
    "index_metadata.pickle",
    "garbage",
    "a kill",
]


@pytest.mark.parametrize(
    ("how", "rebuild"), [*((how, False) for how in DAMAGE), ("garbage", True), ("emptied", True)]
)
def test_lost_vectors_come_back_from_the_library_without_an_embedding(
    settings: Settings, large: Library, opened: list[HashEmbedder], how: str, rebuild: bool
) -> None:
    """C62: whatever is left of Chroma's files; no source file exists, and no embedder is asked."""
    library, heard = large, Heard()
    before = found_by(library, fresh(settings))
    damaged_by(how)(settings.collection_dir / "vectors")
    assert bring_up_to_date(settings, library, heard, rebuild=rebuild) == 0
    assert heard.steps[0][0].startswith("filling" if rebuild else "mending: ")
    assert sum(one.encoded for one in opened) == 0
    assert agree(library, fresh(settings))
    assert found_by(library, fresh(settings)) == before
    assert bring_up_to_date(settings, library, Quiet()) == 0


@pytest.mark.parametrize("how", ["*.bin", "garbage", "a kill"])
def test_a_reader_mends_what_nobody_else_is_about_to_mend(
    settings: Settings, large: Library, opened: list[HashEmbedder], how: str
) -> None:
    """`ask` and `search` after a kill or a power cut."""
    library = large
    damaged_by(how)(settings.collection_dir / "vectors")
    with writer_lock(library.folder, print):
        retriever = retriever_of(settings)
        assert retriever.vectors.damaged
        assert retriever.search(["grams of quent41, zabu41 and hemm41"])[0].why.sentence_score > 0.5, (
            "the library's own vectors weigh what the words find"
        )
    retriever = retriever_of(settings)
    assert retriever.vectors.damaged == "" and agree(library, retriever.vectors)
    assert sum(one.encoded for one in opened) == 1, "the question alone"


def test_a_reader_sees_what_a_writer_mended(
    settings: Settings, large: Library, opened: list[HashEmbedder]
) -> None:
    """A page that was opened over damage while another process held the lock."""
    library = large
    damaged_by("a kill")(settings.collection_dir / "vectors")
    with writer_lock(library.folder, print):
        retriever = retriever_of(settings)
        bring_up_to_date(settings, library, Quiet())
    assert retriever.search(["the weight of it"])[0].why.vector_rank == 1
    assert retriever.vectors.damaged == ""


def test_what_a_kill_left_out_of_chroma_is_given_by_the_next_reader(
    settings: Settings, opened: list[HashEmbedder], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between storing vectors in the library and giving them to Chroma."""
    library = Library(settings.collection_dir)
    put(library, [record(numbered(n), n) for n in range(10)])
    with monkeypatch.context() as killed, pytest.raises(KeyboardInterrupt):
        killed.setattr(VectorStore, "upsert", interrupted)
        bring_up_to_date(settings, library, Quiet())
    assert library.pending() == 0
    with writer_lock(library.folder, print):
        assert lacking(library, retriever_of(settings).vectors) == 40, "the writer will do it"
    assert agree(library, retriever_of(settings).vectors)
    assert opened[0].encoded == 40


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_rebuild_opens_the_embedder_only_to_see_that_it_is_the_same(
    settings: Settings, opened: list[HashEmbedder]
) -> None:
    library = Library(settings.collection_dir)
    put(library, [record(BITTERN), record(DUNLIN)])
    bring_up_to_date(settings, library, Quiet(), rebuild=True)
    assert bring_up_to_date(settings, library, Quiet(), rebuild=True) == 0
    assert [one.encoded for one in opened] == [10, 0], "one to embed, one to look at"
    assert agree(library, fresh(settings))


def test_a_collection_that_kept_its_vectors_in_chroma_alone_is_embedded_anew_once(
    settings: Settings, opened: list[HashEmbedder], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = settings.collection_dir
    made = Library(folder.with_name("made"))
    put(made, [record(BITTERN), record(DUNLIN)])
    mark_embedded(made)
    with monkeypatch.context() as older:
        older.setattr("rag.schema.MIGRATIONS", schema.MIGRATIONS[:2])
        old = Library(folder)
        for table, columns in (
            ("papers", "id, key, paper, content, embedded"),
            ("sentences", "paper_id, ordinal, start, stop"),
        ):
            for row in made.db.execute(f"SELECT {columns} FROM {table}"):
                old.db.execute(f"INSERT INTO {table} ({columns}) VALUES ({','.join('?' * len(row))})", row)
        old.put("embedder", "hash 32 hash-32 windows+sentences/1")
        old.close()
    with closing(VectorStore(folder / "vectors")) as store:
        store.upsert(["1.0123456789abcdef.w0.0"], HashEmbedder().documents(["reeds"]))
    (folder / "vectors.whole").unlink()
    library = Library(folder)
    assert bring_up_to_date(settings, library, Quiet()) == 2
    assert agree(library, fresh(settings)) and bring_up_to_date(settings, library, Quiet()) == 0
    assert [one.encoded for one in opened] == [10]


def test_rebuild_changes_the_embedder(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(settings.collection_dir)
    put(library, [record(BITTERN)])
    monkeypatch.setattr(rag.opening, "embedder_of", lambda *_, **__: HashEmbedder())
    bring_up_to_date(settings, library, Quiet())
    monkeypatch.setattr(rag.opening, "embedder_of", lambda *_, **__: HashEmbedder(dim=64, name="wide"))
    put(library, [record(DUNLIN)], "more.txt")
    with pytest.raises(IndexMismatch):
        bring_up_to_date(settings, library, Quiet())
    assert bring_up_to_date(settings, library, Quiet(), rebuild=True) == 2
    check_settings(library, HashEmbedder(dim=64, name="wide"))
    assert {vector.shape for vector in stored_vectors(library).values()} == {(64,)}
    assert agree(library, fresh(settings))


def test_a_chroma_server_elsewhere_is_refused_offline(settings: Settings) -> None:
    elsewhere = settings.model_copy(update={"chroma_url": "http://192.0.2.1:8000"})
    with pytest.raises(
        SettingsError, match=r"http://192\.0\.2\.1:8000 is not on this machine, and .* offline"
    ):
        bring_up_to_date(elsewhere, Library(settings.collection_dir), Quiet())


# ----------------------------------------------------------------------------------- other processes


def test_a_reader_sees_what_another_process_indexed_at_its_next_search(tmp_path: Path) -> None:
    library, store = Library(tmp_path), VectorStore(tmp_path / "vectors")
    put(library, [record(BITTERN)], "first.txt")
    embed_pending(library, store, HashEmbedder(), Quiet())
    retriever = Retriever(library, store, HashEmbedder())
    question = ["It comes to 41 grams of quent41, zabu41 and hemm41."]
    assert retriever.search(question)[0].paper.abstract == BITTERN
    with indexer(tmp_path, "60") as process:
        until(process, "done")
    hit = retriever.search(question)[0]
    assert hit.paper.abstract == numbered(41) and hit.best_sentence == 2
    assert hit.why.vector_rank == 1 and hit.why.sentence_score > 0.8


def test_a_reader_can_search_all_the_while_another_process_indexes(tmp_path: Path) -> None:
    library = Library(tmp_path)
    put(library, [record(BITTERN)], "first.txt")
    store = VectorStore(tmp_path / "vectors")
    embed_pending(library, store, HashEmbedder(), Quiet())
    retriever = Retriever(library, store, HashEmbedder())
    seen: list[int] = []
    with indexer(tmp_path, "300", "--slow") as process:
        until(process, "embedding 0")
        while process.poll() is None:
            seen.append(
                sum(hit.why.vector_rank is not None for hit in retriever.search(["grams of krell9"], 999))
            )
        assert process.returncode == 0
    assert seen[0] < seen[-1], "it saw more and more of them"


# --------------------------------------------------------------------------------------------- files


def test_a_file_that_cannot_be_read_is_told(library: Library, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.txt cannot be read: No such file or directory\."):
        import_file(library, tmp_path / "nowhere.txt", Quiet())
    with pytest.raises(InputError, match="Is a directory"):
        file_digest(tmp_path)
