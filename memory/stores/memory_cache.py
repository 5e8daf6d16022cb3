"""Memories that were read lately, so that a search need not read them again.

Only ever a shortcut: without it the same is read from the database. What a write has changed is dropped when it is
committed and before anybody is told so; what was read beside such a write is not kept.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from memory.fact import Fact, Passage

MAX_MEMORY_CHARS = 2000
"""Characters of a memory that is kept: a few long ones would take the room of many."""

ROOM = 6 << 20
"""Bytes of the memories that are kept where nobody says otherwise: some twelve thousand of a sentence or two."""

OBJECTS = 400
"""Bytes that a memory takes beside its text, about."""


def weight_of(memory: Fact | Passage) -> int:
    """Bytes that a memory takes, about."""
    return len(memory.text) + OBJECTS


class KnownMemories:
    """Facts and passages by id, as they are stored: those asked for last, in ``room`` bytes at most.

    They are of two generations: what was asked for since the younger one began stands there. When that holds half of
    the room it becomes the elder one, and what was in that and not asked for since is let go: so that most look-ups
    move nothing.
    """

    def __init__(self, room: int = ROOM) -> None:
        self._half = room // 2
        self._lock = threading.Lock()
        self._young: dict[str, Fact | Passage] = {}
        self._elder: dict[str, Fact | Passage] = {}
        self._held = 0  # bytes of the younger ones
        self._epoch = 0

    @property
    def epoch(self) -> int:
        """Which state of the database a read that begins now sees at least; for :meth:`put`."""
        return self._epoch

    def of(self, ids: Iterable[str]) -> dict[str, Fact | Passage]:
        """Those of these memories that are at hand."""
        found: dict[str, Fact | Passage] = {}
        with self._lock:
            young, elder = self._young, self._elder
            for id in ids:
                if id in young:
                    found[id] = young[id]
                elif id in elder:
                    found[id] = elder[id]
                    if self._held < self._half:
                        self._keep(elder[id])
            self._make_room()
        return found

    def put(self, memories: Sequence[Fact | Passage], epoch: int) -> None:
        """Keep what was read; nothing of it where something has changed since ``epoch``, taken before the read."""
        with self._lock:
            if epoch != self._epoch:
                return
            for memory in memories:
                if len(memory.text) <= MAX_MEMORY_CHARS:
                    self._keep(memory)
                    self._make_room()

    def drop(self, ids: Iterable[str]) -> None:
        """These have changed or are gone."""
        with self._lock:
            self._epoch += 1
            for id in ids:
                self._let_go(id)

    def clear(self) -> None:
        """Any of them may have changed or be gone."""
        with self._lock:
            self._epoch += 1
            self._young, self._elder, self._held = {}, {}, 0

    def _keep(self, memory: Fact | Passage) -> None:
        self._let_go(memory.id)
        self._young[memory.id] = memory
        self._held += weight_of(memory)

    def _let_go(self, id: str) -> None:
        self._elder.pop(id, None)
        if (memory := self._young.pop(id, None)) is not None:
            self._held -= weight_of(memory)

    def _make_room(self) -> None:
        if self._held >= self._half:
            self._young, self._elder, self._held = {}, self._young, 0


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

    def add_any(self) -> None:
        """Any may have changed or be gone."""
        with self._lock:
            self._ids.clear()
            self._many = True

    def take(self) -> frozenset[str] | None:
        """What has changed since this was asked last; None where that may be anything."""
        with self._lock:
            ids = None if self._many else frozenset(self._ids)
            self._ids.clear()
            self._many = False
        return ids
