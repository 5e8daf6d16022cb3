"""Before a migration changes a journal it is copied; and what a journal needs that a newer version has changed.

Whether a journal holds together: its file, what its rows say of each other, and what is packed in them.
"""

from __future__ import annotations

import errno
import logging
import shutil
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from memory.stores.backups.backup import JOURNAL, backups_in, begin, differing, finish, read_list, write_list
from memory.stores.backups.copying import copy_database, read_only, steps_of
from memory.stores.backups.places import own_place
from memory.stores.errors import StoreFault, StoreFaultKind
from memory.stores.history_cache import split
from memory.stores.messages import opened
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


MAX_SENTENCES: Final = 5
"""Sentences about one thing at most."""


def faults_of(journal: Path) -> list[str]:
    """A sentence for each thing that is wrong with a journal, whoever has it open; none where it holds together."""
    try:
        with closing(read_only(journal)) as connection:
            connection.execute("BEGIN")  # all of it is looked at as it was at one moment
            return list(_faults(connection))
    except sqlite3.Error as error:
        return [f"{journal} cannot be read: {error}"]


def indexed_of(journal: Path) -> tuple[int, int]:
    """How many memories belong into the index, and how many may lie in it: what a person has taken off the page is
    archived, and passed over when it is found; what is in quarantine may be in one that was filled anew."""
    with closing(read_only(journal)) as connection:
        should, archived = connection.execute(
            "SELECT (SELECT count(*) FROM facts WHERE state != 'archived' AND owner NOT GLOB 'quarantine/*') + "
            "(SELECT count(*) FROM passages WHERE owner NOT GLOB 'quarantine/*'), "
            "(SELECT count(*) FROM facts WHERE state = 'archived' OR owner GLOB 'quarantine/*') + "
            "(SELECT count(*) FROM passages WHERE owner GLOB 'quarantine/*')"
        ).fetchone()
        return int(should), int(should + archived)


def faults_of_backup(folder: Path, scratch: Path) -> list[str]:
    """A sentence for each thing that is wrong with a backup. Its journal is brought up to this version in a copy of
    it, in ``scratch``.

    Raises:
        NoBackup: when it is none.
        OSError: when there is no room for the copy.
    """
    backup = read_list(folder)
    faults = list(differing(folder, backup))
    if faults:
        return faults
    copy = scratch / JOURNAL
    try:
        copy_database(folder / JOURNAL, copy)
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            migrate(connection)
    except FromTheFuture as error:
        return [f"{folder} was made by a newer version ({backup.release}): {error}"]
    except sqlite3.Error as error:
        return [f"{folder / JOURNAL} cannot be read: {error}"]
    return faults_of(copy)


def _faults(connection: sqlite3.Connection) -> Iterator[str]:
    broken = [row[0] for row in connection.execute(f"PRAGMA integrity_check({MAX_SENTENCES})")]
    if broken != ["ok"]:
        yield from (
            f"the file is damaged: {sentence}" for line in broken[:MAX_SENTENCES] for sentence in [line.splitlines()[0]]
        )
        return
    loose = connection.execute("PRAGMA foreign_key_check").fetchmany(MAX_SENTENCES)
    yield from (f"a row of {row[0]} names one of {row[2]} that is not there" for row in loose)
    yield from _unreadable_messages(connection)
    yield from _exchanges_without_messages(connection)
    if connection.execute("SELECT 1 FROM meta WHERE name = 'key' AND length(value) = 32").fetchone() is None:
        yield "the key of its hashes is gone: what was forgotten could be learnt again"


def _unreadable_messages(connection: sqlite3.Connection) -> Iterator[str]:
    count, first = 0, None
    for number, body in connection.execute("SELECT number, body FROM messages"):
        try:
            opened(body)
        except zlib.error:
            count, first = count + 1, number if first is None else first
    if count:
        yield f"{count} of its messages cannot be unpacked (the first is number {first})"


def _exchanges_without_messages(connection: sqlite3.Connection) -> Iterator[str]:
    count = 0
    there = "SELECT 1 FROM messages WHERE person = ? AND digest = ?"
    for person, tail, reply in connection.execute(
        "SELECT sessions.person, exchanges.tail, exchanges.reply FROM exchanges "
        "JOIN sessions ON sessions.number = exchanges.session"
    ):
        digests = (*split(tail), *((reply,) if reply else ()))
        count += any(connection.execute(there, (person, digest)).fetchone() is None for digest in digests)
    if count:
        yield f"{count} of its exchanges name messages that are not there"
