"""The points of the owners who asked lately, each owner's side by side: a question is compared with all of them here,
in a fraction of the time that the engine takes with its threads, and nobody else's are looked at.

Only ever a shortcut: without it the same is asked of the engine. Safe to use from several threads.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from memory.ports import IndexHit, Point, Query
from memory.stores.point_table import Arrays, PointTable

REST_SECONDS = 60.0
"""How long an owner is known to have asked, and how long one is refused for whom there is no room."""

ROOM = 400_000
"""Points that are at hand at most where nobody says otherwise: what five people are told in a year."""

MOST = 256
"""Owners whose points are at hand at most: also one who has none takes some kilobytes."""

PIECE = 4096
"""Points that are looked over at once, which takes half a millisecond in which nothing is searched."""


class TenantVectors:
    """At most ``room`` points, of the :data:`MOST` owners who asked last; ``clock`` gives seconds."""

    def __init__(self, dimensions: int, room: int = ROOM, clock: Callable[[], float] = time.monotonic) -> None:
        self.room = room
        self._clock = clock
        self._dimensions = dimensions
        self._lock = threading.Lock()
        self._tables: dict[str, PointTable] = {}
        self._owners: dict[str, str] = {}
        self._refused: dict[str, float] = {}

    def begin(self, owner: str, count: int, standing: PointTable | None = None) -> bool:
        """Whether the points of an owner who has ``count`` of them are to be put here, all of them; those that stand in
        ``standing`` are here with it.

        Who has asked a moment ago does not make room: two owners in turns would drive each other out for ever.
        """
        with self._lock:
            if owner in self._tables:
                return False
            now = self._clock()
            for each, table in list(self._tables.items()):
                if len(self._owners) + count > self.room and now - table.asked > REST_SECONDS:
                    self._evict(each)
            if len(self._owners) + count > self.room:
                self._refused[owner] = now
                return False
            while len(self._tables) >= MOST:
                self._evict(min(self._tables, key=lambda each: self._tables[each].asked))
            self._refused.pop(owner, None)
            begun = self._tables[owner] = PointTable(self._dimensions, now, count) if standing is None else standing
            begun.asked = now
        ids = list(begun.rows)
        for start in range(0, len(ids), PIECE):
            with self._lock:
                piece = ids[start : start + PIECE]
                # What has come to another owner who is here stands here for the first one no more.
                begun.drop([id for id in piece if id in self._owners])
                self._owners.update((id, owner) for id in piece if id in begun.rows)
        return True

    def finish(self, owner: str) -> None:
        """All that an owner has was put here."""
        table = self._tables.get(owner)
        if table is not None:
            table.finish()

    def fail(self, owner: str) -> None:
        """An owner's points cannot be put here: what is here of them goes, and for a while nobody tries again."""
        with self._lock:
            if owner in self._tables:
                self._evict(owner)
            self._refused[owner] = self._clock()

    def table(self, owner: str) -> PointTable | None:
        """An owner's points, for the one who puts and drops points here."""
        return self._tables.get(owner)

    def whole(self) -> list[str]:
        """The owners of whom everything is here."""
        return [owner for owner, table in self._tables.items() if table.whole]

    def settle(self, owner: str) -> None:
        """Nothing of an owner's waits to be sorted in. Called where no point is put meanwhile."""
        if (table := self._tables.get(owner)) is not None:
            table.sort()
            with self._lock:
                table.postings.settle()

    def lie(self, owner: str, arrays: Arrays) -> None:
        """An owner's points are searched where they lie now, which is the same."""
        with self._lock:
            if (table := self._tables.get(owner)) is not None:
                table.lie(arrays)

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
                self._evict(owner)
                self._refused[owner] = self._clock()

    def drop(self, ids: Iterable[str]) -> None:
        """These points are gone."""
        with self._lock:
            self._drop(id for id in ids if id in self._owners)

    def search(self, query: Query) -> list[IndexHit] | None:
        """What the index finds (see :class:`memory.ports.Index`). None where not all that it looks at is here."""
        if query.since is not None or query.until is not None:
            return None
        with self._lock:
            tables, now = list[PointTable](), self._clock()
            for owner in dict.fromkeys(query.owners):
                table = self._tables.get(owner)
                if table is None or not table.whole:
                    return None
                table.asked = now
                if table.ids:
                    tables.append(table)
            found = [table.search(query) for table in tables]
            return _best_of_owners(found, query) if len(found) > 1 else found[0] if found else []

    def _evict(self, owner: str) -> None:
        for id in self._tables.pop(owner).rows:
            if self._owners.get(id) == owner:  # not so where a failure left a point put by halves
                del self._owners[id]

    def _drop(self, ids: Iterable[str]) -> None:
        owned: dict[str, list[str]] = {}
        for id in dict.fromkeys(ids):
            owned.setdefault(self._owners.pop(id), []).append(id)
        for owner, own in owned.items():
            self._tables[owner].drop(own)


def _best_of_owners(found: Sequence[list[IndexHit]], query: Query) -> list[IndexHit]:
    """The best by each leg of what is the best of several owners."""
    hits = list(itertools.chain(*found))
    near = [] if query.dense is None or query.by_words else sorted(hits, key=lambda hit: -hit.cosine)[: query.limit]
    shared = sorted((hit for hit in hits if hit.lexical), key=lambda hit: (-hit.lexical, -hit.cosine))[: query.limit]
    brought = {hit.id: hit._replace(lexical=0.0) for hit in near}
    return list((brought | {hit.id: hit for hit in shared}).values())
