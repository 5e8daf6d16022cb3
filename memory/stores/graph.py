"""The entity graph in the journal's database, and how the legs of recall have done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import orjson

from memory.fact import Fact, Passage
from memory.ports import Graph, Tally
from memory.stores.base import JournalPart, ask_many
from memory.stores.connection import Connection, Row
from memory.stores.errors import StoreFault
from memory.stores.memory_cache import KnownMemories
from memory.stores.queries import QUERIES, many, write_several
from memory.stores.rows import fact_of, passage_of

HOLDERS = 60
"""Memories of one name that are read, and names of a part of the graph: what has more says little."""


class EntityGraph(JournalPart):
    """The part of the journal that knows which names stand where."""

    _known: KnownMemories
    _filed = -1
    """The state of what is due in which there was nothing."""

    def _has_filed(self, before: int, behind: int) -> None:
        """All that came between two states of what is due was taken in with it."""
        if self._filed == before:
            self._filed = behind

    async def graph_due(self, limit: int) -> list[Fact | Passage]:
        def look(connection: Connection) -> list[str]:
            return [row["memory"] for row in connection.execute(QUERIES["graph_due"], (limit,))]

        state = self._db.state("graph_due")
        if self._filed == state:
            return []
        if not (due := await self._db.look(look)):
            self._filed = state
            return []

        at_hand = self._known.of(due)
        if len(at_hand) == len(due):
            return [at_hand[id] for id in due]

        def work(connection: Connection) -> list[Fact | Passage]:
            facts = [fact_of(row) for row in ask_many(connection, "facts_get", due)]
            found = {fact.id for fact in facts}
            rest = [id for id in due if id not in found]
            return [*facts, *(passage_of(row) for row in ask_many(connection, "passages_get", rest))]

        return await self._few(work, len(due))

    async def file_names(self, names: Mapping[str, tuple[str, Sequence[str]]]) -> None:
        def work(connection: Connection) -> None:
            # One may have been forgotten, or moved, since it was read.
            rows = connection.execute(QUERIES["graph_there"], (_json([*names]),)).fetchall()
            owners = {row["id"]: row["owner"] for row in rows}
            write_names(connection, {id: entries for id, entries in names.items() if owners.get(id) == entries[0]})

        await self._db.write(work)

    async def graph(self, owners: Sequence[str], names: Sequence[str], memories: Sequence[str]) -> Graph:
        def work(connection: Connection) -> Graph:
            degrees: dict[str, int] = {}
            numbers: dict[int, str] = {}
            standing: dict[str, dict[str, None]] = {}

            def hear(row: Row) -> None:
                if row["number"] not in numbers:
                    numbers[row["number"]] = row["name"]
                    # The same name of two owners is one in the graph.
                    degrees[row["name"]] = degrees.get(row["name"], 0) + row["degree"]

            def names_of(ids: Sequence[str]) -> None:
                if ids:
                    for row in connection.execute(many("names_of", len(ids)), ids):
                        hear(row)
                        standing.setdefault(row["memory"], {})[row["name"]] = None

            def holders_of(wanted: Sequence[int]) -> list[str]:
                found: dict[str, None] = {}
                for number in wanted[:HOLDERS]:
                    if degrees[numbers[number]] <= HOLDERS:
                        rows = connection.execute(QUERIES["memories_of_name"], (number, HOLDERS))
                        found.update(dict.fromkeys(row["memory"] for row in rows))
                return [id for id in found if id not in standing]

            if names:
                names_json = orjson.dumps(list(names)).decode()
                for row in connection.execute(many("names_known", len(owners)), (*owners, names_json)):
                    hear(row)
            if all(degrees[name] > HOLDERS for name in numbers.values()):
                return Graph({}, degrees)  # none of them says anything
            names_of(memories)
            for _ in range(2):  # the memories of these names, then those of the names beside them
                names_of(holders_of(list(numbers))[: 4 * HOLDERS])
            return Graph({id: tuple(found) for id, found in standing.items()}, degrees)

        return await self._db.look(work)

    async def filed(self, owners: Sequence[str], name: str, limit: int) -> list[str]:
        """The ids of memories of some owners in which a name stands: "petra", and then also "petra novak"."""
        theirs = orjson.dumps(list(owners)).decode()
        return await self._rows("filed_under", lambda row: row["memory"], theirs, name, f"{name} ", f"{name}!", limit)

    async def tallies(self, owner: str) -> dict[str, Tally]:
        def work(connection: Connection) -> dict[str, Tally]:
            rows = connection.execute(QUERIES["legs_of"], (owner,))
            return {row["leg"]: Tally(row["used"], row["unused"]) for row in rows}

        with suppress(StoreFault):
            await self._db.caught_up()
        return await self._db.look(work)

    async def tally(self, owner: str, tallies: Mapping[str, Tally]) -> None:
        rows = [(owner, leg, each.used, each.unused) for leg, each in tallies.items()]
        self._db.later(lambda connection: write_several(connection, "leg_set", rows))

    async def names_beside(self, owners: Sequence[str], name: str, limit: int) -> dict[str, tuple[str, ...]]:
        memories = await self.filed(owners, name, limit)

        def work(connection: Connection) -> dict[str, tuple[str, ...]]:
            standing: dict[str, list[str]] = {}
            for row in ask_many(connection, "names_of", memories):
                standing.setdefault(row["memory"], []).append(row["name"])
            return {id: tuple(names) for id, names in standing.items()}

        return await self._db.read(work)

    async def names_most(self, owners: Sequence[str], limit: int) -> dict[str, int]:
        def work(connection: Connection) -> dict[str, int]:
            rows = connection.execute(many("names_most", len(owners)), (*owners, limit))
            return {row["name"]: row["degree"] for row in rows}

        return await self._db.read(work) if owners else {}


def write_names(connection: Connection, names: Mapping[str, tuple[str, Sequence[str]]]) -> None:
    """File memories that are there under their names: by id the owner and the names."""
    told = [[memory, owner, name] for memory, (owner, each) in names.items() for name in each]
    if told:
        connection.execute(QUERIES["names_add"], (_json(told),))
        connection.execute(QUERIES["named_add"], (_json(told),))
    connection.execute(QUERIES["graph_done"], (_json([*names]),))


def _json(values: object) -> str:
    return orjson.dumps(values).decode()
