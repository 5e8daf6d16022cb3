"""A backup, or a journal that was salvaged, put in a home folder's place. Nobody else has the home open.

What lay there is moved aside, into a folder of its own, and deleted by nobody but a person.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from memory.stores.backups.backup import (
    ASIDE,
    IDENTITY,
    JOURNAL,
    KEYS,
    PAGES,
    SETTINGS,
    NoBackup,
    differing,
    make_below,
    name_at,
    read_list,
)
from memory.stores.backups.copying import copy_database, read_only
from memory.stores.lost_journal import REPLACED
from memory.stores.migrations import MIGRATIONS

_ALWAYS: Final = (*SETTINGS, IDENTITY)
_READY: Final = ".restoring"
_DATABASE: Final = (JOURNAL, f"{JOURNAL}-wal", f"{JOURNAL}-shm")


def put_back(folder: Path, home: Path, at: datetime) -> Path | None:
    """Put a backup in a home folder's place: its journal, and of pages, settings and keys what it has. The folder in
    which what was there lies now, None where nothing was.

    Raises:
        NoBackup: when it is none, is damaged, or was made by a newer version; nothing has changed then.
        OSError: when there is no room for it; nothing has changed then.
        sqlite3.Error: as OSError.
    """
    backup = read_list(folder)
    if faults := list(differing(folder, backup)):
        raise NoBackup("; ".join(faults))
    if backup.migrations > len(MIGRATIONS):
        raise NoBackup(
            f"{folder} was made by version {backup.release}, with {backup.migrations} migrations; this one knows "
            f"{len(MIGRATIONS)}: install that version or a newer one"
        )
    ready = _fresh(home)
    for name in backup.files:
        target = ready / name
        make_below(ready, Path(name).parent)
        if name == JOURNAL:
            copy_database(folder / name, target)
        else:
            shutil.copyfile(folder / name, target)
            target.chmod(0o600)
    _without_index(ready / JOURNAL)
    # A journal alone, as one is kept before an upgrade, leaves the pages where they are.
    parts = [part for part in (PAGES, ASIDE) if len(backup.files) > 1]
    # A key that opens memory may have been changed since because somebody else had it: the one that is there stays.
    single = [
        name for name in (*SETTINGS, *KEYS) if name in backup.files and (name in _ALWAYS or not (home / name).exists())
    ]
    return _exchange(home, ready, at, [*_DATABASE, *parts, *single])


def put_journal(journal: Path, home: Path, at: datetime) -> Path | None:
    """Put a salvaged journal, which is moved, in the place of the one that is there."""
    ready = _fresh(home)
    os.replace(journal, ready / JOURNAL)
    return _exchange(home, ready, at, _DATABASE)


def tombstones_of(journal: Path) -> tuple[bytes, list[tuple[bytes, str]]]:
    """The key of a journal, and what was forgotten by it; nothing where it cannot be read."""
    with suppress(sqlite3.Error), closing(read_only(journal)) as connection:
        row = connection.execute("SELECT value FROM meta WHERE name = 'key'").fetchone()
        buried = connection.execute("SELECT hash, at FROM tombstones").fetchall()
        return (bytes(row[0]) if row else b""), [(bytes(each[0]), str(each[1])) for each in buried]
    return b"", []


def bury(journal: Path, key: bytes, tombstones: Sequence[tuple[bytes, str]]) -> bool:
    """Add what was forgotten by the journal that was here before; False where it is another journal's."""
    with closing(sqlite3.connect(journal, isolation_level=None)) as connection:
        row = connection.execute("SELECT value FROM meta WHERE name = 'key'").fetchone()
        if row is None or bytes(row[0]) != key:
            return False
        connection.executemany("INSERT OR IGNORE INTO tombstones (hash, at) VALUES (?, ?)", tombstones)
    return True


def replaced_in(home: Path) -> list[Path]:
    """The folders in which what was replaced lies."""
    return sorted(home.glob(f"{REPLACED}-*/"))


def _fresh(home: Path) -> Path:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    ready = home / _READY
    shutil.rmtree(ready, ignore_errors=True)
    ready.mkdir(mode=0o700)
    return ready


def _without_index(journal: Path) -> None:
    """Another index may lie there, or none: it is filled anew."""
    with closing(sqlite3.connect(journal, isolation_level=None)) as connection:
        connection.execute("DELETE FROM outbox")
        connection.execute("DELETE FROM generations")


def _exchange(home: Path, ready: Path, at: datetime, names: Iterable[str]) -> Path | None:
    aside: Path | None = None
    for name in names:
        if (home / name).exists():
            if aside is None:
                aside = home / name_at(home, at, REPLACED)
                aside.mkdir(mode=0o700)
            os.replace(home / name, aside / name)
        if (ready / name).exists():
            os.replace(ready / name, home / name)
    shutil.rmtree(ready, ignore_errors=True)
    shutil.rmtree(home / "index", ignore_errors=True)
    return aside
