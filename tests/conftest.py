"""What holds for every test: no connection leaves this machine."""

from __future__ import annotations

import ipaddress
import signal
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("thorough", max_examples=10_000)  # by hand: pytest --hypothesis-profile=thorough

# A shell that starts the tests in the background has them ignore Ctrl-C, and their child processes too:
# tests that interrupt a child need the ordinary behaviour.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def is_loopback(family: int, address: Any) -> bool:
    """Whether a socket address is of this machine: a local socket, localhost, or a loopback address."""
    if family == socket.AF_UNIX:
        return True
    host = str(address[0])
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Connecting to another machine raises, and fails the test even where the error is swallowed.

    Yields the addresses that were tried.
    """
    tried: list[Any] = []

    def guarded(name: str) -> None:
        real = getattr(socket.socket, name)

        def connect(self: socket.socket, address: Any) -> Any:
            if not is_loopback(self.family, address):
                tried.append(address)
                raise AssertionError(f"a test tried to connect to {address}")
            return real(self, address)

        monkeypatch.setattr(socket.socket, name, connect)

    guarded("connect")
    guarded("connect_ex")
    yield tried
    assert not tried, f"connections were tried: {tried}"
