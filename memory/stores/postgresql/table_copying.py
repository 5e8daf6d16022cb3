"""The tables of a journal, copied row by row from its file into a database or back, and checked.

Pieces of many rows are committed together, and with them how far each table has come, so that a copy goes on from
there. Each table's rows are counted and hashed as they are read, and once more where they have come.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import orjson

from memory.stores.errors import StoreFault
from memory.stores.postgresql.connection import PostgresConnection
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


class NotWhole(StoreFault):
    """What has come is not what was there: to go on from it would not mend it."""


class JournalSide(Protocol):
    """Where rows are read or come to, with the statements that both engines understand."""

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Any:
        """Run a statement."""

    def rows(self, table: Table, after: Sequence[Any] | None = None, *, ordered: bool = False) -> Iterator[Any]:
        """The rows of a table, of those behind a key."""

    def write(self, table: Table, rows: Iterable[Any]) -> None:
        """Write rows of a table."""

    def commit(self, *, last: bool = False) -> None:
        """Keep what has come, and, unless it was the last of it, begin the next piece."""


@dataclass(frozen=True)
class Table:
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


class FileSide:
    """A journal's file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.execute = connection.execute

    def rows(self, table: Table, after: Sequence[Any] | None = None, *, ordered: bool = False) -> Iterator[Any]:
        # A number among bytes is read as its digits, as it stands in the database.
        chosen = (f'CAST("{each}" AS BLOB)' if each in table.blobs else f'"{each}"' for each in table.columns)
        return iter(self.connection.execute(table.query(chosen, "?", after, ordered), after or ()))

    def write(self, table: Table, rows: Iterable[Any]) -> None:
        places = ", ".join("?" * len(table.columns))
        self.connection.executemany(f"INSERT INTO {table.name} ({_named(table.columns)}) VALUES ({places})", rows)

    def commit(self, *, last: bool = False) -> None:
        self.connection.execute("COMMIT")
        if not last:
            self.connection.execute("BEGIN IMMEDIATE")


class DatabaseSide:
    """A database. ``keep`` commits a piece there."""

    def __init__(self, connection: PostgresConnection, keep: Callable[[], object] = bool) -> None:
        self.connection = connection
        self.execute = connection.execute
        self._keep = keep

    def begin(self) -> None:
        """Begin a piece that is written."""
        self.connection.run(f"BEGIN ISOLATION LEVEL READ COMMITTED; {SEE_ALL}; LOCK TABLE writers IN EXCLUSIVE MODE")

    def rows(self, table: Table, after: Sequence[Any] | None = None, *, ordered: bool = False) -> Iterator[Any]:
        chosen = (f'"{each}"' for each in table.columns)
        return self.connection.rows(table.query(chosen, "%s", after, ordered), after or ())

    def write(self, table: Table, rows: Iterable[Any]) -> None:
        name, run = table.name, self.connection.run
        # What triggers would make of the rows is moved itself; a COPY into a table with policies is refused.
        run(f"ALTER TABLE {name} DISABLE TRIGGER USER")
        if name in PROTECTED:
            run(f"ALTER TABLE {name} NO FORCE ROW LEVEL SECURITY")
        self.connection.copy_in(f"COPY {name} ({_named(table.columns)}) FROM STDIN", rows)
        run(f"ALTER TABLE {name} ENABLE TRIGGER USER")
        if name in PROTECTED:
            run(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")

    def clear(self, tables: Iterable[Table]) -> None:
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
class CopiedRows:
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
    def of(cls, state: str) -> CopiedRows:
        """What was written down."""
        rows, total, last, whole = orjson.loads(state)
        key = last and [bytes.fromhex(value[0]) if isinstance(value, list) else value for value in last]
        return cls(rows, int(total, 16), key, whole)


class TablesCopy:
    """Brings tables over, and writes down how far they have come."""

    def __init__(
        self, source: JournalSide, target: JournalSide, tables: Sequence[Table], told: Told, progress: Progress
    ) -> None:
        self._source, self._target, self._tables = source, target, tables
        self._told, self._progress = told, progress
        self._counts = {each.name: source.execute(f"SELECT count(*) FROM {each.name}").fetchone()[0] for each in tables}
        self._done, self._of = 0, 2 * sum(self._counts.values())
        self._uncommitted = 0

    def run(self, finish: Callable[[Table], None]) -> None:
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

    def _moved(self, table: Table) -> CopiedRows:
        row = self._target.execute(f"SELECT state FROM {MOVING} WHERE name = ?", (table.name,)).fetchone()
        return CopiedRows.of(row[0]) if row is not None else CopiedRows()

    def _bring(self, table: Table, moved: CopiedRows) -> None:
        rows = self._read(table, moved)
        while True:
            before, room = moved.rows, PIECE - self._uncommitted
            self._target.write(table, islice(rows, room))
            self._uncommitted += moved.rows - before
            if moved.rows - before < room:
                break
            self._keep(table, moved, now=True)

    def _read(self, table: Table, moved: CopiedRows) -> Iterator[Sequence[Any]]:
        places = [table.columns.index(each) for each in table.key]
        for row in self._source.rows(table, moved.last, ordered=True):
            moved.add(row)
            moved.last = [row[place] for place in places]
            self._step()
            yield row

    def _check(self, table: Table, moved: CopiedRows) -> None:
        there = CopiedRows()
        for row in self._target.rows(table):
            there.add(row)
            self._step()
        # A move that goes on reads what is behind a key: rows that it passed over were neither read nor written.
        here = self._counts[table.name]
        if (there.rows, there.sum) != (moved.rows, moved.sum) or there.rows != here:
            raise NotWhole(f"{table.name} did not come over whole: {here} rows here, {there.rows} there, or other ones")

    def _keep(self, table: Table, moved: CopiedRows, *, now: bool) -> None:
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


def tables_of(connection: sqlite3.Connection) -> list[Table]:
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


def _table(connection: sqlite3.Connection, name: str) -> Table:
    columns = connection.execute(f"PRAGMA table_info({name})").fetchall()
    key = sorted((place, column) for _, column, _, _, _, place in columns if place)
    blobs = frozenset(column for _, column, type, *_ in columns if type == "BLOB")
    return Table(name, tuple(each[1] for each in columns), blobs, tuple(column for _, column in key))


def _portable_value(value: Any) -> Any:
    """A value as both engines mean it: a yes is 1, and a text has no NUL."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bool):
        return int(value)
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


def _named(columns: Sequence[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)
