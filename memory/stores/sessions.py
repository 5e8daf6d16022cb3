"""Sessions in the journal: who they are, where their requests ended, and what was decided in them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby

import orjson

from memory.conversation import Message, Role, Text
from memory.edits import Act, Entry
from memory.ports import JournaledMessage, JournaledTurn
from memory.scope import Scope
from memory.session import Receipt, Session
from memory.stores.base import CHUNK, JournalPart, ask_many, widening
from memory.stores.connection import Connection, Row
from memory.stores.histories import DIGEST, split
from memory.stores.messages import seal_all, unseal, write_messages
from memory.stores.queries import QUERIES, many, write_returning
from memory.stores.recent_commits import RecentCommits, history_of
from memory.stores.rows import entry_of, entry_row, names, receipt_of, session_of, session_row

HEARD_IN = 64
"""Sessions of a namespace, those seen last, of which one may be that of a history that was written anew."""


def write_session(connection: Connection, session: Session) -> Row:
    """Insert or update; the session's row."""
    row = session_row(session)
    written: list[Row] = connection.execute(QUERIES["session_write"], row).fetchall()
    if not written:
        connection.execute(QUERIES["person_add"], (row["person"],))
        written = connection.execute(QUERIES["session_write"], row).fetchall()
    return written[0]


def write_entries(connection: Connection, entries: Iterable[Entry], session: int) -> None:
    """Write what was decided, in its order; what stands there already is not written twice."""
    for added, some in groupby(entries, lambda entry: entry.act is Act.APPEND):
        if added:
            _add(connection, list(some), session)
            continue
        for entry in some:
            if not _add(connection, [entry], session):
                again = connection.execute(QUERIES["ledger_again"], (session, entry_row(entry, session)["mark"]))
                _mention(connection, again.fetchone()["number"], entry)


def _add(connection: Connection, entries: Sequence[Entry], session: int) -> int:
    """Write those entries that do not stand there; how many that were."""
    rows = [entry_row(entry, session) for entry in entries]
    added = write_returning(connection, "ledger_write", [tuple(row.values()) for row in rows])
    by_mark = {row["mark"]: entry for row, entry in zip(rows, entries, strict=True)}
    for number, mark in added:
        _mention(connection, number, by_mark[mark])
    return len(added)


def _mention(connection: Connection, number: int, entry: Entry) -> None:
    if entry.memories:
        connection.execute(QUERIES["mentions_write"], ("ledger", number, names(entry.memories)))


def write_new_entry(connection: Connection, entry: Entry, stored: Entry, session: int) -> None:
    """Write an entry as it is ``stored`` (its text may be gone), unless it stands there already, wherever that is: what
    was decided after it stays after it."""
    row = entry_row(stored, session) | {"mark": entry_row(entry, session)["mark"]}
    for number, _ in write_returning(connection, "ledger_write", [tuple(row.values())]):
        _mention(connection, number, stored)


class Sessions(JournalPart):
    """The part of the journal that knows sessions, their trails and their ledgers."""

    _newly: RecentCommits

    async def session_by_key(self, key: str) -> Session | None:
        """See :class:`memory.ports.Journal`."""

        def work(connection: Connection) -> Session | None:
            row = connection.execute(QUERIES["session_by_key"], (key,)).fetchone()
            return session_of(row) if row else None

        return await self._db.look(work)

    async def session_by_trail(self, namespace: str, trail: Sequence[bytes]) -> tuple[Session, int, bool] | None:
        """See :class:`memory.ports.Journal`. Asks for the longest links first."""

        def work(connection: Connection) -> tuple[Session, int, bool] | None:
            found = by_trail(connection, namespace, trail)
            return (session_of(found[0]), found[1], bool(found[0]["at_tip"])) if found else None

        # A trail of ordinary length takes less than the way to a reader's thread.
        return await (self._db.look(work) if len(trail) <= CHUNK else self._db.read(work))

    async def session_by_messages(
        self, namespace: str, messages: Sequence[bytes], end: int
    ) -> tuple[Session, int, tuple[bytes, ...]] | None:
        """See :class:`memory.ports.Journal`."""
        begin = f"{namespace}:trail:"
        keys = begin, f"{begin[:-1]};"

        def work(connection: Connection) -> tuple[Session, int, tuple[bytes, ...]] | None:
            asked = many("session_by_messages", len(messages))
            row = connection.execute(asked, (*keys, HEARD_IN, *messages)).fetchone()
            if row is None:
                return None
            last = split(history_of(connection, row["tip"])[-end * DIGEST :]) if row["tip"] else ()
            return session_of(row), row["heard"], last

        return await self._db.read(work) if messages else None

    async def ledger(self, session: str) -> tuple[Entry, ...]:
        """See :class:`memory.ports.Journal`."""

        def work(connection: Connection) -> tuple[Entry, ...]:
            return tuple(entry_of(row) for row in connection.execute(QUERIES["ledger_of"], (session,)))

        return await self._db.read(work)

    async def given(self, session: str) -> list[tuple[bytes, tuple[str, ...]]]:
        """See :class:`memory.ports.Journal`."""

        def work(connection: Connection) -> list[tuple[bytes, tuple[str, ...]]]:
            rows = connection.execute(QUERIES["ledger_given"], (session,)).fetchall()
            given = orjson.loads("[" + ",".join(row["memories"] for row in rows) + "]")
            return [(row["digest"], tuple(ids)) for row, ids in zip(rows, given, strict=True)]

        return await self._db.look(work)

    async def enter(self, session: Session, entries: Sequence[Entry], messages: Sequence[Message] = ()) -> None:
        """See :class:`memory.ports.Journal`. Entering the same entry twice is entering it once; where the last one
        written holds, it is the last one then."""
        sealed = await seal_all(messages, self._redact.of(session.scope.org))

        def work(connection: Connection) -> Row:
            row = write_session(connection, session)
            write_messages(connection, row["person"], sealed)
            write_entries(connection, entries, row["number"])
            return row

        self._newly.stands(await self._db.write(work, anywhere=True))

    async def withdraw(self, session: Session, entries: Sequence[Entry]) -> None:
        """See :class:`memory.ports.Journal`."""

        def work(connection: Connection) -> Row:
            row = write_session(connection, session)
            for entry in entries:
                mark = entry_row(entry, row["number"])["mark"]
                for gone in connection.execute(QUERIES["ledger_withdraw"], (row["number"], mark)).fetchall():
                    for memory in entry.memories:
                        connection.execute(QUERIES["retention_unmention"], (memory, "ledger", gone["number"]))
            return row

        self._newly.stands(await self._db.write(work, anywhere=True))


def by_trail(connection: Connection, namespace: str, trail: Sequence[bytes]) -> tuple[Row, int] | None:
    """The row of the session that went furthest along a trail, and how many messages are shared."""
    for piece in widening(range(len(trail) - 1, -1, -1)):
        place = {trail[index]: index for index in piece}
        rows = connection.execute(many("trail_find", len(place)), (namespace, *place)).fetchall()
        if rows:
            # The first of the longest: the query puts a tip, then the session seen last, before the others.
            best = max(rows, key=lambda row: place[row["link"]])
            return best, place[best["link"]] + 1
    return None


NAMED = 4
"""Letters of an id at least that name a session; a runtime's own id may be shorter."""


class LatestTurnStore(JournalPart):
    """The part of the journal that is asked where sessions stand."""

    async def latest(self, limit: int, runtime: str = "", of: Scope | None = None) -> list[tuple[Session, Receipt]]:
        """See :class:`memory.ports.Journal`."""
        query = ("latest_turns", (runtime, limit)) if of is None else ("latest_of", (runtime, limit, of.org, of.user))

        def work(connection: Connection) -> list[tuple[Session, Receipt]]:
            rows = connection.execute(QUERIES[query[0]], query[1])
            return [(session_of(row), receipt_of(row["receipt"])) for row in rows]

        return await self._db.read(work)

    async def turns(self, person: str, name: str, limit: int = 2) -> list[JournaledTurn]:
        """See :class:`memory.ports.Journal`."""

        def work(connection: Connection) -> list[JournaledTurn]:
            end = name + "\U0010ffff" if len(name) >= NAMED else name
            found = (person, name, end, limit)
            return [_turn(connection, row) for row in connection.execute(QUERIES["latest_named"], found).fetchall()]

        return await self._db.read(work) if name else []


def _turn(connection: Connection, row: Row) -> JournaledTurn:
    digests = split(history_of(connection, row["turn"]))
    wanted = [*digests, row["reply"]] if row["reply"] else digests
    messages = {}
    for held in ask_many(connection, "messages_get", wanted, (row["person"],)):
        # One damaged row must not keep the rest of a session from being given back.
        with contextlib.suppress(ValueError):
            message = unseal(held["digest"], held["role"], held["body"], whole=True)
            messages[message.digest] = JournaledMessage(message, bool(held["redacted"]), bool(held["forgotten"]))
    return JournaledTurn(
        session=session_of(row),
        dialect=row["dialect"],
        model=row["model"],
        at=datetime.fromisoformat(row["turned_at"]),
        messages=tuple(messages.get(key) or _missing(key) for key in digests),
        reply=messages.get(row["reply"]) if row["reply"] else None,
    )


def _missing(digest: bytes) -> JournaledMessage:
    return JournaledMessage(Message(Role.OTHER, (Text("[unreadable]"),), digest), redacted=True)
