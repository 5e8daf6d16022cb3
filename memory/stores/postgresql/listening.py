"""A thread that hears at once of what other processes have changed.

Only ever quicker: who does not listen, or has lost its connection, hears of it with its next transaction, or when it
looks in quiet times.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from memory.stores.postgresql.attending import Attendant
from memory.stores.postgresql.changes import ChangeReader
from memory.stores.postgresql.connection import PostgresConnection

log = logging.getLogger(__name__)


class Listener(Attendant):
    """Listens until it is closed, on a connection of its own.

    Args:
        connect: opens a connection to the server itself: a pooler that gives each transaction another one tells nobody
            anything.
        changes: looks then, and tells.
    """

    def __init__(self, connect: Callable[[], PostgresConnection], changes: ChangeReader) -> None:
        super().__init__(connect, "journal-listener")
        self._changes = changes
        self.start()

    def _attend(self, connection: PostgresConnection) -> None:
        if connection.pooled:
            log.warning(
                "memory.postgresql.url leads to a pooler: what other servers change is heard of within a second, and "
                "at once where memory.postgresql.direct_url names the server itself"
            )
            return
        connection.run("LISTEN palimpsest")
        while True:
            # First what came before it listened, or while it was told of something else.
            self._changes.tell(self._changes.ask(connection)())
            while not connection.notified():
                if self._waited(None, connection):
                    return
