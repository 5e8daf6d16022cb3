"""Whether a journal holds together: its file, what its rows say of each other, and what is packed in them."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from memory.stores.backups.backup import JOURNAL, differing, read_list
from memory.stores.backups.copying import copy_database, read_only
from memory.stores.histories import split
from memory.stores.messages import opened
from memory.stores.migrations import FromTheFuture, migrate

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
    yield from _unreadable(connection)
    yield from _without_messages(connection)
    if connection.execute("SELECT 1 FROM meta WHERE name = 'key' AND length(value) = 32").fetchone() is None:
        yield "the key of its hashes is gone: what was forgotten could be learnt again"


def _unreadable(connection: sqlite3.Connection) -> Iterator[str]:
    """Messages that cannot be unpacked."""
    count, first = 0, None
    for number, body in connection.execute("SELECT number, body FROM messages"):
        try:
            opened(body)
        except zlib.error:
            count, first = count + 1, number if first is None else first
    if count:
        yield f"{count} of its messages cannot be unpacked (the first is number {first})"


def _without_messages(connection: sqlite3.Connection) -> Iterator[str]:
    """Exchanges that name messages which are not there."""
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
