"""One task that runs beside the requests, until it ends or is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class BackgroundTask:
    """At most one task at a time."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._task is not None and not self._task.done()

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Let it do this from now on. It does nothing else meanwhile: a second task would be stopped by nobody."""
        if self.running:
            work.close()
            raise AssertionError("it runs already")
        self._task = asyncio.create_task(work)

    async def stop(self) -> None:
        """Stop it where it can be given up, and wait until it is gone."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            self._task = None

    async def ended(self) -> None:
        """Wait until it has ended by itself; at once where it does not run."""
        if self._task is not None:
            await asyncio.wait({self._task})
