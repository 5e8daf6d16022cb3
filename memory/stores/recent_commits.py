"""What was committed lately, for the workers that read the journal behind their cursors.

Only ever a shortcut, as everything in ``recent``: what it cannot tell is read from the database.

What a worker has still to read of the journal: what was committed lately from memory, else from the database.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

import orjson

from memory.conversation import Message, Usage
from memory.session import Session, ShownMemory
from memory.stores.base import FEW, JournalPart
from memory.stores.connection import Connection, Row
from memory.stores.history_cache import OpenedMessages, rebuild
from memory.stores.queries import QUERIES
from memory.stores.rows import listed, session_of


@dataclass(frozen=True, slots=True)
class CommittedExchange:
    """An exchange as it stands in its table, with its joined ``history``; ``session`` is a row's number, ``recalled``
    what its receipt says was shown, where that is at hand."""

    number: int
    id: str
    session: int
    kind: str
    at: datetime
    model: str
    status: int
    fresh: tuple[int, ...]
    reply: bytes | None
    complete: bool
    usage: Usage | None
    shown: tuple[str, ...]
    history: bytes
    tools: bool = False
    recalled: tuple[ShownMemory, ...] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ExchangeOwner:
    """Whose an exchange is: its session, and the number of the session's person."""

    session: Session
    person: int


def committed_of(connection: Connection, row: Row) -> CommittedExchange:
    """An exchange out of its table."""
    return CommittedExchange(
        number=row["number"],
        id=row["id"],
        session=row["session"],
        kind=row["kind"],
        at=datetime.fromisoformat(row["at"]),
        model=row["model"],
        status=row["status"],
        fresh=tuple(orjson.loads(row["fresh"])),
        reply=row["reply"],
        complete=bool(row["complete"]),
        usage=Usage(**orjson.loads(row["usage"])) if row["usage"] else None,
        shown=listed(row["shown"]),
        history=history_of(connection, row["number"]),
        tools=bool(row["tools"]),
    )


def history_of(connection: Connection, number: int) -> bytes:
    """The joined history of an exchange's request."""
    rows = connection.execute(QUERIES["exchange_links"], (number,))
    return rebuild([(row["kept"], row["tail"]) for row in rows])


def of_row(row: Row) -> ExchangeOwner:
    """A session out of its table."""
    return ExchangeOwner(session_of(row), row["person"])


LATE = 32
"""Exchanges of which nothing came that a cursor may be behind."""


class RecentCommits:
    """The exchanges that were committed last, at most ``room`` of them, and how far the workers have come. Where other
    processes write too (``shared``) nothing is known here of what workers have still to read."""

    def __init__(self, room: int = 256, most: int = 4 << 20, shared: bool = False) -> None:
        self._shared = shared
        self._room = room
        self._most = most
        self._size = 0
        self._lock = threading.Lock()
        self._exchanges: OrderedDict[int, CommittedExchange] = OrderedDict()
        self._sessions: OrderedDict[int, ExchangeOwner] = OrderedDict()
        self._cursors: dict[str, int] = {}
        self._unwritten: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._newest = 0

    def written(self, number: int) -> None:
        """An exchange got this number, in a transaction that may still fail."""
        self._newest = max(self._newest, number)

    def remember(self, committed: CommittedExchange) -> None:
        with self._lock:
            self._exchanges[committed.number] = committed
            self._size += len(committed.history)
            while len(self._exchanges) > self._room or self._size > self._most:
                self._size -= len(self._exchanges.popitem(last=False)[1].history)

    def stands(self, row: Row) -> None:
        """A session's row stands so now."""
        with self._lock:
            self._sessions[row["number"]] = of_row(row)
            self._sessions.move_to_end(row["number"])
            self._numbers[row["id"]] = row["number"]
            while len(self._sessions) > 2 * self._room:
                _, gone = self._sessions.popitem(last=False)
                self._numbers.pop(gone.session.id, None)

    def rows(self, session: str) -> tuple[int, int] | None:
        """The numbers of a session and of its person."""
        number = self._numbers.get(session)
        of = self._sessions.get(number) if number is not None else None
        return (number, of.person) if number is not None and of is not None else None

    def stored(self, session: Session) -> tuple[int, int] | None:
        """The numbers of a session and of its person, where its row says just what is to be written into it."""
        number = self._numbers.get(session.id)
        of = self._sessions.get(number) if number is not None else None
        return (number, of.person) if number is not None and of is not None and of.session == session else None

    def of(self, session: int) -> ExchangeOwner | None:
        """Whose the exchanges of a session are, by its row's number."""
        return self._sessions.get(session)

    def moved(self, cursor: str, number: int) -> None:
        """A worker has come so far, and that is committed."""
        self._cursors[cursor] = max(self._cursors.get(cursor, 0), number)
        self._unwritten.pop(cursor, None)

    def passes(self, cursor: str, number: int) -> bool:
        """A worker has come so far, and nothing came of it: whether that need not be committed yet. After a crash it
        looks at some exchanges again, and nothing comes of them then either."""
        if self._shared:
            return False
        first = self._unwritten.setdefault(cursor, number)
        if number - first >= LATE:
            return False
        self._cursors[cursor] = max(self._cursors.get(cursor, 0), number)
        # What is not at hand is read behind the cursor that is committed: it would be the same again and again.
        return self.behind(cursor, self._newest) is not None

    @property
    def unwritten(self) -> dict[str, int]:
        """How far the workers have come whose cursors are not committed yet."""
        return {cursor: self._cursors[cursor] for cursor in self._unwritten}

    def behind(self, cursor: str, limit: int) -> list[CommittedExchange] | None:
        """The oldest exchanges behind a cursor; None where that is not known here."""
        at = self._cursors.get(cursor)
        if at is None or not self._newest or self._shared:
            return None
        with self._lock:
            found = [self._exchanges.get(number) for number in range(at + 1, min(self._newest, at + limit) + 1)]
        known = [each for each in found if each is not None]
        return known if len(known) == len(found) else None

    def clear(self) -> None:
        """Something of what is kept may have changed."""
        with self._lock:
            self._exchanges.clear()
            self._sessions.clear()
            self._numbers.clear()
            self._size = 0


T = TypeVar("T")

Reading = Callable[[Sequence[bytes]], Mapping[bytes, Message]]
"""The messages of these digests."""

ReadExchange = Callable[[CommittedExchange, ExchangeOwner, Reading], T]
"""What a worker is given of an exchange."""


class WorkerBacklog(JournalPart):
    """A part of the journal that workers follow."""

    _newly: RecentCommits
    _opened: OpenedMessages

    async def _behind(self, cursor: str, limit: int, build: ReadExchange[T]) -> list[T]:
        """The oldest exchanges behind a cursor."""
        known = self._newly.behind(cursor, limit)
        if known is not None and not known:
            return []
        owners = {each.session: self._newly.of(each.session) for each in known or ()}
        missing = 0

        def reading(person: int, connection: Connection | None) -> Reading:
            def read(keys: Sequence[bytes]) -> Mapping[bytes, Message]:
                nonlocal missing
                if connection is not None:
                    return self._opened.get(connection, person, keys)
                found = self._opened.at_hand(person, keys)
                missing += len(set(keys)) - len(found)
                return found

            return read

        def all_of(exchanges: Sequence[CommittedExchange], connection: Connection | None) -> list[T]:
            found = []
            for each in exchanges:
                of = owners.get(each.session)
                if of is None:
                    if connection is None:
                        raise KeyError(each.session)
                    row = connection.execute(QUERIES["session_by_number"], (each.session,)).fetchone()
                    of = owners[each.session] = of_row(row)
                found.append(build(each, of, reading(of.person, connection)))
            return found

        if known is not None:
            # Where a session or a message is not at hand it is read.
            with suppress(KeyError):
                return all_of(known, None)

        def work(connection: Connection) -> list[T]:
            if known is not None:
                return all_of(known, connection)
            rows = connection.execute(QUERIES["exchanges_behind"], (cursor, limit)).fetchall()
            return all_of([committed_of(connection, row) for row in rows], connection)

        return await self._few(work, missing if known else FEW + 1)

    async def write_cursors(self) -> None:
        """Write down how far the workers have come where nothing came of it.

        Raises:
            StoreError: when it cannot be written.
        """
        late = self._newly.unwritten

        def work(connection: Connection) -> None:
            for cursor, number in late.items():
                connection.execute(QUERIES["cursor_set"], (cursor, number))

        if late:
            await self._db.write(work)
