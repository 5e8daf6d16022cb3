"""Puts a backup back, or salvages a damaged journal; what was forgotten since stays forgotten.

Nobody else has the home folder open meanwhile, and no server runs: all of it waits.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from memory.learning.tombstones import tombstone_of
from memory.parts import open_journal
from memory.services.page.folder import OWN
from memory.stores.backups.backup import JOURNAL, PAGES
from memory.stores.backups.copying import read_only
from memory.stores.backups.restoring import bury, put_back, put_journal, tombstones_of
from memory.stores.backups.salvaging import Salvaged, salvage
from memory.stores.lost_journal import set_aside


@dataclass(frozen=True, slots=True)
class Restored:
    """``aside`` is where what was there lies now; ``forgotten`` memories were in the backup and had been forgotten
    since. ``unknown`` says that nobody can tell what was: the journal that was there cannot be read."""

    aside: Path | None
    forgotten: int = 0
    unknown: bool = False


def restore(folder: Path, home: Path, at: datetime) -> Restored:
    """Put a backup in a home folder's place.

    Raises:
        NoBackup: when it is none, is damaged, or was made by a newer version; nothing has changed then.
        StoreError: when the journal of the backup cannot be opened.
        OSError, sqlite3.Error: when there is no room for it.
    """
    there = (home / JOURNAL).exists()
    key, buried = tombstones_of(home / JOURNAL) if there else (b"", [])
    set_aside(home, at.date())
    aside = put_back(folder, home, at)
    if buried and bury(home / JOURNAL, key, buried):
        return Restored(aside, asyncio.run(_forget_again(home, key, [hash for hash, _ in buried], at)))
    return Restored(aside, unknown=there and not key)


def salvaged(home: Path, at: datetime, damaged: Path | None = None) -> tuple[Salvaged, Path | None]:
    """Make a new journal of what can still be read of a damaged one (of the home's own, where none is named), and put
    it in the home's. What was there lies in the folder that is told.

    Raises:
        NothingLeft: when nothing can be read; nothing has changed then.
        OSError, sqlite3.Error: when there is no room for it.
    """
    with TemporaryDirectory(prefix=".salvaging-", dir=home) as scratch:
        summary = salvage(damaged or home / JOURNAL, Path(scratch) / JOURNAL)
        return summary, put_journal(Path(scratch) / JOURNAL, home, at)


async def _forget_again(home: Path, key: bytes, buried: Sequence[bytes], at: datetime) -> int:
    """Forget what the restored journal holds of what was forgotten since; how many memories that were."""
    gone = frozenset(buried)
    ids = await asyncio.to_thread(_forgotten_among, home / JOURNAL, key, gone)
    if not ids:
        return 0
    journal = await asyncio.to_thread(open_journal, home)
    try:
        await journal.forget(ids, at)
    finally:
        await journal.close()
    # What was made of them stands on the pages, which are made anew when they are asked for.
    for file in (home / PAGES).glob("*/*/*"):
        if file.name != OWN:
            file.unlink()
    return len(ids)


def _forgotten_among(journal: Path, key: bytes, gone: frozenset[bytes]) -> list[str]:
    with closing(read_only(journal)) as connection:
        rows: list[sqlite3.Row] = [
            *connection.execute("SELECT id, owner, text, wrong FROM facts"),
            *connection.execute("SELECT id, owner, text, '' AS wrong FROM passages"),
        ]
        return [
            row["id"]
            for row in rows
            if any(tombstone_of(key, row["owner"], text) in gone for text in (row["text"], row["wrong"]) if text)
        ]
