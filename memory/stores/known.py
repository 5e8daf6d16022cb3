"""Memories that were read lately, so that a search need not read them again.

Only ever a shortcut: without it the same is read from the database. What a write has changed is dropped when it is
committed and before anybody is told so; what was read beside such a write is not kept.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from memory.fact import Fact, Passage

LONGEST = 2000
"""Characters of a memory that is kept: a few long ones would take the room of many."""


class KnownMemories:
    """Facts and passages by id, as they are stored; at most ``room`` of them, those asked for last."""

    def __init__(self, room: int = 16384) -> None:
        self._room = room
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Fact | Passage] = OrderedDict()
        self._epoch = 0

    @property
    def epoch(self) -> int:
        """Which state of the database a read that begins now sees at least; for :meth:`keep`."""
        return self._epoch

    def of(self, ids: Iterable[str]) -> dict[str, Fact | Passage]:
        """Those of these memories that are at hand."""
        found: dict[str, Fact | Passage] = {}
        kept, asked_last = self._kept, self._kept.move_to_end
        with self._lock:
            for id in ids:
                if id in kept:
                    found[id] = kept[id]
                    asked_last(id)
        return found

    def keep(self, memories: Sequence[Fact | Passage], epoch: int) -> None:
        """Keep what was read; nothing of it where something has changed since ``epoch``, taken before the read."""
        with self._lock:
            if epoch != self._epoch:
                return
            self._kept.update((memory.id, memory) for memory in memories if len(memory.text) <= LONGEST)
            while len(self._kept) > self._room:
                self._kept.popitem(last=False)

    def drop(self, ids: Iterable[str]) -> None:
        """These have changed or are gone."""
        with self._lock:
            self._epoch += 1
            for id in ids:
                self._kept.pop(id, None)
