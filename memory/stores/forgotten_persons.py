"""Until when persons were forgotten: what they had asked until then is written no more, whenever it ends."""

from __future__ import annotations

from datetime import UTC, datetime

from memory.learning.tombstones import person_tombstone
from memory.scope import Layer, Scope
from memory.stores.connection import Connection, Cursor
from memory.stores.errors import StoreFault
from memory.stores.queries import QUERIES


class PersonForgottenError(StoreFault):
    """Whose it is was forgotten since it was asked."""


def set_forgotten(connection: Connection, key: bytes, person: Scope, until: datetime) -> None:
    """What a person has asked until then is not written from now on."""
    connection.execute(QUERIES["person_forgotten_set"], (_mark(key, person), _moment(until)))


def ask_forgotten(connection: Connection, key: bytes, person: Scope, asked_at: datetime) -> Cursor:
    """Ask whether a person was forgotten since, for :func:`refuse_forgotten` to read behind what is asked next: on the
    same way there and back."""
    return connection.execute(QUERIES["person_forgotten"], (_mark(key, person), _moment(asked_at)))


def refuse_forgotten(answer: Cursor) -> None:
    """End a transaction that writes something of a person who was forgotten since.

    Raises:
        PersonForgottenError: when they were.
    """
    if answer.fetchone() is not None:
        raise PersonForgottenError("its person was forgotten since it was asked")


def _mark(key: bytes, person: Scope) -> bytes:
    return person_tombstone(key, person.owner(Layer.USER) or "")


def _moment(at: datetime) -> str:
    """A moment as it is compared with others as text."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")
