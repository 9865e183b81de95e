"""Where the page is served: this machine alone, at a port that is free."""

import socket

from rag.errors import PinciteError

HOST = "127.0.0.1"


def free(port: int) -> int:
    """The port if it can be bound, and any free one for 0; raises PinciteError where it is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server itself binds
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise taken(port) from error
        return int(probe.getsockname()[1])


def taken(port: int) -> PinciteError:
    return PinciteError(
        f"Port {port} on {HOST} is taken by another program. "
        f"Stop that program, or choose another port: pincite --port {port + 1}"
    )
