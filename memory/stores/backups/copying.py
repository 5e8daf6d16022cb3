"""A SQLite database copied as it was at one moment, while others read and write it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

PAGES: Final = 256
"""Pages (of 4 KiB) in one step; between two of them other threads have Python's lock."""


def read_only(path: Path) -> sqlite3.Connection:
    """A connection that cannot write. The caller closes it.

    Raises:
        sqlite3.Error: when there is no such file, or it is no database.
    """
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=5)
    connection.row_factory = sqlite3.Row
    return connection


def copy_database(source: Path, target: Path) -> None:
    """Copy a database into a new file with mode 0600, one file whole in itself, on the disk when this returns.

    Raises:
        sqlite3.Error: when the source is damaged or the disk is full; what was written of the target stays.
        OSError: when the target is there already or cannot be made.
    """
    with closing(read_only(source)) as connection:
        copy_connection(connection, target)


def copy_connection(connection: sqlite3.Connection, target: Path) -> None:
    """As :func:`copy_database`, from a connection that is in no transaction."""
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(target, isolation_level=None)) as copy:
        # Held open, the reader's snapshot keeps the copy from beginning anew with every write of somebody else.
        connection.execute("BEGIN")
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            connection.backup(copy, pages=PAGES)
        finally:
            connection.execute("ROLLBACK")
        copy.execute("PRAGMA journal_mode = DELETE")
    flush(target)


def flush(path: Path) -> None:
    """Hand a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def steps_of(connection: sqlite3.Connection) -> int:
    """How many migrations a database has had."""
    (steps,) = connection.execute("PRAGMA user_version").fetchone()
    return int(steps)
