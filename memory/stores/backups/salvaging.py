"""What can still be read of a damaged journal, written into a new one.

Each table is read from its beginning until a page cannot be read, then from its end; between the two it is asked for
by its rows' numbers, in ever smaller pieces. What names something that was lost goes too, and an index is made anew
from what is left.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from memory.conversation import Text
from memory.stores.backups.copying import flush, read_only
from memory.stores.history_cache import split
from memory.stores.messages import body_of, opened
from memory.stores.migrations import MIGRATIONS, migrate

GAP: Final = 4096
"""Row numbers that are asked for together where pages are damaged; where that fails, in pieces of half the size."""

LOST: Final = "[this message was lost with a part of the journal]"

_REBUILT_TABLES: Final = ("generations", "outbox")
"""What is about the index, which is filled anew."""


@dataclass(slots=True)
class Salvaged:
    """``rows`` that were read, by table; ``damaged`` tables, of which some may be missing; ``loose`` rows that went,
    since what they name was lost; ``lost`` messages in whose place something stands that says so."""

    rows: dict[str, int] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)
    loose: int = 0
    lost: int = 0


class NothingLeft(Exception):
    """Nothing of the file can be read."""


def salvage(damaged: Path, target: Path) -> Salvaged:
    """Read what can be read of ``damaged`` into a new journal, which nobody else has open.

    Raises:
        NothingLeft: when the file has no head of a database, or no table that is known.
        OSError: when the target cannot be made.
    """
    summary = Salvaged()
    with closing(_opened(damaged)) as source:
        steps = _steps(source)
        os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(sqlite3.connect(target, isolation_level=None)) as target_db:
            target_db.execute("PRAGMA auto_vacuum = 2")
            target_db.execute("PRAGMA foreign_keys = OFF")
            migrate(target_db, MIGRATIONS[:steps])
            for table in _tables(target_db):
                _copy_table(source, target_db, table, summary)
            if not any(summary.rows.values()):
                raise NothingLeft(f"nothing of {damaged} can be read")
            for table in _REBUILT_TABLES:
                target_db.execute(f"DELETE FROM {table}")
            summary.loose = _delete_dangling(target_db)
            summary.lost = _replace_lost_messages(target_db)
            migrate(target_db)
    flush(target)
    return summary


def _opened(path: Path) -> sqlite3.Connection:
    try:
        connection = read_only(path)
        connection.execute("PRAGMA cell_size_check = ON")
        # Of a damaged list of tables those are taken that can still be read.
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        raise NothingLeft(f"nothing of {path} can be read: {error}") from error
    return connection


def _steps(source: sqlite3.Connection) -> int:
    with suppress(sqlite3.Error):
        (steps,) = source.execute("PRAGMA user_version").fetchone()
        if 0 < steps <= len(MIGRATIONS):
            return int(steps)
    return len(MIGRATIONS)


def _tables(target: sqlite3.Connection) -> list[str]:
    rows = target.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return [row[0] for row in rows]


def _copy_table(source: sqlite3.Connection, target: sqlite3.Connection, table: str, summary: Salvaged) -> None:
    described = target.execute(f"PRAGMA table_info({table})").fetchall()
    names = [row[1] for row in described]
    marks = ",".join("?" * len(names))
    write = f"INSERT OR REPLACE INTO {table} ({','.join(names)}) VALUES ({marks})"
    read = f"SELECT {','.join(names)} FROM {table}"
    numbered = next((row[1] for row in described if row[5] and row[2].upper() == "INTEGER"), None)
    order = numbered or ",".join(row[1] for row in sorted(described, key=lambda row: row[5]) if row[5]) or "rowid"
    target.execute("BEGIN")
    rows, whole = _written(target, write, _readable_rows(source, f"{read} NOT INDEXED"))
    if not whole:
        summary.damaged.append(table)
        back = ",".join(f"{name} DESC" for name in order.split(","))
        more, _ = _written(target, write, _readable_rows(source, f"{read} NOT INDEXED ORDER BY {back}"))
        rows += more
        if numbered:
            rows += _rows_between(source, target, table, read, write, numbered)
    (summary.rows[table],) = target.execute(f"SELECT count(*) FROM {table}").fetchone()
    target.execute("COMMIT")


def _readable_rows(source: sqlite3.Connection, query: str, values: Iterable[int] = ()) -> Iterator[sqlite3.Row | None]:
    """The rows of a query; None, and the end, where one cannot be read."""
    try:
        yield from source.execute(query, tuple(values))
    except (sqlite3.Error, UnicodeDecodeError):
        yield None


def _written(target: sqlite3.Connection, write: str, rows: Iterable[sqlite3.Row | None]) -> tuple[int, bool]:
    count = 0
    for row in rows:
        if row is None:
            return count, False
        with suppress(sqlite3.Error):  # a row that no table takes is damaged itself
            target.execute(write, tuple(row))
            count += 1
    return count, True


def _rows_between(
    source: sqlite3.Connection, target: sqlite3.Connection, table: str, read: str, write: str, number: str
) -> int:
    """Rows between those that were read from both ends, and those behind them that neither end has reached."""
    there = [row[0] for row in target.execute(f"SELECT {number} FROM {table} ORDER BY {number}")]
    gaps = [(low + 1, high - 1) for low, high in zip([0, *there], there, strict=False) if high - low > 1]
    newest = there[-1] if there else 0
    pieces = [
        (low, min(low + GAP - 1, high))
        for first, high in [*gaps, (newest + 1, newest + GAP)]
        for low in range(first, high + 1, GAP)
    ]
    taken = 0
    while pieces:
        low, high = pieces.pop()
        query = f"{read} NOT INDEXED WHERE {number} BETWEEN ? AND ?"
        count, whole = _written(target, write, _readable_rows(source, query, (low, high)))
        taken += count
        if not whole and high > low:
            half = (low + high) // 2
            pieces += [(low, half), (half + 1, high)]
    return taken


def _delete_dangling(target: sqlite3.Connection) -> int:
    """Delete what names a row that was lost, until nothing does."""
    gone = 0
    while loose := target.execute("PRAGMA foreign_key_check").fetchall():
        target.execute("BEGIN")
        before = target.total_changes
        for table, row, parent, key in loose:
            if row is not None:
                target.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
            else:
                _delete_without_rowid(target, table, parent, key)
        gone += target.total_changes - before
        target.execute("COMMIT")
    target.execute(
        "UPDATE sessions SET tip = (SELECT max(number) FROM exchanges WHERE session = sessions.number "
        "AND kind IN ('main', 'sub-agent')) WHERE tip IS NOT NULL AND tip NOT IN (SELECT number FROM exchanges)"
    )
    return gone


def _replace_lost_messages(target: sqlite3.Connection) -> int:
    """Put something in the place of messages that were lost or cannot be unpacked: a history goes on behind them."""
    body = body_of((Text(LOST),), "")
    broken = [number for number, held in target.execute("SELECT number, body FROM messages") if not _opens(held)]
    there = "SELECT 1 FROM messages WHERE person = ? AND digest = ?"
    missing = {
        (person, digest)
        for person, tail, reply in target.execute(
            "SELECT sessions.person, exchanges.tail, exchanges.reply FROM exchanges "
            "JOIN sessions ON sessions.number = exchanges.session"
        )
        for digest in (*split(tail), *((reply,) if reply else ()))
        if target.execute(there, (person, digest)).fetchone() is None
    }
    target.execute("BEGIN")
    target.executemany("UPDATE messages SET body = ?, redacted = 1 WHERE number = ?", [(body, each) for each in broken])
    target.executemany(
        "INSERT INTO messages (person, digest, role, redacted, body) VALUES (?, ?, 'other', 1, ?)",
        [(person, digest, body) for person, digest in sorted(missing)],
    )
    target.execute("COMMIT")
    return len(broken) + len(missing)


def _opens(body: bytes) -> bool:
    try:
        opened(body)
    except (zlib.error, TypeError):
        return False
    return True


def _delete_without_rowid(target: sqlite3.Connection, table: str, parent: str, key: int) -> None:
    """Delete the rows of a table without row numbers that name something of ``parent`` which is not there."""
    [(column, named)] = [
        (row[3], row[4]) for row in target.execute(f"PRAGMA foreign_key_list({table})") if row[0] == key
    ]
    primary = [row[1] for row in target.execute(f"PRAGMA table_info({parent})") if row[5] == 1]
    target.execute(f"DELETE FROM {table} WHERE {column} NOT IN (SELECT {named or primary[0]} FROM {parent})")
