"""A thread that asks the database again and again whether it answers.

A server that hangs, or is cut off without a word, takes what it is asked and says nothing: whoever asked it would wait
for as long as it is away. What is known here is known without asking.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from memory.stores.postgresql.attending import Attendant
from memory.stores.postgresql.connection import PostgresConnection

EVERY_SECONDS = 0.25
"""After an answer it is asked again."""
NEVER = float("inf")


class Pulse(Attendant):
    """Asks until it is closed, on a connection of its own.

    Args:
        connect: opens a connection, in the way in which all others are made.
        patience: seconds without an answer after which the database counts as hanging.
    """

    def __init__(self, connect: Callable[[], PostgresConnection], patience: float) -> None:
        super().__init__(connect, "journal-pulse")
        self._patience = patience
        self._asked = NEVER  # since when an answer is waited for
        self.away = False
        """Whether it could not be reached when it was tried last."""
        self.round_trip = 0.0
        """Seconds that the newest answer took."""

    @property
    def left(self) -> float:
        """Seconds after which it may count as hanging; 0 where it does."""
        return max(0.0, min(self._asked - time.monotonic() + self._patience, self._patience))

    def _connected(self) -> PostgresConnection:
        self._asked = min(self._asked, time.monotonic())
        try:
            return super()._connected()
        except Exception:
            self.away = True
            if self.left:
                self._asked = NEVER  # it was refused at once, as whoever asks it will be
            raise

    def _attend(self, connection: PostgresConnection) -> None:
        while True:
            self._asked = min(self._asked, time.monotonic())
            began = time.monotonic()
            connection.ask()
            while not connection.has_answered():
                if self._waited(None, connection):
                    return
            self.round_trip = time.monotonic() - began
            self._asked, self.away = NEVER, False
            if self._waited(EVERY_SECONDS):
                return
