"""A thread with a connection of its own, which is made again when it is lost, until it is told to end."""

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
