"""Which process holds a home folder, and where it listens. Only the standard library: a shell's prompt asks this."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: there the stores' own locks have to do.
    fcntl = None  # type: ignore[assignment]

LOCK = "lock"
"""The file that the owner of a home folder holds locked, with its number in it."""

ANNOUNCED = "server.json"
"""Where a server says, in its home folder, at which address it listens."""


@dataclass(frozen=True, slots=True)
class AnnouncedServer:
    """A server that runs, as it says itself. ``url`` has no path."""

    url: str
    process: int


def announced(home: Path) -> AnnouncedServer | None:
    """The server that has a home open and listens; None where none does, or does not yet."""
    number = owner(home)
    try:
        data = json.loads((home / ANNOUNCED).read_text(encoding="utf-8"))
        found = AnnouncedServer(str(data["url"]), int(data["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if number is not None and number == found.process else None


def owner(home: Path) -> int | None:
    """The number of the process that holds a home folder, or None where none does."""
    try:
        descriptor = os.open(home / LOCK, os.O_RDWR)
    except OSError:
        return None
    try:
        if fcntl is not None and locked(descriptor, exclusive=False):
            return None
        return number_in(descriptor)
    finally:
        os.close(descriptor)


def locked(descriptor: int, exclusive: bool) -> bool:
    """Whether the lock could be had."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def number_in(descriptor: int) -> int | None:
    """The number of the owner, as it stands in the locked file."""
    data = os.pread(descriptor, 20, 0)
    return int(data) if data.isdigit() else None
