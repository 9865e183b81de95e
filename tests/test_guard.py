"""The guard of `conftest.py` itself: a test run that could reach the network would prove nothing."""

from __future__ import annotations

import socket
from typing import Any

import pytest


def test_connecting_beyond_this_machine_raises_and_is_written_down(no_network: list[Any]) -> None:
    for call in ("connect", "connect_ex"):
        with socket.socket() as one, pytest.raises(AssertionError, match="192.0.2.1"):
            getattr(one, call)(("192.0.2.1", 80))
    assert no_network == [("192.0.2.1", 80), ("192.0.2.1", 80)]
    no_network.clear()


def test_connecting_to_this_machine_works() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as one:
        one.connect(server.getsockname())
