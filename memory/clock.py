"""The clock that memory lives by where none is given."""

from __future__ import annotations

from datetime import datetime


def local_now() -> datetime:
    """The moment, in this machine's time zone."""
    return datetime.now().astimezone()
