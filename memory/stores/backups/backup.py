"""One backup: a folder with a journal, pages, settings and keys, and a list of all of them with their sums.

It has its name only once it is whole. Tokens of our own endpoints and what is made from the journal (the index) are not
in it: both are made anew.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from memory.stores.backups.copying import copy_database, flush, read_only, steps_of
from memory.version import release

JOURNAL: Final = "journal.db"
PAGES: Final = "pages"
ASIDE: Final = "aside"
LIST: Final = "backup.json"
SETTINGS: Final = ("config.yaml", "embedder", "projects.json", "trusted.json", "paused")
"""Of these there is nothing secret in any but the first, which may hold the keys of callers."""
IDENTITY: Final = "identity.key"
KEYS: Final = (IDENTITY, "key")
"""Without the first, sessions that are under way are not known again; without the second, runtimes are to be connected
anew."""
FORMAT: Final = 1
_UNFINISHED: Final = ".unfinished-"
_TRIES: Final = 5
_LEFT_SECONDS: Final = 86_400.0

_COUNTED: Final = ("sessions", "exchanges", "messages", "ledger", "facts", "passages", "research", "tombstones")


class BackupFile(msgspec.Struct, frozen=True):
    """A file of a backup."""

    size: int
    sha256: str


class Backup(msgspec.Struct, frozen=True):
    """What a backup says of itself. ``reason`` is why it was made, ``migrations`` how many its journal has had, and
    ``release`` the version that made it."""

    at: datetime
    reason: str
    release: str
    migrations: int
    counts: dict[str, int]
    files: dict[str, BackupFile]
    format: int = FORMAT


class NoBackup(Exception):
    """What lies there is no backup, or not the one that was made."""


def take(home: Path, place: Path, at: datetime, reason: str, keys: bool = True) -> Path:
    """Make a backup of a home folder, whoever has it open, in a new folder below ``place``; that folder. Without
    ``keys`` neither keys nor the settings' file, which may hold some, are in it.

    Raises:
        OSError: when it cannot be written.
        sqlite3.Error: when the journal cannot be read, or the disk is full.
    """
    folder = begin(place)
    try:
        # What is set aside goes first: what is committed meanwhile is in both, and is taken back once.
        _write_all(folder, _files_below(home, ASIDE))
        copy_database(home / JOURNAL, folder / JOURNAL)
        _write_all(folder, _read_settled_pages(home))
        for each in (*SETTINGS, *KEYS) if keys else SETTINGS[1:]:
            if (home / each).is_file():
                _write(folder / each, (home / each).read_bytes())
        write_list(folder, at, reason)
        return finish(folder, at)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def begin(place: Path) -> Path:
    """A folder for a backup that is being made: of its own, for another process may be making one too. What one that
    was killed has left goes after a day."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in place.glob(f"{_UNFINISHED}*"):
        with suppress(FileNotFoundError):  # it may just be finished
            if time.time() - left.stat().st_mtime > _LEFT_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=place))


def finish(folder: Path, at: datetime, what: str = "backup") -> Path:
    """Give a backup that is whole its name; where it lies then."""
    for _ in range(_TRIES):
        named = folder.parent / name_at(folder.parent, at, what)
        try:
            os.rename(folder, named)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
            continue  # another process has just taken that name
        flush(folder.parent)
        return named
    raise FileExistsError(errno.EEXIST, "too many backups are made at once", str(folder.parent))


def write_list(folder: Path, at: datetime, reason: str) -> None:
    """Write down what is in a folder."""
    with closing(read_only(folder / JOURNAL)) as connection:
        steps, counts = steps_of(connection), counts_of(connection)
    names = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    files = {name: BackupFile((folder / name).stat().st_size, sum_of(folder / name)) for name in names}
    backup = Backup(at.astimezone(UTC), reason, release(), steps, counts, files)
    _write(folder / LIST, msgspec.json.format(msgspec.json.encode(backup)) + b"\n")


def read_list(folder: Path) -> Backup:
    """What a backup says of itself.

    Raises:
        NoBackup: when it says nothing, or what is not understood.
    """
    try:
        data = msgspec.json.decode((folder / LIST).read_bytes(), type=Backup)
    except FileNotFoundError:
        raise NoBackup(f"{folder} is no backup: there is no {LIST} in it") from None
    except (OSError, msgspec.DecodeError) as error:
        raise NoBackup(f"{folder / LIST} cannot be read: {error}") from None
    if data.format > FORMAT:
        raise NoBackup(f"{folder} was made by a newer version ({data.release})")
    unsafe = [name for name in data.files if os.path.isabs(name) or ".." in Path(name).parts]
    if unsafe or JOURNAL not in data.files:
        raise NoBackup(f"{folder / LIST} names files that no backup has")
    return data


def differing(folder: Path, backup: Backup) -> Iterator[str]:
    """A sentence for each file that is not what was written."""
    for name, file in backup.files.items():
        path = folder / name
        if not path.is_file():
            yield f"{path} is gone"
        elif path.stat().st_size != file.size or sum_of(path) != file.sha256:
            yield f"{path} is not what was written: it was changed or is damaged"


def backups_in(place: Path) -> list[tuple[Path, Backup]]:
    """The backups in a folder, the oldest first; what is none is passed over."""
    found = []
    for folder in sorted(place.iterdir()) if place.is_dir() else ():
        if folder.is_dir() and not folder.name.startswith("."):
            try:
                found.append((folder, read_list(folder)))
            except NoBackup:
                continue
    return sorted(found, key=lambda each: each[1].at)


def name_at(place: Path, at: datetime, what: str = "backup") -> str:
    """A name for a new backup that none there has."""
    name = f"{what}-{at.astimezone(UTC):%Y-%m-%dT%H%M%SZ}"
    number = 1
    while (place / (candidate := name if number == 1 else f"{name}-{number}")).exists():
        number += 1
    return candidate


def counts_of(connection: sqlite3.Connection) -> dict[str, int]:
    """How many rows a journal has, by table; of a table that an older version has not, none."""
    there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    rows = {
        table: connection.execute(f"SELECT count(*) FROM {table}").fetchone() for table in _COUNTED if table in there
    }
    return {table: int(row[0]) for table, row in rows.items()}


def make_below(folder: Path, path: Path) -> None:
    """Make a folder inside another one, for its owner alone, and those between them."""
    for part in path.parts:
        folder /= part
        folder.mkdir(mode=0o700, exist_ok=True)


def sum_of(path: Path) -> str:
    """The SHA-256 of a file. Never of a database that this process has open: closing the file would take SQLite's locks
    away."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _files_below(home: Path, name: str) -> dict[str, bytes]:
    """The files of a folder, by their path; what vanishes meanwhile is left out."""
    found = {}
    for file in sorted((home / name).rglob("*")):
        try:
            if file.is_file() and not file.name.endswith((".part", ".new", ".broken")):
                found[file.relative_to(home).as_posix()] = file.read_bytes()
        except OSError:
            continue
    return found


def _read_settled_pages(home: Path) -> dict[str, bytes]:
    """The pages, read until nobody changed one meanwhile: a line that was made and is not in its file would be taken
    for one that a person has deleted."""
    before = _files_below(home, PAGES)
    for _ in range(_TRIES):
        now = _files_below(home, PAGES)
        if now == before:
            break
        before = now
    return before


def _write_all(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        make_below(folder, Path(name).parent)
        _write(folder / name, content)


def _write(path: Path, content: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
