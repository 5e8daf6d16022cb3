"""The audit log in the journal's database, which a person can read and nobody can change."""

from __future__ import annotations

from datetime import datetime

from memory.provenance import AuditEntry
from memory.stores.base import JournalPart
from memory.stores.queries import QUERIES


class AuditLog(JournalPart):
    """The part of the journal that knows who asked what."""

    async def record(self, entry: AuditEntry) -> None:
        """Write it down."""
        row = (entry.at.isoformat(), entry.who, entry.what, entry.memory, entry.user, entry.status)
        await self._db.write(lambda connection: connection.execute(QUERIES["audit_add"], row), anywhere=True)

    async def audited(self, limit: int, who: str = "", what: str = "") -> list[AuditEntry]:
        """What was asked last, by somebody or by anybody, whose endpoint has ``what`` in it."""
        return await self._rows(
            "audit_newest",
            lambda row: AuditEntry(
                datetime.fromisoformat(row["at"]),
                row["who"],
                row["what"],
                row["memory"],
                row["user"],
                row["status"],
            ),
            who,
            what,
            limit,
        )
