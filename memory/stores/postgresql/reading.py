"""A look at one state of a database, by a process that writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from memory.stores.connection import Connection
from memory.stores.postgresql.connection import PostgresConnection
from memory.stores.postgresql.faults import postgres_fault, where_of


@contextmanager
def reading(url: str) -> Iterator[Connection]:
    """One state of the database at ``url``, for as short as possible: what is deleted meanwhile stays for it.

    Raises:
        StoreFault: what PostgreSQL reported.
    """
    try:
        connection = PostgresConnection(url, reads=True)
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.close()
    except psycopg.Error as error:
        raise postgres_fault(error, where_of(url)) from None
