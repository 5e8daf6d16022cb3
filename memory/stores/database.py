"""One SQLite file: a thread that writes, a few that read, and an async face.

Writes are queued to one thread with a connection of its own. What stands in the queue together shares a
transaction, and a write is answered only after the COMMIT that holds it. A write that fails is rolled back to its
savepoint and its neighbours stay; where SQLite itself gives up the whole transaction (a full disk), the neighbours
are written again, each alone. A fault never ends the thread: the next write tries again, on a new connection where
the old one is of no use.

Knows nothing about what is stored.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

from memory.stores.errors import Fault, StoreFault, sqlite_fault
from memory.stores.migrations import FromTheFuture, migrate

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]
Synchronous = Literal["NORMAL", "FULL"]

# So many writes share a transaction at most: a failing one makes its neighbours wait for a second attempt.
GROUP = 64
# The log is carried over into the file in quiet moments when so many writes are in it, and amid a burst after more
# of them or so many bytes. Not oftener: the first commit after it waits for the disk.
IDLE_SECONDS = 0.5
CARRY_IDLE = 200
CARRY_BUSY = 2000
CARRY_BYTES = 32 << 20


class Database:
    """A SQLite file in WAL mode.

    Args:
        path: the file; made with mode 0600 in a folder of mode 0700 when it is missing.
        synchronous: ``NORMAL`` outlives every crash of the process, ``FULL`` also a power cut.
        busy_seconds: how long a statement waits for a lock of another process.
        readers: how many reads may run side by side.

    Raises:
        StoreFault: when the file cannot be opened, is no database or is from a newer version.
    """

    def __init__(
        self, path: Path, *, synchronous: Synchronous = "NORMAL", busy_seconds: float = 2.0, readers: int = 3
    ) -> None:
        self.path = path
        self._synchronous = synchronous
        self._busy_seconds = busy_seconds
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._local = threading.local()
        self._reading: list[sqlite3.Connection] = []
        self._closed = False
        self._to_scrub = False
        _make_private(path)
        self._writing: sqlite3.Connection | None = self._open_for_writing()
        self._pool = ThreadPoolExecutor(readers, thread_name_prefix="journal-reader")
        self._thread = threading.Thread(target=self._write_forever, name="journal-writer", daemon=True)
        self._thread.start()

    def first(self, work: Work[T]) -> T:
        """Run ``work`` on the writer's connection before the loop turns: only for what is read once, at the start."""
        if self._writing is None:
            raise StoreFault(f"{self.path} is closed", Fault.CLOSED)
        return work(self._writing)

    async def write(self, work: Work[T]) -> T:
        """Run ``work`` in the writer's thread, inside a transaction; its result, after the COMMIT.

        ``work`` may be run twice when a first attempt was rolled back: it must change nothing but the database.
        A write that was queued is done even when the caller is cancelled meanwhile.

        Raises:
            StoreFault: what SQLite reported; nothing of ``work`` is then in the file.
        """
        return await self._submit(work, transaction=True)

    async def scrub(self) -> bool:
        """Cut off the log, whose old pages still hold what was deleted. False where a reader holds it open: then
        it is done in the next idle moment."""
        return await self._submit(self._scrub, transaction=False)

    async def read(self, work: Work[T]) -> T:
        """Run ``work`` in a reader's thread on a connection that cannot write.

        Raises:
            StoreFault: what SQLite reported.
        """
        if self._closed:
            raise StoreFault(f"{self.path} is closed", Fault.CLOSED)
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._read, work)

    async def aside(self, work: Callable[[], T]) -> T:
        """Run something that takes time and needs no database (packing, unpacking) in a reader's thread."""
        if self._closed:
            raise StoreFault(f"{self.path} is closed", Fault.CLOSED)
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def close(self) -> None:
        """Finish what is queued, carry the log over into the file and let go of it. Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)
        await asyncio.to_thread(self._pool.shutdown)
        for connection in self._reading:
            connection.close()
        self._reading.clear()

    async def _submit(self, work: Work[T], *, transaction: bool) -> T:
        if self._closed:
            raise StoreFault(f"{self.path} is closed", Fault.CLOSED)
        job = _Job(work, transaction)
        self._queue.put(job)
        result: T = await job.future
        return result

    def _read(self, work: Work[T]) -> T:
        try:
            connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
            if connection is None:
                connection = self._connect()
                connection.execute("PRAGMA query_only = ON")
                self._local.connection = connection
                self._reading.append(connection)
            return work(connection)
        except sqlite3.Error as error:
            raise sqlite_fault(error, self.path) from error

    def _connect(self) -> sqlite3.Connection:
        # Autocommit: transactions are begun and ended here, by name. The connection is closed from another thread.
        connection = sqlite3.connect(
            self.path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        return connection

    def _open_for_writing(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = None
        try:
            connection = self._connect()
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
            # What is deleted is overwritten: a person's `forget` must leave no bytes behind.
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            connection.execute("PRAGMA journal_size_limit = 67108864")
            migrate(connection)
        except BaseException as error:
            if connection is not None:
                connection.close()
            if isinstance(error, sqlite3.Error):
                raise sqlite_fault(error, self.path) from error
            if isinstance(error, FromTheFuture):
                raise StoreFault(f"{self.path} belongs to a newer version: {error}") from error
            raise
        return connection

    def _write_forever(self) -> None:
        """The writer's thread."""
        open_to_write, waiting, size = True, 0, self._log_size()
        while open_to_write:
            try:
                idle = waiting >= CARRY_IDLE or self._to_scrub
                jobs = [self._queue.get(timeout=IDLE_SECONDS if idle else None)]
            except queue.Empty:
                self._carry_over()
                waiting, size = 0, self._log_size()
                continue
            while len(jobs) < GROUP:
                try:
                    jobs.append(self._queue.get_nowait())
                except queue.Empty:
                    break
            open_to_write = None not in jobs
            self._do([job for job in jobs if job is not None])
            waiting += len(jobs)
            # The log is written again from its start once it was carried over: its file may grow late or not at all.
            if waiting >= CARRY_BUSY or self._log_size() > size + CARRY_BYTES:
                self._carry_over()
                waiting, size = 0, self._log_size()
        if self._writing is not None:
            self._writing.close()
            self._writing = None

    def _do(self, jobs: list[_Job]) -> None:
        group: list[_Job] = []
        for job in jobs:
            if job.transaction:
                group.append(job)
                continue
            self._do_group(group)
            group = []
            self._attempt([job], self._run_bare)
        self._do_group(group)

    def _do_group(self, jobs: list[_Job]) -> None:
        if len(jobs) > 1 and self._attempt(jobs, self._run_together):
            return
        for job in jobs:
            self._attempt([job], self._run_together)

    def _attempt(self, jobs: list[_Job], run: Callable[[sqlite3.Connection, list[_Job]], list[_Outcome]]) -> bool:
        """Run jobs and answer them. When all of them failed together and there are several, answer nobody."""
        try:
            if self._writing is None:
                self._writing = self._open_for_writing()
            outcomes = run(self._writing, jobs)
        except (sqlite3.Error, StoreFault) as error:
            self._undo()
            if len(jobs) > 1:
                return False
            fault = error if isinstance(error, StoreFault) else sqlite_fault(error, self.path)
            if fault is not error:
                fault.__cause__ = error
            outcomes = [_Outcome(error=fault)]
        for job, outcome in zip(jobs, outcomes, strict=True):
            job.answer(outcome)
        return True

    def _run_together(self, connection: sqlite3.Connection, jobs: list[_Job]) -> list[_Outcome]:
        outcomes = []
        connection.execute("BEGIN IMMEDIATE")
        for job in jobs:
            connection.execute("SAVEPOINT job")
            try:
                outcome = _Outcome(job.work(connection))
            except Exception as error:
                if not connection.in_transaction:
                    raise _as_sqlite(error) from error
                connection.execute("ROLLBACK TO job")
                outcome = _Outcome(error=self._told(error))
            connection.execute("RELEASE job")
            outcomes.append(outcome)
        connection.execute("COMMIT")
        return outcomes

    def _run_bare(self, connection: sqlite3.Connection, jobs: list[_Job]) -> list[_Outcome]:
        try:
            return [_Outcome(jobs[0].work(connection))]
        except Exception as error:  # noqa: BLE001 - as above
            return [_Outcome(error=self._told(error))]

    def _told(self, error: Exception) -> Exception:
        if not isinstance(error, sqlite3.Error):
            return error
        fault = sqlite_fault(error, self.path)
        fault.__cause__ = error
        return fault

    def _undo(self) -> None:
        """After a failed transaction: roll back, or drop a connection that cannot even do that."""
        if self._writing is None:
            return
        try:
            if self._writing.in_transaction:
                self._writing.execute("ROLLBACK")
        except sqlite3.Error:
            self._writing.close()
            self._writing = None

    def _log_size(self) -> int:
        try:
            return os.stat(f"{self.path}-wal").st_size
        except OSError:
            return 0

    def _carry_over(self) -> None:
        """Carry the log over into the file: beside the writer, who does not wait for it. A fault here is no loss."""
        if self._to_scrub and self._writing is not None:
            with suppress(sqlite3.Error):
                self._scrub(self._writing)
        else:
            with suppress(RuntimeError):  # the readers are gone: then closing the last connection does it
                self._pool.submit(self._read, _checkpoint)

    def _scrub(self, connection: sqlite3.Connection) -> bool:
        self._to_scrub = True
        # A reader is waited for, but not for long: other writes stand behind this one.
        connection.execute("PRAGMA busy_timeout = 100")
        try:
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.execute(f"PRAGMA busy_timeout = {int(self._busy_seconds * 1000)}")
        self._to_scrub = bool(busy)
        return not busy


class _Outcome:
    """What came of a job: a result or an error."""

    __slots__ = ("error", "result")

    def __init__(self, result: Any = None, error: Exception | None = None) -> None:
        self.result = result
        self.error = error


class _Job:
    """One piece of work for the writer, and the future of the one who waits for it."""

    __slots__ = ("_loop", "future", "transaction", "work")

    def __init__(self, work: Work[Any], transaction: bool) -> None:
        self.work = work
        self.transaction = transaction
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self._loop.create_future()

    def answer(self, outcome: _Outcome) -> None:
        """Called in the writer's thread."""
        try:
            self._loop.call_soon_threadsafe(self._settle, outcome)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more, and what was written is written

    def _settle(self, outcome: _Outcome) -> None:
        if self.future.done():
            return
        if outcome.error is not None:
            self.future.set_exception(outcome.error)
        else:
            self.future.set_result(outcome.result)


def _checkpoint(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()


def _as_sqlite(error: Exception) -> sqlite3.Error:
    return error if isinstance(error, sqlite3.Error) else sqlite3.OperationalError(str(error))


def _make_private(path: Path) -> None:
    """The folder 0700 and the file 0600; SQLite gives its log and its shared memory the file's mode."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)
    except OSError as error:
        raise StoreFault(f"{path} cannot be made private to you ({error.strerror})", Fault.DENIED) from error
