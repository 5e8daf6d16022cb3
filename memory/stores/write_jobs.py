"""What waits for the thread that writes, and what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any


class Outcome:
    """What came of a job: a result or an error."""

    __slots__ = ("error", "result")

    def __init__(self, result: Any = None, error: Exception | None = None) -> None:
        self.result = result
        self.error = error


class Job:
    """One piece of work for the writer, and the future of the one who waits for it."""

    __slots__ = ("_loop", "future", "transaction", "work")

    def __init__(self, work: Callable[[Any], Any], transaction: bool, loop: asyncio.AbstractEventLoop | None) -> None:
        self.work = work
        self.transaction = transaction
        self._loop = loop
        self.future: asyncio.Future[Any] | None = loop.create_future() if loop is not None else None

    @classmethod
    def of_nobody(cls) -> Job:
        """Nothing, for nobody: only what has waited for a transaction is done in it."""
        return cls(lambda connection: None, True, None)

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
