"""Threads with a connection of their own, which is made again when it is lost, until they are told to end.

Listening makes others' changes known at once, and only that: who does not listen, or has lost its connection, hears of
them with its next transaction, or when it looks in quiet times.
"""

from __future__ import annotations

import logging
import selectors
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import closing

import psycopg

from memory.stores.postgresql.changes import ChangeReader
from memory.stores.postgresql.connection import PostgresConnection

log = logging.getLogger(__name__)

AGAIN_SECONDS = 1.0
"""From one connection to the next at least: one that is lost after that is made again at once."""


class Attendant(ABC):
    """Attends to something until it is closed.

    Args:
        connect: opens a connection.
        name: what the thread is called.
    """

    def __init__(self, connect: Callable[[], PostgresConnection], name: str) -> None:
        self._connect = connect
        self._ended, self._end = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """Come to an end, and wait for that."""
        self._end.close()
        if self._thread.ident is not None:
            self._thread.join()
        self._ended.close()

    @abstractmethod
    def _attend(self, connection: PostgresConnection) -> None:
        """Do it for as long as the connection holds; when this returns, it is at its end."""

    def _connected(self) -> PostgresConnection:
        """A connection.

        Raises:
            psycopg.Error: when none can be made.
        """
        return self._connect()

    def _run(self) -> None:
        pause = 0.0
        while not self._waited(pause):
            began = time.monotonic()
            try:
                with closing(self._connected()) as connection:
                    self._attend(connection)
                return
            except (psycopg.Error, OSError) as error:
                log.debug("%s has no connection: %s", self._thread.name, type(error).__name__)
            except Exception:
                log.exception("%s has failed: it begins anew", self._thread.name)
            pause = max(0.0, began + AGAIN_SECONDS - time.monotonic())

    def _waited(self, seconds: float | None, connection: PostgresConnection | None = None) -> bool:
        """Whether it is at its end: after so many seconds, or when the server says something, at the latest."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._ended, selectors.EVENT_READ)
            if connection is not None:
                selector.register(connection, selectors.EVENT_READ)
            return any(key.fileobj is self._ended for key, _ in selector.select(seconds))


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
