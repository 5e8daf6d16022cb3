"""What runs beside the requests: one task, until it ends or is stopped, and one thread that nothing else waits for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Generic, TypeVar


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


T = TypeVar("T")


class LoneThread(Generic[T]):
    """At most one thread at a time, and none of those that requests share. One that hangs holds up neither a second one
    nor the end of the process."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._look: Future[T] | None = None

    async def run(self, look: Callable[[], T]) -> T:
        """What a look gives; while one goes on, even one whose asker has given up, what that one gives."""
        if self._look is None or self._look.done():
            self._look = begun = Future[T]()
            begun.set_running_or_notify_cancel()  # from here on no asker that gives up cancels it for others
            threading.Thread(target=_settle, args=(begun, look), name=self._name, daemon=True).start()
        return await asyncio.wrap_future(self._look)


def _settle(begun: Future[T], look: Callable[[], T]) -> None:
    try:
        begun.set_result(look())
    except BaseException as error:  # noqa: BLE001 (it is raised where it is waited for)
        begun.set_exception(error)
