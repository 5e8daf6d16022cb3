"""The thread that writes: jobs from a queue, in groups that share a transaction.

What stands in the queue together shares a transaction, and a job is answered only after the COMMIT that holds it. A
job that fails is rolled back to its savepoint and its neighbours stay; where SQLite itself gives up the whole
transaction (a full disk), the neighbours are done again, each alone. A fault never ends the thread: the next job
tries again, on a new connection where the old one is of no use.

What nobody waits for (:meth:`Writer.later`) is done at the beginning of the next transaction, in its order before all
that comes behind it.

Neither does a fault, or a slow disk, let the queue grow: while another process holds the file all that wait are told
so at once, and where a write hangs, or very many wait, further ones are refused. Who must not lose anything keeps it
and comes again.
"""

from __future__ import annotations

import logging
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from memory.stores.errors import StoreFault, sqlite_fault
from memory.stores.write_jobs import GROUP, Job, Outcome, WriteQueue

log = logging.getLogger(__name__)

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

# The log is carried over into the file in quiet moments when so many writes are in it, and amid a burst after more
# of them or so many bytes. Not oftener: the first commit after it waits for the disk.
IDLE_SECONDS = 0.5
CARRY_IDLE = 200
CARRY_BUSY = 2000
CARRY_BYTES = 16 << 20
# What is carried over while others write is never quite all of it, and then the log is not begun anew: without a stop
# it grows for ever. From this length on the writer makes one, right after most has been carried over.
MAX_WAL_BYTES = 32 << 20


class Writer(WriteQueue):
    """The writer of one database.

    Args:
        path: the database.
        connect: opens a connection that may write.
        carry_over: has the log carried over into the file by somebody else, and does not wait for it; what it gives is
            done when that is, None where nobody does.
        done: called in the thread after each transaction and before its jobs are answered.

    Raises:
        StoreFault: when the first connection cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        connect: Callable[[], sqlite3.Connection],
        carry_over: Callable[[], Future[None] | None],
        done: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(f"the disk of {path}")
        self._path = path
        self._connect = connect
        self._carry_over_aside = carry_over
        self._done = done
        self._to_scrub = False
        self._carrying: Future[None] | None = None
        self._connection: sqlite3.Connection | None = connect()
        self._thread = threading.Thread(target=self._write_forever, name="journal-writer", daemon=True)

    def start(self, first: Work[T]) -> T:
        """Run ``first`` here and now, then start the thread."""
        assert self._connection is not None
        try:
            result = first(self._connection)
        except BaseException:
            self._connection.close()
            raise
        self._thread.start()
        return result

    async def scrub(self) -> bool:
        """Cut off the log; False where a reader holds it open: then it is done in the next idle moment, as it is where
        the disk is too slow for it now.

        Raises:
            StoreFault: as :meth:`do`.
        """
        self._to_scrub = True
        return await self.do(self._scrub, transaction=False)

    def _write_forever(self) -> None:
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
            if not open_to_write and self._later:
                jobs.insert(0, Job.of_nobody())
            self._began = time.monotonic()
            self._do([job for job in jobs if job is not None])
            self._began = None
            waiting += len(jobs)
            # The log is written again from its start once it was carried over: its file may grow late or not at all.
            if waiting >= CARRY_BUSY or self._log_size() > size + CARRY_BYTES:
                self._carry_over()
                waiting, size = 0, self._log_size()
            if self._carrying is not None and self._carrying.done():
                self._carrying = None
                if self._log_size() > MAX_WAL_BYTES:
                    self._begin_log_anew()
                    size = self._log_size()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _do(self, jobs: list[Job]) -> None:
        group: list[Job] = []
        for job in jobs:
            if job.transaction:
                group.append(job)
                continue
            if self._later:
                group.append(Job.of_nobody())
            self._do_group(group)
            group = []
            self._attempt([job], self._run_bare)
        self._do_group(group)

    def _do_group(self, jobs: list[Job]) -> None:
        if len(jobs) > 1 and self._attempt(jobs, self._run_together):
            return
        for job in jobs:
            self._attempt([job], self._run_together)

    def _attempt(self, jobs: list[Job], run: Callable[[sqlite3.Connection, list[Job]], list[Outcome]]) -> bool:
        """Run jobs and answer them. When all of them failed together and there are several, answer nobody."""
        try:
            if self._connection is None:
                self._connection = self._connect()
            outcomes = run(self._connection, jobs)
        except _LockedOut as error:
            fault = sqlite_fault(error, self._path)
            fault.__cause__ = error
            for job in (*jobs, *self._all_waiting()):
                self._tell(job, Outcome(error=fault))
            return True
        except (sqlite3.Error, StoreFault) as error:
            self._undo()
            if len(jobs) > 1:
                return False
            fault = error if isinstance(error, StoreFault) else sqlite_fault(error, self._path)
            if fault is not error:
                fault.__cause__ = error
            outcomes = [Outcome(error=fault)]
        finally:
            self._done()
        for job, outcome in zip(jobs, outcomes, strict=True):
            self._tell(job, outcome)
        return True

    def _run_together(self, connection: sqlite3.Connection, jobs: list[Job]) -> list[Outcome]:
        if len(jobs) == 1:
            return [self._run_alone(connection, jobs[0])]
        outcomes = []
        _begin(connection)
        late = self._catch_up(connection)
        for job in jobs:
            connection.execute("SAVEPOINT job")
            try:
                outcome = _outcome(job, connection)
            except Exception as error:
                # A job's own error belongs to its caller, whatever it is, as in any executor.
                if not connection.in_transaction:
                    raise _as_sqlite(error) from error
                connection.execute("ROLLBACK TO job")
                outcome = Outcome(error=self._as_store_fault(error))
            connection.execute("RELEASE job")
            outcomes.append(outcome)
        connection.execute("COMMIT")
        self._caught_up(late)
        return outcomes

    def _run_alone(self, connection: sqlite3.Connection, job: Job) -> Outcome:
        """One job needs no savepoint: what it has done goes with the transaction."""
        _begin(connection)
        late = self._catch_up(connection)
        try:
            outcome = _outcome(job, connection)
        except Exception as error:
            if not connection.in_transaction:
                raise _as_sqlite(error) from error
            connection.execute("ROLLBACK")
            return Outcome(error=self._as_store_fault(error))
        connection.execute("COMMIT")
        self._caught_up(late)
        return outcome

    def _catch_up(self, connection: sqlite3.Connection) -> int:
        """Do what has waited for this transaction; how much that was."""
        late = tuple(self._later)  # more may come meanwhile
        for work in late:
            connection.execute("SAVEPOINT late")
            try:
                work(connection)
            except Exception as error:
                if not connection.in_transaction:
                    raise _as_sqlite(error) from error
                connection.execute("ROLLBACK TO late")
                log.warning("a write that nobody waited for has failed: %s", error)
            connection.execute("RELEASE late")
        return len(late)

    def _caught_up(self, late: int) -> None:
        """So much of what has waited is committed."""
        for _ in range(late):
            self._later.popleft()

    def _run_bare(self, connection: sqlite3.Connection, jobs: list[Job]) -> list[Outcome]:
        return [_outcome(job, connection) for job in jobs]

    def _as_store_fault(self, error: Exception) -> Exception:
        if not isinstance(error, sqlite3.Error):
            return error
        fault = sqlite_fault(error, self._path)
        fault.__cause__ = error
        return fault

    def _undo(self) -> None:
        """After a failed transaction: roll back, or drop a connection that cannot even do that."""
        if self._connection is None:
            return
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            self._connection.close()
            self._connection = None

    def _log_size(self) -> int:
        try:
            return os.stat(f"{self._path}-wal").st_size
        except OSError:
            return 0

    def _carry_over(self) -> None:
        if self._to_scrub and self._connection is not None:
            with suppress(sqlite3.Error):
                self._scrub(self._connection)
        elif self._carrying is None:
            self._carrying = self._carry_over_aside()

    def _begin_log_anew(self) -> None:
        """Carry over the rest, so that the next write begins at the log's start. Where a reader is in the way it is
        left for another time."""
        if self._connection is not None:
            with suppress(sqlite3.Error), _with_short_timeout(self._connection):
                self._connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()

    def _scrub(self, connection: sqlite3.Connection) -> bool:
        self._to_scrub = True
        with _with_short_timeout(connection):
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self._to_scrub = bool(busy)
        return not busy


@contextmanager
def _with_short_timeout(connection: sqlite3.Connection) -> Iterator[None]:
    """A reader is waited for, but not for long: other writes stand behind this one."""
    (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute("PRAGMA busy_timeout = 100")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience}")


def _outcome(job: Job, connection: sqlite3.Connection) -> Outcome:
    result = job.work(connection)
    # Whoever lets go of a cursor resets its statement, which this thread may be running again just then.
    return Outcome(None if isinstance(result, sqlite3.Cursor) else result)


class _LockedOut(sqlite3.OperationalError):
    """Another process holds the file, and did so for as long as it is waited for."""


def _begin(connection: sqlite3.Connection) -> None:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        locked = _LockedOut(str(error))
        locked.sqlite_errorcode = error.sqlite_errorcode
        raise locked from error


def _as_sqlite(error: Exception) -> sqlite3.Error:
    return error if isinstance(error, sqlite3.Error) else sqlite3.OperationalError(str(error))
