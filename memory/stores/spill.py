"""Exchanges that wait for the journal, each in a file of its own, so that they outlive the process.

A file is written by a thread that does nothing else, so that it waits behind no other work, and is handed to the
system: that outlives a ``kill -9``, and a power cut takes the last moments of the journal too, unless both are flushed
to the disk (``memory.journal.synchronous``). It has its name only once it is whole. Knows nothing of what it keeps.
"""

from __future__ import annotations

import asyncio
import errno
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeVar

from memory.stores.errors import StoreFault, StoreFaultKind

T = TypeVar("T")

MOST = 10_000
"""Files at most."""

MOST_BYTES = 256 * 2**20

_UNFINISHED = ".part"

BROKEN = ".broken"
"""How the name of a file ends that holds nothing that can be read."""


@dataclass(slots=True)
class _File:
    path: Path
    size: int
    writing: asyncio.Future[None] | None = None
    dropped: bool = False
    """Set before the file is taken away, and looked at once it is written: one of the two finds it."""


class Spill:
    """A folder of files. What an earlier process left is there from the beginning.

    Args:
        folder: made, for its owner alone, when something is put into it.
        flush: whether a record is on the disk before it counts as kept.

    Raises:
        StoreFault: when the folder cannot be read.
    """

    def __init__(self, folder: Path, flush: bool = False) -> None:
        self._folder = folder
        self._flush = flush
        # Somebody waits for what is written; nobody waits for what is read or taken away.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="spill")
        self._writer.submit(_noop)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="spilled")
        self._order = count(time.time_ns())
        self._files: dict[str, _File] = {}
        self._bytes = 0
        try:
            for path in sorted(folder.iterdir()) if folder.is_dir() else ():
                self._found(path)
        except OSError as error:
            raise StoreFault(f"{folder} cannot be read ({error.strerror})", StoreFaultKind.DENIED) from error

    @property
    def ids(self) -> tuple[str, ...]:
        """What is kept, oldest first."""
        return tuple(self._files)

    async def put(self, id: str, record: bytes) -> None:
        """Keep a record; done when the system has it. What is kept already stays as it is.

        Raises:
            StoreFault: when it cannot be written, or there is no room for it.
        """
        known = self._files.get(id)
        if known is None:
            if len(self._files) >= MOST or self._bytes + len(record) > MOST_BYTES:
                raise StoreFault(
                    f"{self._folder} is full: {len(self._files)} exchanges wait in it", StoreFaultKind.FULL
                )
            path = self._folder / f"{next(self._order):020d}-{id}"
            known = _File(path, len(record))
            self._put(id, known)
            known.writing = asyncio.ensure_future(
                self._in_thread(lambda: self._write_if_wanted(known, record), self._writer)
            )
            known.writing.add_done_callback(lambda done: self._written(id, known, done))
        if known.writing is not None:
            # Whoever waits may give up; the others do not.
            await asyncio.shield(known.writing)

    async def get(self, id: str) -> bytes:
        """A record that is kept.

        Raises:
            KeyError: when it is not kept (any more), or could not be written after all.
            StoreFault: when it cannot be read.
        """
        file = self._files[id]
        if file.writing is not None:
            await asyncio.wait({file.writing})
            if self._files.get(id) is not file:
                raise KeyError(id)
        path = file.path
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, path.read_bytes)
        except OSError as error:
            raise StoreFault(f"{path} cannot be read ({error.strerror})", StoreFaultKind.OTHER) from error
        except RuntimeError as error:
            raise StoreFault(f"{self._folder} is closed", StoreFaultKind.CLOSED) from error

    def drop(self, id: str) -> None:
        """Let go of a record, if it is kept, or is still being written; never waits. A file that cannot be taken away
        is found again by the next process."""
        if id not in self._files:
            return
        self._files[id].dropped = True
        if gone := self.leave(id):
            with suppress(RuntimeError):  # closed
                self._pool.submit(_remove, gone)

    def leave(self, id: str) -> Path | None:
        """Know no more of a record, if it is kept; its file stays, for the next process."""
        left = self._files.pop(id, None)
        if left is None:
            return None
        self._bytes -= left.size
        return left.path

    def set_apart(self, id: str) -> None:
        """Know no more of a record that cannot be read, if it is kept; never waits. Its file stays, under a name that
        no process takes for a record."""
        left = self.leave(id)
        if left is not None:
            with suppress(RuntimeError):  # closed
                self._pool.submit(_rename, left)

    async def broken(self) -> list[Path]:
        """What was set apart, by this process or an earlier one; told once all that was let go of is gone.

        Raises:
            StoreFault: when the folder cannot be read.
        """
        await self._finish_writing()
        return await self._in_thread(self._broken)

    def _broken(self) -> list[Path]:
        return list(self._folder.glob(f"*{BROKEN}")) if self._folder.is_dir() else []

    async def destroy_broken(self) -> tuple[int, list[Path]]:
        """Take away what was set apart, by this process or an earlier one: how many files went, and those that cannot
        be taken away. Done once all that was let go of is gone, too.

        Raises:
            StoreFault: when the folder cannot be read.
        """
        await self._finish_writing()

        def work() -> tuple[int, list[Path]]:
            found = self._broken()
            for path in found:
                _remove(path)
            stay = [path for path in found if path.exists()]
            return len(found) - len(stay), stay

        return await self._in_thread(work)

    async def close(self) -> None:
        """Finish what is being written."""
        for pool in (self._writer, self._pool):
            await asyncio.to_thread(pool.shutdown)

    def _found(self, path: Path) -> None:
        order, _, id = path.name.partition("-")
        if path.name.endswith(BROKEN) or not path.is_file():
            return
        if path.name.endswith(_UNFINISHED):
            _remove(path)  # nobody was told that it is kept
        elif order.isdigit() and id:
            self._put(id, _File(path, path.stat().st_size))

    def _put(self, id: str, file: _File) -> None:
        self._files[id] = file
        self._bytes += file.size

    def _write_if_wanted(self, file: _File, record: bytes) -> None:
        if file.dropped:
            return
        _write(file.path, record, self._flush)
        if file.dropped:
            _remove(file.path)

    def _written(self, id: str, file: _File, done: asyncio.Future[None]) -> None:
        """What could not be written is not kept."""
        if (done.cancelled() or done.exception()) and self._files.get(id) is file:
            self.leave(id)

    async def _finish_writing(self) -> None:
        """Wait for the writer, which takes away what is not wanted any more; what else is taken away is before
        whatever is read or taken away next."""
        await self._in_thread(_noop, self._writer)

    async def _in_thread(self, work: Callable[[], T], pool: ThreadPoolExecutor | None = None) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(pool or self._pool, work)
        except OSError as error:
            kind = (
                StoreFaultKind.FULL
                if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
                else StoreFaultKind.OTHER
            )
            raise StoreFault(f"{self._folder} cannot be written ({error.strerror})", kind) from error
        except RuntimeError as error:
            raise StoreFault(f"{self._folder} is closed", StoreFaultKind.CLOSED) from error


def _noop() -> None:
    """Nothing: once it is done, the thread has begun, and has finished what it was given before."""


def _write(path: Path, record: bytes, flush: bool) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    unfinished = path.with_name(path.name + _UNFINISHED)
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb", buffering=0) as file:
            left = memoryview(record)
            while left:
                left = left[file.write(left) :]
            if flush:
                os.fsync(file.fileno())
        unfinished.rename(path)
        if flush:
            _flush_folder(path.parent)
    except OSError:
        _remove(unfinished)
        raise


def _flush_folder(folder: Path) -> None:
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)


def _rename(path: Path) -> None:
    with suppress(OSError):
        path.rename(path.with_name(path.name + BROKEN))


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
