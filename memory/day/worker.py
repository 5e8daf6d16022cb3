"""A worker beside the requests: it sleeps until it is woken, and looks by itself now and then."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

IDLE_SECONDS = 5.0
"""How often a worker looks whether something was left over, when nothing wakes it."""


class Worker:
    """Does all the work there is (``work``) each time it is woken, one time after another."""

    def __init__(self, work: Callable[[], Awaitable[None]]) -> None:
        self._work = work
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        """Begin, with what was left behind first."""
        self._woken.set()
        self._task = asyncio.create_task(self._run())

    def wake(self) -> None:
        """Say that there is something new."""
        self._woken.set()

    async def stop(self) -> None:
        """Stop where the work can be given up; the rest is done after the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            self._task = None

    async def _run(self) -> None:
        while True:
            # Not wait_for: in Python 3.11 it can lose a cancellation that comes at the same time as the result.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(IDLE_SECONDS):
                    await self._woken.wait()
            self._woken.clear()
            await self._work()
