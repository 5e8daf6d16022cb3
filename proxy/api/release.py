"""Which version this is."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def release() -> str:
    """The installed version, or ``0`` where we run without being installed."""
    try:
        return version("palimpsest")
    except PackageNotFoundError:
        return "0"
