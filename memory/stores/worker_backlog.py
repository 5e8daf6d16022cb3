"""What a worker has still to read of the journal: what was committed lately from memory, else from the database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

from memory.conversation import Message
from memory.stores.base import FEW, JournalPart
from memory.stores.connection import Connection
from memory.stores.history_cache import OpenedMessages
from memory.stores.queries import QUERIES
from memory.stores.recent_commits import CommittedExchange, ExchangeOwner, RecentCommits, committed_of, of_row

T = TypeVar("T")

Reading = Callable[[Sequence[bytes]], Mapping[bytes, Message]]
"""The messages of these digests."""

ReadExchange = Callable[[CommittedExchange, ExchangeOwner, Reading], T]
"""What a worker is given of an exchange."""


class WorkerBacklog(JournalPart):
    """A part of the journal that workers follow."""

    _newly: RecentCommits
    _opened: OpenedMessages

    async def _behind(self, cursor: str, limit: int, build: ReadExchange[T]) -> list[T]:
        """The oldest exchanges behind a cursor."""
        known = self._newly.behind(cursor, limit)
        if known is not None and not known:
            return []
        owners = {each.session: self._newly.of(each.session) for each in known or ()}
        missing = 0

        def reading(person: int, connection: Connection | None) -> Reading:
            def read(keys: Sequence[bytes]) -> Mapping[bytes, Message]:
                nonlocal missing
                if connection is not None:
                    return self._opened.get(connection, person, keys)
                found = self._opened.at_hand(person, keys)
                missing += len(set(keys)) - len(found)
                return found

            return read

        def all_of(exchanges: Sequence[CommittedExchange], connection: Connection | None) -> list[T]:
            found = []
            for each in exchanges:
                of = owners.get(each.session)
                if of is None:
                    if connection is None:
                        raise KeyError(each.session)
                    row = connection.execute(QUERIES["session_by_number"], (each.session,)).fetchone()
                    of = owners[each.session] = of_row(row)
                found.append(build(each, of, reading(of.person, connection)))
            return found

        if known is not None:
            # Where a session or a message is not at hand it is read.
            with suppress(KeyError):
                return all_of(known, None)

        def work(connection: Connection) -> list[T]:
            if known is not None:
                return all_of(known, connection)
            rows = connection.execute(QUERIES["exchanges_behind"], (cursor, limit)).fetchall()
            return all_of([committed_of(connection, row) for row in rows], connection)

        return await self._few(work, missing if known else FEW + 1)

    async def write_cursors(self) -> None:
        """Write down how far the workers have come where nothing came of it.

        Raises:
            StoreError: when it cannot be written.
        """
        late = self._newly.unwritten

        def work(connection: Connection) -> None:
            for cursor, number in late.items():
                connection.execute(QUERIES["cursor_set"], (cursor, number))

        if late:
            await self._db.write(work)
