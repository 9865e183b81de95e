"""Vectors in a real Chroma: embedded in a folder, and behind a server on this machine."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.embed import Vectors
from rag.errors import LibraryError
from rag.stored import Kind, VectorName, parse
from rag.vector_files import VectorFiles
from rag.vectors import VectorStore

DIM = 16


@pytest.fixture
def store(tmp_path: Path) -> Iterator[VectorStore]:
    store = VectorStore(tmp_path / "vectors")
    yield store
    store.close()


def unit(n: int, seed: int = 0) -> Vectors:
    """`n` unit vectors in random directions."""
    made = np.random.default_rng(seed).normal(size=(n, DIM)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def name(paper: int, kind: Kind = "window", first: int = 0, part: int = 0) -> str:
    return str(VectorName(paper, "c0ffee", kind, first, part))


def names(n: int) -> list[str]:
    return [name(paper) for paper in range(1, n + 1)]


def named(n: int) -> dict[str, Vectors]:
    return dict(zip(names(n), unit(n), strict=True))


def at(degrees: float) -> Vectors:
    """The unit vector at an angle to the first axis."""
    out = np.zeros(DIM, dtype=np.float32)
    out[:2] = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return out


# ------------------------------------------------------------------------------------ store and delete


def test_storing_a_name_again_keeps_one_vector_and_the_new_one(store: VectorStore) -> None:
    """C16."""
    store.upsert(names(2), unit(2))
    store.upsert(names(1), np.stack([at(90)]))
    assert store.count("window") == 2 and store.count("sentence") == 0
    assert store.nearest(at(90), "window", 1) == [(parse(name(1)), pytest.approx(1))]


def test_windows_and_sentences_are_kept_apart(store: VectorStore) -> None:
    store.upsert([name(1), name(1, "sentence", 0), name(1, "sentence", 1)], unit(3))
    assert (store.count("window"), store.count("sentence")) == (1, 2)
    assert {hit.kind for hit, _ in store.nearest(unit(1)[0], "sentence", 9)} == {"sentence"}


@pytest.mark.parametrize("limit", [7, 166])
def test_no_call_is_larger_than_chroma_allows(
    store: VectorStore, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    """C17, C18: storing and deleting alike; nothing is lost."""
    sizes: list[int] = []
    monkeypatch.setattr(store.client, "get_max_batch_size", lambda: limit)
    for method in ("upsert", "delete"):
        real = getattr(store.collections["window"], method)

        def counted(*, ids: list[str], real: Any = real, **more: Any) -> Any:
            sizes.append(len(ids))
            return real(ids=ids, **more)

        monkeypatch.setattr(store.collections["window"], method, counted)
    store.upsert(names(400), unit(400))
    assert store.count("window") == 400 and max(sizes) == limit and sum(sizes) == 400
    store.delete(names(399))
    assert store.count("window") == 1 and max(sizes) == limit and sum(sizes) == 400 + 399


def test_deleting_what_is_not_there_is_no_error(store: VectorStore) -> None:
    store.upsert(names(1), unit(1))
    store.delete([name(1), name(2), name(3, "sentence")])
    assert store.count("window") == 0 and store.nearest(at(0), "window", 5) == []


def test_clearing_empties_one_collection_and_leaves_it_usable(store: VectorStore) -> None:
    store.upsert(names(3), unit(3))
    store.clear()
    assert store.count("window") == 0
    store.upsert(names(1), unit(1))
    assert store.missing(named(1)) == []


# ------------------------------------------------------------------------------------------- nearness


def test_a_score_is_the_cosine_cut_at_zero_and_falls_with_the_angle(store: VectorStore) -> None:
    """C33: an identical vector scores 1, an orthogonal one 0, an opposite one 0, and nothing leaves 0 to 1."""
    angles = (0, 20, 60, 89, 90, 120, 180)
    store.upsert(names(len(angles)), np.stack([at(angle) for angle in angles]))
    hits = store.nearest(at(0), "window", 20)
    assert [hit.paper_id for hit, _ in hits[:5]] == [1, 2, 3, 4, 5]
    scores = [score for _, score in hits]
    expected = [1, 0.9397, 0.5, 0.0175, 0, 0, 0]  # cosines of 0, 20, 60, 89 degrees; from 90 on 0
    assert scores == pytest.approx(expected, abs=1e-4)
    assert scores == sorted(scores, reverse=True) and 0 <= min(scores) and max(scores) <= 1


def test_the_length_of_a_vector_does_not_matter(store: VectorStore) -> None:
    """Cosine space: by Chroma's default, squared distance, the shorter vector would win."""
    store.upsert(names(2), np.stack([at(10) * 9, at(40)]))
    assert store.nearest(at(0), "window", 1)[0][0].paper_id == 1


def test_an_empty_store_finds_nothing(store: VectorStore) -> None:
    assert store.nearest(at(0), "window", 5) == []


@pytest.mark.parametrize("filter_most", [2000, 3], ids=["few", "many"])
def test_only_the_papers_asked_for_are_found(
    store: VectorStore, monkeypatch: pytest.MonkeyPatch, filter_most: int
) -> None:
    """Few papers are named in the filter, of many the hits are sifted; both find the same."""
    monkeypatch.setattr("rag.vectors.FILTER_MOST", filter_most)
    vectors = unit(300)
    store.upsert(names(300), vectors)
    question, wanted = vectors[0], set(range(280, 300))
    order = sorted(wanted, key=lambda paper: -float(vectors[paper - 1] @ question))
    assert [hit.paper_id for hit, _ in store.nearest(question, "window", 5, wanted)] == order[:5]
    assert len(store.nearest(question, "window", 50, wanted)) == 20, "as many as there are"
    assert store.nearest(question, "window", 5, {1})[0][0].paper_id == 1
    assert store.nearest(question, "window", 5, set()) == []
    assert store.nearest(question, "window", 5, {999}) == []


def test_missing_names_what_a_search_does_not_find(store: VectorStore) -> None:
    store.upsert(names(50), unit(50))
    assert store.missing(named(50)) == []
    store.delete([name(7), name(9)])
    assert store.missing(named(50)) == [name(7), name(9)]


def test_twenty_copies_of_one_vector_are_not_missing(store: VectorStore) -> None:
    store.upsert(names(20), np.stack([at(30)] * 20))
    assert store.missing(dict.fromkeys(names(20), at(30))) == []


# ------------------------------------------------------------------------------------ other processes

WRITER = """
import json, sys
import numpy as np
from pathlib import Path
from rag.vectors import VectorStore
store = VectorStore(Path(sys.argv[1]))
for names, vectors in map(json.loads, sys.stdin):
    store.clear() if names is None else store.upsert(names, np.array(vectors, dtype=np.float32))
"""


def write_elsewhere(folder: Path, *steps: tuple[list[str] | None, Vectors]) -> None:
    """Another process stores vectors; None clears the store."""
    lines = "".join(json.dumps([names, vectors.tolist()]) + "\n" for names, vectors in steps)
    subprocess.run([sys.executable, "-c", WRITER, folder], input=lines, text=True, check=True, timeout=60)


def test_refresh_sees_what_another_process_wrote(store: VectorStore) -> None:
    store.upsert(names(5), unit(5))
    store.refresh(1)
    assert store.nearest(at(0), "window", 1)
    write_elsewhere(store.folder, ([name(77)], np.stack([at(33)])))
    store.refresh(1)
    assert store.nearest(at(33), "window", 1)[0][0].paper_id != 77, (
        "Chroma sees others' writes now: reopen less"
    )
    store.refresh(2)
    assert store.nearest(at(33), "window", 1) == [(parse(name(77)), pytest.approx(1))]


def test_the_first_refresh_sees_it_too(store: VectorStore) -> None:
    """A page that has looked at the store before its first question."""
    store.upsert(names(5), unit(5))
    assert store.missing(named(5)) == []
    write_elsewhere(store.folder, ([name(77)], np.stack([at(33)])))
    store.refresh(9)
    assert store.nearest(at(33), "window", 1)[0][0].paper_id == 77


def test_a_reader_outlives_a_rebuild_by_another_process(store: VectorStore) -> None:
    """It never fails, and sees the new vectors at the next generation."""
    store.upsert(names(5), unit(5))
    store.refresh(1)
    assert store.nearest(at(33), "window", 1)
    write_elsewhere(store.folder, (None, unit(0)), ([name(77)], np.stack([at(33)])))
    store.nearest(at(33), "window", 1)
    store.refresh(2)
    assert store.count("window") == 1 and store.nearest(at(33), "window", 1)[0][0].paper_id == 77


def test_reopening_gives_files_and_threads_back(store: VectorStore) -> None:
    """A page that is asked while thousands of papers are indexed reopens its store each time."""
    store.upsert(names(50), unit(50))

    def held() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

    for generation in range(3):
        store.refresh(generation)
        store.nearest(at(0), "window", 3)
    before = held()
    for generation in range(3, 15):
        store.refresh(generation)
        assert store.nearest(at(0), "window", 3)
    files, threads = held()
    assert files <= before[0] + 10 and threads <= before[1] + 6, f"{before} became {(files, threads)}"


def test_two_stores_of_one_process_do_not_disturb_each_other(tmp_path: Path) -> None:
    writer, reader = VectorStore(tmp_path / "v"), VectorStore(tmp_path / "v")
    elsewhere = VectorStore(tmp_path / "w")
    writer.upsert(names(3), unit(3))
    reader.refresh(1)
    assert len(reader.nearest(at(0), "window", 9)) == 3
    writer.upsert([name(77)], np.stack([at(33)]))
    reader.refresh(2)
    assert reader.nearest(at(33), "window", 1)[0][0].paper_id == 77
    reader.close()
    assert writer.count("window") == 4 and elsewhere.count("window") == 0


def test_processes_that_create_one_store_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    code = (
        "import sys, chromadb; from pathlib import Path; from rag.vectors import VectorStore\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "for n in range(3): print(VectorStore(Path(sys.argv[1], str(n))).count('window'))"
    )
    crowd = [
        subprocess.Popen(
            [sys.executable, "-c", code, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    assert [one.stdout.readline() for one in crowd if one.stdout] == ["ready\n"] * 2
    for one in crowd:
        assert one.stdin
        one.stdin.write("go\n")
        one.stdin.flush()
    assert [one.communicate(timeout=60)[0] for one in crowd] == ["0\n0\n0\n"] * 2


# -------------------------------------------------------------------------------------------- damage


def halve(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize(
    "damage",
    [
        "chroma.sqlite3",
        "data_level0.bin",
        "header.bin",
        "length.bin",
        "link_lists.bin",
        "index_metadata.pickle",
        "gone",
    ],
)
def test_files_that_lost_their_end_are_never_opened_and_clearing_mends_them(
    tmp_path: Path, damage: str
) -> None:
    """C62: native code reads them, and can crash. What a power cut leaves."""
    store = VectorStore(tmp_path / "vectors")
    store.upsert(names(1200), unit(1200))
    store.close()
    if damage == "gone":
        shutil.rmtree(next(store.folder.rglob("header.bin")).parent)
    else:
        halve(next(store.folder.rglob(damage)))
    damaged = VectorStore(tmp_path / "vectors")
    assert damaged.damaged == "were left unfinished"
    assert damaged.count("window") == 0 and damaged.nearest(at(0), "window", 5) == []
    assert damaged.missing(named(3)) == names(3)
    with pytest.raises(
        LibraryError, match=r"vectors at .* were left unfinished\. Run: pincite index --rebuild"
    ):
        damaged.upsert(names(1), unit(1))
    damaged.clear()
    damaged.upsert(names(5), unit(5))
    assert damaged.damaged == "" and damaged.missing(named(5)) == []


def test_a_store_that_chroma_cannot_open_is_damaged_until_it_is_cleared(tmp_path: Path) -> None:
    VectorStore(tmp_path / "vectors").close()
    file = tmp_path / "vectors" / "chroma.sqlite3"
    file.write_bytes(b"garbage" * file.stat().st_size)
    store = VectorStore(tmp_path / "vectors")
    assert store.damaged.startswith("cannot be opened (") and "not a database" in store.damaged
    assert not (tmp_path / "vectors.whole").exists()
    store.clear()
    assert store.damaged == "" and store.count("window") == 0


def test_a_file_in_place_of_the_folder_is_damage_too(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_text("")
    store = VectorStore(tmp_path / "vectors")
    assert store.damaged
    store.clear()
    assert store.damaged == "" and (tmp_path / "vectors").is_dir()


KILLED = """
import os, signal, sys
from pathlib import Path
from rag.vector_files import VectorFiles
with VectorFiles(Path(sys.argv[1])).touching():
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_died_while_it_touched_the_files_leaves_them_unused(store: VectorStore) -> None:
    """A kill while Chroma writes, or a crash while it opens what a power cut left: nobody crashes again."""
    store.upsert(names(3), unit(3))
    assert subprocess.run([sys.executable, "-c", KILLED, store.folder], timeout=60).returncode == -9
    assert VectorStore(store.folder).damaged == "were left unfinished"
    assert store.count("window") == 3, "who has them open goes on"
    store.upsert([name(77)], np.stack([at(33)]))
    assert VectorStore(store.folder).count("window") == 4, "and what it writes is whole"


def test_ctrl_c_leaves_the_files_whole_and_a_fault_does_not(tmp_path: Path) -> None:
    """Ctrl-C comes between Chroma's calls: nothing has to be filled again."""
    files = VectorFiles(tmp_path / "vectors")
    files.folder.mkdir()
    assert not files.whole(), "nobody knows who wrote it"
    with files.touching():
        pass
    with pytest.raises(KeyboardInterrupt), files.touching():
        assert not files.whole()
        raise KeyboardInterrupt
    assert files.whole()
    with pytest.raises(OSError), files.touching():
        raise OSError
    assert not files.whole()


def test_who_writes_for_too_long_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.vector_files.WAIT_S", 0.05)
    with VectorFiles(tmp_path / "vectors").alone():
        with pytest.raises(LibraryError, match="are being written by another process; try again"):
            VectorStore(tmp_path / "vectors")


def test_a_reader_opens_between_the_pages_of_one_that_writes_on_and_on(tmp_path: Path) -> None:
    """It never sees half-written files, and is not kept out."""
    code = (
        "import sys, numpy as np; from pathlib import Path; from rag.vectors import VectorStore\n"
        "from rag.stored import VectorName; store = VectorStore(Path(sys.argv[1]))\n"
        "rng = np.random.default_rng(1); page = 0\n"
        "while True:\n"
        "    page += 1; names = [str(VectorName(page * 1000 + n, 'c', 'window', 0)) for n in range(500)]\n"
        "    store.upsert(names, rng.normal(size=(500, 16)).astype(np.float32)); print(page, flush=True)\n"
    )
    command = [sys.executable, "-c", code, tmp_path / "vectors"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        try:
            assert writer.stdout and writer.stdout.readline() == "1\n"
            seen = []
            for _ in range(8):
                store = VectorStore(tmp_path / "vectors")
                assert store.damaged == "" and store.nearest(at(0), "window", 3)
                seen.append(store.count("window"))
                store.close()
        finally:
            writer.kill()
    assert seen == sorted(seen)


# -------------------------------------------------------------------------------------------- server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Chroma server on this machine; it ends with the tests."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tmp_path_factory.mktemp("server")
    chroma = Path(sys.executable).with_name("chroma")
    command = [chroma, "run", "--path", folder, "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    try:
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def test_a_server_stores_finds_and_forgets(server: str, tmp_path: Path) -> None:
    mine, other = (VectorStore(tmp_path / "unused", server, prefix) for prefix in ("mine", "other"))
    vectors = unit(300)
    mine.upsert(names(300), vectors)
    other.upsert(names(2), unit(2, seed=1))
    mine.refresh(1)
    assert mine.nearest(vectors[4], "window", 1) == [(parse(name(5)), pytest.approx(1))]
    assert mine.nearest(vectors[4], "window", 1, {9, 10})[0][0].paper_id in (9, 10)
    assert mine.missing(named(300)) == []
    mine.delete(names(299))
    assert mine.count("window") == 1
    mine.clear()
    assert mine.count("window") == 0 and other.count("window") == 2, "the other collection is untouched"
    assert not (tmp_path / "unused").exists()


def test_a_reader_of_a_server_outlives_a_rebuild(server: str, tmp_path: Path) -> None:
    writer, reader = (VectorStore(tmp_path, server, "both") for _ in range(2))
    writer.upsert(names(3), unit(3))
    assert len(reader.nearest(at(0), "window", 9)) == 3
    writer.clear()
    writer.upsert([name(77)], np.stack([at(33)]))
    reader.refresh(2)
    assert [hit.paper_id for hit, _ in reader.nearest(at(33), "window", 9)] == [77]


def test_a_server_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.vectors.WAITS", ())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
        with pytest.raises(
            LibraryError, match=f"vectors at {url} cannot be used.*Is the Chroma server running"
        ):
            VectorStore(tmp_path, url)
