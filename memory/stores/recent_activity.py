"""Who was here last, and what they learned last."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from memory.scope import Scope, scope_of
from memory.stores.base import JournalPart
from memory.stores.queries import QUERIES, many


class RecentActivityStore(JournalPart):
    """The part of the journal that says what is likely to be asked for next."""

    async def latest_scopes(self, limit: int) -> list[Scope]:
        """See :class:`memory.services.cache_warming.Warmable`."""

        def work(connection: sqlite3.Connection) -> list[Scope]:
            rows = connection.execute(QUERIES["latest_scopes"], (limit,))
            found = [Scope(row["org"], row["user"], row["project"]) for row in rows]
            # What was imported, or is older than the sessions that were kept, was learned in none of them.
            owners = (row["name"] for row in connection.execute(QUERIES["owners_largest"], (limit,)))
            found += (scope for owner in owners if (scope := scope_of(owner)))
            return list(dict.fromkeys(found))[:limit]

        return await self._db.read(work)

    async def newest(self, owners: Sequence[str], limit: int) -> list[str]:
        """See :class:`memory.services.cache_warming.Warmable`. Of the passages only the newest of all owners are looked
        at."""

        def work(connection: sqlite3.Connection) -> list[str]:
            (texts,) = connection.execute(many("texts_of", len(owners)), tuple(owners)).fetchone()
            if not texts:
                return []
            facts = connection.execute(many("facts_newest", len(owners)), (*owners, limit)).fetchall()
            passages = connection.execute(many("passages_newest", len(owners)), (*owners, 2 * limit, limit)).fetchall()
            # Half of each where there are enough of both.
            most = max(limit // 2, limit - len(passages))
            found = facts[:most] + passages[: limit - min(most, len(facts))]
            return [row["id"] for row in found]

        return await self._db.read(work)
