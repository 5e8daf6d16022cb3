"""Indexes of replicas: each has its own where it lies in the replica's folder, and so its own outbox.

A replica that is gone for good would have its outbox grow for ever: after a while both are given up, and it makes a new
index should it come back.
"""

from __future__ import annotations

from memory.stores.connection import Connection

KEPT = "7 days"
"""How long an index is kept up to date for a replica that is not heard of."""


def indexes_of(connection: Connection, replica: str) -> frozenset[int]:
    """The generations that are a replica's."""
    rows = connection.execute("SELECT generation FROM replica_indexes WHERE replica = ?", (replica,))
    return frozenset(row["generation"] for row in rows)


def claim_index(connection: Connection, generation: int, replica: str) -> None:
    """A generation is a replica's."""
    connection.execute("INSERT INTO replica_indexes (generation, replica) VALUES (?, ?)", (generation, replica))


def keep_indexes(connection: Connection, replica: str) -> None:
    """This replica is there still; what is kept for others that are not goes."""
    connection.execute("UPDATE replica_indexes SET heard = now() WHERE replica = ?", (replica,))
    connection.execute(
        "DELETE FROM generations WHERE number IN "
        f"(SELECT generation FROM replica_indexes WHERE heard < now() - interval '{KEPT}')"
    )
