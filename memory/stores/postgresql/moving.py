"""A journal moved from its file into a database, or back: every row with its number, in pieces that are committed.

How far it has come stands where it is moved to. So what is interrupted goes on there when it is called again, if what
is moved is the same still, and is begun anew otherwise. Until all of it is there no server opens the database, and the
file has another name.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path

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
from memory.stores.postgresql.row_security import SEE_ALL
from memory.stores.postgresql.schema import MOVING
from memory.stores.postgresql.table_copying import (
    DatabaseSide,
    FileSide,
    JournalSide,
    NotWhole,
    Progress,
    Table,
    TablesCopy,
    Told,
    nobody,
    tables_of,
)


def part_of(file: Path) -> Path:
    """What a file is called until all of it has come."""
    return file.with_name(f"{file.name}.part")


def move_in(file: Path, url: str, told: Told, progress: Progress = nobody) -> None:
    """Move the journal in a file into an empty database, or go on with that. The file stays as it is.

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
            source.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            written = file.stat()
            schema.migrate(target)
            lease.take(target, 0)
            with _lease_held(lease, target, connect):
                source.execute("BEGIN")
                into = DatabaseSide(target, lambda: commit(target, lease.renew(target), connect, where))
                into.begin()
                _fill_database(
                    FileSide(source), into, f"{written.st_size} {written.st_mtime_ns}", where, told, progress
                )
    except psycopg.Error as error:
        raise postgres_fault(error, where) from None


def move_out(url: str, file: Path, told: Told, progress: Progress = nobody) -> None:
    """Move the journal in a database into a new file, or go on with that. The database stays as it is.

    Raises:
        StoreFault: when the file is there already, or the database is in use or cannot be reached.
    """
    # A log without its file would be taken for the new one's.
    for there in (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm"))):
        if there.exists():
            raise StoreFault(f"{there} is there already: move it away first")
    where = where_of(url)
    lease, connect = Lease(where), partial(PostgresConnection, url)
    made = part_of(file)
    try:
        with closing(PostgresConnection(url)) as source:
            if schema.half_moved(source):
                raise StoreFault(schema.HALF_MOVED.format(where=where))
            schema.migrate(source)
            lease.take(source, 0)
            with _lease_held(lease, source, connect):
                source.run(f"BEGIN ISOLATION LEVEL REPEATABLE READ; {SEE_ALL}; LOCK TABLE writers IN EXCLUSIVE MODE")
                with closing(_partial_copy(made, _change_marker(source, where))) as target:
                    _fill_file(DatabaseSide(source), FileSide(target), told, progress)
                # Not in the transaction that reads: that one sees the lease as it was in its beginning.
                with closing(connect()) as last:
                    last.run("BEGIN")
                    lease.renew(last)
                    made.rename(file)
    except psycopg.Error as error:
        raise postgres_fault(error, where) from None
    except NotWhole:
        _remove(made)
        raise


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


def _fill_database(
    source: FileSide, target: DatabaseSide, written: str, where: str, told: Told, progress: Progress
) -> None:
    tables = tables_of(source.connection)
    if not schema.half_moved(target.connection):
        for table in tables:
            if table.name != "meta" and target.execute(f"SELECT EXISTS (SELECT 1 FROM {table.name})").fetchone()[0]:
                raise StoreFault(f"{where} is not empty: something stands in {table.name}")
        target.execute("DELETE FROM meta")
        target.execute(f"CREATE TABLE {MOVING} (name TEXT PRIMARY KEY, state TEXT NOT NULL)")
        _begin(target, written)
    elif _begun(target) != written:
        target.clear(tables)
        _begin(target, written)
    # Before the first piece: no server may take what is still empty for a journal of its own.
    target.commit()

    def finish(table: Table) -> None:
        if table.columns[0] == "number" and (last := _highest_number(source.connection, table.name)):
            target.execute(f"SELECT setval(pg_get_serial_sequence('{table.name}', 'number'), {last})")

    TablesCopy(source, target, tables, told, progress).run(finish)
    target.execute(f"DROP TABLE {MOVING}")
    target.commit(last=True)


def _fill_file(source: DatabaseSide, target: FileSide, told: Told, progress: Progress) -> None:
    target.execute("BEGIN IMMEDIATE")
    TablesCopy(source, target, tables_of(target.connection), told, progress).run(lambda table: None)
    for table in _tables_with_unique_numbers(target.connection):
        (last,) = source.execute("SELECT last_value FROM pg_sequences WHERE sequencename = ?", (f"{table}_number_seq",))
        target.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        if last[0]:
            target.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, last[0]))
    for _, statement in _triggers():
        target.execute(statement)
    target.execute(f"DROP TABLE {MOVING}")
    target.commit(last=True)


def _partial_copy(made: Path, written: str) -> sqlite3.Connection:
    """The file that is made: what there is of it, where it was begun of the same; else a new one."""
    if made.exists():
        connection = sqlite3.connect(made, isolation_level=None)
        with suppress(sqlite3.DatabaseError):
            if _begun(FileSide(connection)) == written:
                return connection
        connection.close()
    _remove(made)
    made.touch(0o600)
    connection = sqlite3.connect(made, isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
    migrate(connection)
    connection.execute("BEGIN IMMEDIATE")
    # What triggers would make of the rows is moved itself.
    for name, _ in _triggers():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("DELETE FROM meta")
    connection.execute(f"CREATE TABLE {MOVING} (name TEXT PRIMARY KEY, state TEXT NOT NULL)")
    _begin(FileSide(connection), written)
    connection.execute("COMMIT")
    return connection


def _remove(made: Path) -> None:
    for each in (made, made.with_name(f"{made.name}-journal")):
        each.unlink(missing_ok=True)


def _begin(target: JournalSide, written: str) -> None:
    target.execute(f"INSERT INTO {MOVING} (name, state) VALUES ('', ?)", (written,))


def _begun(target: JournalSide) -> str:
    """Of what the move that is under way was begun."""
    row = target.execute(f"SELECT state FROM {MOVING} WHERE name = ''").fetchone()
    return str(row[0]) if row is not None else ""


def _change_marker(source: PostgresConnection, where: str) -> str:
    """What is another text when anything was written into a database since: each server counts its transactions."""
    turns = [tuple(row) for row in source.execute("SELECT writer, turn FROM turns ORDER BY writer")]
    return hashlib.blake2b(repr((where, len(MIGRATIONS), turns)).encode(), digest_size=16).hexdigest()


def _triggers() -> list[tuple[str, str]]:
    """The triggers of a file, each with the statement that makes it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        migrate(connection)
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    return [(row["name"], row["sql"]) for row in rows]


def _tables_with_unique_numbers(connection: sqlite3.Connection) -> list[str]:
    """The tables of a file in which no number comes twice, also where its row is gone."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'")
    return [name for (name,) in rows.fetchall()]


def _highest_number(connection: sqlite3.Connection, table: str) -> int:
    kept = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    highest = connection.execute(f"SELECT coalesce(max(number), 0) FROM {table}").fetchone()[0]
    return max(int(highest), int(kept[0]) if kept else 0)
