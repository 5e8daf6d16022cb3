"""A worker that lets the journal go of what is older than a person wants to keep (``memory.journal.keep_days``)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from memory.ports import Guard
from memory.services.background_task import BackgroundTask

log = logging.getLogger(__name__)

EVERY_SECONDS = 6 * 3600.0
"""How often it is looked for what has become too old."""
FIRST_SECONDS = 60.0
"""How long after a start that is done first: who has just started it wants to work."""
WITHIN_SECONDS = 3600.0
REST_SECONDS = 0.05
"""How long requests are given way between two transactions while they come."""


class RetentionJournal(Protocol):
    """What this needs of the journal."""

    async def delete_old(
        self, before: datetime, works: Sequence[str], rest: Callable[[], Awaitable[None]]
    ) -> tuple[int, int]:
        """Let go of the exchanges before a time that every one of these works (names of their cursors) has read; how
        many exchanges and messages went. ``rest`` is awaited between two transactions."""


class RetentionWorker:
    """The worker. ``days`` is how long exchanges are kept, None for ever; ``works`` names the cursors of
    all that reads them; ``busy`` says whether requests come."""

    def __init__(
        self,
        days: int | None,
        journal: RetentionJournal,
        works: Sequence[str],
        guard: Guard,
        now: Callable[[], datetime],
        busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._days = days
        self._journal = journal
        self._works = works
        self._guard = guard
        self._now = now
        self._busy = busy
        self._beside = BackgroundTask()

    def start(self) -> None:
        """Begin, where anything is ever to go."""
        if self._days is not None:
            self._beside.begin(self._run())

    async def stop(self) -> None:
        """Stop; the rest goes after the next start."""
        await self._beside.stop()

    async def delete_expired(self) -> tuple[int, int]:
        """Let go of all that is too old by now; how many exchanges and messages that were."""
        if self._days is None:
            return 0, 0
        before = self._now() - timedelta(days=self._days)
        exchanges, messages = await self._journal.delete_old(before, self._works, self._rest)
        if exchanges:
            log.info("%d exchanges and %d messages older than %d days are gone", exchanges, messages, self._days)
        return exchanges, messages

    async def _run(self) -> None:
        await asyncio.sleep(FIRST_SECONDS)
        while True:
            await self._guard(
                self.delete_expired(),
                default=(0, 0),
                timeout_seconds=WITHIN_SECONDS,
                operation="letting go of what is old",
            )
            await asyncio.sleep(EVERY_SECONDS)

    async def _rest(self) -> None:
        await asyncio.sleep(REST_SECONDS if self._busy() else 0)
