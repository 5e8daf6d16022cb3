"""A COMMIT whose answer may be lost on its way: whether it was done is asked before anything is said of it.

The server may still be at what it was sent, or wait for its lock, when the client is gone: who asks gives the turn up,
so that it is not taken later.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing

import psycopg

from memory.stores.errors import StoreFault, StoreFaultKind
from memory.stores.postgresql.connection import PostgresConnection
from memory.stores.postgresql.lease import Turn

ASKED_SECONDS = 10.0
"""How long it is asked."""
AGAIN_SECONDS = 0.5

_GIVE_UP = """
INSERT INTO turns AS known (writer, turn) VALUES (?, ?)
ON CONFLICT (writer) DO UPDATE SET turn = excluded.turn WHERE known.turn < excluded.turn - 1
"""


class CommitUnknownError(StoreFault):
    """It could not be found out whether a transaction was committed."""

    may_be_done = True


def commit(connection: PostgresConnection, turn: Turn, connect: Callable[[], PostgresConnection], where: str) -> bool:
    """Commit a transaction that holds the lock of those who write, and wait for all that was sent of it. False where
    it is done and its answer was lost, and with that the results of all that nobody had waited for.

    Args:
        connect: opens another connection, to ask there.

    Raises:
        psycopg.Error: when it was not committed.
        CommitUnknownError: when the server could not be asked.
    """
    try:
        ending = connection.run("COMMIT")
        connection.sync()
    except psycopg.Error as error:
        if not connection.broken and (error.sqlstate or "08")[:2] not in ("08", "57"):
            raise  # the server's own answer
        if not committed(turn, connect, where):
            raise
        return False
    if ending.status != "COMMIT":
        # A failed transaction is rolled back by it, which is no error.
        raise psycopg.errors.InFailedSqlTransaction("a statement of the transaction had failed")
    return True


def committed(turn: Turn, connect: Callable[[], PostgresConnection], where: str) -> bool:
    until = time.monotonic() + ASKED_SECONDS
    while True:
        try:
            with closing(connect()) as asking:
                for statement in ("BEGIN", "SET LOCAL lock_timeout = 2000", "LOCK TABLE writers IN EXCLUSIVE MODE"):
                    asking.run(statement)
                # Whoever has the lock knows that the transaction, if it had it, has ended.
                asking.execute(_GIVE_UP, (turn.writer, turn.number + 1))
                last = asking.execute("SELECT turn FROM turns WHERE writer = ?", (turn.writer,)).fetchone()[0]
                asking.run("COMMIT")
                asking.sync()
                return bool(last == turn.number)
        except psycopg.Error:
            pass
        if time.monotonic() > until:
            raise CommitUnknownError(
                f"{where} was cut off at the end of a write: it is not known whether it was done",
                StoreFaultKind.FAILING,
            ) from None
        time.sleep(AGAIN_SECONDS)
