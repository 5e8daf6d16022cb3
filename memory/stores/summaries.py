"""The days in short, line by line, as recall reads them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date

from memory.edits import ContentTier
from memory.ports import SummaryLine
from memory.stores.base import JournalPart
from memory.stores.queries import many


class SummaryStore(JournalPart):
    """The part of the journal that has them."""

    async def summaries(self, owners: Sequence[str], first: str, last: str) -> list[SummaryLine]:
        """The lines of the days (ISO dates) from one to another, the whole day before the day in short."""

        def work(connection: sqlite3.Connection) -> list[SummaryLine]:
            rows = connection.execute(many("summaries_between", len(owners)), (*owners, first, last))
            return [line_of(row) for row in rows]

        return await self._db.read(work) if owners else []


def line_of(row: sqlite3.Row) -> SummaryLine:
    """A line of a day's summary out of its table."""
    return SummaryLine(
        day=date.fromisoformat(row["day"]),
        tier=ContentTier(row["tier"]),
        session=row["session"],
        text=row["text"],
        memory=row["memory"],
        weight=row["weight"],
    )
