"""Speed as users meet it: answers, page, search, decoding, embedding, memory; medians of a few runs."""

from __future__ import annotations

import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from eval import synthetic
from rag.assistant import Assistant
from rag.embed import Embedder, OnnxEncoder
from rag.errors import PinciteError
from rag.indexing import Progress
from rag.model import Message
from rag.nouns import Done, Found
from rag.retrieve import Retriever
from rag.words import terms

if TYPE_CHECKING:
    from rag.llm import LlamaModel

QUESTIONS = (
    "Which method edits audio without any training?",
    "How much faster is structured sparse inference on a GPU?",
    "What does the correlation clustering algorithm cost per update?",
    "How are protein backbones generated?",
    "Which benchmark evaluates the alignment of vision-language models?",
    "What causes the loss to oscillate during training?",
    "How is a test sample adapted with feedback from CLIP?",
)

COMMAND = (sys.executable, "-m", "ui.cli")
PAGE_S = 300.0  # that a page may take to start
ROUNDS = 3  # of each comparison; ours and the bare library take turns
WRITTEN = 64  # tokens
COUNTING = (Message("user", "Count from one to two hundred in English words, parted by commas."),)
INDEXED = 120  # papers: enough that indexing takes its way for many


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile, in seconds."""
    ordered = sorted(values)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    return {"median": round(statistics.median(ordered), 4), "p95": round(p95, 4)}


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def answers(assistant: Assistant, questions: Sequence[str] = QUESTIONS) -> dict[str, Any]:
    """Seconds to the evidence, to the first token and to the end, over the questions; the first is cold."""
    evidence, first, total = [], [], []
    for question in questions:
        start = time.perf_counter()
        for event in assistant.stream(question):
            if isinstance(event, Found):
                evidence.append(time.perf_counter() - start)
            if isinstance(event, Done):
                timing = event.answer.timing
                total.append(timing.total_s)
                if timing.first_token_s is not None:
                    first.append(timing.first_token_s)
    return {
        "first_token_cold_s": round(first[0], 4) if first else None,
        "evidence_s": spread(evidence[1:]),
        "first_token_s": spread(first[1:] or first),
        "total_s": spread(total[1:]),
    }


def help_seconds() -> float:
    """`pincite --help` in a new process, median of five."""
    runs = [
        timed(lambda: subprocess.run([*COMMAND, "--help"], check=True, capture_output=True)) for _ in range(5)
    ]
    return round(statistics.median(runs), 3)


def page_seconds(options: Sequence[str]) -> float:
    """From the start of a process with these global options until its page says that it is ready and answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    start = time.perf_counter()
    process = subprocess.Popen(
        [*COMMAND, *options, "--no-browser", "--port", port],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    stopper = threading.Timer(PAGE_S, process.kill)
    stopper.start()
    try:
        assert process.stderr
        said = next((line for line in process.stderr if line.startswith("Ready: ")), "")
        if not said:
            raise PinciteError("The page did not start. Run pincite to see why.")
        httpx.get(said.removeprefix("Ready: ").strip(), trust_env=False, timeout=60).raise_for_status()
        return round(time.perf_counter() - start, 3)
    finally:
        stopper.cancel()
        process.kill()
        process.communicate()


def decode_ratio(model: LlamaModel) -> dict[str, float]:
    """Tokens a second of ours and of llama.cpp's own loop, with the same file, threads and settings."""
    ours, bare = [], []
    for _ in range(ROUNDS):
        ours.append(_written_per_second(model))
        bare.append(WRITTEN / model.bare_seconds((), COUNTING, WRITTEN))
    return {"ours": round(statistics.median(ours), 2), "bare": round(statistics.median(bare), 2)}


def _written_per_second(model: LlamaModel) -> float:
    stream = model.stream((), COUNTING, max_tokens=WRITTEN + 1)
    next(stream)
    start = time.perf_counter()
    try:
        while True:
            next(stream)
    except StopIteration as end:
        return float((end.value.output_tokens - 1) / (time.perf_counter() - start))


def embed_ratio(embedder: Embedder, encoder: OnnxEncoder, texts: Sequence[str]) -> dict[str, float]:
    """Texts a second of an embedder for documents, and of tokenizers and onnxruntime alone, one text after the
    other on all cores."""
    work: tuple[Callable[[], Any], ...] = (lambda: embedder.documents(texts), lambda: encoder.encode(texts))
    seconds: list[list[float]] = [[], []]
    for one in work:
        one()
    for _ in range(ROUNDS):
        for found, one in zip(seconds, work, strict=True):
            found.append(timed(one))
    ours, bare = (len(texts) / statistics.median(found) for found in seconds)
    return {"ours": round(ours, 1), "bare": round(bare, 1)}


def search_seconds(n: int, embedder: Embedder, progress: Progress) -> dict[str, float]:
    """Searches over a made-up collection of `n` papers, the question's embedding included."""
    known = list(dict.fromkeys(word for question in QUESTIONS for word in terms(question)))
    with tempfile.TemporaryDirectory(prefix="pincite-bench-") as folder:
        library, vectors = synthetic.build(Path(folder), n, embedder.dimension, known, progress)
        try:
            return searches(Retriever(library, vectors, embedder))
        finally:
            vectors.close()
            library.close()


def searches(retriever: Retriever) -> dict[str, float]:
    """Searches that nobody has made before, after one that opens the vectors."""
    retriever.search(["warming up"])
    return spread([timed(lambda q=q: retriever.search([f"{q} please"])) for q in QUESTIONS])  # type: ignore[misc]


_BETWEEN = (
    "import resource, subprocess, sys; "
    "code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode; "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"
)


def index_peak_mb(models: Path, env: Mapping[str, str]) -> int:
    """Peak memory of a process that indexes INDEXED made-up papers into a home of its own."""
    with tempfile.TemporaryDirectory(prefix="pincite-bench-") as folder:
        home = Path(folder)
        (home / "models").symlink_to(models.absolute(), target_is_directory=True)
        file = home / "papers.txt"
        file.write_text("\n\n".join(["Papers", *(r.abstract for r in synthetic.records(INDEXED))]))
        command = [*COMMAND, "--home", folder, "--quiet", "index", str(file)]
        # A process inherits the peak of the one that starts it, so a small one stands between.
        between = [sys.executable, "-c", _BETWEEN, *command]
        done = subprocess.run(between, capture_output=True, text=True, env=dict(env))
        if done.returncode:
            raise PinciteError(f"Indexing {INDEXED} papers failed (exit {done.returncode}).")
        return _mb(int(done.stdout))


def peak_mb() -> int:
    """Peak memory of this process."""
    return _mb(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _mb(maxrss: int) -> int:
    """`ru_maxrss` counts kilobytes on Linux, bytes on macOS."""
    return round(maxrss / (1 << (20 if sys.platform == "darwin" else 10)))
