"""The newest turn of each session in the journal, how large it was and what stood in it."""

from __future__ import annotations

import contextlib
from datetime import datetime

from memory.conversation import Message, Role, Text
from memory.ports import JournaledMessage, JournaledTurn
from memory.scope import Scope
from memory.session import Receipt, Session
from memory.stores.base import JournalPart, ask_many
from memory.stores.connection import Connection, Row
from memory.stores.histories import split
from memory.stores.messages import unseal
from memory.stores.queries import QUERIES
from memory.stores.recent_commits import history_of
from memory.stores.rows import receipt_of, session_of

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
