"""The lower tiers of contents in the journal, and which messages it can give back whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime

import orjson

from memory.ports import Journaled, Kept, Overview, Shelved
from memory.stores.histories import rebuild, split
from memory.stores.messages import unseal
from memory.stores.queries import QUERIES
from memory.stores.recent import OpenedMessages
from memory.stores.rows import listed, session_of
from memory.stores.shelf import Shelf, ask_many

# How many messages before the first fresh one are read too: the call that a result answers stands among them.
BEFORE = 40
DIGEST = 16


class Overviews(Shelf):
    """The part of the journal that knows L0 and L1 of what it holds."""

    _opened: OpenedMessages

    async def untiered(self, limit: int) -> list[Journaled]:
        """See :class:`memory.ports.Journal`."""

        def work(connection: sqlite3.Connection) -> list[Journaled]:
            rows = connection.execute(QUERIES["exchanges_untiered"], (limit,)).fetchall()
            return [self._end_of(connection, row) for row in rows]

        return await self._db.read(work)

    async def write_overviews(self, number: int, owner: str, overviews: Mapping[tuple[bytes, int], Overview]) -> None:
        """See :class:`memory.ports.Journal`."""
        rows = [
            {
                "owner": owner,
                "subject": subject,
                "part": part,
                "tokens": made.tokens,
                "line": self._redact(made.line),
                "overview": self._redact(made.text),
                "overview_tokens": made.text_tokens,
            }
            for (subject, part), made in overviews.items()
        ]

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany(QUERIES["overview_write"], rows)
            if number:
                connection.execute(QUERIES["tiered_set"], (number,))

        await self._db.write(work)

    async def shelved(self, session: str, digests: Sequence[bytes]) -> dict[bytes, Shelved]:
        """See :class:`memory.ports.Journal`."""

        def work(connection: sqlite3.Connection) -> dict[bytes, Shelved]:
            person = connection.execute(QUERIES["session_person"], (session,)).fetchone()
            if person is None:
                return {}
            number, name = person
            wanted = list(dict.fromkeys(digests))
            there = [row[0] for row in ask_many(connection, "messages_known", wanted, (number,))]
            not_whole = {row[0] for row in ask_many(connection, "messages_not_whole", there, (number,))}
            made = _made(connection, name, there)
            return {digest: Shelved(digest in not_whole, made.get(digest, {})) for digest in there}

        return await self._db.read(work)

    async def without_overviews(self, session: str, digests: Sequence[bytes]) -> frozenset[bytes]:
        """See :class:`memory.ports.Journal`."""

        def work(connection: sqlite3.Connection) -> frozenset[bytes]:
            return frozenset(row[0] for row in ask_many(connection, "messages_without_overviews", digests, (session,)))

        return await self._few(work, len(digests))

    async def kept(self, person: str, prefix: str, limit: int = 2) -> list[Kept]:
        """See :class:`memory.ports.Journal`."""
        first, last = (bytes.fromhex(prefix[: 2 * DIGEST].ljust(2 * DIGEST, filler)) for filler in "0f")

        def work(connection: sqlite3.Connection) -> list[Kept]:
            rows = connection.execute(QUERIES["messages_named"], (person, first, last, limit)).fetchall()
            made = _made(connection, person, [row["digest"] for row in rows])
            return [
                Kept(
                    unseal(row["digest"], row["role"], row["body"], whole=True),
                    bool(row["redacted"]),
                    bool(row["forgotten"]),
                    made.get(row["digest"], {}),
                )
                for row in rows
            ]

        return await self._db.read(work)

    def _end_of(self, connection: sqlite3.Connection, row: sqlite3.Row) -> Journaled:
        """An exchange with the end of its request only: a long session's history is not read with every turn."""
        session = connection.execute(QUERIES["session_by_number"], (row["session"],)).fetchone()
        links = connection.execute(QUERIES["exchange_links"], (row["number"],))
        digests = split(rebuild([(link["kept"], link["tail"]) for link in links]))
        fresh = orjson.loads(row["fresh"])
        start = max(0, min(fresh, default=len(digests)) - BEFORE)
        wanted = [*digests[start:], *([row["reply"]] if row["reply"] else [])]
        messages = self._opened.get(connection, session["person"], wanted)
        return Journaled(
            number=row["number"],
            id=row["id"],
            session=session_of(session),
            kind=row["kind"],
            at=datetime.fromisoformat(row["at"]),
            messages=tuple(messages[digest] for digest in digests[start:]),
            fresh=tuple(index - start for index in fresh),
            reply=messages[row["reply"]] if row["reply"] else None,
            shown=listed(row["shown"]),
        )


def _made(connection: sqlite3.Connection, owner: str, subjects: Sequence[bytes]) -> dict[bytes, dict[int, Overview]]:
    """The overviews that there are, by subject and part."""
    found: dict[bytes, dict[int, Overview]] = {}
    for subject, part, *told in ask_many(connection, "overviews_of", subjects, (owner,)):
        found.setdefault(subject, {})[part] = Overview(*told)
    return found
