"""One OpenAI-compatible server: its event stream, and what its faults mean."""

from __future__ import annotations

import ipaddress
import queue
import threading
from collections.abc import Generator, Iterable
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from rag.errors import ModelError

CONNECT_S, READ_S = 10.0, 300.0  # a slow server may read a long prompt for minutes
POLL_S = 0.1  # how soon a reader hears that it should stop while the server is silent


class _Delta(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    delta: _Delta = _Delta()
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int


class Event(BaseModel):
    """A `chat.completion.chunk`, as far as it matters here."""

    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: Any = None


Events = Generator[Event, None, None]


class Server:
    """`api_key` is sent as a bearer token and appears in no message."""

    def __init__(self, url: str, api_key: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ModelError(f"{url!r} is no address of a server; one looks like http://127.0.0.1:8080/v1")
        self.url, self.host, self._api_key = url, parts.hostname, api_key

    @property
    def is_local(self) -> bool:
        """Is it on this machine?"""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def events(self, body: dict[str, Any]) -> Events:
        """The events of one streamed chat completion, up to [DONE]; raises ModelError on every fault."""
        import httpx

        headers = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        timeout = httpx.Timeout(READ_S, connect=CONNECT_S)
        address = f"{self.url}/chat/completions"
        try:
            with (
                httpx.Client(timeout=timeout, headers=headers, trust_env=not self.is_local) as client,
                client.stream("POST", address, json=body) as response,
            ):
                if response.status_code != httpx.codes.OK:
                    raise ModelError(
                        self._refusal(
                            response.status_code, response.read().decode("utf-8", "replace"), body["model"]
                        )
                    )
                yield from self._parsed(response.iter_lines())
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise ModelError(
                f"No server answers at {self.url} ({error}). Start it, or check --llm."
            ) from error
        except httpx.TimeoutException as error:
            raise ModelError(
                f"The server {self.url} was silent for {READ_S:.0f} seconds. Ask again."
            ) from error
        except httpx.HTTPError as error:
            raise ModelError(f"The server {self.url} broke off: {error}. Ask again.") from error

    def _parsed(self, lines: Iterable[str]) -> Events:
        for line in lines:
            if not line.startswith("data:"):  # the end of an event, a comment, or another field
                continue
            data = line.removeprefix("data:").strip()
            if data == "[DONE]":
                return
            try:
                event = Event.model_validate_json(data)
            except ValidationError as fault:
                raise ModelError(
                    f"The server {self.url} sent no chat completion, but: {data[:80]}"
                ) from fault
            if event.error is not None:
                raise ModelError(f"The server {self.url} failed: {self._told(str(event.error))}")
            yield event

    def _refusal(self, status: int, text: str, model: str) -> str:
        if status in (401, 403):
            return f"The server {self.url} refuses access ({status}). Set PINCITE_API_KEY to a valid key."
        if status == 404:
            return (
                f"The server {self.url} has no model {model!r}, or no chat completions at this address (404). "
                "Check --llm-name, and that the address ends in /v1."
            )
        return f"The server {self.url} answered {status}: {self._told(text)}"

    def _told(self, text: str) -> str:
        """The server's own words, shortened, without the key that some of them repeat."""
        return (text.replace(self._api_key, "***") if self._api_key else text).strip()[:300]


def read_ahead(events: Events) -> Generator[Event | None, None, None]:
    """The events, read in a thread, and None every POLL_S while there is none: a reader can stop at any time.

    Closing it ends the thread, and the connection, at the next event.
    """
    arrived: queue.SimpleQueue[Event | ModelError | None] = queue.SimpleQueue()
    gone = threading.Event()
    threading.Thread(target=_read, args=(events, arrived, gone), daemon=True).start()
    try:
        while True:
            try:
                event = arrived.get(timeout=POLL_S)
            except queue.Empty:
                yield None
                continue
            if event is None:
                return
            if isinstance(event, ModelError):
                raise event
            yield event
    finally:
        gone.set()


def _read(
    events: Events, arrived: queue.SimpleQueue[Event | ModelError | None], gone: threading.Event
) -> None:
    """Put the events, then None or the error."""
    last: ModelError | None = ModelError("The connection to the server failed. Ask again.")
    try:
        with closing(events):
            for event in events:
                if gone.is_set():
                    break
                arrived.put(event)
        last = None
    except ModelError as error:
        last = error
    finally:
        arrived.put(last)
