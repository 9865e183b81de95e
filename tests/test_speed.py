"""What `pincite bench` measures, with doubles for what would take long."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from desk import assistant_at
from fakes import HashEmbedder, ScriptedModel

from eval import speed, synthetic
from rag.errors import PinciteError
from rag.indexing import Quiet, disagreement
from rag.model import Finish
from rag.retrieve import Retriever
from rag.settings import Settings
from ui.commands.bench import bench


def test_spread_is_median_and_p95() -> None:
    assert speed.spread([0.4, 0.1, 0.2, 0.3, 9.0]) == {"median": 0.3, "p95": 9.0}


# --- made-up collections ---


def test_made_up_papers_are_always_the_same_and_all_different() -> None:
    first, again = (list(synthetic.records(300, ["kiln"])) for _ in range(2))
    assert first == again
    assert len({r.abstract for r in first}) == 300
    assert any("kiln" in r.abstract.casefold().replace(".", "").split() for r in first)
    assert all(r.abstract.count(".") == synthetic.SENTENCES for r in first)


def test_scattered_vectors_are_unit_repeatable_and_clustered() -> None:
    embedder = synthetic.ScatteredEmbedder(48)
    vectors = embedder.documents([f"text {n}" for n in range(400)])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors[7], embedder.documents(["text 7"])[0])
    nearest = np.sort(vectors @ vectors.T, axis=1)[:, -2]
    assert np.median(nearest) > 0.4  # texts of one topic are near each other, as in life


def test_a_made_up_collection_is_an_ordinary_one(tmp_path: Path) -> None:
    library, vectors = synthetic.build(tmp_path, 40, 32, ["kiln"], Quiet())
    assert library.size() == (40, 120) and library.pending() == 0
    assert (vectors.count("window"), vectors.count("sentence")) == (40, 120)
    assert disagreement(library, vectors) == ""
    assert len(Retriever(library, vectors, HashEmbedder(32)).search(["kiln"], 5)) == 5


def test_searches_over_made_up_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    found = speed.search_seconds(30, HashEmbedder(32), Quiet())
    assert set(found) == {"median", "p95"} and 0 < found["median"] <= found["p95"]


# --- against the bare libraries ---


class Clock:
    """Time that passes only when something is done."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr("eval.speed.time.perf_counter", lambda: self.now)


def test_decoding_is_counted_from_the_first_token(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    class Model:
        def stream(self, prefix: Any, messages: Any, *, max_tokens: int) -> Any:
            clock.now += 5  # reading the prompt
            for _ in range(max_tokens):
                yield "one "
                clock.now += 0.04
            return Finish("length", 9, max_tokens)

        def bare_seconds(self, prefix: Any, messages: Any, tokens: int) -> float:
            return tokens * 0.03

    rates = speed.decode_ratio(Model())  # type: ignore[arg-type]
    # 64 tokens after the first in 65 x 0.04 = 2.6 s; bare 64 in 1.92 s
    assert rates == {"ours": 24.62, "bare": 33.33}


def test_embedding_is_counted_in_texts_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    class Embedder:
        def __init__(self, seconds: float) -> None:
            self.seconds = seconds

        def documents(self, texts: Any) -> None:
            clock.now += self.seconds * len(texts)

        encode = documents

    rates = speed.embed_ratio(Embedder(0.02), Embedder(0.04), ["a"] * 10)  # type: ignore[arg-type]
    assert rates == {"ours": 50.0, "bare": 25.0}


# --- other processes ---


@pytest.fixture
def page() -> Any:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def command(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.setattr(speed, "COMMAND", (sys.executable, "-c", script))


def test_a_page_is_timed_until_it_answers(monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    say = f"import sys, time; print('loading', file=sys.stderr); print('Ready: {page}', file=sys.stderr, flush=True)"
    command(monkeypatch, f"{say}; time.sleep(60)")
    assert 0 < speed.page_seconds([]) < 30


def test_a_page_that_does_not_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    command(monkeypatch, "raise SystemExit(1)")
    with pytest.raises(PinciteError, match="The page did not start"):
        speed.page_seconds([])


def test_the_memory_of_indexing_is_that_of_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = "import sys; text = open(sys.argv[-1]).read(); assert text.count('\\n\\n') == 120"
    command(monkeypatch, f"{read}; big = bytearray(150_000_000)")
    assert 150 <= speed.index_peak_mb(tmp_path, {}) < 400
    command(monkeypatch, "raise SystemExit(3)")
    with pytest.raises(PinciteError, match=r"failed \(exit 3\)"):
        speed.index_peak_mb(tmp_path, {})


# --- the command ---


class Ctx:
    def __init__(self, tmp_path: Path) -> None:
        said = ["TidalNet trains 2.6 times faster [1]."] * 20
        self.assistant = assistant_at(tmp_path, ScriptedModel(said))
        self.settings = Settings(home=tmp_path, llm_name="small")

    def open_assistant(self) -> Any:
        return self.assistant

    def progress(self) -> Any:
        from ui.progress import Bar

        return Bar(True)


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(speed, "help_seconds", lambda: 0.3)
    monkeypatch.setattr(speed, "page_seconds", lambda options: 2.5)
    monkeypatch.setattr(speed, "index_peak_mb", lambda models, env: 700)
    context = Ctx(tmp_path)
    return lambda *arguments: CliRunner().invoke(bench, arguments, obj=context)


def test_bench_has_the_keys_of_the_interface(call: Any) -> None:
    done = call("--json", "--sizes", "20")
    assert done.exit_code == 0, done.exception
    found = json.loads(done.stdout)
    assert set(found) == {
        *("help_s", "page_s", "first_token_cold_s", "evidence_s", "first_token_s", "total_s"),
        *("decode_ratio", "embed_ratio", "search_s", "peak_mb"),
    }
    assert set(found["search_s"]) == {"3", "20"} and found["page_s"] == 2.5
    assert found["peak_mb"]["index"] == 700 and found["peak_mb"]["chat"] > 20
    assert found["decode_ratio"] is None and found["embed_ratio"] is None  # a scripted model, no ONNX


@pytest.mark.parametrize("sizes", ["many", "0", "-5", "1000001", "10;20"])
def test_sizes_that_are_none(call: Any, sizes: str) -> None:
    done = call("--sizes", sizes)
    assert done.exit_code == 2 and "--sizes takes numbers" in done.stderr


def test_without_made_up_collections(call: Any) -> None:
    lines = call("--sizes", "").stdout.splitlines()
    assert next(line for line in lines if line.startswith("search_s")).count("median") == 1
