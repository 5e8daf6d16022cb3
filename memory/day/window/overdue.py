"""Shell: plans that are not ready in time. A request goes on without its plan, and the session's next finds it made."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine, Sequence
from typing import Any, Generic, TypeVar

from memory.edits import Key

Made = TypeVar("Made")

KEPT = 64
"""Plans that are kept for the next request of their sessions, the newest."""


class Overdue(Generic[Made]):
    """Waits for what is made for a request; where the waiting is given up, it is made all the same, and kept by its
    session. Of the event loop only."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[tuple[Key, ...], asyncio.Task[Made]]] = OrderedDict()

    async def made(self, session: str, keys: Sequence[Key], work: Coroutine[Any, Any, Made]) -> Made:
        """What comes of the work for the request of a session that has these messages."""
        return await self._waited(session, tuple(keys), asyncio.create_task(work))

    async def late(self, session: str, keys: Sequence[Key]) -> Made | None:
        """What was made too late for the request before this one, or is still being made; None where there is nothing,
        or the client has written its history anew since."""
        before, task = self._kept.pop(session, ((), None))
        if task is None:
            return None
        if tuple(keys[: len(before)]) != before:
            task.cancel()
            return None
        return await self._waited(session, before, task)

    async def _waited(self, session: str, keys: tuple[Key, ...], task: asyncio.Task[Made]) -> Made:
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                self._kept[session] = keys, task
                task.add_done_callback(_heard)
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            raise


def _heard(task: asyncio.Task[Any]) -> None:
    """What went wrong with a plan that nobody asks for any more is no news."""
    if not task.cancelled():
        task.exception()
