"""Lists for a person to look through: facts by what they are, and the receipts of a memory or a session."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from datetime import datetime

import orjson

from memory.fact import Fact, FactKind, Origin, State
from memory.scope import Scope
from memory.session import Receipt, Session
from memory.stores.base import JournalPart, ask_many
from memory.stores.queries import QUERIES, many
from memory.stores.rows import fact_of, receipt_of, session_of


class ListingStore(JournalPart):
    """The part of the journal that is looked through."""

    async def listed(
        self,
        owners: Sequence[str],
        states: Collection[State],
        kinds: Collection[FactKind] = frozenset(FactKind),
        origins: Collection[Origin] = frozenset(Origin),
        since: datetime | None = None,
        limit: int = 100,
        passed: int = 0,
    ) -> list[Fact]:
        """Facts of some owners, the newest first; the first ``passed`` of them are passed over."""
        chosen = [orjson.dumps(sorted(each)).decode() for each in (states, kinds, origins)]
        after = since.timestamp() if since else 0.0

        def work(connection: sqlite3.Connection) -> list[Fact]:
            given = (*owners, *chosen, after, limit, passed)
            return [fact_of(row) for row in connection.execute(many("facts_listed", len(owners)), given)]

        return await self._db.read(work)

    async def unsettled(self, owners: Sequence[str], limit: int = 100) -> list[Fact]:
        """The active facts of some owners that contradict another one, the newest first."""

        def work(connection: sqlite3.Connection) -> list[Fact]:
            rows = connection.execute(many("facts_unsettled", len(owners)), (*owners, limit))
            return [fact_of(row) for row in rows]

        return await self._db.read(work)

    async def receipts_showing(self, memory: str, of: Scope, limit: int = 20) -> list[Receipt]:
        """The newest receipts of a person's requests to which a memory was added."""
        return await self._receipts("receipts_showing", (memory, of.org, of.user, limit))

    async def pages_showing(self, memory: str, of: Scope) -> int:
        """Of how many sessions of a person's the page began with a memory."""

        def work(connection: sqlite3.Connection) -> int:
            return int(connection.execute(QUERIES["pages_showing"], (memory, of.org, of.user)).fetchone()["sessions"])

        return await self._db.read(work)

    async def receipts_of_session(self, session: str, of: Scope, limit: int = 500) -> list[Receipt]:
        """The newest receipts of a session of a person's."""
        return await self._receipts("receipts_of_session", (session, of.org, of.user, limit))

    async def sessions_by_id(self, ids: Sequence[str]) -> dict[str, Session]:
        """Sessions by their ids."""

        def work(connection: sqlite3.Connection) -> dict[str, Session]:
            return {row["id"]: session_of(row) for row in ask_many(connection, "sessions_get", ids)}

        return await self._db.read(work)

    async def _receipts(self, query: str, given: tuple[object, ...]) -> list[Receipt]:
        def work(connection: sqlite3.Connection) -> list[Receipt]:
            return [receipt_of(row["body"]) for row in connection.execute(QUERIES[query], given)]

        return await self._db.read(work)
