"""One process owns a home folder: two that wrote the same stores would spoil them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proxy.cli.faults import Fault

LOCK = "lock"


@contextmanager
def owned(home: Path) -> Iterator[None]:
    """Hold the home folder, which is made where it is missing; the system lets go of it when the process dies.

    Raises:
        Fault: when another process holds it, or it cannot be made.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(home / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Fault(f"the data folder {home} cannot be used: {error.strerror}; choose another with --home") from error
    try:
        if not _lock(descriptor):
            holder = os.read(descriptor, 40).decode("ascii", "replace").strip()
            raise Fault(
                f"another palimpsest{f' (process {holder})' if holder else ''} has {home} open: stop it first, or use "
                "another folder with --home"
            )
        os.truncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows: there the stores' own locks have to do.
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
