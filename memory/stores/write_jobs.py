"""What waits for the thread that writes, and what came of it."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

from memory.stores.errors import StoreFault, StoreFaultKind

T = TypeVar("T")

GROUP: Final = 64
"""Writes that share a transaction at most: a failing one makes its neighbours wait for a second attempt."""
MOST_WAITING = 1024
HANGS_SECONDS = 10.0
"""So many jobs wait at most, and none behind one that has been under way for so many seconds."""
SLOW_SECONDS = 2.0
"""After which a write that is under way counts as trouble: normally it takes some milliseconds."""


class Outcome:
    """What came of a job: a result or an error."""

    __slots__ = ("error", "result")

    def __init__(self, result: Any = None, error: Exception | None = None) -> None:
        self.result = result
        self.error = error


class Job:
    """One piece of work for the writer, and the future of the one who waits for it."""

    __slots__ = ("_loop", "anywhere", "future", "transaction", "work")

    def __init__(
        self,
        work: Callable[[Any], Any],
        transaction: bool,
        loop: asyncio.AbstractEventLoop | None,
        anywhere: bool = True,
    ) -> None:
        self.work = work
        self.anywhere = anywhere
        self.transaction = transaction
        self._loop = loop
        self.future: asyncio.Future[Any] | None = loop.create_future() if loop is not None else None

    @classmethod
    def of_nobody(cls) -> Job:
        """Nothing, for nobody: only what has waited for a transaction is done in it."""
        return cls(lambda connection: None, True, None)

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for it."""
        return self._loop is not None

    def answer(self, outcome: Outcome) -> None:
        """Called in the writer's thread."""
        if self._loop is None:
            return
        try:
            self._loop.call_soon_threadsafe(self._settle, outcome)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more, and what was written is written

    def _settle(self, outcome: Outcome) -> None:
        if self.future is None or self.future.done():
            return
        if outcome.error is not None:
            self.future.set_exception(outcome.error)
        else:
            self.future.set_result(outcome.result)


class WriteQueue:
    """What waits for a writer's thread, in whatever engine.

    Args:
        slow: says of the store, in a message, that it is too slow: "the disk of journal.db".
    """

    _thread: threading.Thread

    def __init__(self, slow: str) -> None:
        self._slow = slow
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._later: deque[Callable[[Any], object]] = deque()
        self._began: float | None = None
        self._failed: StoreFault | None = None  # how the newest write has failed, if it was the store's fault

    @property
    def trouble(self) -> str:
        """Why what is written now would likely fail, as far as the writes before it tell; empty where it would not."""
        began, failed = self._began, self._failed
        if began is not None and time.monotonic() - began > SLOW_SECONDS:
            return f"{self._slow} is too slow"
        return str(failed) if failed is not None else ""

    async def do(self, work: Callable[[Any], T], *, transaction: bool = True, anywhere: bool = True) -> T:
        """Have ``work`` done in the thread. It is done even when the caller is cancelled meanwhile. What may not be
        done ``anywhere`` is refused where another process works.

        Raises:
            StoreFault: what the store reported, or that it is too slow for more.
        """
        began, waiting = self._began, self._queue.qsize()
        if waiting >= MOST_WAITING or (began is not None and time.monotonic() - began > HANGS_SECONDS):
            raise StoreFault(f"{self._slow} is too slow: {waiting} writes wait", StoreFaultKind.LOCKED)
        job = Job(work, transaction, asyncio.get_running_loop(), anywhere)
        self._queue.put(job)
        assert job.future is not None
        result: T = await job.future
        return result

    def catch_up(self) -> None:
        """Have what waits for a transaction done in one of its own; does not wait for it."""
        self._queue.put(Job.of_nobody())

    def later(self, work: Callable[[Any], object]) -> None:
        """Have ``work`` done at the beginning of the next transaction; it may be done twice, and what fails of it is
        only told in the log."""
        self._later.append(work)

    @property
    def late(self) -> bool:
        """Whether something waits for the next transaction."""
        return bool(self._later)

    def _tell(self, job: Job, outcome: Outcome) -> None:
        """Answer a job, and remember how the store is; called in the writer's thread."""
        failed = outcome.error if isinstance(outcome.error, StoreFault) else None
        self._failed = failed if failed is not None and failed.fault is not StoreFaultKind.OTHER else None
        job.answer(outcome)

    def _all_waiting(self) -> list[Job]:
        """Take all jobs out of the queue; that it is to end stays in it."""
        jobs: list[Job] = []
        with suppress(queue.Empty):
            while True:
                job = self._queue.get_nowait()
                if job is None:
                    self._queue.put(None)
                    break
                jobs.append(job)
        return jobs

    def finish(self) -> None:
        """Do what is queued and end the thread; waits for it."""
        self._queue.put(None)
        self._thread.join()
