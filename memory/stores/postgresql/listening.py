"""A thread that hears at once of what other processes have changed.

Only ever quicker: who does not listen, or has lost its connection, hears of it with its next transaction, or when it
looks in quiet times.
"""

from __future__ import annotations

import logging
import selectors
import socket
import threading
from collections.abc import Callable
from contextlib import closing

import psycopg

from memory.stores.postgresql.changes import ChangeReader
from memory.stores.postgresql.connection import PostgresConnection

log = logging.getLogger(__name__)

AGAIN_SECONDS = 1.0
"""After which a connection that was lost is made again."""


class Listener:
    """Listens until it is closed, on a connection of its own.

    Args:
        connect: opens a connection to the server itself: a pooler that gives each transaction another one tells nobody
            anything.
        changes: looks then, and tells.
    """

    def __init__(self, connect: Callable[[], PostgresConnection], changes: ChangeReader) -> None:
        self._connect = connect
        self._changes = changes
        self._ended, self._end = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="journal-listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Listen no more."""
        self._end.close()
        self._thread.join()
        self._ended.close()

    def _run(self) -> None:
        pause = 0.0
        while not self._waited(pause):
            pause = AGAIN_SECONDS
            try:
                with closing(self._connect()) as connection:
                    if connection.pooled:
                        log.warning(
                            "memory.postgresql.url leads to a pooler: what other servers change is heard of within a "
                            "second, and at once where memory.postgresql.direct_url names the server itself"
                        )
                        return
                    self._listen(connection)
            except (psycopg.Error, OSError):
                continue
            except Exception:
                log.exception("listening for what other servers change has failed: it begins anew")

    def _listen(self, connection: PostgresConnection) -> None:
        connection.run("LISTEN palimpsest")
        while True:
            # First what came before it listened, or while it was told of something else.
            self._changes.tell(self._changes.ask(connection)())
            while not connection.notified():
                if self._waited(None, connection):
                    return

    def _waited(self, seconds: float | None, connection: PostgresConnection | None = None) -> bool:
        """Whether it is at its end: after so many seconds, or when the server says something, at the latest."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._ended, selectors.EVENT_READ)
            if connection is not None:
                selector.register(connection, selectors.EVENT_READ)
            return any(key.fileobj is self._ended for key, _ in selector.select(seconds))
