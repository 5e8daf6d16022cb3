"""The audit log in the journal's database, which a person can read and nobody can change."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from memory.audit import Asked
from memory.stores.queries import QUERIES
from memory.stores.shelf import Shelf


class Audit(Shelf):
    """The part of the journal that knows who asked what."""

    async def record(self, asked: Asked) -> None:
        """Write it down."""
        row = (asked.at.isoformat(), asked.who, asked.what, asked.memory, asked.user, asked.status)
        await self._db.write(lambda connection: connection.execute(QUERIES["audit_add"], row))

    async def audited(self, limit: int, who: str = "", what: str = "") -> list[Asked]:
        """What was asked last, by somebody or by anybody, whose endpoint has ``what`` in it."""

        def work(connection: sqlite3.Connection) -> list[Asked]:
            return [
                Asked(
                    datetime.fromisoformat(row["at"]),
                    row["who"],
                    row["what"],
                    row["memory"],
                    row["user"],
                    row["status"],
                )
                for row in connection.execute(QUERIES["audit_newest"], (who, what, limit))
            ]

        return await self._db.read(work)
