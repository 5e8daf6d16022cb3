"""The dense vectors of the owners who asked lately, each owner's side by side: one product compares a question with all
of them, in a third of the time that the engine takes, and nobody else's are looked at.

Only ever a shortcut: without it the same is asked of the engine. Safe to use from several threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from memory.ports import Vector

REST_SECONDS = 60.0
"""How long an owner is known to have asked, and how long one is refused for whom there is no room."""


class _Table:
    """One owner's vectors: a row for each of ``ids``, and free rows behind them. ``whole``: none is missing."""

    def __init__(self, dimensions: int, now: float, count: int) -> None:
        self.whole = False
        self.asked = now
        self.ids: list[int] = []
        self.rows: dict[int, int] = {}
        # Rows that are not written take no memory yet; to grow takes twice the memory for a moment.
        self.vectors = np.zeros((count + count // 4 + 64, dimensions), dtype=np.float32)

    def put(self, id: int, vector: Vector) -> None:
        row = self.rows.get(id)
        if row is None:
            row = self.rows[id] = len(self.ids)
            self.ids.append(id)
            if row == len(self.vectors):
                more = np.zeros((row // 4 + 64, self.vectors.shape[1]), dtype=np.float32)
                self.vectors = np.concatenate([self.vectors, more])
        self.vectors[row] = vector

    def drop(self, id: int) -> None:
        row = self.rows.pop(id)
        last = self.ids.pop()
        if last != id:
            self.ids[row], self.rows[last] = last, row
            self.vectors[row] = self.vectors[len(self.ids)]
        self.vectors[len(self.ids)] = 0.0  # what is forgotten leaves no numbers behind


class OwnVectors:
    """At most ``room`` vectors, of the owners who asked last. Points go by the numbers of their ids; ``clock`` gives
    seconds."""

    def __init__(self, dimensions: int, room: int = 16_384, clock: Callable[[], float] = time.monotonic) -> None:
        self.room = room
        self._clock = clock
        self._dimensions = dimensions
        self._lock = threading.Lock()
        self._tables: dict[str, _Table] = {}
        self._owners: dict[int, str] = {}
        self._refused: dict[str, float] = {}

    def begin(self, owner: str, count: int) -> bool:
        """Whether the vectors of an owner who has ``count`` of them are to be put here, all of them.

        Who has asked a moment ago does not make room: two owners in turns would drive each other out for ever.
        """
        with self._lock:
            if owner in self._tables:
                return False
            now = self._clock()
            for each, table in list(self._tables.items()):
                if len(self._owners) + count > self.room and now - table.asked > REST_SECONDS:
                    self._let_go(each)
            if len(self._owners) + count > self.room:
                self._refused[owner] = now
                return False
            self._refused.pop(owner, None)
            self._tables[owner] = _Table(self._dimensions, now, count)
            return True

    def finish(self, owner: str) -> None:
        """All that an owner has was put here."""
        with self._lock:
            if owner in self._tables:
                self._tables[owner].whole = True

    def missing(self, owners: Iterable[str]) -> list[str]:
        """The owners whose vectors nobody has begun to put here."""
        missing = [owner for owner in owners if owner not in self._tables]
        if not missing or not self._refused:
            return missing
        again = self._clock() - REST_SECONDS
        return [owner for owner in missing if self._refused.get(owner, again) <= again]

    def put(self, points: Iterable[tuple[str, int, Vector]]) -> None:
        """These points (owner, number, vector) are new or have changed; of owners who are not here, nothing is kept."""
        with self._lock:
            for owner, id, vector in points:
                before = self._owners.get(id)
                if before is not None and before != owner:
                    self._drop(id)
                table = self._tables.get(owner)
                if table is not None:
                    table.put(id, vector)
                    self._owners[id] = owner
            while len(self._owners) > self.room:
                owner = min(self._tables, key=lambda each: self._tables[each].asked)
                self._let_go(owner)
                self._refused[owner] = self._clock()

    def drop(self, ids: Iterable[int]) -> None:
        """These points are gone."""
        with self._lock:
            for id in ids:
                if id in self._owners:
                    self._drop(id)

    def best(
        self, owners: Sequence[str], vector: Vector, limit: int, others: Iterable[int]
    ) -> Mapping[int, float] | None:
        """The scores of the ``limit`` points of some owners that are nearest to a vector, and of the ``others`` among
        their points. None where not all of their vectors are here."""
        with self._lock:
            tables = [self._tables.get(owner) for owner in dict.fromkeys(owners)]
            if not all(table is not None and table.whole for table in tables):
                return None
            found: list[tuple[float, int]] = []
            asked: dict[int, float] = {}
            now = self._clock()
            for table in tables:
                assert table is not None
                table.asked = now
                if not table.ids:
                    continue
                scores = table.vectors[: len(table.ids)] @ vector
                rows = np.argpartition(scores, -limit)[-limit:] if len(scores) > limit else np.arange(len(scores))
                found += zip(scores[rows].tolist(), (table.ids[row] for row in rows.tolist()), strict=True)
                asked.update((id, float(scores[row])) for id in others if (row := table.rows.get(id, -1)) >= 0)
            if len(tables) > 1:
                found.sort(reverse=True)
            return asked | {id: score for score, id in found[:limit]}

    def _let_go(self, owner: str) -> None:
        for id in self._tables.pop(owner).ids:
            del self._owners[id]

    def _drop(self, id: int) -> None:
        self._tables[self._owners.pop(id)].drop(id)
