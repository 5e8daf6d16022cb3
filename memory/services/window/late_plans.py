"""Plans that are not ready in time. A request goes on without its plan, and the session's next finds it made."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine, Sequence
from typing import Any, Generic, TypeVar

from memory.edits import Key

Plan = TypeVar("Plan")

MAX_LATE_PLANS = 64
"""Plans that are kept for the next request of their sessions, the newest."""


class LatePlans(Generic[Plan]):
    """Waits for what is made for a request; where the waiting is given up, it is made all the same, and kept by its
    session. Of the event loop only."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[str, tuple[tuple[Key, ...], asyncio.Task[Plan]]] = OrderedDict()

    async def plan_for(self, session: str, keys: Sequence[Key], work: Coroutine[Any, Any, Plan]) -> Plan:
        """What comes of the work for the request of a session that has these messages."""
        return await self._waited(session, tuple(keys), asyncio.create_task(work))

    async def late(self, session: str, keys: Sequence[Key]) -> Plan | None:
        """What was made too late for the request before this one, or is still being made; None where there is nothing,
        or the client has written its history anew since."""
        before, task = self._tasks.pop(session, ((), None))
        if task is None:
            return None
        if tuple(keys[: len(before)]) != before:
            task.cancel()
            return None
        return await self._waited(session, before, task)

    async def _waited(self, session: str, keys: tuple[Key, ...], task: asyncio.Task[Plan]) -> Plan:
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                self._tasks[session] = keys, task
                task.add_done_callback(_heard)
                while len(self._tasks) > MAX_LATE_PLANS:
                    self._tasks.popitem(last=False)
            raise


def _heard(task: asyncio.Task[Any]) -> None:
    """What went wrong with a plan that nobody asks for any more is no news."""
    if not task.cancelled():
        task.exception()
