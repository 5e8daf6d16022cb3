"""Until when persons were forgotten: what they had asked until then is written no more, whenever it ends."""

from __future__ import annotations

from datetime import UTC, datetime

from memory.learning.tombstones import person_tombstone
from memory.scope import Layer, Scope
from memory.stores.connection import Connection, Cursor
from memory.stores.errors import PersonForgottenError
from memory.stores.queries import QUERIES

TELL_ERASED = "INSERT INTO changes (sort, memory) VALUES ('erased', '')"


class ForgottenPersons:
    """Who was forgotten until when, asked with each write of something that somebody has asked for.

    Args:
        key: of the hashes by which persons are told apart.
        shared: whether other processes forget as well. One that is alone knows when anybody was forgotten last, and
            asks for nobody who has asked since.
    """

    def __init__(self, key: bytes, shared: bool) -> None:
        self._key = key
        self._shared = shared
        self._last: str | None = None

    def set(self, connection: Connection, person: Scope, until: datetime) -> None:
        """What a person has asked until then is not written from now on."""
        self._last = max(self._latest(connection), _comparable_time(until))
        connection.execute(QUERIES["person_forgotten_set"], (self._mark(person), _comparable_time(until)))
        if self._shared:
            # What others begin until then counts as written there, and is not.
            connection.execute(TELL_ERASED)

    def ask(self, connection: Connection, person: Scope, asked_at: datetime) -> Cursor | None:
        """Ask whether a person was forgotten since, for :meth:`refuse` to read behind what is asked next: on the same
        way there and back. None where nobody was."""
        if not self._shared:
            # Asked with every write, and in most homes nobody was ever forgotten.
            last = self._latest(connection) if self._last is None else self._last
            if not last or last < _comparable_time(asked_at):
                return None
        return connection.execute(QUERIES["person_forgotten"], (self._mark(person), _comparable_time(asked_at)))

    @staticmethod
    def refuse(answer: Cursor | None) -> None:
        """End a transaction that writes something of a person who was forgotten since.

        Raises:
            PersonForgottenError: when they were.
        """
        if answer is not None and answer.fetchone() is not None:
            raise PersonForgottenError("its person was forgotten since it was asked")

    def require_known(self, connection: Connection, person: Scope, asked_at: datetime) -> None:
        """Have the database of several processes end a transaction that writes something of a person who was forgotten
        since, without waiting for its answer."""
        connection.execute("SELECT person_must_be_known(?, ?)", (self._mark(person), _comparable_time(asked_at)))

    def _latest(self, connection: Connection) -> str:
        """No earlier than when anybody was forgotten last; other hashes stand in the same table."""
        if self._last is None:
            row = connection.execute(QUERIES["tombstones_latest"]).fetchone()
            self._last = str(row["at"] or "") if row is not None else ""
        return self._last

    def _mark(self, person: Scope) -> bytes:
        return person_tombstone(self._key, person.owner(Layer.USER) or "")


def _comparable_time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")
