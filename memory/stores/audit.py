"""The audit log in the journal's database, which a person can read and nobody can change."""

from __future__ import annotations

from datetime import datetime

from memory.provenance import AuditEntry
from memory.stores.base import JournalPart
from memory.stores.connection import Connection
from memory.stores.queries import QUERIES


class Audit(JournalPart):
    """The part of the journal that knows who asked what."""

    async def record(self, entry: AuditEntry) -> None:
        """Write it down."""
        row = (entry.at.isoformat(), entry.who, entry.what, entry.memory, entry.user, entry.status)
        await self._db.write(lambda connection: connection.execute(QUERIES["audit_add"], row), anywhere=True)

    async def audited(self, limit: int, who: str = "", what: str = "") -> list[AuditEntry]:
        """What was asked last, by somebody or by anybody, whose endpoint has ``what`` in it."""

        def work(connection: Connection) -> list[AuditEntry]:
            return [
                AuditEntry(
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
