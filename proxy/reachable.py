"""Whether anything takes connections at an address."""

from __future__ import annotations

import socket


def takes_connections(host: str, port: int, seconds: float) -> bool:
    """Whether a connection can be made there within some seconds; nothing is sent."""
    try:
        with socket.create_connection((host, port), timeout=seconds):
            return True
    except OSError:
        return False
