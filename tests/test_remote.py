"""Models behind an OpenAI-compatible server, against a small one on this machine."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rag.errors import ModelError
from rag.model import Finish, Message
from rag.remote import PROMPT_TOKENS, TURN_TOKENS, RemoteModel
from rag.settings import Settings
from rag.tokens import encoder, o200k

SHARED = Path(__file__).parents[2] / "shared"
RULES, QUESTION = [Message("system", "Be short.")], [Message("user", "Why?")]


def chunk(text: str | None = None, finish: str | None = None, **more: Any) -> str:
    choice = {"index": 0, "delta": {} if text is None else {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice], **more})}\n\n"


Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Notes what it is asked and answers as the test wants."""

    server: Fake  # type: ignore[assignment]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), body))
        self.server.answer(self)

    def send(self, *texts: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for text in texts:
            self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None: ...


class Fake(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.answer: Answer = lambda handler: handler.send()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"


@pytest.fixture
def server() -> Iterator[Fake]:
    with Fake() as fake:
        thread = threading.Thread(target=fake.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield fake
        fake.shutdown()


def drained(stream: Generator[str, None, Finish]) -> tuple[list[str], Finish]:
    pieces = []
    while True:
        try:
            pieces.append(next(stream))
        except StopIteration as end:
            return pieces, end.value


def ask(server: Fake, *texts: str, status: int = 200, **options: Any) -> tuple[list[str], Finish]:
    server.answer = lambda handler: handler.send(*texts, status=status)
    return drained(
        RemoteModel(server.url, "big", api_key="secret").stream(RULES, QUESTION, max_tokens=9, **options)
    )


def test_the_question_is_sent_greedy_and_the_pieces_come_back(server: Fake) -> None:
    usage = {"prompt_tokens": 21, "completion_tokens": 5}
    pieces, finish = ask(
        server,
        ": ping\n\n",
        chunk(""),
        chunk("Because"),
        "event: message\n" + chunk(" so."),
        chunk(finish="stop"),
        f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n",
        "data: [DONE]\n\n",
    )
    assert (pieces, finish) == (["Because", " so."], Finish("stop", 21, 5))
    [(path, headers, body)] = server.asked
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer secret"
    assert body["messages"] == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Why?"},
    ]
    assert (body["model"], body["temperature"], body["max_tokens"], body["stream"]) == ("big", 0, 9, True)


def test_without_usage_pieces_are_counted_and_length_is_told(server: Fake) -> None:
    pieces, finish = ask(server, chunk("a"), chunk("b", "length"))
    expected = PROMPT_TOKENS + 2 * TURN_TOKENS + RemoteModel(server.url, "big").count("Be short.") + 3
    assert (pieces, finish) == (["a", "b"], Finish("length", expected, 2))


def test_template_tokens_and_stop_strings_do_not_pass(server: Fake) -> None:
    assert ask(server, chunk("Yes.<|im"), chunk("_end|>junk"))[0] == ["Yes."]
    assert ask(server, chunk("Yes. E"), chunk("ND no"), stop=["END"])[0] == ["Yes. "]


def test_a_loop_is_cut_and_told(server: Fake) -> None:
    texts = [chunk("It is always the same thing. ")] * 200
    pieces, finish = ask(server, *texts)
    assert (len(pieces), finish.reason) == (2, "loop")


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, "no", r"refuses access \(401\)\. Set PINCITE_API_KEY"),
        (404, "no", r"has no model 'big'.*\(404\).*--llm-name"),
        (500, "out of memory, key secret", r"answered 500: out of memory, key \*\*\*$"),
        (200, "data: {not json\n\n", "sent no chat completion, but: {not json"),
        (200, "data: [1]\n\n", "sent no chat completion"),
        (200, 'data: {"choices": [{"delta": "text"}]}\n\n', "sent no chat completion"),
        (200, 'data: {"error": {"message": "context is full"}}\n\n', "failed: .*context is full"),
        (200, chunk("half"), "broke off before the answer was complete"),
        (200, "", "broke off before the answer was complete"),
        (200, "<html>hello</html>", "broke off before the answer was complete"),
    ],
)
def test_faults_of_a_server_are_named(server: Fake, status: int, body: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        ask(server, body, status=status)


def test_a_connection_that_is_cut_within_an_event_is_named(server: Fake) -> None:
    def cut(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "10000")
        handler.end_headers()
        handler.wfile.write(chunk("half").encode())

    server.answer = cut
    stream = RemoteModel(server.url, "big").stream(RULES, QUESTION, max_tokens=9)
    assert next(stream) == "half"
    with pytest.raises(ModelError, match="broke off"):
        next(stream)


def test_a_refused_connection_is_named() -> None:
    with socket.socket() as probe:  # a port that nobody listens at
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}/v1"
    with pytest.raises(ModelError, match=f"No server answers at {url} .*--llm"):
        drained(RemoteModel(url, "big").stream(RULES, QUESTION, max_tokens=9))


def test_cancel_is_heard_while_the_server_is_silent(server: Fake) -> None:
    release = threading.Event()

    def slow(handler: Handler) -> None:
        handler.send(chunk("a"))
        release.wait(10)

    server.answer = slow
    cancel = threading.Event()
    stream = RemoteModel(server.url, "big").stream(RULES, QUESTION, max_tokens=9, cancel=cancel)
    assert next(stream) == "a"
    threading.Timer(0.05, cancel.set).start()
    started = time.monotonic()
    pieces, finish = drained(stream)
    assert (pieces, finish.reason) == ([], "cancelled")
    assert time.monotonic() - started < 5
    release.set()


def test_a_reader_that_goes_away_ends_the_connection(server: Fake) -> None:
    gone = threading.Event()

    def endless(handler: Handler) -> None:
        handler.send(chunk("a"))
        try:
            for n in range(2000):
                handler.wfile.write(chunk(f"{n} ").encode())
                time.sleep(0.005)
        except OSError:
            gone.set()

    server.answer = endless
    model = RemoteModel(server.url, "big")
    stream = model.stream(RULES, QUESTION, max_tokens=9)
    assert next(stream) == "a"
    stream.close()
    assert gone.wait(5)


def test_a_prompt_that_does_not_fit_is_never_sent(server: Fake) -> None:
    model = RemoteModel(server.url, "big", context=100)
    room = 100 - model.prompt_tokens(RULES, QUESTION)
    model.stream(RULES, QUESTION, max_tokens=room).close()
    with pytest.raises(ModelError, match="about .* tokens; with .* more than the 100"):
        model.stream(RULES, QUESTION, max_tokens=room + 1)
    assert server.asked == []


def test_addresses_names_and_offline_are_checked_before_anything_is_sent() -> None:
    with pytest.raises(ModelError, match="no address of a server"):
        RemoteModel("localhost:8080/v1", "big")
    with pytest.raises(ModelError, match="--llm-name"):
        RemoteModel("http://localhost:8080/v1", "")
    with pytest.raises(ModelError, match="not on this machine"):
        RemoteModel("https://llm.example/v1", "big", offline=True)
    for local in ("http://localhost:8080/v1", "http://127.0.0.1:1/v1", "http://[::1]:1/v1"):
        assert RemoteModel(local, "big", offline=True).fingerprint["name"] == "big"


def test_the_cautious_rule_counts_letters_digits_signs_and_bytes() -> None:
    model = RemoteModel("http://localhost/v1", "big")
    # 2 for "model", 3 digits, 1 sign, 3 bytes of the dash, 2 breaks, 1 wide space = 12, and a tenth
    assert model.count("model 123% –\n\n  ") == 14
    assert model.count("") == 0


@pytest.mark.shared
@pytest.mark.model
def test_the_cautious_rule_is_never_below_real_vocabularies() -> None:
    corpus = SHARED / "corpora" / "icml2024.jsonl.gz"
    models = Settings().models_dir
    real = [
        *map(encoder, sorted(models.glob("*.gguf"))),
        o200k(models / "tiktoken-encodings"),
    ]
    encodings = [encoding for encoding in real if encoding]
    if not corpus.exists() or not encodings:
        pytest.skip("needs the corpora and models")
    model = RemoteModel("http://localhost/v1", "big")
    with gzip.open(corpus, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["abstract"] for line, _ in zip(lines, range(500), strict=False)]
    for text in [
        *texts,
        "1234567890 " * 9,
        "x_{i+1}^{(k)} \\mathbb{E}[\\|\\theta\\|^2]",
        "数据集很小。 данные",
    ]:
        assert model.count(text) >= max(len(e.encode_ordinary(text)) for e in encodings), text
