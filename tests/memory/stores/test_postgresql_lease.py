"""Who has a PostgreSQL database: it is kept during a move, and a process that is only thought to be gone keeps it."""

from __future__ import annotations

import platform
import sqlite3
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import psycopg
import pytest

from memory.stores.errors import StoreFault
from memory.stores.journal import SqliteJournal
from memory.stores.postgresql import lease as leases
from memory.stores.postgresql.connection import PostgresConnection
from memory.stores.postgresql.lease import Lease, machine
from memory.stores.postgresql.moving import move_in, move_out
from memory.stores.postgresql.schema import half_moved
from tests import postgresql

NOBODY = 2**22 + 1
"""No process has this number: it is above the highest that Linux gives."""


async def journal_file(folder: Path) -> Path:
    journal = SqliteJournal(folder / "journal.db", str)
    await journal.set_meta("name", b"x")
    await journal.close()
    return folder / "journal.db"


class Standby:
    """Hears of the tables that are moved, and takes the database meanwhile, as if nothing had been heard for long."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lease: Lease | None = None

    def __call__(self, table: str, rows: int) -> None:
        if self._lease is None:
            with closing(PostgresConnection(self._url)) as connection:
                connection.run("UPDATE server SET heard = now() - interval '1 hour'")
                self._lease = Lease("it")
                self._lease.take(connection, 0)

    def leave(self, connection: PostgresConnection) -> None:
        """Let go of the database."""
        assert self._lease is not None
        self._lease.give_up(connection)


class Heard:
    """Waits at the first table until whoever moves is heard of again, and tries the lock of those who write."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.again = self.locked = False

    def __call__(self, table: str, rows: int) -> None:
        if self.again:
            return
        with psycopg.connect(self._url, autocommit=True) as connection:
            first = last = connection.execute("SELECT heard FROM server").fetchone()
            until = time.monotonic() + 10
            while last == first and time.monotonic() < until:
                last = connection.execute("SELECT heard FROM server").fetchone()
            self.again = last != first
            try:
                connection.execute("BEGIN; SET LOCAL lock_timeout = 1; LOCK TABLE writers IN EXCLUSIVE MODE")
            except psycopg.errors.LockNotAvailable:
                self.locked = True


async def test_who_moves_is_heard_of_and_nobody_writes_meanwhile(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "HEARTBEAT_SECONDS", 0.001)
    file = await journal_file(tmp_path)
    for move in (partial(move_in, file, url), partial(move_out, url, tmp_path / "back.db")):
        heard = Heard(url)
        move(heard)
        assert heard.again and heard.locked
    with closing(sqlite3.connect(tmp_path / "back.db")) as back:
        assert back.execute("SELECT CAST(value AS BLOB) FROM meta WHERE name = 'name'").fetchone() == (b"x",)
    with closing(PostgresConnection(url)) as connection:
        assert connection.execute("SELECT count(*) FROM server").fetchone()[0] == 0


async def test_a_database_that_is_taken_during_a_move_in_gets_nothing_until_the_move_goes_on(
    server: postgresql.TestServer, tmp_path: Path
) -> None:
    file, url = await journal_file(tmp_path), server.empty_database()
    standby = Standby(url)
    with pytest.raises(StoreFault, match="was taken by another server"):
        move_in(file, url, standby)
    with closing(PostgresConnection(url)) as connection:
        assert half_moved(connection)
        assert connection.execute("SELECT count(*) FROM meta").fetchone()[0] == 0
        assert connection.execute("SELECT count(*) FROM server").fetchone()[0] == 1
        standby.leave(connection)
        move_in(file, url, lambda table, rows: None)
        assert not half_moved(connection)
        assert connection.execute("SELECT value FROM meta WHERE name = 'name'").fetchone()[0] == b"x"


def test_a_database_that_is_taken_during_a_move_out_makes_no_journal(url: str, tmp_path: Path) -> None:
    with pytest.raises(StoreFault, match="was taken by another server"):
        move_out(url, tmp_path / "back.db", Standby(url))
    assert [each.name for each in tmp_path.iterdir()] in ([], ["back.db.part"])


@pytest.mark.parametrize("where", ["", "another machine"])
def test_a_process_of_another_machine_of_the_same_name_is_waited_for(url: str, where: str) -> None:
    with closing(PostgresConnection(url)) as connection:
        connection.execute(
            "INSERT INTO server (alone, id, host, machine, pid) VALUES (true, 'first', ?, ?, ?)",
            (platform.node(), where, NOBODY),
        )
        with pytest.raises(StoreFault, match="in use by another server"):
            Lease("it").take(connection, 0)


@pytest.mark.skipif(not machine(), reason="this machine does not say which one it is")
def test_a_process_that_is_gone_from_this_machine_is_not_waited_for(url: str) -> None:
    with closing(PostgresConnection(url)) as connection:
        connection.execute(
            "INSERT INTO server (alone, id, host, machine, pid) VALUES (true, 'first', 'it', ?, ?)", (machine(), NOBODY)
        )
        Lease("it").take(connection, 0)


def test_where_the_machine_cannot_be_found_out_nothing_is_thought_of_a_process(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "machine", lambda: "")
    with closing(PostgresConnection(url)) as connection:
        Lease("it").take(connection, 0)
        with pytest.raises(StoreFault, match="in use by another server"):
            Lease("it").take(connection, 0)
