"""What of research goes when a person has something forgotten: a research that holds it goes whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from memory.stores.queries import QUERIES
from memory.stores.shelf import ask_many


def holding(
    connection: sqlite3.Connection,
    ids: Sequence[str],
    sessions: Iterable[str],
    messages: Sequence[tuple[int, bytes]],
    owners: Sequence[str] | None = None,
) -> list[str]:
    """The ids of research that goes: those named themselves, as far as they are of these owners, those of which a piece
    goes (``sessions`` are the sessions that passages name, which for a piece is its research), and those in whose trail
    a message stands."""
    named = [row["id"] for row in ask_many(connection, "research_get", ids) if owners is None or row["owner"] in owners]
    found = [*named, *(row["id"] for row in ask_many(connection, "research_get", list(sessions)))]
    for person, digest in messages:
        found += [row["id"] for row in connection.execute(QUERIES["research_with_message"], (person, digest, digest))]
    return list(dict.fromkeys(found))


def delete(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Take research out, how it was used, and the errand that sent it."""
    for row in ask_many(connection, "research_get", ids):
        told = (row["parent"], row["call"], row["session"])
        connection.execute(QUERIES["research_forget_spawn"], told)
        connection.execute(QUERIES["research_uses_delete"], (row["id"],))
        connection.execute(QUERIES["research_delete"], (row["id"],))
