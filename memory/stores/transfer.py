"""What export and import ask of the journal beside what every day asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory.fact import Fact, Passage
from memory.session import Session
from memory.stores.base import JournalPart, ask_many
from memory.stores.connection import Connection
from memory.stores.queries import QUERIES
from memory.stores.rows import fact_of, passage_of, session_of


class TransferStore(JournalPart):
    """The part of the journal that gives everything out, and takes it back."""

    async def facts_after(self, owner: str, after: str, limit: int) -> list[Fact]:
        return await self._rows("facts_after", fact_of, owner, after, limit)

    async def passages_after(self, owner: str, after: str, limit: int) -> list[Passage]:
        return await self._rows("passages_after", passage_of, owner, after, limit)

    async def uses_of(self, ids: Sequence[str]) -> dict[str, Mapping[str, tuple[int, int, int]]]:
        def work(connection: Connection) -> dict[str, Mapping[str, tuple[int, int, int]]]:
            found: dict[str, dict[str, tuple[int, int, int]]] = {}
            for row in ask_many(connection, "uses_of", ids):
                found.setdefault(row["memory"], {})[row["session"]] = (row["shown"], row["used"], row["said"])
            return dict(found)

        return await self._db.read(work)

    async def restore_uses(self, uses: Mapping[str, Mapping[str, tuple[int, int, int]]]) -> None:
        rows = [(memory, session, *counts) for memory, each in uses.items() for session, counts in each.items()]
        await self._db.write(lambda connection: connection.executemany(QUERIES["use_restore"], rows))

    async def pins_of(self, person: str) -> list[tuple[bytes, int, str]]:
        return await self._rows("pins_whole", lambda row: (bytes(row["subject"]), row["part"], row["at"]), person)

    async def buried(self) -> int:
        return await self._db.read(
            lambda connection: int(connection.execute(QUERIES["tombstones_count"]).fetchone()["number"])
        )

    async def journaled(self, ids: Sequence[str]) -> frozenset[str]:
        def work(connection: Connection) -> frozenset[str]:
            return frozenset(row["id"] for row in ask_many(connection, "exchanges_known", ids))

        return await self._db.read(work)

    async def sessions_called(self, person: str, runtime: str, name: str) -> list[Session]:
        ending = f":{runtime}:{name}"
        return await self._rows("sessions_called", session_of, person, runtime, ending, ending)
