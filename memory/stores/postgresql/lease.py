"""Which process has the database: one at a time.

Much of what a server knows stands in its memory, so two of them on one database would each build on half of what was
said. Who has it says so with every transaction; who has not done so for a while has lost it, and writes no more.
"""

from __future__ import annotations

import os
import platform
import time
import uuid

from memory.stores.errors import StoreFault, StoreFaultKind
from memory.stores.postgresql.connection import PostgresConnection

SECONDS = 20
"""How long a process that is not heard of keeps the database."""
HEARTBEAT_SECONDS = 5.0
"""How often it is heard of while it writes nothing."""
LOOK_AGAIN_SECONDS = 0.5

# A process that is gone from this machine is not waited for.
_TAKE = f"""
INSERT INTO server (alone, id, host, pid) VALUES (true, ?, ?, ?)
ON CONFLICT (alone) DO UPDATE SET id = excluded.id, host = excluded.host, pid = excluded.pid, heard = clock_timestamp()
WHERE server.heard < clock_timestamp() - interval '{SECONDS} seconds' OR server.id = ?
"""


class Lease:
    """One process's hold on a database."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._id = str(uuid.uuid4())

    def take(self, connection: PostgresConnection, patience: float) -> None:
        """Have the database to ourselves; waits so many seconds for a process that may be gone.

        Raises:
            StoreFault: when another process has it.
            psycopg.Error: what PostgreSQL reported.
        """
        until = time.monotonic() + patience
        while True:
            row = connection.execute("SELECT id, host, pid FROM server").fetchone()
            gone = row["id"] if row is not None and self._is_gone(row["host"], row["pid"]) else self._id
            if connection.execute(_TAKE, (self._id, platform.node(), os.getpid(), gone)).rowcount:
                return
            if row is not None and time.monotonic() > until:
                raise StoreFault(
                    f"{self._where} is in use by another server (process {row['pid']} on {row['host']}): one at a time",
                    StoreFaultKind.LOCKED,
                )
            time.sleep(LOOK_AGAIN_SECONDS)

    def renew(self, connection: PostgresConnection) -> None:
        """Say in a transaction that we have it still.

        Raises:
            StoreFault: when another process has taken it, since nothing was heard of this one.
        """
        renewed = connection.execute("UPDATE server SET heard = clock_timestamp() WHERE id = ?", (self._id,))
        if not renewed.rowcount:
            raise StoreFault(
                f"{self._where} was taken by another server, since this one was not heard of for {SECONDS} seconds: "
                "restart it",
                StoreFaultKind.DENIED,
            )

    def give_up(self, connection: PostgresConnection) -> None:
        """Let the next one have it at once."""
        connection.execute("DELETE FROM server WHERE id = ?", (self._id,))

    @staticmethod
    def _is_gone(host: str, pid: int) -> bool:
        if host != platform.node():
            return False
        if pid == os.getpid():
            return True  # an earlier process of the same number, as in a container
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False
