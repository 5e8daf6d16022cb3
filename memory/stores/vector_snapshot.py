"""The points of owners who have many of them in files, so that a start has them at hand at once.

The files of an owner are mapped into memory: what changes changes in them too, and what is forgotten leaves no numbers
behind in them. They are never the only place of anything. Which points have changed since they were written stands in
a log before the engine hears of it, so that also after a kill what is missing is known: these are asked of the engine.
After a failure of the machine itself nothing is taken from them.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.ports import Vector
from memory.stores.disk import write_out
from memory.stores.point_table import KEY, Arrays, PointTable, key_of, texts_of

MIN_POINTS = 4096
"""Points from which on an owner's are kept: fewer are gathered in a second."""

LATE = 10_000
"""Changes after which everything is written anew when the index is closed; ten times as many are not made good."""

_FORM = 1
_OWNER, _LOG, _OPEN = "owner.json", "changed", "open"


class VectorSnapshot:
    """What is kept in a folder, which nobody else writes. Used by one thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._owners: dict[str, Path] = {}
        self._tried: dict[str, int] = {}
        self._log: int | None = None

    def open(self) -> None:
        """Look what there is. What cannot be trusted is removed."""
        beginning = self._folder / _OPEN
        if beginning.exists() and beginning.read_text() != _since_start():
            shutil.rmtree(self._folder, ignore_errors=True)
        for owner_file in self._folder.glob(f"*/{_OWNER}"):
            with contextlib.suppress(ValueError, KeyError, OSError):
                data = json.loads(owner_file.read_text())
                if data["form"] == _FORM:
                    self._owners[data["owner"]] = owner_file.parent
        for each in self._folder.glob("*/"):
            if each not in self._owners.values():
                shutil.rmtree(each, ignore_errors=True)
        if len(self.changes()) > 10 * LATE:
            self.clear()
        if self._owners:
            self._begin()

    def has(self, owner: str) -> bool:
        """Whether an owner's points are kept."""
        return owner in self._owners

    def outgrown(self, owner: str, table: PointTable) -> bool:
        """Whether an owner's points are to be written: they have no room in their files any more, or are many that lie
        in memory alone. Of those it is said again when they are twice as many."""
        if table.keys is not None:
            return False
        if owner in self._owners:
            return True
        many = table.whole and len(table.rows) >= max(MIN_POINTS, 2 * self._tried.get(owner, 0))
        if many:
            self._tried[owner] = len(table.rows)
        return many

    def holding(self, ids: Sequence[str]) -> list[str]:
        """The owners in whose files some of these points may stand."""
        wanted = _halves(b"".join(map(key_of, ids)))
        found = []
        for owner, folder in self._owners.items():
            try:
                keys = np.load(folder / "keys.npy", mmap_mode="r")
            except (OSError, ValueError):
                found.append(owner)
                continue
            if np.isin(wanted, _halves(keys.tobytes())).any():
                found.append(owner)
        return found

    def changes(self) -> list[str]:
        """The points that have changed since what is kept was written."""
        with contextlib.suppress(OSError):
            return list(dict.fromkeys(texts_of((self._folder / _LOG).read_bytes())))
        return []

    def change(self, ids: Iterable[str]) -> None:
        """These points are about to change.

        Raises:
            OSError: when that cannot be written: then they must not.
        """
        keys = b"".join(map(key_of, ids))
        if self._log is not None and os.write(self._log, keys) < len(keys):
            self._align()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def take(self, owner: str) -> PointTable | None:
        """An owner's points as they lie in the files; None where they cannot be read."""
        folder = self._owners[owner]
        try:
            return PointTable.of(_arrays(folder))
        except (OSError, ValueError):
            self.drop(owner)
            return None

    def save(self, owner: str, table: PointTable) -> Arrays | None:
        """Write an owner's points; the arrays of the same content that are mapped now. None where there is no room:
        then nothing is kept of the owner, because what lies in no mapped file would not be forgotten there."""
        name = hashlib.blake2b(owner.encode(), digest_size=12).hexdigest()
        new, place = self._folder / f"{name}.new", self._folder / name
        arrays = table.arrays()
        if arrays is None or len(table.rows) < MIN_POINTS:
            self.drop(owner)
            return None
        size = sum(array.nbytes for array in arrays.values())  # type: ignore[attr-defined]
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            enough = shutil.disk_usage(self._folder).free >= 4 * size
            self.drop(owner)
            if not enough:
                return None
            new.mkdir(mode=0o700)
            for each, array in arrays.items():
                # Every byte is written here: a page of a mapped file for which the disk has no room ends the process.
                with open(new / f"{each}.npy", "wb", opener=_open_privately) as file:
                    np.save(file, array)  # type: ignore[arg-type]
            self._begin()
            since = (self._folder / _LOG).stat().st_size
            with open(new / _OWNER, "w", opener=_open_privately) as file:
                json.dump({"form": _FORM, "owner": owner, "since": since}, file)
            new.rename(place)
            self._owners[owner] = place
            return _arrays(place)
        except OSError:
            shutil.rmtree(new, ignore_errors=True)
            self.drop(owner)
            return None

    def drop(self, owner: str) -> None:
        """Keep an owner's points no longer."""
        if (folder := self._owners.pop(owner, None)) is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def clear(self) -> None:
        """Keep nothing."""
        self._end()
        self._owners.clear()
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Everything that is mapped stands in the files, also when the machine fails from now on."""
        if self._log is not None:
            write_out(self._folder)
            self._end()

    def _begin(self) -> None:
        if self._log is None:
            with open(self._folder / _OPEN, "w", opener=_open_privately) as file:
                file.write(_since_start())
            self._log = _open_privately(self._folder / _LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            self._align()

    def _end(self) -> None:
        if self._log is not None:
            os.close(self._log)
            self._log = None
            (self._folder / _OPEN).unlink(missing_ok=True)

    def _align(self) -> None:
        """Cut off what was written of a key by halves, so that the next one stands where it is looked for."""
        if self._log is not None:
            os.ftruncate(self._log, os.fstat(self._log).st_size // KEY * KEY)


def vectors_of(folder: Path, owner: str, ids: Sequence[str]) -> tuple[Vector, NDArray[np.bool_]] | None:
    """The vectors of an owner's points as they are kept, read beside the one who writes them, and which of them are
    there: none that has changed since it was written, because only the files of an owner who is mapped change with it.
    None where nothing is kept of the owner."""
    place = folder / hashlib.blake2b(owner.encode(), digest_size=12).hexdigest()
    try:
        opened = os.open(place, os.O_RDONLY)
    except OSError:
        return None
    try:
        since = _log_length_at_snapshot(place)
        keys, vectors = (np.load(place / f"{name}.npy", mmap_mode="r") for name in ("keys", "vectors"))
        held = keys.tobytes()
        rows = {held[at : at + KEY]: row for row, at in enumerate(range(0, len(held), KEY))}
        found = np.array([rows.get(key_of(id), -1) for id in ids], dtype=np.intp)
        matrix: Vector = np.asarray(vectors[found], dtype=np.float32)
        # Behind what it tells of: a change stands there before it is made.
        changed = frozenset(texts_of((folder / _LOG).read_bytes()[since:]))
        # Other files may have come into their place meanwhile. While it is open, no other folder has its number.
        if not os.path.samestat(os.fstat(opened), os.stat(place)):
            return None
    except (OSError, ValueError, KeyError):
        return None
    finally:
        os.close(opened)
    # What is gone or only just begun is a row of zeros.
    there = (found >= 0) & matrix.any(axis=1) & np.array([id not in changed for id in ids], dtype=np.bool_)
    return matrix, there


def _log_length_at_snapshot(place: Path) -> int:
    """How long the log of changes was when an owner's files were written, in bytes."""
    return int(json.loads((place / _OWNER).read_text()).get("since", 0))


def _halves(keys: bytes) -> NDArray[np.uint64]:
    """The second half of each key, in which UUIDs differ: two have the same by chance once in a long time."""
    return np.frombuffer(keys, dtype=np.uint64)[1::2]


def _arrays(folder: Path) -> Arrays:
    def mapped(name: str) -> Any:
        return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r+"))

    names = Arrays.__annotations__
    return Arrays(**{name: mapped(name) for name in names})  # type: ignore[typeddict-item, no-any-return]


def _open_privately(file: str | Path, flags: int) -> int:
    return os.open(file, flags, 0o600)


def _since_start() -> str:
    """A name of the time since this machine was started, which what a process has written outlives its end in."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return f"unknown {os.getpid()}"
