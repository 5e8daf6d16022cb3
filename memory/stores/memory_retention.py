"""Memories that are older than they may become, or of a sort that may not be kept, are deleted.

They go from their tables, from what nights made of them, from receipts and from every index. What a session was given
of them stays in its ledger, which goes with its messages: the prefix of one that lives must not move. Nothing is
buried: what is said again is learnt again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from memory.fact import Fact, Passage
from memory.policy import Unkept
from memory.stores.base import ask_many
from memory.stores.behaviour import forget_observed
from memory.stores.checkouts import forget_checkouts
from memory.stores.connection import Connection
from memory.stores.forgetting import ErasureStore, clean_receipts, unlink
from memory.stores.forgotten_nights import erase_from_nights
from memory.stores.queries import QUERIES
from memory.stores.rows import fact_of, passage_of

PIECE = 64
"""Memories that go in one transaction."""


class MemoryRetention(ErasureStore):
    """The part of the journal that lets go of memories that may not be kept any longer."""

    async def people(self) -> list[str]:
        """The names of all whose messages there are."""
        return await self._db.read(lambda connection: [row["name"] for row in connection.execute(QUERIES["people"])])

    async def delete_unkept(self, unkept: Unkept, sort: Literal["passages", "facts"]) -> int:
        """Delete some of the passages or facts that are to go of an owner; how many, 0 when there are none left."""

        def look(connection: Connection) -> list[str]:
            return _ids(connection, unkept, sort)

        if not (ids := await self._db.read(look)):
            return 0
        return await self._db.write(lambda connection: self._delete(connection, ids))

    async def scrub_deleted(self) -> None:
        """See that what was deleted is overwritten, where the engine can do so."""
        await self._db.scrub()

    def _delete(self, connection: Connection, ids: Sequence[str]) -> int:
        facts = [fact_of(row) for row in ask_many(connection, "facts_get", ids)]
        passages = [passage_of(row) for row in ask_many(connection, "passages_get", ids)]
        memories: list[Fact | Passage] = [*facts, *passages]
        gone = [memory.id for memory in memories]
        erase_from_nights(connection, gone)
        forget_observed(connection, [fact.id for fact in facts], ())
        forget_checkouts(connection, gone)
        clean_receipts(connection, gone)
        each_id = [(id,) for id in gone]
        for name in ("forget_fact", "forget_passage", "forget_uses", "forget_mentions"):
            connection.executemany(QUERIES[name], each_id)
        connection.executemany(QUERIES["outbox_add"], [(id, "gone") for id in gone])
        unlink(connection, gone)
        self._count_back(connection, memories)
        return len(gone)


def _ids(connection: Connection, unkept: Unkept, sort: str) -> list[str]:
    """Some of what is to go."""
    row = {
        "owner": unkept.owner,
        "person": unkept.person,
        "before": unkept.before.timestamp() if unkept.before else 0.0,
        "restricted": int(unkept.restricted),
        "personal": int(unkept.personal),
        "kind": unkept.kind,
        "most": PIECE,
    }
    return [each["id"] for each in connection.execute(QUERIES[f"unkept_{sort}"], row)]
