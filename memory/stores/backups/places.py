"""Where backups of a home folder lie, and how often one is made: a small file in the home folder says it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import zlib
from collections.abc import Collection, Iterator
from contextlib import closing
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec

from memory.stores.backups.backup import ASIDE, JOURNAL, PAGES, Backup, backups_in
from memory.stores.backups.copying import read_only
from memory.stores.messages import opened

STATE: Final = "backups.json"
_PIECE: Final = 500


class BackupLook(msgspec.Struct, frozen=True):
    """When a backup was last looked through, and how many faults were found in it."""

    at: datetime
    faults: int


class BackupState(msgspec.Struct, frozen=True):
    """``places`` are all folders that backups were made in; ``every`` is a number of seconds, None for never, and
    ``place`` where those go. ``keep`` is how many stay in it. ``verified`` and ``faults`` are of the last look whether
    the journal holds together; ``stale`` are places that could not be reached, or their backups not be opened, when
    something was forgotten, and ``rewriting`` those whose backups are being made anew without it. ``looks`` are those
    at backups that are still there, by their folders."""

    places: tuple[str, ...] = ()
    every: float | None = None
    place: str = ""
    keep: int = 7
    keys: bool = True
    verified: datetime | None = None
    faults: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    rewriting: tuple[str, ...] = ()
    looks: dict[str, BackupLook] = {}

    def with_look(self, folder: Path, look: BackupLook) -> BackupState:
        """The same, with a look at a backup; those at backups that are gone are left out."""
        looks = {where: each for where, each in self.looks.items() if Path(where).exists()}
        return msgspec.structs.replace(self, looks=looks | {str(folder): look})


def own_place(home: Path) -> Path:
    """Where backups go when nobody says where."""
    return home / "backups"


def read_state(home: Path) -> BackupState:
    """What is known; nothing where the file is not there or cannot be read."""
    try:
        return msgspec.json.decode((home / STATE).read_bytes(), type=BackupState)
    except (OSError, msgspec.DecodeError):
        return BackupState()


def write_state(home: Path, state: BackupState) -> None:
    """Replace what is known in one step."""
    beside = home / f"{STATE}.new"
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(msgspec.json.encode(state))
    os.replace(beside, home / STATE)


def known_places(home: Path, state: BackupState) -> list[Path]:
    """All folders in which backups of this home may lie."""
    return [*dict.fromkeys([own_place(home), *map(Path, state.places)])]


def last_in(place: Path) -> tuple[Path, Backup] | None:
    """The newest backup in a folder."""
    found = backups_in(place)
    return found[-1] if found else None


def prune(place: Path, reason: str, limit: int) -> None:
    """Remove all but the newest of those backups that were made for a reason."""
    for folder, _ in [each for each in backups_in(place) if each[1].reason == reason][:-limit]:
        shutil.rmtree(folder, ignore_errors=True)


def holding(place: Path, ids: Collection[str], digests: Collection[bytes], texts: Collection[str]) -> Iterator[Path]:
    """The backups in a folder that hold one of these memories, messages or texts. One that cannot be read, or has
    exchanges in it that were set aside, may hold all of them."""
    for folder, _ in backups_in(place):
        try:
            held = any((folder / ASIDE).glob("*")) or _holds(folder, ids, digests, texts)
        except (sqlite3.Error, OSError, zlib.error):
            held = True
        if held:
            yield folder


def _holds(folder: Path, ids: Collection[str], digests: Collection[bytes], texts: Collection[str]) -> bool:
    with closing(read_only(folder / JOURNAL)) as connection:
        for table, column, values in (("facts", "id", ids), ("passages", "id", ids), ("messages", "digest", digests)):
            if _stands(connection, table, column, values):
                return True
        needles = [text.strip().casefold() for text in texts if text.strip()]
        needles += [escaped for text in needles if (escaped := msgspec.json.encode(text)[1:-1].decode()) != text]
        bodies = (opened(row[0], whole=True) for row in connection.execute("SELECT body FROM messages"))
        pages = (file.read_bytes() for file in folder.glob(f"{PAGES}/*/*/*.md"))
        return any(
            text in body.decode(errors="replace").casefold() for body in chain(bodies, pages) for text in needles
        )


def _stands(connection: sqlite3.Connection, table: str, column: str, values: Collection[str | bytes]) -> bool:
    places = list(values)
    return any(
        connection.execute(
            f"SELECT 1 FROM {table} WHERE {column} IN ({','.join('?' * len(piece))}) LIMIT 1", piece
        ).fetchone()
        for piece in (places[start : start + _PIECE] for start in range(0, len(places), _PIECE))
    )
