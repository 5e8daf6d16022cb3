"""One process owns a home folder: two that wrote the same stores would spoil them.

The owner holds a lock, which the system takes from it when it dies, and its number stands in the locked file. Whoever
asks a server sends it the token, so a server is only believed to be ours while it is the owner.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from proxy.cli.faults import CommandError
from proxy.cli.home_owner import LOCK, locked, number_in

PATIENCE = 1.0
"""Seconds to wait for a home that is just being looked at, or left."""


def opened_in(home: Path, name: str) -> int:
    """A file of the home folder, made where either is missing, as a descriptor.

    Raises:
        CommandError: when it cannot be made.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(home / name, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise CommandError(
            f"the data folder {home} cannot be used: {error.strerror}; choose another with --home"
        ) from error


@contextlib.contextmanager
def owned(home: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the home folder, which is made where it is missing.

    Raises:
        CommandError: when another process holds it longer than ``patience`` seconds, or it cannot be made.
    """
    descriptor = opened_in(home, LOCK)
    try:
        until = time.monotonic() + patience
        while not locked(descriptor, exclusive=True):
            if time.monotonic() > until:
                number = number_in(descriptor)
                who = f" (process {number})" if number else ""
                raise CommandError(
                    f"another palimpsest{who} has {home} open: stop it first, or use another folder with --home"
                )
            time.sleep(0.05)
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)
