"""Before a migration changes a journal it is copied; and what a journal needs that a newer version has changed."""

from __future__ import annotations

import errno
import logging
import shutil
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from memory.stores.backups.backup import JOURNAL, backups_in, begin, finish, write_list
from memory.stores.backups.copying import copy_database, steps_of
from memory.stores.backups.places import own_place
from memory.stores.errors import StoreFault, StoreFaultKind
from memory.stores.migrations import MIGRATIONS, FromTheFuture, migrate
from memory.stores.queries import QUERIES
from memory.version import release

log = logging.getLogger(__name__)

UPGRADE: Final = "before an upgrade"
MAX_UPGRADE_BACKUPS: Final = 2
"""Upgrades of which the journal is kept as it was."""


def bring_up(connection: sqlite3.Connection, journal: Path) -> None:
    """Migrate a journal, behind a copy of the file as it was.

    Raises:
        FromTheFuture: when a newer version has written it.
        StoreFault: when it cannot be copied.
    """
    had = steps_of(connection)
    if had > len(MIGRATIONS):
        needs = what_a_downgrade_needs(journal, len(MIGRATIONS), written_by(connection))
        raise FromTheFuture(f"it has had {had} migrations, this version knows {len(MIGRATIONS)}: {needs}")
    if 0 < had < len(MIGRATIONS):
        try:
            backup = backup_before_upgrade(journal)
        except OSError as error:
            why = f"{journal} could not be copied before it is upgraded, and stays as it is: {error}"
            full = error.errno == errno.ENOSPC
            raise StoreFault(why, StoreFaultKind.FULL if full else StoreFaultKind.OTHER) from error
        log.info("%s is upgraded; as it was it lies in %s", journal, backup)
    if migrate(connection):
        connection.execute(QUERIES["meta_set"], ("migrated_by", release().encode()))


def backup_before_upgrade(journal: Path) -> Path:
    """Copy a journal that is about to be migrated into a backup of its own, which has nothing else in it.

    Raises:
        OSError: when it cannot be written.
        sqlite3.Error: when the journal cannot be read, or the disk is full.
    """
    place, at = own_place(journal.parent), datetime.now(UTC)
    folder = begin(place)
    try:
        copy_database(journal, folder / JOURNAL)
        write_list(folder, at, UPGRADE)
        backup = finish(folder, at, "upgrade")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    for old in list(upgrades_in(place))[:-MAX_UPGRADE_BACKUPS]:
        shutil.rmtree(old, ignore_errors=True)
    return backup


def upgrades_in(place: Path) -> Iterator[Path]:
    """The backups that were made before upgrades, the oldest first."""
    return (folder for folder, backup in backups_in(place) if backup.reason == UPGRADE)


def what_a_downgrade_needs(journal: Path, known: int, written_by: str) -> str:
    """A sentence for who has an older version than the one that wrote a journal, and what to do."""
    readable = [folder for folder, backup in backups_in(own_place(journal.parent)) if backup.migrations <= known]
    newer = f"install version {written_by} or a newer one" if written_by else "install the version that wrote it"
    if not readable:
        return newer
    return f"{newer}, or go back to how it was, without what came after: palimpsest restore {readable[-1]}"


def written_by(connection: sqlite3.Connection) -> str:
    """The version that migrated a database last; empty where it did not say."""
    try:
        row = connection.execute("SELECT value FROM meta WHERE name = 'migrated_by'").fetchone()
    except sqlite3.Error:
        return ""
    return bytes(row[0]).decode(errors="replace") if row and isinstance(row[0], bytes) else str(row[0]) if row else ""
