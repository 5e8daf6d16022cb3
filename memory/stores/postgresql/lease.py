"""Which process has the database: one at a time; of replicas, which one does the work that one alone must do.

Much of what a server knows stands in its memory, so two of them on one database would each build on half of what was
said, unless they are told to be replicas. Who has it says so with every transaction; who has not done so for a while
has lost it, and writes no more.
"""

from __future__ import annotations

import hashlib
import os
import platform
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from memory.stores.errors import StoreFault, StoreFaultKind
from memory.stores.postgresql.connection import PostgresConnection

SECONDS = 20
"""How long a process that is not heard of keeps the database."""
HEARTBEAT_SECONDS = 5.0
"""How often it is heard of while it writes nothing."""
LOOK_AGAIN_SECONDS = 0.5

# A process that is known to be gone is not waited for.
_TAKE = f"""
INSERT INTO server (alone, id, host, machine, pid, replicas) VALUES (true, ?, ?, ?, ?, ?)
ON CONFLICT (alone) DO UPDATE SET id = excluded.id, host = excluded.host, machine = excluded.machine,
    pid = excluded.pid, replicas = excluded.replicas, heard = clock_timestamp()
WHERE server.heard < clock_timestamp() - interval '{SECONDS} seconds' OR server.id = ?
"""

_RENEW = """
WITH renewed AS (UPDATE server SET heard = clock_timestamp() WHERE id = ? RETURNING id)
SELECT pg_current_xact_id()::text AS transaction, EXISTS (SELECT 1 FROM renewed) AS ours,
    EXISTS (SELECT 1 FROM server WHERE NOT replicas) AS others
"""


class Lease:
    """One process's hold on a database: all of it, or, where there are ``replicas``, what one of them alone must do."""

    def __init__(self, where: str, replicas: bool = False) -> None:
        self._where = where
        self._replicas = replicas
        self._id = str(uuid.uuid4())

    def take(self, connection: PostgresConnection, patience: float) -> None:
        """Have the database to ourselves; waits so many seconds for a process that may be gone.

        Raises:
            StoreFault: when another process has it.
            psycopg.Error: what PostgreSQL reported.
        """
        until = time.monotonic() + patience
        while True:
            row = self._attempt(connection)
            if row is True:
                return
            if row is not None and time.monotonic() > until:
                raise StoreFault(
                    f"{self._where} is in use by another server (process {row['pid']} on {row['host']}): one at a time",
                    StoreFaultKind.LOCKED,
                )
            time.sleep(LOOK_AGAIN_SECONDS)

    def _attempt(self, connection: PostgresConnection) -> Any:
        """True where we have it now; else the row of who has it."""
        row = connection.execute("SELECT id, host, machine, pid FROM server").fetchone()
        gone = row["id"] if row is not None and _is_gone(row) else self._id
        ours = (self._id, platform.node(), machine(), os.getpid(), self._replicas, gone)
        if not connection.execute(_TAKE, ours).rowcount:
            return row
        _HELD_HERE.add(self._id)
        return True

    def work(self, connection: PostgresConnection, attempt: bool) -> tuple[str, bool]:
        """Among replicas, in a transaction: its number, and whether the work is ours before and after it. With
        ``attempt`` it is taken where nobody has it any more.

        Raises:
            StoreFault: when a server has the database that knows of no replicas.
        """
        row = connection.execute(_RENEW, (self._id,)).fetchone()
        ours = bool(row["ours"]) or (attempt and self._attempt(connection) is True)
        if row["others"] and not ours:
            raise StoreFault(
                f"{self._where} is in use by a server that has it alone: set memory.postgresql.replicas there, too",
                StoreFaultKind.LOCKED,
            )
        return str(row["transaction"]), ours

    def renew(self, connection: PostgresConnection) -> str:
        """Say in a transaction that we have it still: nobody takes it before that ends. The transaction's number.

        Raises:
            StoreFault: when another process has taken it, since nothing was heard of this one.
        """
        renewed = connection.execute(
            "UPDATE server SET heard = clock_timestamp() WHERE id = ? RETURNING pg_current_xact_id()::text", (self._id,)
        ).fetchone()
        if renewed is None:
            raise StoreFault(
                f"{self._where} was taken by another server, since this one was not heard of for {SECONDS} seconds: "
                "restart it",
                StoreFaultKind.DENIED,
            )
        return str(renewed[0])

    @contextmanager
    def kept(self, connect: Callable[[], PostgresConnection]) -> Iterator[None]:
        """Say so again and again from a connection of its own, while a long transaction is under way on another.

        It may be lost all the same: renew it in the end.
        """
        ended = threading.Event()
        thread = threading.Thread(target=self._keep, args=(connect, ended), name="lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _keep(self, connect: Callable[[], PostgresConnection], ended: threading.Event) -> None:
        connection: PostgresConnection | None = None
        while not ended.wait(HEARTBEAT_SECONDS):
            try:
                if connection is None or connection.broken:
                    connection = connect()
                    # The transaction that renews it in the end may be waited for, but not for ever.
                    connection.run("SET lock_timeout = 2000")
                self.renew(connection)
            except psycopg.Error:
                continue
            except StoreFault:
                break
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()

    def give_up(self, connection: PostgresConnection) -> None:
        """Let the next one have it at once."""
        _HELD_HERE.discard(self._id)
        connection.execute("DELETE FROM server WHERE id = ?", (self._id,))


_HELD_HERE: set[str] = set()
"""The holds of this process."""


@cache
def machine() -> str:
    """Where a process of this number is the same process: the machine since it was started, and the namespace of its
    processes, as a hash. Empty where that cannot be found out: the names of machines may be equal."""
    try:
        told = (
            Path("/etc/machine-id").read_text(encoding="ascii").strip(),
            Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(),
            os.readlink("/proc/self/ns/pid"),
        )
    except (OSError, ValueError):
        return ""
    return hashlib.blake2b("\n".join(told).encode(), digest_size=16).hexdigest() if all(told) else ""


def _is_gone(row: Any) -> bool:
    """Whether a process is known to run no more."""
    where, pid = row["machine"], row["pid"]
    if not where or where != machine():
        return False
    if pid == os.getpid():
        return row["id"] not in _HELD_HERE  # an earlier process of the same number
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
