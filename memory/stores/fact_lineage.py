"""What followed what, and when a memory was used."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memory.fact import Fact, State
from memory.stores.base import JournalPart, ask_many
from memory.stores.connection import Connection
from memory.stores.queries import QUERIES
from memory.stores.rows import fact_of


class LineageStore(JournalPart):
    """The part of the journal that looks along a fact's life."""

    async def followers(self, ids: Sequence[str], owners: Sequence[str]) -> list[Fact]:
        """See :class:`memory.features.history.lives.Looking`."""

        def work(connection: Connection) -> list[Fact]:
            found = (fact_of(row) for row in ask_many(connection, "following", ids))
            return [fact for fact in found if fact.owner in owners]

        return await self._db.read(work)

    async def drawn_from(self, sources: Sequence[bytes], owners: Sequence[str]) -> list[Fact]:
        """See :class:`memory.ports.Journal`."""

        def work(connection: Connection) -> list[Fact]:
            found = (fact_of(row) for row in ask_many(connection, "facts_from", sources))
            return [fact for fact in found if fact.owner in owners and fact.state is State.ACTIVE]

        return await self._few(work, len(sources))

    async def use_times(self, id: str) -> list[datetime]:
        """See :class:`memory.features.history.lives.Looking`."""

        def work(connection: Connection) -> list[datetime]:
            return [datetime.fromisoformat(row["at"]) for row in connection.execute(QUERIES["use_times"], (id,))]

        return await self._db.read(work)
