"""What the parts of the journal share: the database, the redactor, and how long lists are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from memory.fact import Fact, Passage
from memory.stores.connection import Connection, Row, Work
from memory.stores.engine import Engine
from memory.stores.forgotten_persons import ForgottenPersons
from memory.stores.messages import Redactor
from memory.stores.queries import QUERIES, many

T = TypeVar("T")
Owned = TypeVar("Owned", Fact, Passage)

# SQLite takes 32,766 parameters; a plan for some hundreds is as good, and is kept by its text.
CHUNK = 256


FEW = 24
"""Rows that are looked up by their keys in a fraction of a millisecond."""


class JournalPart:
    """A part of the journal."""

    _db: Engine
    _redact: Redactor
    _key: bytes
    _forgotten_persons: ForgottenPersons

    async def _few(self, work: Work[T], count: int) -> T:
        """Look something up by so many keys: a few here and now, many in a reader's thread."""
        return await (self._db.look(work) if count <= FEW else self._db.read(work))

    async def _rows(
        self, name: str, build: Callable[[Row], T], *parameters: Any, owners: Sequence[str] | None = None
    ) -> list[T]:
        """What a query finds, each row as ``build`` makes it; its list of values, if it has one, is ``owners``."""
        statement = QUERIES[name] if owners is None else many(name, len(owners))
        given = (*(owners or ()), *parameters)
        return await self._db.read(lambda connection: [build(row) for row in connection.execute(statement, given)])

    async def _by_ids(
        self, name: str, build: Callable[[Row], Owned], ids: Sequence[str], owners: Sequence[str] | None
    ) -> list[Owned]:
        """What a query finds by ids, in their order, as far as it belongs to these owners (None: to anybody)."""

        def work(connection: Connection) -> list[Owned]:
            rows = {row["id"]: row for row in ask_many(connection, name, ids)}
            found = [build(rows[id]) for id in dict.fromkeys(ids) if id in rows]
            return [each for each in found if owners is None or each.owner in owners]

        return await self._db.read(work)


def chunks(items: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    """A sequence in pieces of at most ``size``."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def ask_many(connection: Connection, name: str, items: Sequence[Any], before: tuple[Any, ...] = ()) -> list[Row]:
    """All rows of a query with a list, which is asked piece by piece. ``before`` are the parameters before it."""
    rows: list[Row] = []
    unique: list[Any] = list(dict.fromkeys(items))
    for piece in chunks(unique):
        # The last one again, up to a power of two: a few lengths of list have their plans kept, all of them have not.
        more = (1 << (len(piece) - 1).bit_length()) - len(piece)
        rows.extend(connection.execute(many(name, len(piece) + more), (*before, *piece, *(piece[-1],) * more)))
    return rows


def widening(items: Sequence[T], first: int = 8) -> Iterator[list[T]]:
    """A sequence in pieces that grow: what is looked for is most often near the front."""
    iterator, size = iter(items), first
    while piece := list(islice(iterator, size)):
        yield piece
        size = min(size * 8, CHUNK)
