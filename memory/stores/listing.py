"""Lists for a person to look through: facts by what they are, and the receipts of a memory or a session."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime

import orjson

from memory.edits import ContentTier
from memory.fact import Fact, FactKind, Origin, State
from memory.ports import SummaryLine
from memory.scope import Scope, scope_of
from memory.session import Receipt, Session
from memory.stores.base import JournalPart, ask_many
from memory.stores.connection import Connection, Row
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

        def work(connection: Connection) -> list[Fact]:
            given = (*owners, *chosen, after, limit, passed)
            return [fact_of(row) for row in connection.execute(many("facts_listed", len(owners)), given)]

        return await self._db.read(work)

    async def unsettled(self, owners: Sequence[str], limit: int = 100) -> list[Fact]:
        """The active facts of some owners that contradict another one, the newest first."""
        return await self._rows("facts_unsettled", fact_of, limit, owners=owners)

    async def drafts_waiting(self, owners: Sequence[str], but: Sequence[str] = ()) -> int:
        """How many drafts of some owners wait for a person, without those of some ids."""

        def work(connection: Connection) -> int:
            given = (*owners, orjson.dumps(but).decode())
            return int(connection.execute(many("facts_drafts_waiting", len(owners)), given).fetchone()["drafts"])

        return await self._db.read(work) if owners else 0

    async def receipts_showing(self, memory: str, of: Scope, limit: int = 20) -> list[Receipt]:
        """The newest receipts of a person's requests to which a memory was added."""
        return await self._receipts("receipts_showing", (memory, of.org, of.user, limit))

    async def pages_showing(self, memory: str, of: Scope) -> int:
        """Of how many sessions of a person's the page began with a memory."""

        def work(connection: Connection) -> int:
            return int(connection.execute(QUERIES["pages_showing"], (memory, of.org, of.user)).fetchone()["sessions"])

        return await self._db.read(work)

    async def receipts_of_session(self, session: str, of: Scope, limit: int = 500) -> list[Receipt]:
        """The newest receipts of a session of a person's."""
        return await self._receipts("receipts_of_session", (session, of.org, of.user, limit))

    async def sessions_by_id(self, ids: Sequence[str]) -> dict[str, Session]:
        def work(connection: Connection) -> dict[str, Session]:
            return {row["id"]: session_of(row) for row in ask_many(connection, "sessions_get", ids)}

        return await self._db.read(work)

    async def _receipts(self, query: str, given: tuple[object, ...]) -> list[Receipt]:
        def work(connection: Connection) -> list[Receipt]:
            return [receipt_of(row["body"]) for row in connection.execute(QUERIES[query], given)]

        return await self._db.read(work)


class RecentActivityStore(JournalPart):
    """The part of the journal that says what is likely to be asked for next."""

    async def latest_scopes(self, limit: int) -> list[Scope]:
        def work(connection: Connection) -> list[Scope]:
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

        def work(connection: Connection) -> list[str]:
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


class SummaryStore(JournalPart):
    """The part of the journal that has them."""

    async def summaries(self, owners: Sequence[str], first: str, last: str) -> list[SummaryLine]:
        """The lines of the days (ISO dates) from one to another, the whole day before the day in short."""

        def work(connection: Connection) -> list[SummaryLine]:
            rows = connection.execute(many("summaries_between", len(owners)), (*owners, first, last))
            return [line_of(row) for row in rows]

        return await self._db.read(work) if owners else []


def line_of(row: Row) -> SummaryLine:
    """A line of a day's summary out of its table."""
    return SummaryLine(
        day=date.fromisoformat(row["day"]),
        tier=ContentTier(row["tier"]),
        session=row["session"],
        text=row["text"],
        memory=row["memory"],
        weight=row["weight"],
    )
