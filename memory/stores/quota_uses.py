"""How much of their daily quotas people and organisations have used, whichever server they came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from memory.stores.base import JournalPart
from memory.stores.connection import Connection
from memory.stores.queries import QUERIES

Used = tuple[str, str]
"""An owner, and what of theirs is counted."""


class QuotaUseStore(JournalPart):
    """The part of the journal that counts what is used in a day. A day is written as ``2026-11-28``."""

    async def quota_uses(self, day: str, owners: Sequence[str]) -> dict[Used, int]:
        """What these owners have used on a day."""

        def work(connection: Connection) -> dict[Used, int]:
            return {
                (owner, row["kind"]): row["used"]
                for owner in owners
                for row in connection.execute(QUERIES["quota_uses_of"], (day, owner))
            }

        return await self._db.read(work)

    async def add_quota_uses(self, day: str, used: Mapping[Used, int]) -> dict[Used, int]:
        """Count more that was used on a day, on whichever server; how much each has used of it then. What was counted
        before the day before goes."""

        def work(connection: Connection) -> dict[Used, int]:
            # A clock that is ahead must not end the day of the others.
            connection.execute(QUERIES["quota_uses_end"], ((date.fromisoformat(day) - timedelta(days=1)).isoformat(),))
            now = {}
            for (owner, kind), more in sorted(used.items()):
                row = connection.execute(QUERIES["quota_uses_add"], (day, owner, kind, more)).fetchone()
                now[owner, kind] = int(row["used"])
            return now

        return await self._db.write(work, anywhere=True)
