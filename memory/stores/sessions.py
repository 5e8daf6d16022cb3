"""Sessions in the journal: who they are, where their requests ended, and what was decided in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import orjson

from memory.conversation import Message
from memory.edits import Act, Entry
from memory.session import Session
from memory.stores.base import CHUNK, JournalPart, widening
from memory.stores.connection import Connection, Row
from memory.stores.messages import seal_all, write_messages
from memory.stores.queries import QUERIES, many, write_several
from memory.stores.recent_commits import RecentCommits
from memory.stores.rows import entry_of, entry_row, names, session_of, session_row


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
    added = write_several(connection, "ledger_write", [tuple(row.values()) for row in rows])
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
    for number, _ in write_several(connection, "ledger_write", [tuple(row.values())]):
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
            for piece in widening(range(len(trail) - 1, -1, -1)):
                place = {trail[index]: index for index in piece}
                query = many("trail_find", len(place))
                rows = connection.execute(query, (namespace, *place)).fetchall()
                if rows:
                    # The first of the longest: the query puts a tip, then the session seen last, before the others.
                    best = max(rows, key=lambda row: place[row["link"]])
                    return session_of(best), place[best["link"]] + 1, bool(best["at_tip"])
            return None

        # A trail of ordinary length takes less than the way to a reader's thread.
        return await (self._db.look(work) if len(trail) <= CHUNK else self._db.read(work))

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
        sealed = await seal_all(messages, self._redact)

        def work(connection: Connection) -> Row:
            row = write_session(connection, session)
            write_messages(connection, row["person"], sealed)
            write_entries(connection, entries, row["number"])
            return row

        self._newly.stands(await self._db.write(work))
