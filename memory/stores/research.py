"""Research in the journal's database: what sub-agents found out, who sent them, and how it was used again."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson

from memory.conversation import Message
from memory.fact import Passage
from memory.learning.research import ObservedExchange
from memory.ports import Forgotten
from memory.research import (
    QUESTIONS,
    Delivery,
    Errand,
    Research,
    ResearchOutcome,
    ResearchSource,
    ResearchUse,
    SourceKind,
    Spawn,
)
from memory.scope import Layer, Scope
from memory.session import Session
from memory.stores.base import ask_many
from memory.stores.connection import Connection, Row
from memory.stores.forgetting import ErasureStore
from memory.stores.forgotten_research import ErasedMessages, leaving
from memory.stores.history_cache import DIGEST, join, split
from memory.stores.messages import Redact, seal
from memory.stores.overviews import Overviews, end_of
from memory.stores.queries import QUERIES, many, write_several
from memory.stores.recent_commits import CommittedExchange, ExchangeOwner, Reading
from memory.stores.rows import passage_of, session_of, stamp
from memory.visibility import also

SESSIONS = 1024
"""Sessions, about, of which it is kept in mind that they have no research."""

TRIES = 3
"""How often it is found beside the writer what goes with research before the writer waits for that."""


class Researches(Overviews, ErasureStore):
    """The part of the journal that keeps research."""

    _nothing: dict[tuple[str, str], tuple[int, int]]
    """The states of its tables in which a query found nothing of a session."""

    async def unobserved(self, limit: int) -> list[ObservedExchange]:
        """Exchanges that were not looked at for research, oldest first, with the end of their requests."""

        def made(exchange: CommittedExchange, of: ExchangeOwner, read: Reading) -> ObservedExchange:
            ended = exchange.complete and exchange.status < 400
            return ObservedExchange(end_of(exchange, of, read), exchange.model, exchange.usage, ended)

        return await self._behind("researched", limit, made)

    async def write_research(
        self, research: Sequence[Research], number: int = 0, spawns: Sequence[Spawn] = (), person: str = ""
    ) -> None:
        """Write research and errands of a person's, and move the cursor to the exchange ``number`` with them (0 moves
        nothing). An errand that is known keeps the session that took it."""
        if number and not research and not spawns and self._newly.passes("researched", number):
            return
        rows = [_research_row(each, self._redact.of_owner(each.owner)) for each in research]
        given = [_spawn_row(each, person, self._redact.of_owner(person)) for each in spawns]

        def work(connection: Connection) -> None:
            connection.executemany(QUERIES["research_write"], rows)
            connection.executemany(QUERIES["spawn_write"], given)
            if number:
                connection.execute(QUERIES["cursor_set"], ("researched", number))

        await self._db.write(work)
        if rows or given:
            self._nothing.clear()
        if number:
            self._newly.moved("researched", number)

    async def research(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Research]:
        """Research by id, in the order of the ids, as far as it belongs to these owners."""

        def work(connection: Connection) -> list[Research]:
            rows = {row["id"]: row for row in ask_many(connection, "research_get", ids)}
            found = [_of(rows[id]) for id in dict.fromkeys(ids) if id in rows]
            return [each for each in found if owners is None or each.owner in owners]

        return await self._db.look(work)

    async def research_named(self, beginning: str, owners: Sequence[str]) -> list[str]:
        """The ids of research of some owners that begin with these hexadecimal digits, dashes left out."""
        digits = beginning.replace("-", "")
        first, last = (_as_uuid(digits.ljust(32, filler)) for filler in "0f")

        def work(connection: Connection) -> list[str]:
            rows = connection.execute(QUERIES["research_named"], (first, last))
            return [row["id"] for row in rows if row["owner"] in owners]

        return await self._db.read(work)

    async def research_of_session(self, session: str) -> Research | None:
        """The research of a sub-agent's session."""
        rows = await self._rows_of_session("research_of_session", session)
        return _of(rows[0]) if rows else None

    async def research_of_parent(self, session: str) -> list[Research]:
        """The research that a session sent out, the oldest first."""
        return await self._query("research_of_parent", (session,))

    async def newest_research(self, owners: Sequence[str], limit: int) -> list[Research]:
        """The research of some owners, the newest first."""
        if not owners:
            return []
        query = many("research_newest", len(owners))
        rows = await self._db.read(lambda connection: connection.execute(query, (*owners, limit)).fetchall())
        return [_of(row) for row in rows]

    async def research_after(self, owner: str, after: str, limit: int) -> list[Research]:
        """An owner's research whose ids come behind ``after``, in order."""
        return await self._query("research_after", (owner, after, limit))

    async def research_owners(self) -> list[str]:
        """Every owner that has research."""
        rows = await self._db.read(lambda connection: connection.execute(QUERIES["research_owners"]).fetchall())
        return [row["owner"] for row in rows]

    async def projects_with_research(self, org: str) -> list[str]:
        """The owners of those projects of an organisation in which there is research that can be found."""
        beginning = f"{QUESTIONS}p:{(Scope(org).owner(Layer.ORG) or '').removeprefix('o:')}"
        # Behind the slash comes the nought.
        between = (f"{beginning}/", f"{beginning}0")
        rows = await self._db.read(
            lambda connection: connection.execute(QUERIES["research_projects"], between).fetchall()
        )
        return [row["name"].removeprefix(QUESTIONS) for row in rows]

    async def idle_research(self, before: datetime) -> list[Research]:
        """Research that is still running and has gone no further since ``before``."""
        return await self._query("research_idle", (before.timestamp(),))

    async def trail(self, research: Research) -> list[Message]:
        """The messages of a research's trail, in order, free of secrets."""

        def work(connection: Connection) -> list[Message]:
            person = connection.execute(QUERIES["person_get"], (research.person,)).fetchone()
            if person is None:
                return []
            there = self._opened.get(connection, person["number"], list(dict.fromkeys(research.trail)))
            return [there[digest] for digest in research.trail]

        # Who may see the research may see what it is made of, whoever's messages those are.
        with also(research.person):
            return await self._db.read(work)

    async def store_messages(self, person: str, messages: Sequence[Message]) -> None:
        """Store messages of a person's that no exchange brought, free of secrets; what is known stays as it is."""
        redact = self._redact.of_owner(person)
        sealed = await asyncio.to_thread(lambda: [seal(message, redact) for message in messages])

        def work(connection: Connection) -> None:
            connection.execute(QUERIES["person_add"], (person,))
            (number,) = connection.execute(QUERIES["person_get"], (person,)).fetchone()
            rows = [(number, each.digest, each.role, each.redacted, each.body) for each in sealed]
            write_several(connection, "message_write", rows)

        await self._db.write(work)

    async def research_pieces(self, id: str) -> list[Passage]:
        """The passages by which a research is found."""
        rows = await self._db.read(lambda connection: connection.execute(QUERIES["research_pieces"], (id,)).fetchall())
        return [passage_of(row) for row in rows]

    async def spawns_of(self, session: str) -> list[Spawn]:
        """The errands that a session gave, in order."""
        return [_spawn_of(row) for row in await self._rows_of_session("spawns_of", session)]

    async def spawns_waiting(self, person: str, since: datetime) -> list[Spawn]:
        """The errands of a person's that no session has taken yet, given since a moment."""
        parameters = (person, since.timestamp())
        rows = await self._db.read(
            lambda connection: connection.execute(QUERIES["spawns_waiting"], parameters).fetchall()
        )
        return [_spawn_of(row) for row in rows]

    async def learn_spawner(self, person: str, tool: str) -> None:
        """A tool of a person's was seen to send a sub-agent out."""
        await self._db.write(lambda connection: connection.execute(QUERIES["spawner_add"], (person, tool)))

    async def spawners(self, person: str) -> frozenset[str]:
        """The names of tools that were seen to."""
        rows = await self._db.read(lambda connection: connection.execute(QUERIES["spawners_of"], (person,)).fetchall())
        return frozenset(row["tool"] for row in rows)

    async def tie(self, session: str, parent: str) -> None:
        """A session is the sub-agent of another, which has this key."""
        await self._db.write(lambda connection: connection.execute(QUERIES["session_tie"], (parent, session)))
        self._newly.clear()

    async def session_in_namespace(self, key: str) -> Session | None:
        """The session that a key names, whichever runtime it is of: ``namespace:runtime:id``."""
        namespace, _, rest = key.partition(":")
        id = ":" + rest.partition(":")[2]
        parameters = (f"{namespace}:", f"{namespace};", id, id)

        def work(connection: Connection) -> Session | None:
            row = connection.execute(QUERIES["session_by_key"], (key,)).fetchone()
            row = row or connection.execute(QUERIES["session_in_namespace"], parameters).fetchone()
            return session_of(row) if row else None

        return await self._db.read(work) if len(id) > 1 else None

    async def session(self, id: str) -> Session | None:
        row = await self._db.read(lambda connection: connection.execute(QUERIES["session_get"], (id,)).fetchone())
        return session_of(row) if row else None

    async def use_research(self, ids: Sequence[str], session: str, how: str, at: datetime, tokens: int) -> None:
        """Research was used again in a session, with so many tokens together; the same use counts once, and
        none of what was forgotten meanwhile."""
        share = tokens // max(len(ids), 1)
        rows = [(id, session, how, stamp(at), share) for id in ids]
        await self._db.write(lambda connection: connection.executemany(QUERIES["research_use"], rows), anywhere=True)

    async def uses_of_research(self, ids: Sequence[str]) -> list[ResearchUse]:
        """How research was used again."""

        def work(connection: Connection) -> list[ResearchUse]:
            rows = ask_many(connection, "research_uses_of", ids)
            return [
                ResearchUse(
                    row["research"], row["session"], row["how"], datetime.fromisoformat(row["at"]), row["tokens"]
                )
                for row in rows
            ]

        return await self._db.read(work)

    async def same_question(self, research: Research) -> list[Research]:
        """Other research of the same person's that was asked the very same."""
        found = await self._query("research_asked", (research.owner, research.question))
        return [each for each in found if each.id != research.id and each.person == research.person]

    async def forget_research(self, every: Sequence[Research], at: datetime, tombstones: Sequence[bytes]) -> Forgotten:
        """Delete research of one person's everywhere in the journal: its rows, its pieces, the messages of its trails,
        what was learnt of them, and in the talk that sent it out the question and the report."""
        gone = None
        tries = 0
        while gone is None:
            tries += 1
            gone = await self._forget_found(every, at, tombstones, at_last=tries >= TRIES)
        self._opened.clear()
        self._newly.clear()
        await self._db.scrub()
        return gone

    async def _forget_found(
        self, every: Sequence[Research], at: datetime, tombstones: Sequence[bytes], at_last: bool
    ) -> Forgotten | None:
        """Find what goes with research and delete it; None where an exchange or a use came in between, which may hold
        more of it. ``at_last`` it is then found again while nothing else is written."""

        def find(connection: Connection) -> tuple[tuple[int, int], ErasedMessages]:
            return _newest_numbers(connection), leaving(connection, every)

        # Much may have to be read; a reply that waits for the writer does not wait for that.
        newest, found = await self._db.read(find)

        def work(connection: Connection) -> Forgotten | None:
            leaves = found
            if _newest_numbers(connection) != newest:
                if not at_last:
                    return None
                leaves = leaving(connection, every)
            ids = [*(each.id for each in every), *leaves.passages]
            for each in every:
                parameters = (each.session, each.session)
                rows = (
                    connection.execute(QUERIES["research_sessions_passages"], parameters).fetchall()
                    if each.session
                    else []
                )
                ids += [row["id"] for row in (*rows, *connection.execute(QUERIES["research_pieces"], (each.id,)))]
            return self._forget(connection, ids, at, None, tombstones, leaves.whole, leaves.struck)

        return await self._db.write(work)

    async def forget_pieces(self, ids: Sequence[str], at: datetime) -> None:
        """Let go of passages by which a research is found, which is written anew."""

        def work(connection: Connection) -> None:
            gone = [passage_of(row) for row in ask_many(connection, "passages_get", ids)]
            for passage in gone:
                connection.execute(QUERIES["forget_passage"], (passage.id,))
                connection.execute(QUERIES["outbox_add"], (passage.id, "gone"))
            self._count_back(connection, gone)

        await self._db.write(work)

    async def _rows_of_session(self, query: str, session: str) -> list[Row]:
        """What a query finds of a session. Most sessions have nothing, and are asked with each of their exchanges."""
        state = self._db.state("research"), self._db.state("spawns")
        if self._nothing.get((query, session)) == state:
            return []
        rows = await self._db.look(lambda connection: connection.execute(QUERIES[query], (session,)).fetchall())
        if not rows:
            if len(self._nothing) >= SESSIONS:
                self._nothing.clear()
            self._nothing[query, session] = state
        return rows

    async def _query(self, query: str, parameters: tuple[Any, ...]) -> list[Research]:
        rows = await self._db.read(lambda connection: connection.execute(QUERIES[query], parameters).fetchall())
        return [_of(row) for row in rows]


def _newest_numbers(connection: Connection) -> tuple[int, int]:
    """The numbers of the newest exchange and of the newest use of a research."""
    exchange, use = connection.execute(QUERIES["research_upto"]).fetchone()
    return int(exchange), int(use)


def _research_row(research: Research, redact: Redact) -> dict[str, Any]:
    """A research for its table, free of secrets."""
    sources = [[each.kind.value, redact(each.name), each.mark] for each in research.sources]
    fields = {name: getattr(research, name) for name in _TEXTS}
    return {
        **fields,
        **{name: redact(fields[name]) for name in ("description", "question", "line", "overview", "model")},
        "reports": orjson.dumps([redact(report) for report in research.reports]).decode(),
        "sources": orjson.dumps(sources).decode(),
        "trail": join(research.trail),
        "commit_": research.commit,
        "began": stamp(research.began),
        "ended": stamp(research.ended),
        "seen": research.ended.timestamp(),
        "requests": research.requests,
        "tokens": research.tokens,
        "written": research.written,
        "outcome": research.outcome.value,
        "delivery": research.delivery.value,
        "returned": research.returned,
    }


_TEXTS = (
    *("id", "owner", "person", "session", "parent", "claimed", "call", "tool", "agent", "description", "question"),
    *("line", "overview", "runtime", "model", "directory"),
)


def _of(row: Row) -> Research:
    return Research(
        **{name: row[name] for name in _TEXTS},
        commit=row["commit_"],
        began=datetime.fromisoformat(row["began"]),
        ended=datetime.fromisoformat(row["ended"]),
        reports=tuple(orjson.loads(row["reports"])),
        sources=tuple(
            ResearchSource(SourceKind(kind), name, mark) for kind, name, mark in orjson.loads(row["sources"])
        ),
        trail=tuple(split(row["trail"])),
        requests=row["requests"],
        tokens=row["tokens"],
        written=row["written"],
        outcome=ResearchOutcome(row["outcome"]),
        delivery=Delivery(row["delivery"]),
        returned=row["returned"],
    )


def _spawn_row(spawn: Spawn, person: str, redact: Redact) -> dict[str, Any]:
    errand = spawn.errand
    return {
        "session": spawn.session,
        "person": person,
        "call": errand.call,
        "mark": hashlib.blake2b(errand.prompt.encode("utf-8", "replace"), digest_size=DIGEST).digest(),
        "tool": errand.tool,
        "prompt": redact(errand.prompt),
        "description": redact(errand.description),
        "agent": errand.agent,
        "at": stamp(spawn.at),
        "seen": spawn.at.timestamp(),
        "child": spawn.child,
    }


def _spawn_of(row: Row) -> Spawn:
    errand = Errand(row["call"], row["tool"], row["prompt"], row["description"], row["agent"])
    return Spawn(row["session"], errand, datetime.fromisoformat(row["at"]), row["child"])


def _as_uuid(digits: str) -> str:
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))
