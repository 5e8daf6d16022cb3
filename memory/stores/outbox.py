"""What each index has still to take in: so that it catches up after a crash, and a new one is filled beside it.

Every generation of the index has an outbox of its own, written in the transaction that changes a memory. A rebuild
is a new generation whose outbox holds everything: it goes on where it stopped, and nothing learned meanwhile is
missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

from memory.fact import Fact, Passage
from memory.ports import Generation, Lag, Lesson
from memory.stores.base import JournalPart, ask_many
from memory.stores.connection import Connection, Row
from memory.stores.errors import StoreFault
from memory.stores.memory_cache import KnownMemories
from memory.stores.queries import QUERIES
from memory.stores.rows import fact_of, passage_of

# Memories that one transaction enters into a new outbox: some milliseconds.
STEP = 2000

AT_ONCE = 32
"""Memories that an index has taken in from which on that is written at once. Of fewer it is written with the next
transaction: after a crash they are taken in once more."""


class Outbox(JournalPart):
    """The part of the journal that knows the generations of the index."""

    _beginning: list[int]
    _known: KnownMemories
    _empty: dict[int, int]
    """The state of the outbox in which that of a generation was found empty."""
    _current: tuple[int, int] = (-1, 0)
    """The number of the generation that is searched, as it was in a state of the generations."""
    _state = 0
    _taken: set[tuple[int, str]]
    """What an index has taken in, by its generation, and what still stands in its outbox until the next transaction."""

    _handed: tuple[int, int, Lag] | None
    """A generation, a state of its outbox, and what alone stands in it then."""

    def _hand_over(self, lesson: Lesson, before: int, behind: int) -> None:
        """A lesson was written, and nothing else came into the outbox between these states: what it taught need not be
        read again."""
        state, number = self._current
        if state == self._state and self._empty.get(number) == before:
            self._handed = number, behind, Lag(lesson.facts, lesson.passages, ())

    async def generations(self) -> list[Generation]:
        return await self._db.read(self._generations)

    async def begin_generation(self, embedder: str, dimensions: int) -> Generation:
        """See :class:`memory.ports.Journal`. In steps, so that exchanges are committed in between."""
        mine = await self._db.read(self._db.own_indexes)
        anywhere = mine is not None

        def begin(connection: Connection) -> int:
            number = _begin_generation(embedder, dimensions, self._beginning, mine, connection)
            self._db.claim_index(connection, number)
            return number

        self._beginning.append(number := await self._db.write(begin, anywhere=anywhere))
        try:
            # What is learned from here on finds the generation, so only what was there before is asked for.
            (newest,) = await self._db.read(
                lambda connection: connection.execute(QUERIES["memories_newest"]).fetchone()
            )
            for after in range(0, newest, STEP):
                await self._db.write(partial(_enter, number, after), anywhere=anywhere)
            await self._db.write(
                lambda connection: connection.execute(QUERIES["generation_ready"], (number,)), anywhere=anywhere
            )
        finally:
            self._beginning.remove(number)
            self._state += 1
        return Generation(number, embedder, dimensions)

    async def switch_generation(self, number: int) -> None:
        mine = await self._db.read(self._db.own_indexes)

        def work(connection: Connection) -> None:
            if mine is None:
                connection.execute(QUERIES["generation_switch"], (number,))
                return
            for each in mine:
                connection.execute(QUERIES["generation_current"], (each == number, each))

        await self._db.write(work, anywhere=mine is not None)
        self._state += 1

    async def drop_generation(self, number: int) -> None:
        def work(connection: Connection) -> None:
            connection.execute(QUERIES["outbox_drop"], (number,))
            connection.execute(QUERIES["generation_drop"], (number,))

        mine = await self._db.read(self._db.own_indexes)
        await self._db.write(work, anywhere=mine is not None and number in mine)
        self._state += 1

    async def unindexed(self, limit: int, generation: int | None = None) -> Lag:
        """See :class:`memory.ports.Journal`. What is to go comes first."""

        state = self._db.state("outbox")
        if self._handed is not None:
            number, then, lag = self._handed
            current = self._current == (self._state, number)
            if current and then == state and generation in (None, number) and len(lag.ids) <= limit:
                return lag

        def glance(connection: Connection) -> tuple[int, list[Row]]:
            number = self._chosen_generation(connection, generation)
            if self._empty.get(number) == state:
                return number, []
            rows = connection.execute(QUERIES["outbox_next"], (number, limit + len(self._taken))).fetchall()
            return number, [row for row in rows if (number, row["memory"]) not in self._taken][:limit]

        def work(connection: Connection) -> Lag:
            if len(due) < limit:
                return _due_memories(connection, due, self._known.of(row["memory"] for row in due))
            gone = [row["memory"] for row in connection.execute(QUERIES["outbox_gone"], (number, limit))]
            left = limit - len(gone)
            facts = [fact_of(row) for row in connection.execute(QUERIES["outbox_facts"], (number, left))]
            left -= len(facts)
            passages = [passage_of(row) for row in connection.execute(QUERIES["outbox_passages"], (number, left))]
            return Lag(tuple(facts), tuple(passages), tuple(gone))

        number, due = await self._db.look(glance)
        if not due:
            self._empty[number] = state
            return Lag((), (), ())
        if len(due) >= limit:
            await self._db.caught_up()  # all of it is read anew, and nothing that was taken in already
        return await self._few(work, len(due))

    async def mark_indexed(self, ids: Sequence[str], generation: int | None = None) -> None:
        if not ids:
            return
        number = await self._db.look(lambda connection: self._chosen_generation(connection, generation))
        done = {(number, id) for id in ids}

        def work(connection: Connection) -> None:
            # Whoever enters one of them anew comes behind this.
            self._taken.difference_update(done)
            ask_many(connection, "outbox_done", ids, (number,))

        if len(ids) > AT_ONCE:
            await self._db.write(work, anywhere=True)
            return
        self._taken |= done
        self._db.later(work)
        if self._handed is not None and self._handed[0] == number and set(self._handed[2].ids) <= set(ids):
            self._empty[number] = self._handed[1]
            self._handed = None

    async def waiting(self, generation: int | None = None) -> int:
        def work(connection: Connection) -> int:
            row = connection.execute(
                QUERIES["outbox_count"], (self._chosen_generation(connection, generation),)
            ).fetchone()
            return int(row["waiting"])

        with suppress(StoreFault):  # on a full disk it is told with what was taken in since
            await self._db.caught_up()
        return await self._db.read(work)

    def _chosen_generation(self, connection: Connection, number: int | None) -> int:
        """The generation that is meant; 0, which has nothing to do, where there is none yet."""
        if number is not None:
            return number
        state, (known, current) = self._state, self._current
        if known != state:
            current = next((each.number for each in self._generations(connection) if each.current), 0)
            self._current = state, current
        return current

    def _generations(self, connection: Connection) -> list[Generation]:
        mine = self._db.own_indexes(connection)
        return [
            Generation(row["number"], row["embedder"], row["dimensions"], bool(row["current"]))
            for row in connection.execute(QUERIES["generations_all"])
            if mine is None or row["number"] in mine
        ]


def _due_memories(connection: Connection, due: Sequence[Row], known: Mapping[str, Fact | Passage]) -> Lag:
    """All that is due, where that is all; what is ``known`` is not read."""
    by_sort: dict[str, list[str]] = {}
    for row in due:
        by_sort.setdefault(row["sort"], []).append(row["memory"])
    at_hand = {id: memory for id in by_sort.get("turn", ()) if isinstance(memory := known.get(id), Passage)}
    unread = [id for id in by_sort.get("turn", ()) if id not in at_hand]
    facts = {row["id"]: fact_of(row) for row in ask_many(connection, "facts_get", by_sort.get("fact", ()))}
    passages = at_hand | {row["id"]: passage_of(row) for row in ask_many(connection, "passages_get", unread)}
    return Lag(
        tuple(facts[id] for id in by_sort.get("fact", ()) if id in facts),
        tuple(passages[id] for id in by_sort.get("turn", ()) if id in passages),
        tuple(by_sort.get("gone", ())),
    )


def _begin_generation(
    embedder: str, dimensions: int, beginning: Sequence[int], mine: frozenset[int] | None, connection: Connection
) -> int:
    """A generation's row; what an earlier process left half begun goes, but not another replica's."""
    for row in connection.execute(QUERIES["generations_unready"]).fetchall():
        if row["number"] not in beginning and (mine is None or row["number"] in mine):
            connection.execute(QUERIES["outbox_drop"], (row["number"],))
            connection.execute(QUERIES["generation_drop"], (row["number"],))
    return connection.execute(QUERIES["generation_add"], (embedder, dimensions)).lastrowid or 0


def _enter(number: int, after: int, connection: Connection) -> None:
    parameters = {"generation": number, "after": after, "upto": after + STEP}
    connection.execute(QUERIES["outbox_facts_behind"], parameters)
    connection.execute(QUERIES["outbox_passages_behind"], parameters)
