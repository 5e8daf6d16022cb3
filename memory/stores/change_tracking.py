"""Which memories have changed since somebody asked: so that who has read many of them need not read all again."""

from __future__ import annotations

import threading
from collections.abc import Sequence

MOST = 8192
"""Changes that are told one by one; where there are more, only that."""


class ChangedMemories:
    """Memories that a write has changed, or that are gone. Safe to use from several threads, and for one who asks."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._ids: set[str] = set()
        self._many = False

    def add(self, ids: Sequence[str]) -> None:
        """These have changed or are gone."""
        with self._lock:
            if not self._many:
                self._ids.update(ids)
            if len(self._ids) > self._most:
                self._ids.clear()
                self._many = True

    def take(self) -> frozenset[str] | None:
        """What has changed since this was asked last; None where that may be anything."""
        with self._lock:
            ids = None if self._many else frozenset(self._ids)
            self._ids.clear()
            self._many = False
        return ids
