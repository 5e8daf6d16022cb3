"""Which process has the database: one at a time; of replicas, which one does the work that one alone must do.

Much of what a server knows stands in its memory, so two of them on one database would each build on half of what was
said, unless they are told to be replicas. Who has it says so with every transaction; who has not done so for a while
has lost it, and writes no more.

Each replica has its own index where that lies in the replica's folder, and so its own outbox. That of a replica that is
gone for good would grow for ever: after a while both are given up, and it makes a new index should it come back.
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
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from memory.stores.connection import Connection
from memory.stores.errors import StoreFault, StoreFaultKind
from memory.stores.postgresql.connection import PostgresConnection, PostgresCursor

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

_HEARD = "UPDATE server SET heard = clock_timestamp() WHERE id = ?"
HEARD_LATELY = f"SELECT EXISTS (SELECT 1 FROM server WHERE heard > clock_timestamp() - interval '{SECONDS} seconds')"
"""Whether the process that has the database, or its replicas' work, was heard of lately."""
_OTHERS, _GIVEN_UP = "PL001", "PL002"
"""What ``take_turn`` reports (see ``functions.sql``)."""


@dataclass(slots=True)
class Turn:
    """A transaction that writes: whose, and which one of theirs."""

    writer: str
    number: int
    taken: PostgresCursor
    _ours: bool | None = None

    @property
    def ours(self) -> bool:
        """Whether the database, or the work of its replicas, is ours in it; waits for the answer."""
        if self._ours is None:
            (self._ours,) = self.taken.fetchone()
        return bool(self._ours)


class Lease:
    """One process's hold on a database: all of it, or, where there are ``replicas``, what one of them alone must do."""

    def __init__(self, where: str, replicas: bool = False) -> None:
        self._where = where
        self._replicas = replicas
        self._id = str(uuid.uuid4())
        self._number = 0

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
        gone = row["id"] if row is not None and _has_ended(row) else self._id
        ours = (self._id, platform.node(), machine(), os.getpid(), self._replicas, gone)
        if not connection.execute(_TAKE, ours).rowcount:
            return row
        _HELD_HERE.add(self._id)
        return True

    def turn(self, connection: PostgresConnection, attempt: bool = False) -> Turn:
        """Write in a transaction that has the lock of those who write. The database is told that we are there still:
        nobody takes it, or the work, before that ends. With ``attempt`` a replica takes the work where nobody has it
        any more.

        What stands in the way is reported by the database, which :meth:`fault` tells of; with ``attempt``, here:

        Raises:
            StoreFault: when a server has the database that knows of no replicas.
        """
        turn = self._take_turn(connection, checked=not attempt)
        if not attempt or turn.ours:
            return turn
        if self._attempt(connection) is True:
            return self._take_turn(connection, checked=True)
        if connection.execute("SELECT EXISTS (SELECT 1 FROM server WHERE NOT replicas)").fetchone()[0]:
            raise self._taken()
        return turn

    def _take_turn(self, connection: PostgresConnection, checked: bool) -> Turn:
        self._number += 2  # those between are for turns that are given up
        asked = (self._id, self._number, self._replicas, checked)
        return Turn(self._id, self._number, connection.execute("SELECT take_turn(?, ?, ?, ?)", asked))

    def fault(self, error: psycopg.Error) -> StoreFault | None:
        """What it means that a turn was refused; None where it was something else."""
        if error.sqlstate == _OTHERS:
            return self._taken()
        if error.sqlstate == _GIVEN_UP:
            return StoreFault(f"a write into {self._where} came too late", StoreFaultKind.LOCKED)
        return None

    def _taken(self) -> StoreFault:
        if self._replicas:
            return StoreFault(
                f"{self._where} is in use by a server that has it alone: set memory.postgresql.replicas there, too",
                StoreFaultKind.LOCKED,
            )
        return StoreFault(
            f"{self._where} was taken by another server, since this one was not heard of for {SECONDS} seconds: "
            "restart it",
            StoreFaultKind.DENIED,
        )

    def renew(self, connection: PostgresConnection) -> Turn:
        """Say that we have it still, and wait for the answer.

        Raises:
            StoreFault: when another process has taken it, since nothing was heard of this one.
        """
        try:
            turn = self.turn(connection)
            connection.sync()
        except psycopg.Error as error:
            fault = self.fault(error)
            if fault is None:
                raise
            raise fault from None
        return turn

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
                # No turn: what is written on the other connection is known by that one's.
                if not connection.execute(_HEARD, (self._id,)).rowcount:
                    break
            except psycopg.Error:
                continue
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


def _has_ended(row: Any) -> bool:
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
