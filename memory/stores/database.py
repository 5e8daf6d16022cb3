"""One SQLite file: a thread that writes, a few that read, and an async face.

Knows nothing about what is stored.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from memory.stores.backups.upgrading import bring_up
from memory.stores.connection import Connection
from memory.stores.errors import StoreFault, StoreFaultKind, sqlite_fault
from memory.stores.migrations import FromTheFuture
from memory.stores.writer import Work, Writer

T = TypeVar("T")
Synchronous = Literal["NORMAL", "FULL"]

INCREMENTAL = 2
"""SQLite's auto_vacuum in which empty pages are given back when that is asked for."""


LATER_SECONDS = 5.0
"""How long a write that nobody waits for waits for another transaction."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Somebody who wants to know which rows of some tables have changed or are gone.

    ``on_change`` is called with their ids after each commit that did so, in the writer's thread, before anybody hears
    that the write is done. New rows are not told; those of the tables in ``counted``, and what becomes of them there,
    change :meth:`Database.state`.

    Where other processes write too, ``on_owners`` is called with the owners whose facts are others now, ``on_erase``
    when something may be gone or emptied that is kept in memory, ``on_growth`` with the tables into which rows have
    come, ``on_miss`` when any of all that may have happened unheard, ``on_work`` when it is this process's turn to do
    what one alone must do, or no more. Each is called in any thread.
    """

    tables: tuple[str, ...]
    on_change: Callable[[Sequence[str]], None]
    counted: tuple[str, ...] = ()
    on_owners: Callable[[frozenset[str]], None] = lambda owners: None
    on_erase: Callable[[], None] = lambda: None
    on_growth: Callable[[frozenset[str]], None] = lambda tables: None
    on_miss: Callable[[], None] = lambda: None
    on_work: Callable[[bool], None] = lambda works: None


def nothing_to_hear() -> None:
    """Nobody else writes."""


class Database:
    """A SQLite file in WAL mode.

    Args:
        path: the file; made with mode 0600 in a folder of mode 0700 when it is missing.
        synchronous: ``NORMAL`` outlives every crash of the process, ``FULL`` also a power cut.
        busy_seconds: how long a statement waits for a lock of another process.
        readers: how many reads may run side by side.
        watch: who wants to hear of changes; the tables must be there after the migrations, with a column ``id``.

    Raises:
        StoreFault: when the file cannot be opened, is no database or is from a newer version.
    """

    def __init__(
        self,
        path: Path,
        *,
        synchronous: Synchronous = "NORMAL",
        busy_seconds: float = 2.0,
        readers: int = 3,
        watch: Watch | None = None,
    ) -> None:
        self.path = path
        self._synchronous = synchronous
        self._busy_seconds = busy_seconds
        self._local = threading.local()
        self._readers = readers
        self._reading: list[sqlite3.Connection] = []
        self._spare: list[sqlite3.Connection] = []
        self._closed = False
        self._inode = 0
        self._watch = watch
        self._changed: list[str] = []
        self._states = dict.fromkeys(watch.counted if watch is not None else (), 0)
        self._growing: set[str] = set()
        self._empty: dict[str, int] = {}
        self._catching_up: asyncio.TimerHandle | None = None
        _make_private(path)
        self._inode = path.stat().st_ino
        self._writer = Writer(path, self._connect_to_write, self._carry_over, self._notify_watchers)
        self._pool = ThreadPoolExecutor(readers, thread_name_prefix="journal-reader")

    def start(self, first: Work[T]) -> T:
        """Start to take writes, after ``first``, which is run here and now and gives what is read once. Every reader's
        connection is opened here: whatever becomes of the file's name later, all that is read comes from this file."""
        try:
            for _ in range(1 + self._readers):
                self._reading.append(self._connect_to_read())
            self._at_hand, *self._spare = self._reading
            self._at_hand.execute("PRAGMA busy_timeout = 0")
            return self._writer.start(first)
        except BaseException as error:
            # Whoever sets a damaged file aside must not do so under open handles.
            for each in self._reading:
                each.close()
            if isinstance(error, sqlite3.Error):
                raise sqlite_fault(error, self.path) from error
            raise

    @property
    def trouble(self) -> str:
        return self._writer.trouble if self.there else f"{self.path} is not there any more"

    def try_again(self) -> None:
        self._writer.catch_up()

    @property
    def round_trip(self) -> float:
        return 0.0

    @property
    def replica(self) -> str:
        return ""

    @property
    def shared(self) -> bool:
        """A file is one process's."""
        return False

    @property
    def works(self) -> bool:
        return True

    async def work_is_done(self) -> bool:
        """See :attr:`shared`."""
        return True

    @property
    def row_security(self) -> None:
        return None

    async def leave_work(self) -> None:
        """See :attr:`shared`."""

    def heed(self, connection: Connection) -> Callable[[], None]:
        return nothing_to_hear

    def own_indexes(self, connection: Connection) -> frozenset[int] | None:
        return None

    def claim_index(self, connection: Connection, generation: int) -> None:
        """See :attr:`shared`."""

    async def write(self, work: Work[T], *, anywhere: bool = False) -> T:
        """Run ``work`` in the writer's thread, inside a transaction; its result, after the COMMIT.

        ``work`` may be run twice when a first attempt was rolled back: it must change nothing but the database.
        A write that was queued is done even when the caller is cancelled meanwhile.

        Raises:
            StoreFault: what SQLite reported; nothing of ``work`` is then in the file.
        """
        if self._closed:
            raise StoreFault(f"{self.path} is closed", StoreFaultKind.CLOSED)
        return await self._writer.do(work)

    def later(self, work: Work[object]) -> None:
        """Run ``work`` at the beginning of the next transaction, whoever's that is, or in one of its own when there is
        none for some seconds. Nobody hears of it, and a crash may lose it: it is for what does no harm then."""
        if self._closed:
            return
        self._writer.later(work)
        if self._catching_up is None:
            self._catching_up = asyncio.get_running_loop().call_later(LATER_SECONDS, self._catch_up)

    async def caught_up(self) -> None:
        """Have all of that done now."""
        if self._writer.late:
            await self.write(lambda connection: None)

    def _catch_up(self) -> None:
        self._catching_up = None
        if self._writer.late and not self._closed:
            self._writer.catch_up()

    @property
    def folder(self) -> Path:
        """Where the file lies."""
        return self.path.parent

    @property
    def there(self) -> bool:
        """Whether the file still lies where it was opened: without it all that is written ends with the process."""
        try:
            return self.path.stat().st_ino == self._inode
        except OSError:
            return False

    def state(self, table: str) -> int:
        """A number that is another one whenever rows have come into a counted table since, or changed in it: while it
        is what it was before a look that found none, there is none."""
        return self._states[table]

    def empty(self, table: str, connection: Connection) -> bool:
        """Whether nothing at all stands in a counted table; asked again only where something came since."""
        state = self._states[table]
        if self._empty.get(table) == state:
            return True
        if connection.execute(f"SELECT EXISTS (SELECT 1 FROM {table})").fetchone()[0]:
            return False
        self._empty[table] = state
        return True

    async def scrub(self) -> bool:
        """Cut off the log, whose old pages still hold what was deleted. False where a reader holds it open: then
        it is done in the next idle moment."""
        await self.read(_checkpoint)  # most of it beside the writer, so that this one does not keep others waiting
        return await self._writer.scrub()

    async def give_back(self, pages: int) -> bool:
        """Give so many empty pages back to the file system; whether there may be more. Of a file that was made before
        it could, they are used again instead.

        Raises:
            StoreFault: what SQLite reported.
        """

        def work(connection: sqlite3.Connection) -> bool:
            (mode,) = connection.execute("PRAGMA auto_vacuum").fetchone()
            (empty,) = connection.execute("PRAGMA freelist_count").fetchone()
            if mode != INCREMENTAL or not empty:
                return False
            connection.execute(f"PRAGMA incremental_vacuum({pages})").fetchall()
            return bool(empty > pages)

        return await self._writer.do(work, transaction=False)

    async def read(self, work: Work[T]) -> T:
        """Run ``work`` in a reader's thread on a connection that cannot write.

        Raises:
            StoreFault: what SQLite reported.
        """
        if self._closed:
            raise StoreFault(f"{self.path} is closed", StoreFaultKind.CLOSED)
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._read, work)

    async def look(self, work: Work[T]) -> T:
        """Run ``work`` here and now, for what takes a fraction of a millisecond: the way to a reader's thread and back
        takes longer. Where the file is not free at once it goes that way all the same.

        Raises:
            StoreFault: what SQLite reported.
        """
        if self._closed:
            raise StoreFault(f"{self.path} is closed", StoreFaultKind.CLOSED)
        try:
            return work(self._at_hand)
        except sqlite3.Error:
            return await self.read(work)

    async def close(self) -> None:
        """Finish what is queued, carry the log over into the file and let go of it. Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._catching_up is not None:
            self._catching_up.cancel()
        await asyncio.to_thread(self._writer.finish)
        await asyncio.to_thread(self._pool.shutdown)
        for connection in self._reading:
            connection.close()
        self._reading.clear()

    def _read(self, work: Work[T]) -> T:
        try:
            connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
            if connection is None:
                connection = self._local.connection = self._spare.pop()
            return work(connection)
        except sqlite3.Error as error:
            raise sqlite_fault(error, self.path) from error

    def _connect(self) -> sqlite3.Connection:
        # A file that somebody has deleted is not made anew, empty, beside the one that is open.
        # Autocommit: transactions are begun and ended here, by name. The connection is closed from another thread.
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode=rw",
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
            uri=True,
        )
        connection.row_factory = sqlite3.Row
        return connection

    def _connect_to_read(self) -> sqlite3.Connection:
        connection = self._connect()
        connection.execute("PRAGMA query_only = ON")
        # Only the first statement opens the log.
        connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
        return connection

    def _connect_to_write(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = None
        try:
            connection = self._connect()
            # Of a new file only, and before anything is written into it.
            connection.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
            # What is deleted is overwritten: a person's `forget` must leave no bytes behind.
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            connection.execute("PRAGMA journal_size_limit = 16777216")
            # What a statement may have to take back is kept in memory: a file in /var/tmp for each of them took longer
            # than the statement, and held texts outside of the data folder.
            connection.execute("PRAGMA temp_store = MEMORY")
            bring_up(connection, self.path)
            self._watch_over(connection)
        except BaseException as error:
            if connection is not None:
                connection.close()
            if isinstance(error, sqlite3.Error):
                raise sqlite_fault(error, self.path) from error
            if isinstance(error, FromTheFuture):
                raise StoreFault(f"{self.path} belongs to a newer version: {error}") from error
            raise
        return connection

    def _watch_over(self, connection: sqlite3.Connection) -> None:
        """Have every change of a watched row told, whichever statement makes it."""
        if self._watch is None:
            return
        connection.create_function("row_changed", 1, self._changed.append)
        for table in self._watch.tables:
            for change in ("UPDATE", "DELETE"):
                connection.execute(
                    f"CREATE TEMP TRIGGER {table}_{change} AFTER {change} ON main.{table} "
                    "BEGIN SELECT row_changed(old.id); END"
                )
        connection.create_function("row_came", 1, self._grow)
        for table in self._watch.counted:
            for change in ("INSERT", "UPDATE"):
                connection.execute(
                    f"CREATE TEMP TRIGGER {table}_{change} AFTER {change} ON main.{table} "
                    f"BEGIN SELECT row_came('{table}'); END"
                )

    def _grow(self, table: str) -> None:
        # Counted here and after the commit: whoever looks in between finds nothing, and must look again.
        self._states[table] += 1
        self._growing.add(table)

    def _notify_watchers(self) -> None:
        """Called by the writer after every transaction, whether it was committed or not."""
        for table in self._growing:
            self._states[table] += 1
        self._growing.clear()
        if self._watch is not None and self._changed:
            self._watch.on_change(tuple(self._changed))
            self._changed.clear()

    def _carry_over(self) -> Future[None] | None:
        # A fault here is no loss: the log stays, and is carried over another time.
        with suppress(RuntimeError):  # the readers are gone: then closing the last connection does it
            return self._pool.submit(self._read, _checkpoint)
        return None


def _checkpoint(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()


def _make_private(path: Path) -> None:
    """The folder 0700 and the file 0600; SQLite gives its log and its shared memory the file's mode."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)
    except OSError as error:
        raise StoreFault(f"{path} cannot be made private to you ({error.strerror})", StoreFaultKind.DENIED) from error
