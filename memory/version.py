"""Which version this is."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "palimpsest-proxy"
"""What is installed: its command is `palimpsest`, a name that somebody else's distribution has."""


@cache
def release() -> str:
    """The installed version, or ``0`` where we run without being installed."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "0"
