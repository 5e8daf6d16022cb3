"""The lower tiers of contents in the journal, and which messages it can give back whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory.ports import Journaled, JournaledMessage, Overview, StoredMessage
from memory.stores.base import ask_many
from memory.stores.connection import Connection
from memory.stores.history_cache import split
from memory.stores.messages import unseal
from memory.stores.queries import QUERIES
from memory.stores.recent_commits import CommittedExchange, ExchangeOwner, Reading, WorkerBacklog

# How many messages before the first fresh one are read too: the call that a result answers stands among them.
BEFORE = 40
DIGEST = 16


class Overviews(WorkerBacklog):
    """The part of the journal that knows L0 and L1 of what it holds."""

    async def untiered(self, limit: int) -> list[Journaled]:
        return await self._behind("tiered", limit, end_of)

    async def write_overviews(self, number: int, owner: str, overviews: Mapping[tuple[bytes, int], Overview]) -> None:
        if number and not overviews and self._newly.passes("tiered", number):
            return
        redact = self._redact.of_owner(owner)
        rows = [
            {
                "owner": owner,
                "subject": subject,
                "part": part,
                "tokens": new_rows.tokens,
                "line": redact(new_rows.line),
                "overview": redact(new_rows.text),
                "overview_tokens": new_rows.text_tokens,
            }
            for (subject, part), new_rows in overviews.items()
        ]

        def work(connection: Connection) -> None:
            connection.executemany(QUERIES["overview_write"], rows)
            if number:
                connection.execute(QUERIES["cursor_set"], ("tiered", number))

        await self._db.write(work)
        if number:
            self._newly.moved("tiered", number)

    async def shelved(self, session: str, digests: Sequence[bytes]) -> dict[bytes, StoredMessage]:
        def work(connection: Connection) -> dict[bytes, StoredMessage]:
            person = connection.execute(QUERIES["session_person"], (session,)).fetchone()
            if person is None:
                return {}
            number, name = person
            wanted = list(dict.fromkeys(digests))
            there = [row[0] for row in ask_many(connection, "messages_known", wanted, (number,))]
            not_whole = {row[0] for row in ask_many(connection, "messages_not_whole", there, (number,))}
            overviews = _existing_overviews(connection, name, there)
            return {digest: StoredMessage(digest in not_whole, overviews.get(digest, {})) for digest in there}

        return await self._db.read(work)

    async def without_overviews(self, session: str, digests: Sequence[bytes]) -> frozenset[bytes]:
        def work(connection: Connection) -> frozenset[bytes]:
            return frozenset(row[0] for row in ask_many(connection, "messages_without_overviews", digests, (session,)))

        return await self._few(work, len(digests))

    async def messages_by_digest(self, person: str, prefix: str, limit: int = 2) -> list[JournaledMessage]:
        first, last = (bytes.fromhex(prefix[: 2 * DIGEST].ljust(2 * DIGEST, filler)) for filler in "0f")

        def work(connection: Connection) -> list[JournaledMessage]:
            rows = connection.execute(QUERIES["messages_named"], (person, first, last, limit)).fetchall()
            overviews = _existing_overviews(connection, person, [row["digest"] for row in rows])
            return [
                JournaledMessage(
                    unseal(row["digest"], row["role"], row["body"], whole=True),
                    bool(row["redacted"]),
                    bool(row["forgotten"]),
                    overviews.get(row["digest"], {}),
                )
                for row in rows
            ]

        return await self._db.read(work)


def end_of(exchange: CommittedExchange, of: ExchangeOwner, read: Reading) -> Journaled:
    """An exchange with the end of its request only: a long session's history is not read with every turn."""
    digests = split(exchange.history)
    start = max(0, min(exchange.fresh, default=len(digests)) - BEFORE)
    messages = read([*digests[start:], *([exchange.reply] if exchange.reply else [])])
    return Journaled(
        number=exchange.number,
        id=exchange.id,
        session=of.session,
        kind=exchange.kind,
        at=exchange.at,
        messages=tuple([messages[digest] for digest in digests[start:]]),
        fresh=tuple([index - start for index in exchange.fresh]),
        reply=messages[exchange.reply] if exchange.reply else None,
        shown=exchange.shown,
    )


def _existing_overviews(
    connection: Connection, owner: str, subjects: Sequence[bytes]
) -> dict[bytes, dict[int, Overview]]:
    found: dict[bytes, dict[int, Overview]] = {}
    for subject, part, *columns in ask_many(connection, "overviews_of", subjects, (owner,)):
        found.setdefault(subject, {})[part] = Overview(*columns)
    return found
