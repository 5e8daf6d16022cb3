"""A journal moved from its file into a database, or back: every row with its number, checked row by row.

It is moved whole or not at all: what is interrupted leaves nothing behind, and is begun again.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import psycopg

from memory.stores.backups.copying import steps_of
from memory.stores.database import INCREMENTAL
from memory.stores.errors import StoreFault
from memory.stores.migrations import MIGRATIONS, migrate
from memory.stores.postgresql import schema
from memory.stores.postgresql.committing import commit
from memory.stores.postgresql.connection import PostgresConnection
from memory.stores.postgresql.faults import postgres_fault, where_of
from memory.stores.postgresql.lease import Lease
from memory.stores.postgresql.row_security import PROTECTED, SEE_ALL

Told = Callable[[str, int], None]
"""Hears of each table that is moved, with the number of its rows."""


def move_in(file: Path, url: str, told: Told) -> None:
    """Move the journal in a file into an empty database. The file stays as it is.

    Raises:
        StoreFault: when the database is not empty, in use or cannot be reached, or the file is of another version.
    """
    where = where_of(url)
    lease, connect = Lease(where), partial(PostgresConnection, url)
    try:
        # It may write, so that a log that a killed server has left goes into the file and lies beside it no more.
        with closing(sqlite3.connect(file, isolation_level=None)) as source, closing(PostgresConnection(url)) as target:
            if steps_of(source) != len(MIGRATIONS):
                raise StoreFault(f"{file} is of another version: start this one on it once, and stop it again")
            schema.migrate(target)
            lease.take(target, 0)
            with _lease_held(lease, target, connect):
                source.execute("BEGIN")
                target.run(f"BEGIN ISOLATION LEVEL READ COMMITTED; {SEE_ALL}; LOCK TABLE writers IN EXCLUSIVE MODE")
                _fill_database(source, target, where, told)
                commit(target, lease.renew(target), connect, where)
    except psycopg.Error as error:
        raise postgres_fault(error, where) from None


def move_out(url: str, file: Path, told: Told) -> None:
    """Move the journal in a database into a new file. The database stays as it is.

    Raises:
        StoreFault: when the file is there already, or the database is in use or cannot be reached.
    """
    # A log without its file would be taken for the new one's.
    for there in (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm"))):
        if there.exists():
            raise StoreFault(f"{there} is there already: move it away first")
    where = where_of(url)
    lease, connect = Lease(where), partial(PostgresConnection, url)
    made = file.with_name(f"{file.name}.part")
    made.unlink(missing_ok=True)
    made.touch(0o600)
    try:
        with closing(PostgresConnection(url)) as source:
            schema.migrate(source)
            lease.take(source, 0)
            with _lease_held(lease, source, connect):
                source.run(f"BEGIN ISOLATION LEVEL REPEATABLE READ; {SEE_ALL}; LOCK TABLE writers IN EXCLUSIVE MODE")
                with closing(sqlite3.connect(made, isolation_level=None)) as target:
                    _fill_file(source, target, told)
                # Not in the transaction that reads: that one sees the lease as it was in its beginning.
                with closing(connect()) as last:
                    last.run("BEGIN")
                    lease.renew(last)
                    made.rename(file)
    except psycopg.Error as error:
        raise postgres_fault(error, where) from None
    finally:
        made.unlink(missing_ok=True)


@contextmanager
def _lease_held(
    lease: Lease, connection: PostgresConnection, connect: Callable[[], PostgresConnection]
) -> Iterator[None]:
    """Keep the lease during a transaction, which is rolled back when it was not committed, and let go of it then."""
    try:
        with lease.kept(connect):
            try:
                yield
            finally:
                # What cannot be told to a server that is gone, the end of the connection tells.
                with suppress(psycopg.Error):
                    if connection.in_transaction:
                        connection.run("ROLLBACK")
    finally:
        with suppress(psycopg.Error):
            lease.give_up(connection)


def _fill_database(source: sqlite3.Connection, target: PostgresConnection, where: str, told: Told) -> None:
    tables = _tables(source)
    for table in tables:
        if table != "meta" and target.execute(f"SELECT EXISTS (SELECT 1 FROM {table})").fetchone()[0]:
            raise StoreFault(f"{where} is not empty: something stands in {table}")
    target.run("DELETE FROM meta")
    for table in tables:
        # What triggers would make of the rows is moved itself.
        target.run(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        columns = _columns(source, table)
        rows = source.execute(f"{_reading_query(source, table)} ORDER BY {_row_order(source, table)}")
        if table in PROTECTED:
            # A COPY into a table with policies is refused, whatever they say.
            target.run(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
        target.copy_in(f"COPY {table} ({_named(columns)}) FROM STDIN", rows)
        target.run(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        if table in PROTECTED:
            target.run(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        if columns[0] == "number" and (last := _highest_number(source, table)):
            target.run(f"SELECT setval(pg_get_serial_sequence('{table}', 'number'), {last})")
        told(table, _compared_row_count(source, target, table, columns))


def _fill_file(source: PostgresConnection, target: sqlite3.Connection, told: Told) -> None:
    target.row_factory = sqlite3.Row
    target.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
    migrate(target)
    target.execute("BEGIN IMMEDIATE")
    triggers = target.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for trigger in triggers:
        target.execute(f"DROP TRIGGER {trigger['name']}")
    target.execute("DELETE FROM meta")
    for table in _tables(target):
        columns = _columns(target, table)
        places = ", ".join("?" * len(columns))
        rows = source.rows(f"SELECT {_named(columns)} FROM {table}")
        target.executemany(f"INSERT INTO {table} ({_named(columns)}) VALUES ({places})", rows)
        told(table, _compared_row_count(target, source, table, columns))
    for table in _tables_with_unique_numbers(target):
        (last,) = source.execute("SELECT last_value FROM pg_sequences WHERE sequencename = ?", (f"{table}_number_seq",))
        target.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        if last[0]:
            target.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, last[0]))
    for trigger in triggers:
        target.execute(trigger["sql"])
    target.execute("COMMIT")


def _compared_row_count(
    file: sqlite3.Connection, database: PostgresConnection, table: str, columns: Sequence[str]
) -> int:
    """How many rows a table has, which are the same on both sides.

    Raises:
        StoreFault: when they are not.
    """
    ours = _count_and_checksum(file.execute(_reading_query(file, table)))
    theirs = _count_and_checksum(database.rows(f"SELECT {_named(columns)} FROM {table}"))
    if ours != theirs:
        raise StoreFault(f"{table} did not come over whole: {ours[0]} rows here, {theirs[0]} there, or other ones")
    return ours[0]


def _count_and_checksum(rows: Iterable[Sequence[Any]]) -> tuple[int, int]:
    """The number of rows, and a sum of their hashes in whatever order they come."""
    count = total = 0
    for row in rows:
        text = orjson.dumps([_portable_value(value) for value in row])
        total += int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "big")
        count += 1
    return count, total % (1 << 128)


def _portable_value(value: Any) -> Any:
    """A value as both engines mean it: a yes is 1, and a text has no NUL."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bool):
        return int(value)
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


def _tables(connection: sqlite3.Connection) -> list[str]:
    """The tables of a file, each behind those that its rows point to."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    left = {
        row[0]: {key[2] for key in connection.execute(f"PRAGMA foreign_key_list({row[0]})").fetchall()} - {row[0]}
        for row in rows.fetchall()
    }
    ordered: list[str] = []
    while left:
        free = sorted(table for table, needs in left.items() if not needs & left.keys())
        ordered += free
        for table in free:
            del left[table]
    return ordered


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})").fetchall()]


def _reading_query(connection: sqlite3.Connection, table: str) -> str:
    """What reads a table of a file. A number among bytes is read as its digits, as it stands in the database."""
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    chosen = (f'CAST("{name}" AS BLOB)' if type == "BLOB" else f'"{name}"' for _, name, type, *_ in columns)
    return f"SELECT {', '.join(chosen)} FROM {table}"


def _tables_with_unique_numbers(connection: sqlite3.Connection) -> list[str]:
    """The tables of a file in which no number comes twice, also where its row is gone."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'")
    return [name for (name,) in rows.fetchall()]


def _row_order(connection: sqlite3.Connection, table: str) -> str:
    """By number, so that a row comes behind those of its own table that it points to."""
    return "number" if _columns(connection, table)[0] == "number" else "1"


def _named(columns: Sequence[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _highest_number(connection: sqlite3.Connection, table: str) -> int:
    kept = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    highest = connection.execute(f"SELECT coalesce(max(number), 0) FROM {table}").fetchone()[0]
    return max(int(highest), int(kept[0]) if kept else 0)
