"""Contents that a person wants whole, and what the provider reported after a shed."""

from __future__ import annotations

from datetime import datetime

import orjson

from memory.conversation import Usage
from memory.edits import handle
from memory.stores.base import JournalPart
from memory.stores.connection import Connection
from memory.stores.history_cache import DIGEST
from memory.stores.queries import QUERIES
from memory.stores.rows import stamp


class PinStore(JournalPart):
    """The part of the journal that knows what is pinned, and what a request cost."""

    async def pin_part(self, person: str, digest: bytes, part: int, at: datetime | None) -> None:
        def work(connection: Connection) -> None:
            if at is None:
                connection.execute(QUERIES["pin_drop"], (person, digest, part))
            else:
                connection.execute(QUERIES["pin_set"], (person, digest, part, stamp(at)))

        await self._db.write(work)

    async def projects_of_message(self, person: str, digest: bytes) -> frozenset[str | None]:
        def work(connection: Connection) -> frozenset[str | None]:
            rows = connection.execute(QUERIES["message_projects"], {"person": person, "digest": digest})
            return frozenset(row["project"] for row in rows)

        return await self._db.read(work)

    async def pinned(self, session: str) -> frozenset[str]:
        def work(connection: Connection) -> frozenset[str]:
            person = connection.execute(QUERIES["session_person"], (session,)).fetchone()
            rows = connection.execute(QUERIES["pins_of"], (person["name"],)) if person else ()
            return frozenset(handle(row["subject"], row["part"]) for row in rows)

        return await self._db.read(work)

    async def usages(self, receipt: str) -> tuple[Usage | None, Usage | None]:
        def work(connection: Connection) -> tuple[Usage | None, Usage | None]:
            own = connection.execute(QUERIES["usage_of_receipt"], (receipt,)).fetchone()
            if own is None:
                return None, None
            following = connection.execute(QUERIES["usage_after"], (own["session"], own["number"])).fetchone()
            return _usage(own["usage"]), _usage(following["usage"]) if following else None

        return await self._db.read(work)

    async def newest_usage(self, session: str, model: str) -> tuple[Usage, int, bytes] | None:
        def work(connection: Connection) -> tuple[Usage, int, bytes] | None:
            row = connection.execute(QUERIES["usage_newest"], (session,)).fetchone()
            usage = _usage(row["usage"]) if row and row["model"] == self._redact.name(model) else None
            # A request that is an earlier one to the letter has no end of its own to be known by.
            if usage is None or not row["tail"]:
                return None
            return usage, row["kept"] + len(row["tail"]) // DIGEST, bytes(row["tail"][-DIGEST:])

        return await self._db.read(work)


def _usage(text: str) -> Usage | None:
    return Usage(**orjson.loads(text)) if text else None
