"""A journal moved from its file into a database, or back: every row with its number, in pieces that are committed.

How far it has come stands where it is moved to. So what is interrupted goes on there when it is called again, if what
is moved is the same still, and is begun anew otherwise. Until all of it is there no server opens the database, and the
file has another name. Each table's rows are counted and hashed as they are read, and once more where they have come.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

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
from memory.stores.postgresql.schema import MOVING

Told = Callable[[str, int], None]
"""Hears of each table that has come over whole, with the number of its rows."""
Progress = Callable[[int, int], None]
"""Hears how many rows have come over or were checked, and of how many; each row is one for either."""

PIECE = 50_000
"""Rows that are committed together."""
STEP = 1000
"""Rows after which progress is told."""


def nobody(done: int, of: int) -> None:
    """Hears no progress."""


def part_of(file: Path) -> Path:
    """What a file is called until all of it has come."""
    return file.with_name(f"{file.name}.part")


class _NotWhole(StoreFault):
    """What has come is not what was there: to go on from it would not mend it."""


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
                into = _Database(target, lambda: commit(target, lease.renew(target), connect, where))
                into.begin()
                _fill_database(_File(source), into, f"{written.st_size} {written.st_mtime_ns}", where, told, progress)
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
                    _fill_file(_Database(source), _File(target), told, progress)
                # Not in the transaction that reads: that one sees the lease as it was in its beginning.
                with closing(connect()) as last:
                    last.run("BEGIN")
                    lease.renew(last)
                    made.rename(file)
    except psycopg.Error as error:
        raise postgres_fault(error, where) from None
    except _NotWhole:
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


class _Side(Protocol):
    """Where rows are read or come to, with the statements that both engines understand."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Any:
        """Run a statement."""

    def rows(self, table: _Table, after: Sequence[Any] | None = None, *, ordered: bool = False) -> Iterator[Any]:
        """The rows of a table, of those behind a key."""

    def write(self, table: _Table, rows: Iterable[Any]) -> None:
        """Write rows of a table."""

    def commit(self, *, last: bool = False) -> None:
        """Keep what has come, and, unless it was the last of it, begin the next piece."""


@dataclass(frozen=True)
class _Table:
    """A table as the file has it."""

    name: str
    columns: tuple[str, ...]
    blobs: frozenset[str]
    key: tuple[str, ...]

    def query(self, chosen: Iterable[str], place: str, after: Sequence[Any] | None, ordered: bool) -> str:
        """What reads it, by its key where that is asked."""
        key = _named(self.key)
        behind = f" WHERE ({key}) > ({', '.join([place] * len(self.key))})" if after is not None else ""
        return f"SELECT {', '.join(chosen)} FROM {self.name}{behind}" + (f" ORDER BY {key}" if ordered else "")


class _File:
    """A journal's file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.execute = connection.execute

    def rows(self, table: _Table, after: Sequence[Any] | None = None, *, ordered: bool = False) -> Iterator[Any]:
        # A number among bytes is read as its digits, as it stands in the database.
        chosen = (f'CAST("{each}" AS BLOB)' if each in table.blobs else f'"{each}"' for each in table.columns)
        return iter(self.connection.execute(table.query(chosen, "?", after, ordered), after or ()))

    def write(self, table: _Table, rows: Iterable[Any]) -> None:
        places = ", ".join("?" * len(table.columns))
        self.connection.executemany(f"INSERT INTO {table.name} ({_named(table.columns)}) VALUES ({places})", rows)

    def commit(self, *, last: bool = False) -> None:
        self.connection.execute("COMMIT")
        if not last:
            self.connection.execute("BEGIN IMMEDIATE")


class _Database:
    """A database. ``keep`` commits a piece there."""

    def __init__(self, connection: PostgresConnection, keep: Callable[[], object] = bool) -> None:
        self.connection = connection
        self.execute = connection.execute
        self._keep = keep

    def begin(self) -> None:
        """Begin a piece that is written."""
        self.connection.run(f"BEGIN ISOLATION LEVEL READ COMMITTED; {SEE_ALL}; LOCK TABLE writers IN EXCLUSIVE MODE")

    def rows(self, table: _Table, after: Sequence[Any] | None = None, *, ordered: bool = False) -> Iterator[Any]:
        chosen = (f'"{each}"' for each in table.columns)
        return self.connection.rows(table.query(chosen, "%s", after, ordered), after or ())

    def write(self, table: _Table, rows: Iterable[Any]) -> None:
        name, run = table.name, self.connection.run
        # What triggers would make of the rows is moved itself; a COPY into a table with policies is refused.
        run(f"ALTER TABLE {name} DISABLE TRIGGER USER")
        if name in PROTECTED:
            run(f"ALTER TABLE {name} NO FORCE ROW LEVEL SECURITY")
        self.connection.copy_in(f"COPY {name} ({_named(table.columns)}) FROM STDIN", rows)
        run(f"ALTER TABLE {name} ENABLE TRIGGER USER")
        if name in PROTECTED:
            run(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")

    def clear(self, tables: Iterable[_Table]) -> None:
        """Let go of what has come, to begin anew."""
        names = [each.name for each in tables]
        # The audit log is only ever added to otherwise.
        self.connection.run("ALTER TABLE audit DISABLE TRIGGER USER")
        self.connection.run(f"TRUNCATE {MOVING}, {', '.join(names)} CASCADE")
        self.connection.run("ALTER TABLE audit ENABLE TRIGGER USER")

    def commit(self, *, last: bool = False) -> None:
        self._keep()
        if not last:
            self.begin()


@dataclass
class _Moved:
    """How far a table has come: the rows, a sum of their hashes in whatever order, the key of the last one."""

    rows: int = 0
    sum: int = 0
    last: list[Any] | None = None
    whole: bool = False

    def add(self, row: Sequence[Any]) -> None:
        """Take a row into account."""
        text = orjson.dumps([_portable_value(value) for value in row])
        self.rows += 1
        self.sum = (self.sum + int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "big")) % (1 << 128)

    def state(self) -> str:
        """How it is written down."""
        last = self.last and [[value.hex()] if isinstance(value, bytes) else value for value in self.last]
        return orjson.dumps([self.rows, f"{self.sum:x}", last, self.whole]).decode()

    @classmethod
    def of(cls, state: str) -> _Moved:
        """What was written down."""
        rows, total, last, whole = orjson.loads(state)
        key = last and [bytes.fromhex(value[0]) if isinstance(value, list) else value for value in last]
        return cls(rows, int(total, 16), key, whole)


class _Move:
    """Brings tables over, and writes down how far they have come."""

    def __init__(self, source: _Side, target: _Side, tables: Sequence[_Table], told: Told, progress: Progress) -> None:
        self._source, self._target, self._tables = source, target, tables
        self._told, self._progress = told, progress
        self._counts = {each.name: source.execute(f"SELECT count(*) FROM {each.name}").fetchone()[0] for each in tables}
        self._done, self._of = 0, 2 * sum(self._counts.values())
        self._uncommitted = 0

    def run(self, finish: Callable[[_Table], None]) -> None:
        """Bring all over; ``finish`` is called of each table that has come."""
        for table in self._tables:
            moved = self._moved(table)
            self._done += moved.rows * (2 if moved.whole else 1)
            if not moved.whole:
                self._bring(table, moved)
                self._check(table, moved)
                finish(table)
                moved.whole = True
                self._keep(table, moved, now=moved.rows >= PIECE)
            self._progress(self._done, self._of)
            self._told(table.name, moved.rows)

    def _moved(self, table: _Table) -> _Moved:
        row = self._target.execute(f"SELECT state FROM {MOVING} WHERE name = ?", (table.name,)).fetchone()
        return _Moved.of(row[0]) if row is not None else _Moved()

    def _bring(self, table: _Table, moved: _Moved) -> None:
        rows = self._read(table, moved)
        while True:
            before, room = moved.rows, PIECE - self._uncommitted
            self._target.write(table, islice(rows, room))
            self._uncommitted += moved.rows - before
            if moved.rows - before < room:
                break
            self._keep(table, moved, now=True)

    def _read(self, table: _Table, moved: _Moved) -> Iterator[Sequence[Any]]:
        places = [table.columns.index(each) for each in table.key]
        for row in self._source.rows(table, moved.last, ordered=True):
            moved.add(row)
            moved.last = [row[place] for place in places]
            self._step()
            yield row

    def _check(self, table: _Table, moved: _Moved) -> None:
        there = _Moved()
        for row in self._target.rows(table):
            there.add(row)
            self._step()
        # A move that goes on reads what is behind a key: rows that it passed over were neither read nor written.
        here = self._counts[table.name]
        if (there.rows, there.sum) != (moved.rows, moved.sum) or there.rows != here:
            raise _NotWhole(
                f"{table.name} did not come over whole: {here} rows here, {there.rows} there, or other ones"
            )

    def _keep(self, table: _Table, moved: _Moved, *, now: bool) -> None:
        self._target.execute(
            f"INSERT INTO {MOVING} (name, state) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET state = excluded.state",
            (table.name, moved.state()),
        )
        if now:
            self._target.commit()
            self._uncommitted = 0

    def _step(self) -> None:
        self._done += 1
        if self._done % STEP == 0:
            self._progress(self._done, self._of)


def _fill_database(source: _File, target: _Database, written: str, where: str, told: Told, progress: Progress) -> None:
    tables = _tables(source.connection)
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

    def finish(table: _Table) -> None:
        if table.columns[0] == "number" and (last := _highest_number(source.connection, table.name)):
            target.execute(f"SELECT setval(pg_get_serial_sequence('{table.name}', 'number'), {last})")

    _Move(source, target, tables, told, progress).run(finish)
    target.execute(f"DROP TABLE {MOVING}")
    target.commit(last=True)


def _fill_file(source: _Database, target: _File, told: Told, progress: Progress) -> None:
    target.execute("BEGIN IMMEDIATE")
    _Move(source, target, _tables(target.connection), told, progress).run(lambda table: None)
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
            if _begun(_File(connection)) == written:
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
    _begin(_File(connection), written)
    connection.execute("COMMIT")
    return connection


def _remove(made: Path) -> None:
    for each in (made, made.with_name(f"{made.name}-journal")):
        each.unlink(missing_ok=True)


def _begin(target: _Side, written: str) -> None:
    target.execute(f"INSERT INTO {MOVING} (name, state) VALUES ('', ?)", (written,))


def _begun(target: _Side) -> str:
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


def _portable_value(value: Any) -> Any:
    """A value as both engines mean it: a yes is 1, and a text has no NUL."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bool):
        return int(value)
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


def _tables(connection: sqlite3.Connection) -> list[_Table]:
    """The tables of a file, each behind those that its rows point to."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    left = {
        row[0]: {key[2] for key in connection.execute(f"PRAGMA foreign_key_list({row[0]})").fetchall()} - {row[0]}
        for row in rows.fetchall()
        if row[0] != MOVING
    }
    ordered: list[str] = []
    while left:
        free = sorted(table for table, needs in left.items() if not needs & left.keys())
        ordered += free
        for table in free:
            del left[table]
    return [_table(connection, each) for each in ordered]


def _table(connection: sqlite3.Connection, name: str) -> _Table:
    columns = connection.execute(f"PRAGMA table_info({name})").fetchall()
    key = sorted((place, column) for _, column, _, _, _, place in columns if place)
    blobs = frozenset(column for _, column, type, *_ in columns if type == "BLOB")
    return _Table(name, tuple(each[1] for each in columns), blobs, tuple(column for _, column in key))


def _tables_with_unique_numbers(connection: sqlite3.Connection) -> list[str]:
    """The tables of a file in which no number comes twice, also where its row is gone."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'")
    return [name for (name,) in rows.fetchall()]


def _named(columns: Sequence[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _highest_number(connection: sqlite3.Connection, table: str) -> int:
    kept = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    highest = connection.execute(f"SELECT coalesce(max(number), 0) FROM {table}").fetchone()[0]
    return max(int(highest), int(kept[0]) if kept else 0)
