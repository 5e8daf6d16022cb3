"""The points of the owners who asked lately, each owner's side by side: a question is compared with all of them here,
in a fraction of the time that the engine takes with its threads, and nobody else's are looked at.

Only ever a shortcut: without it the same is asked of the engine. Safe to use from several threads.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from memory.ports import Found, Point, Query, Vector
from memory.stores.nearness import FIRST, Nearness, Rows, Scores, highest, nearest
from memory.stores.postings import Postings

REST_SECONDS = 60.0
"""How long an owner is known to have asked, and how long one is refused for whom there is no room."""

ROOM = 400_000
"""Points that are at hand at most where nobody says otherwise: what five people are told in a year."""

MANY = 2048
"""Points from which on a few dimensions are looked at first."""


class _Table:
    """One owner's points, a row for each of ``ids``; an empty id is a free row. ``whole``: none is missing."""

    def __init__(self, dimensions: int, now: float, count: int) -> None:
        self.whole = False
        self.asked = now
        self.ids: list[str] = []
        self.rows: dict[str, int] = {}
        self.free: list[int] = []
        # Rows that are not written take no memory yet; to grow takes twice the memory for a moment.
        room = count + count // 4 + 64
        self.vectors = np.zeros((room, dimensions), dtype=np.float32)
        self.facts = np.zeros(room, dtype=np.bool_)
        self.postings = Postings(asked=False)
        self.nearness: Nearness | None = None

    def put(self, points: Mapping[str, Point]) -> None:
        self.postings.drop([self.rows[id] for id in points if id in self.rows])
        for id, point in points.items():
            row = self.rows.get(id)
            if row is None:
                row = self.rows[id] = self._new_row()
                self.ids[row] = id
            self.vectors[row] = point.dense
            self.facts[row] = point.sort == "fact"
            self.postings.put(row, point.sparse)
            if self.nearness is not None:
                self.nearness.put(row, point.dense)

    def drop(self, ids: Iterable[str]) -> None:
        rows = [self.rows.pop(id) for id in ids]
        self.postings.drop(rows)
        self.free += rows
        for row in rows:
            self.ids[row] = ""
            self.vectors[row] = 0.0  # what is forgotten leaves no numbers behind
            if self.nearness is not None:
                self.nearness.put(row, self.vectors[row])

    def finish(self) -> None:
        """None is missing. Called where no point is put meanwhile."""
        if len(self.ids) >= MANY and self.vectors.shape[1] > FIRST:
            self.nearness = Nearness(self.vectors, len(self.ids))
        self.postings.asked = self.whole = True

    def search(self, query: Query) -> list[Found]:
        """The best by each leg, with both scores."""
        count = len(self.ids)
        near, wrong = self._look(query.dense, count)
        words = self.postings.scores(query.sparse, count)
        if query.sort is not None:
            other = self.facts[:count] != (query.sort == "fact")
            words[other] = 0.0
            if query.dense is not None:
                near[other] = -np.inf
        if self.free and query.dense is not None:
            near[self.free] = -np.inf
        found = np.zeros(count, dtype=np.bool_)
        found[_most_shared(words, near, query.limit)] = True
        words[~found] = 0.0
        if query.dense is not None:
            found[nearest(self.vectors, query.dense, near, wrong, query.limit)] = True
        rows = np.flatnonzero(found)
        cosines = near[rows] if query.dense is None else self.vectors[rows] @ query.dense
        return list(map(Found, [self.ids[row] for row in rows.tolist()], cosines.tolist(), words[rows].tolist()))

    def _look(self, dense: Vector | None, count: int) -> tuple[Scores, Scores | None]:
        if dense is None:
            return np.zeros(count, dtype=np.float32), None
        if self.nearness is not None:
            return self.nearness.look(dense, count)
        return self.vectors[:count] @ dense, None

    def _new_row(self) -> int:
        if self.free:
            return self.free.pop()
        self.ids.append("")
        row = len(self.ids) - 1
        if row == len(self.vectors):
            more = row // 4 + 64
            self.vectors = np.concatenate([self.vectors, np.zeros((more, self.vectors.shape[1]), dtype=np.float32)])
            self.facts = np.concatenate([self.facts, np.zeros(more, dtype=np.bool_)])
        return row


class OwnPoints:
    """At most ``room`` points, of the owners who asked last; ``clock`` gives seconds."""

    def __init__(self, dimensions: int, room: int = ROOM, clock: Callable[[], float] = time.monotonic) -> None:
        self.room = room
        self._clock = clock
        self._dimensions = dimensions
        self._lock = threading.Lock()
        self._tables: dict[str, _Table] = {}
        self._owners: dict[str, str] = {}
        self._refused: dict[str, float] = {}

    def begin(self, owner: str, count: int) -> bool:
        """Whether the points of an owner who has ``count`` of them are to be put here, all of them.

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
        table = self._tables.get(owner)
        if table is not None:
            table.finish()

    def missing(self, owners: Iterable[str]) -> list[str]:
        """The owners whose points nobody has begun to put here."""
        missing = [owner for owner in owners if owner not in self._tables]
        if not missing or not self._refused:
            return missing
        again = self._clock() - REST_SECONDS
        return [owner for owner in missing if self._refused.get(owner, again) <= again]

    def put(self, points: Iterable[Point]) -> None:
        """These points are new or have changed; of owners who are not here, nothing is kept."""
        with self._lock:
            put = {point.id: point for point in points}
            self._drop(id for id, point in put.items() if self._owners.get(id, point.owner) != point.owner)
            owned: dict[str, dict[str, Point]] = {}
            for id, point in put.items():
                owned.setdefault(point.owner, {})[id] = point
            for owner, own in owned.items():
                if (table := self._tables.get(owner)) is not None:
                    table.put(own)
                    self._owners.update(dict.fromkeys(own, owner))
            while len(self._owners) > self.room:
                owner = min(self._tables, key=lambda each: self._tables[each].asked)
                self._let_go(owner)
                self._refused[owner] = self._clock()

    def drop(self, ids: Iterable[str]) -> None:
        """These points are gone."""
        with self._lock:
            self._drop(id for id in ids if id in self._owners)

    def search(self, query: Query) -> list[Found] | None:
        """What the index finds (see :class:`memory.ports.Index`). None where not all that it looks at is here."""
        if query.since is not None or query.until is not None:
            return None
        with self._lock:
            tables, now = list[_Table](), self._clock()
            for owner in dict.fromkeys(query.owners):
                table = self._tables.get(owner)
                if table is None or not table.whole:
                    return None
                table.asked = now
                if table.ids:
                    tables.append(table)
            found = [table.search(query) for table in tables]
            return _best(found, query) if len(found) > 1 else found[0] if found else []

    def _let_go(self, owner: str) -> None:
        for id in self._tables.pop(owner).rows:
            del self._owners[id]

    def _drop(self, ids: Iterable[str]) -> None:
        owned: dict[str, list[str]] = {}
        for id in dict.fromkeys(ids):
            owned.setdefault(self._owners.pop(id), []).append(id)
        for owner, own in owned.items():
            self._tables[owner].drop(own)


def _best(found: Sequence[list[Found]], query: Query) -> list[Found]:
    """The best by each leg of what is the best of several owners."""
    hits = list(itertools.chain(*found))
    near = [] if query.dense is None else sorted(hits, key=lambda hit: -hit.cosine)[: query.limit]
    shared = sorted((hit for hit in hits if hit.lexical), key=lambda hit: (-hit.lexical, -hit.cosine))[: query.limit]
    brought = {hit.id: hit._replace(lexical=0.0) for hit in near}
    return list((brought | {hit.id: hit for hit in shared}).values())


def _most_shared(words: Scores, near: Scores, limit: int) -> Rows:
    """The rows with the most of the words; of those that have equally much, the nearest."""
    rows = np.flatnonzero(words > 0.0)
    if len(rows) <= limit:
        return rows
    shared = words[rows]
    least = np.partition(shared, -limit)[-limit]
    more, even = rows[shared > least], rows[shared == least]
    return np.concatenate([more, even[highest(near[even], limit - len(more))]])
