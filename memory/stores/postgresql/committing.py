"""A COMMIT whose answer may be lost on its way: whether it was done is asked before anything is said of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing

import psycopg

from memory.stores.errors import StoreFault, StoreFaultKind
from memory.stores.postgresql.connection import PostgresConnection

ASKED_SECONDS = 10.0
"""How long it is asked."""
AGAIN_SECONDS = 0.5


class CommitUnknownError(StoreFault):
    """It could not be found out whether a transaction was committed."""


def commit(
    connection: PostgresConnection, transaction: str, connect: Callable[[], PostgresConnection], where: str
) -> None:
    """Commit a transaction that holds the lock of those who write.

    Args:
        transaction: its number (``pg_current_xact_id``).
        connect: opens another connection, to ask there.

    Raises:
        psycopg.Error: when it was not committed.
        CommitUnknownError: when the server could not be asked.
    """
    try:
        connection.run("COMMIT")
    except psycopg.Error as error:
        if not connection.broken and (error.sqlstate or "08")[:2] not in ("08", "57"):
            raise  # the server's own answer
        if not _committed(transaction, connect, where):
            raise


def _committed(transaction: str, connect: Callable[[], PostgresConnection], where: str) -> bool:
    until = time.monotonic() + ASKED_SECONDS
    while True:
        try:
            with closing(connect()) as asking:
                # Whoever has the lock knows that the transaction, which had it, has ended.
                asking.run("BEGIN; SET LOCAL lock_timeout = 2000; LOCK TABLE writers IN EXCLUSIVE MODE")
                (status,) = asking.execute("SELECT pg_xact_status(?::text::xid8)", (transaction,)).fetchone()
                if status in ("committed", "aborted"):
                    return bool(status == "committed")
        except psycopg.Error:
            pass
        if time.monotonic() > until:
            raise CommitUnknownError(
                f"{where} was cut off at the end of a write: it is not known whether it was done",
                StoreFaultKind.FAILING,
            ) from None
        time.sleep(AGAIN_SECONDS)
