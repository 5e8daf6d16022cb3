"""Looking at what may hang, a disk on a network say, in a thread that nothing else waits for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

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
