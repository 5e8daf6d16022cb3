"""The thread that writes: jobs from a queue, in groups that share a transaction.

One transaction is written after the other, in all processes that share the database: each begins by taking the lock of
those who write. So numbers are committed in their order, as they are where one process owns a file. A job is answered
only after the COMMIT that holds it, which is sent behind its statements on the same way there and back. When a group
fails each of its jobs is done again, alone; where the server cannot be reached all who wait are told so at once, and
the next job tries again.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

import psycopg

from memory.stores.connection import Work
from memory.stores.errors import StoreFault, StoreFaultKind
from memory.stores.postgresql.changes import ChangeReader, Changes
from memory.stores.postgresql.committing import CommitUnknownError, commit
from memory.stores.postgresql.connection import PostgresConnection
from memory.stores.postgresql.faults import postgres_fault
from memory.stores.postgresql.lease import HEARTBEAT_SECONDS, SECONDS, Lease, keep_indexes
from memory.stores.postgresql.row_security import ALL
from memory.stores.write_jobs import GROUP, Job, Outcome, WriteQueue

log = logging.getLogger(__name__)

T = TypeVar("T")

REPLICA_SECONDS = 1.0
"""How often a replica looks, while it writes nothing, what others have changed, and whether the work is free."""
ELSEWHERE = (
    "this is for the replica to do that does the work: ask that one (/palimpsest/ready?role=work says yes there)"
)
TRIM_EVERY = 1000
"""Transactions after which the changes that everybody has heard of go."""
# Nothing of it is kept by the session, so that a pooler may give each transaction another one. A process that is gone
# in the middle of its turn, and whose connection has not ended, holds the others up for so long.
# What is set is set in one statement: each costs as much as a write does.
_BEGIN = (
    "BEGIN",
    f"SELECT set_config('palimpsest.owners', '{ALL}', true), set_config('lock_timeout', '{{}}', true), "
    "set_config('idle_in_transaction_session_timeout', '30000', true)",
    "LOCK TABLE writers IN EXCLUSIVE MODE",
)


class PostgresWriter(WriteQueue):
    """The writer of one process.

    Args:
        where: the database, as it is told.
        connect: opens a connection.
        changes: hears of what is committed, before whoever wrote it does.
        busy_seconds: how long another process that writes is waited for.
        replica: whether others may write at the same time, and how this one is called then; empty where it is alone.
        may_work: whether this replica takes the work when it is free.

    Raises:
        psycopg.Error: when the first connection cannot be opened.
        StoreFault: when another process has the database.
    """

    def __init__(
        self,
        where: str,
        connect: Callable[[], PostgresConnection],
        changes: ChangeReader,
        busy_seconds: float,
        replica: str = "",
        may_work: bool = True,
    ) -> None:
        super().__init__(where)
        self._begin = [each.format(max(1, round(busy_seconds * 1000))) for each in _BEGIN]
        self._where = where
        self._connect = connect
        self._changes = changes
        self._transactions = 0
        self._replica = replica
        self._lease = Lease(where, replicas=bool(replica))
        self.works = not replica
        self._attempted = float("-inf")
        self._leaving = not may_work
        self._begun = False  # whether the database has answered in the transaction that is under way
        self._connection: PostgresConnection | None = connect()
        try:
            if not replica:
                self._lease.take(self._connection, SECONDS + 2)
        except BaseException:
            self._drop()
            raise
        self._thread = threading.Thread(target=self._write_forever, name="journal-writer", daemon=True)

    def start(self, first: Work[T]) -> T:
        """Run ``first`` here and now, then start the thread."""
        assert self._connection is not None
        try:
            result = first(self._connection)
        except BaseException:
            self._give_up()
            self._drop()
            raise
        self._changes.begin(self._connection)
        self._thread.start()
        return result

    def leave_work(self) -> None:
        """Leave the work to another replica with the next transaction, and do not take it again."""
        self._leaving = True

    def _write_forever(self) -> None:
        jobs: list[Job | None] = []
        while None not in jobs:
            try:
                jobs = [self._queue.get(timeout=REPLICA_SECONDS if self._replica else HEARTBEAT_SECONDS)]
            except queue.Empty:
                jobs = [Job.of_nobody()]  # the lease is renewed with every transaction
            while len(jobs) < GROUP:
                with suppress(queue.Empty):
                    jobs.append(self._queue.get_nowait())
                    continue
                break
            if None in jobs and self._later:
                jobs.insert(0, Job.of_nobody())
            self._began = time.monotonic()
            self._do([job for job in jobs if job is not None])
            if self._should_seek_work and None not in jobs:
                # In a transaction of its own, so that nobody waits for it.
                self._do([Job.of_nobody()])
            self._began = None
        self._give_up()
        self._drop()

    def _do(self, jobs: Sequence[Job]) -> None:
        if len(jobs) > 1 and self._attempt(jobs):
            return
        for job in jobs:
            if not self._attempt([job]):
                # The connection had ended: a restarted server is no fault of the job's.
                self._attempt([job], again=True)

    def _attempt(self, jobs: Sequence[Job], again: bool = False) -> bool:
        """Run jobs in one transaction and answer them. False, and nobody is answered, where several failed together,
        or where a connection that was kept turned out to have ended."""
        try:
            return self._transact(jobs, again)
        except BaseException as error:
            # Without the thread nobody would be answered any more. It may have been done: not once more.
            error.__suppress_context__ = True  # what PostgreSQL says may quote a row
            log.exception("a write into %s has failed in a way that nothing provides for", self._where)
            self._drop()
            self._changes.tell(self._changes.unheard())
            self._answer(jobs, CommitUnknownError(f"a write into {self._where} failed ({type(error).__name__})"))
            return True

    def _transact(self, jobs: Sequence[Job], again: bool) -> bool:
        kept = self._connection is not None
        self._begun = False
        try:
            if self._connection is None:
                self._connection = self._connect()
            outcomes, changes, late, works = self._run(self._connection, jobs)
        except CommitUnknownError as unknown:
            # It may have been done: not once more, whatever it was.
            self._roll_back()
            self._changes.tell(self._changes.unheard())
            self._answer(jobs, unknown)
            return True
        except (psycopg.Error, StoreFault) as error:
            self._roll_back()
            fault = error if isinstance(error, StoreFault) else self._fault(error)
            if not self._begun:
                if kept and self._connection is None and not again:
                    return False if len(jobs) == 1 else self._attempt(jobs, again=True)
                if fault.passing:
                    self._answer([*jobs, *self._all_waiting()], fault)
                    return True
            if len(jobs) > 1:
                return False
            self._answer(jobs, fault)
            return True
        except _JobFailed as failed:
            self._roll_back()
            if len(jobs) > 1:
                return False
            self._tell(jobs[0], Outcome(error=failed.error))
            return True
        self._changes.tell(changes)
        if works != self.works:
            self.works = works
            self._changes.works(works)
        for _ in range(late):
            self._later.popleft()
        for job, outcome in zip(jobs, outcomes, strict=True):
            self._tell(job, outcome)
        return True

    def _run(self, connection: PostgresConnection, jobs: Sequence[Job]) -> tuple[list[Outcome], Changes, int, bool]:
        """A transaction. Nothing in it is waited for before the COMMIT, but for what a job reads, and for whether the
        work is ours where that is asked. What belongs to requests is not held up by the rest."""
        for statement in self._begin:
            connection.run(statement)
        hurries = all(job.awaited and job.anywhere for job in jobs)
        attempt = self._should_seek_work and not hurries
        if attempt:
            self._attempted = time.monotonic()
        turn, leaving = self._lease.turn(connection, attempt), self._leaving
        if leaving and turn.ours:
            self._lease.give_up(connection)
        if not all(job.anywhere for job in jobs):
            self._begun = True
            if leaving or not turn.ours:
                raise _JobFailed(StoreFault(ELSEWHERE, StoreFaultKind.LOCKED))
        late = 0 if hurries else self._catch_up(connection)
        outcomes = [_outcome(job, connection) for job in jobs]
        changes = self._changes.ask(connection)
        self._transactions += 1
        if self._transactions % TRIM_EVERY == 0:
            self._changes.trim(connection)
            if self._replica:
                keep_indexes(connection, self._replica)
        if commit(connection, turn, self._connect, self._where):
            return outcomes, changes(), late, turn.ours and not leaving
        # Whose turn it is was lost too: the next transaction asks.
        self._drop()
        return outcomes, self._changes.unheard(), late, self.works and not leaving

    @property
    def _should_seek_work(self) -> bool:
        """Whether it is to be found out if the work is free."""
        seeks = bool(self._replica) and not self.works and not self._leaving
        return seeks and time.monotonic() - self._attempted >= REPLICA_SECONDS

    def _fault(self, error: psycopg.Error) -> StoreFault:
        return self._lease.fault(error) or postgres_fault(error, self._where)

    def _catch_up(self, connection: PostgresConnection) -> int:
        """Do what has waited for this transaction; how much that was."""
        late = tuple(self._later)  # more may come meanwhile
        if late:
            connection.sync()
            if not self._done_late(connection, late) and len(late) > 1:
                for work in late:
                    self._done_late(connection, [work])
        return len(late)

    def _done_late(self, connection: PostgresConnection, late: Sequence[Work[object]]) -> bool:
        connection.run("SAVEPOINT late")
        try:
            for work in late:
                work(connection)
            connection.sync()
        except Exception as error:
            if connection.broken:
                raise
            connection.settle()
            connection.run("ROLLBACK TO late")
            if len(late) == 1:
                told = postgres_fault(error, self._where) if isinstance(error, psycopg.Error) else error
                log.warning("a write that nobody waited for has failed: %s", told)
            return False
        finally:
            if not connection.broken:
                connection.run("RELEASE late")
        return True

    def _answer(self, jobs: Sequence[Job], fault: StoreFault) -> None:
        for job in jobs:
            self._tell(job, Outcome(error=fault))

    def _roll_back(self) -> None:
        """After a failed transaction: roll back, or drop a connection that cannot even do that."""
        if self._connection is None:
            return
        try:
            self._connection.settle()
            if self._connection.broken:
                self._drop()
            elif self._connection.in_transaction:
                self._connection.run("ROLLBACK")
                self._connection.sync()
        except psycopg.Error:
            self._drop()

    def _give_up(self) -> None:
        if self._connection is not None:
            with suppress(Exception):
                self._lease.give_up(self._connection)
                self._connection.sync()

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(Exception):
                self._connection.close()
            self._connection = None


class _JobFailed(Exception):
    """A job failed by itself. Its error belongs to its caller, whatever it is, as in any executor."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def _outcome(job: Job, connection: PostgresConnection) -> Outcome:
    try:
        return Outcome(job.work(connection))
    except (psycopg.Error, StoreFault):
        raise
    except Exception as error:
        raise _JobFailed(error) from error
