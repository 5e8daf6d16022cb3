"""What is older than a person wants to keep leaves the journal.

Exchanges go with their receipts and with the messages that nothing else holds; of a session that was not seen since,
its ledger goes too, and of one that lives its newest exchange stays, because its next request builds on that. Facts,
passages, summaries and research stay, and so do the hashes by which a session, and what it has said already, is known
again: so that nothing is learned twice when a client comes back with an old history.

Memories that are older than they may become, or of a sort that may not be kept, are deleted.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import orjson

from memory.conversation import Role
from memory.fact import Fact, Passage
from memory.policy import Unkept
from memory.stores.base import ask_many, chunks
from memory.stores.behaviour import forget_observed
from memory.stores.checkouts import forget_checkouts
from memory.stores.connection import Connection, Row
from memory.stores.forgetting import ErasureStore, clean_receipts, erase_from_nights, unlink
from memory.stores.gate import LoopGate
from memory.stores.history_cache import RecentHistories, split
from memory.stores.messages import unseal
from memory.stores.queries import QUERIES
from memory.stores.recent_commits import WorkerBacklog, history_of
from memory.stores.rows import fact_of, listed, passage_of
from memory.stores.sessions import forms

EXCHANGES, MESSAGES, PAGES = 64, 128, 512
"""How much goes in one transaction: a few milliseconds."""

Held = tuple[int, bytes]
"""A message: whose it is (a number of people), and its digest."""


@dataclass(slots=True)
class _Old:
    """What is to go, as it was found at one moment: exchanges by session, messages by number. ``top`` is the newest
    exchange then; ``stayed`` are exchanges whose session has come back to life since."""

    before: float
    top: int = 0
    exchanges: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    dormant: list[int] = field(default_factory=list)
    messages: list[int] = field(default_factory=list)
    stayed: list[int] = field(default_factory=list)


class Retention(WorkerBacklog):
    """The part of the journal that lets go of what is old."""

    _gate: LoopGate
    _recent: RecentHistories

    async def delete_old(
        self,
        before: datetime,
        works: Sequence[str],
        rest: Callable[[], Awaitable[None]],
        people: Collection[str] | None = None,
    ) -> tuple[int, int]:
        """Let go of the exchanges before a time that every one of these works (names of their cursors) has read, of
        these people or of all; how many exchanges and messages went. ``rest`` is awaited between two transactions."""
        await self.write_cursors()
        old = await self._db.read(lambda connection: _find_expired(connection, before.timestamp(), works, people))
        exchanges = messages = 0
        for session, numbers in old.exchanges.items():
            for piece in chunks(numbers, EXCHANGES):
                exchanges += await self._alone(
                    lambda connection, s=session, p=piece: self._delete_exchanges(connection, old, s, p)  # type: ignore[misc]
                )
                await rest()
        for session in old.dormant:
            await self._db.write(lambda connection, s=session: _delete_ledgers(connection, old, s))  # type: ignore[misc]
        for piece in chunks(old.messages, MESSAGES):
            messages += await self._alone(lambda connection, p=piece: _delete_messages(connection, old, p))  # type: ignore[misc]
            await rest()
        if exchanges or messages:
            self._opened.clear()
            self._newly.clear()
            while await self._db.give_back(PAGES):
                await rest()
            await self._db.scrub()
        return exchanges, messages

    async def _alone(self, work: Callable[[Connection], int]) -> int:
        """What a write comes to while nothing is committed. What was asked of the writer is done whether it is waited
        for or not, so the gate stays closed until then also where the waiting is given up."""
        async with self._gate.closed():
            written = asyncio.ensure_future(self._db.write(work))
            try:
                return await asyncio.shield(written)
            except asyncio.CancelledError:
                await asyncio.wait({written})
                raise

    def _delete_exchanges(self, connection: Connection, old: _Old, session: int, numbers: Sequence[int]) -> int:
        """Exchanges of one session go, unless it came back to life meanwhile; what builds on them stands for itself."""
        if session in old.dormant and _lives(connection, session, old.before):
            old.stayed.extend(numbers)
            return 0
        self._recent.clear()
        for row in ask_many(connection, "retention_built", numbers):
            if row["number"] not in numbers:
                connection.execute(QUERIES["retention_whole"], (history_of(connection, row["number"]), row["number"]))
        for row in ask_many(connection, "retention_shown", numbers):
            _unmention(connection, "exchange", row["number"], listed(row["shown"]))
        # The newest first: an exchange builds on an earlier one.
        newest_first = [(number,) for number in sorted(numbers, reverse=True)]
        connection.executemany(QUERIES["retention_receipts"], newest_first)
        connection.executemany(QUERIES["retention_gone"], newest_first)
        return len(numbers)


def _lives(connection: Connection, session: int, since: float) -> bool:
    return connection.execute(QUERIES["retention_living"], (session, since)).fetchone() is not None


def _find_expired(connection: Connection, before: float, works: Sequence[str], people: Collection[str] | None) -> _Old:
    """What is to go. It is read in one transaction, beside the writer."""
    old = _Old(before)
    connection.execute("BEGIN")
    try:
        whose = {
            row["number"] for row in connection.execute(QUERIES["people"]) if people is None or row["name"] in people
        }
        sessions = {
            row["number"]: row
            for row in connection.execute(QUERIES["retention_sessions"], (before,))
            if row["person"] in whose
        }
        old.dormant = [number for number, row in sessions.items() if not row["living"]]
        (read,) = connection.execute(QUERIES["retention_learned"], (_json(works),)).fetchone()
        # All of them are read only where one is to go: on most days none has become too old.
        if connection.execute(QUERIES["retention_any"], (before, read, _json(whose))).fetchone() is None:
            return old
        held: set[Held] = set()
        leaving: set[Held] = set()
        gone: set[int] = set()
        newest: dict[int, int] = {}
        rows = connection.execute(QUERIES["retention_exchanges"], (before,)).fetchall()
        for row in rows:
            newest[row["session"]] = row["number"]
        for row in rows:
            number = row["number"]
            old.top = max(old.top, number)
            if (session := sessions.get(row["session"])) is None:
                continue
            person = session["person"]
            stays = session["living"] and number in (session["tip"], newest[row["session"]])
            if row["old"] and number <= read and not stays:
                gone.add(number)
                old.exchanges[row["session"]].append(number)
                leaving.update(_of(person, row["tail"], row["reply"]))
                continue
            # What it builds on tells the rest of it, or goes: then it has to tell all of it by itself.
            tail = history_of(connection, number) if row["base"] in gone else row["tail"]
            held.update(_of(person, tail, row["reply"]))
        held.update(
            (row["person"], row["digest"]) for row in connection.execute(QUERIES["retention_protected"], (before,))
        )
        for row in connection.execute(QUERIES["retention_trails"]):
            held.update(_of(row["person"], row["trail"], None))
        leaving -= held
        rows = connection.execute(QUERIES["retention_messages"]).fetchall()
        old.messages = [row["number"] for row in rows if (row["person"], row["digest"]) in leaving]
        return old
    finally:
        connection.execute("COMMIT")


def _json(values: Iterable[object]) -> str:
    return orjson.dumps(list(values)).decode()


def _of(person: int, tail: bytes, reply: bytes | None) -> Iterable[Held]:
    return [(person, digest) for digest in (*split(tail), *([reply] if reply else []))]


def _delete_ledgers(connection: Connection, old: _Old, session: int) -> None:
    """What a session that was not seen since was given goes."""
    if _lives(connection, session, old.before):
        return
    for row in connection.execute(QUERIES["retention_entries"], (session,)).fetchall():
        _unmention(connection, "ledger", row["number"], listed(row["memories"]))
    connection.execute(QUERIES["retention_ledger"], (session,))


def _delete_messages(connection: Connection, old: _Old, numbers: Sequence[int]) -> int:
    """Messages go with their overviews, but for those that have come again since, and those that a person has pinned
    or had forgotten since: what stands for a forgotten one must stay."""
    again: set[Held] = set()
    for row in connection.execute(QUERIES["retention_since"], (old.top,)).fetchall():
        again.update(_of(row["person"], history_of(connection, row["number"]), row["reply"]))
    for row in ask_many(connection, "retention_stayed", old.stayed):
        again.update(_of(row["person"], history_of(connection, row["number"]), row["reply"]))
    count = 0
    for row in ask_many(connection, "retention_bodies", numbers):
        if (row["person"], row["digest"]) in again:
            continue
        connection.execute(QUERIES["retention_message"], (row["number"],))
        for subject in _overview_subjects(connection, row):
            connection.execute(QUERIES["overviews_forget"], (row["person"], subject))
        count += 1
    return count


def _overview_subjects(connection: Connection, row: Row) -> set[bytes]:
    """Under which digests a message has overviews: its own, and those of the forms in which a client may have sent a
    reply back, but for what is a message of its own."""
    found = {row["digest"]}
    if row["role"] == Role.ASSISTANT:
        with suppress(ValueError):
            parts = unseal(row["digest"], row["role"], row["body"], whole=True).parts
            found.update(digest for form in forms(parts) for digest in form)
    known = ask_many(connection, "messages_known", list(found), (row["person"],))
    return found - {other["digest"] for other in known}


def _unmention(connection: Connection, place: str, number: int, memories: Iterable[str]) -> None:
    connection.executemany(QUERIES["retention_unmention"], [(memory, place, number) for memory in memories])


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
            return _expired_ids(connection, unkept, sort)

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


def _expired_ids(connection: Connection, unkept: Unkept, sort: str) -> list[str]:
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
