"""A person's switch: while it is on, memory learns nothing and adds nothing new."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from memory.ports import StoreError

REPLICAS = (
    "memory is not paused for one replica of several: set memory.mode to read-only or off for all of them, and restart"
)

LOOK_SECONDS = 0.5
"""How long what the file system said is believed: every request asks several times."""


class Pause:
    """A file that is there while memory is paused, so that a restart does not end it. ``clock`` gives seconds.
    It is asked on the event loop, and begun and ended in any thread."""

    def __init__(self, file: Path, clock: Callable[[], float] = time.monotonic, alone: bool = True) -> None:
        self._alone = alone
        self._file = file
        self._clock = clock
        self._until = float("-inf")
        self._on = False
        self._changes = 0
        self._changing = threading.Lock()
        # Never held while the file system is asked, so that no request waits for it.
        self._lock = threading.Lock()

    @property
    def on(self) -> bool:
        """Whether memory is paused; what another process did to the file is seen after :data:`LOOK_SECONDS`."""
        if self._clock() >= self._until:
            changes, there = self._changes, self._file.exists()
            with self._lock:
                # What was seen before a change does not undo it.
                if changes == self._changes:
                    self._set(there)
        return self._on

    def begin(self) -> None:
        """Pause.

        Raises:
            OSError: when the file cannot be written.
            StoreError: where this server is not ``alone``.
        """
        if not self._alone:
            raise StoreError(REPLICAS)
        with self._changing:
            self._file.touch(mode=0o600)
            self._changed(True)

    def end(self) -> None:
        """Go on.

        Raises:
            OSError: when the file cannot be taken away.
        """
        with self._changing:
            self._file.unlink(missing_ok=True)
            self._changed(False)

    def _changed(self, on: bool) -> None:
        with self._lock:
            self._changes += 1
            self._set(on)

    def _set(self, on: bool) -> None:
        self._on, self._until = on, self._clock() + LOOK_SECONDS
