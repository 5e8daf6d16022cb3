"""What became of memories in sessions, counted for many of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import orjson

from memory.fact import Fact, Passage, State
from memory.ports import MemoryUse, SaidIn
from memory.stores.base import JournalPart, ask_many
from memory.stores.connection import Connection
from memory.stores.queries import QUERIES, holding
from memory.stores.rows import fact_of, passage_of, stamp

MAX_LOOKED_AT = 400
"""Passages of one session that are looked at for what was said in it."""

SHOWN = 5
"""In so many sessions a memory must have been shown, and not used, to count as used once."""


def begin_uses(connection: Connection, facts: Iterable[tuple[str, str]]) -> None:
    """Whoever made a memory (its id, the session) is its first user."""
    if pairs := [[memory, session] for memory, session in facts]:
        connection.execute(QUERIES["uses_begin"], (_json(pairs),))


def count_uses(connection: Connection, uses: Sequence[MemoryUse]) -> None:
    """Count what became of memories; of the same one in the same session one use after the other."""
    for each in _batches_of_distinct_memories(uses):
        _count(connection, each)


def _count(connection: Connection, uses: Sequence[MemoryUse]) -> None:
    counted_rows = [[use.memory, use.session, int(use.shown), int(use.used or use.said), int(use.said)] for use in uses]
    now = {(memory, session): tuple(times) for memory, session, *times in counted_rows}
    rows = connection.execute(QUERIES["uses_write"], (_json(counted_rows),)).fetchall()
    # How often each was used before; one whose counts are those of now alone is new.
    before = {
        (memory, session): used - now[memory, session][1]
        for memory, session, shown, used, said in rows
        if (shown, used, said) != now[memory, session]
    }
    counted = [use for use in uses if use.used or use.said]
    first = [use for use in uses if (use.memory, use.session) not in before]
    if shown := [use.memory for use in first if not (use.used or use.said)]:
        connection.execute(QUERIES["facts_shown"], {"ids": _json(shown), "sessions": SHOWN})
    if not counted:
        return
    for at in dict.fromkeys(use.at for use in counted):
        ids = [use.memory for use in counted if use.at == at]
        connection.execute(QUERIES["facts_used"], {"ids": _json(ids), "at": stamp(at)})
    connection.execute(QUERIES["passages_used"], (_json([use.memory for use in counted]),))
    if elsewhere := [use.memory for use in counted if not before.get((use.memory, use.session))]:
        connection.execute(QUERIES["facts_used_elsewhere"], (_json(elsewhere),))
    # Whoever was just shown it and says it again does not bear it out.
    if repeated := [use.memory for use in counted if use.said and (use.memory, use.session) not in before]:
        connection.execute(QUERIES["facts_borne_out"], (_json(repeated),))


def _batches_of_distinct_memories(uses: Sequence[MemoryUse]) -> Iterator[list[MemoryUse]]:
    piece: dict[str, MemoryUse] = {}
    for use in uses:
        if use.memory in piece:
            yield [*piece.values()]
            piece = {}
        piece[use.memory] = use
    if piece:
        yield [*piece.values()]


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


class LineageStore(JournalPart):
    """The part of the journal that looks along a fact's life."""

    async def followers(self, ids: Sequence[str], owners: Sequence[str]) -> list[Fact]:
        def work(connection: Connection) -> list[Fact]:
            found = (fact_of(row) for row in ask_many(connection, "following", ids))
            return [fact for fact in found if fact.owner in owners]

        return await self._db.read(work)

    async def drawn_from(self, sources: Sequence[bytes], owners: Sequence[str]) -> list[Fact]:
        def work(connection: Connection) -> list[Fact]:
            found = (fact_of(row) for row in ask_many(connection, "facts_from", sources))
            return [fact for fact in found if fact.owner in owners and fact.state is State.ACTIVE]

        return await self._few(work, len(sources))

    async def said_in(self, memories: Sequence[str]) -> list[SaidIn]:
        def work(connection: Connection) -> list[SaidIn]:
            return [
                SaidIn(row["memory"], row["session"], datetime.fromisoformat(row["started_at"]), row["said"])
                for row in ask_many(connection, "said_in", memories)
            ]

        return await self._db.read(work)

    async def passages_saying(
        self, session: str, source: bytes, words: Sequence[str], owners: Sequence[str]
    ) -> list[Passage]:
        given = (session, source, _json([holding(word) for word in words if word]), source, MAX_LOOKED_AT)

        def work(connection: Connection) -> list[Passage]:
            found = (passage_of(row) for row in connection.execute(QUERIES["passages_saying"], given))
            return [passage for passage in found if passage.owner in owners]

        return await self._db.read(work)

    async def use_times(self, id: str) -> list[datetime]:
        return await self._rows("use_times", lambda row: datetime.fromisoformat(row["at"]), id)
