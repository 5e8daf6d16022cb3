"""Write the ledgers of sessions: before a request is sent, as far as the disk allows, else beside it.

Whoever reads what was added may keep it in a cache, so that it must be made again whatever becomes of this process.
But a slow disk must not hold a request up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

from memory.ports import Guard
from memory.services.sessions.live import LiveSession
from memory.services.sessions.session_matching import SessionMatcher

LEDGER_SECONDS = 0.05
"""How long a request waits at most until its ledger is written; a disk that is well takes a millisecond."""

WITHIN_SECONDS = 30
"""How long writing may take."""


class Ledgers:
    """Has what sessions decided written. Of the event loop only."""

    def __init__(self, sessions: SessionMatcher, guard: Guard) -> None:
        self._sessions = sessions
        self._guard = guard
        self._writing: set[asyncio.Task[object]] = set()

    async def written(self, live: LiveSession, seconds: float = LEDGER_SECONDS) -> None:
        """Wait until a session's ledger is written, for so many seconds at most. The writing goes on behind them."""
        if live.ahead or not live.known:
            await self.waited_for(self._sessions.ledgers.save(live), "writing the ledger", seconds)

    async def waited_for(
        self, work: Coroutine[object, object, object], doing: str, seconds: float = LEDGER_SECONDS
    ) -> None:
        """Have something else written, and wait for it as long as for a ledger."""
        writing = self.run_in_background(work, doing)
        await asyncio.wait({writing}, timeout=min(seconds, LEDGER_SECONDS))

    def run_in_background(self, work: Coroutine[object, object, object], doing: str) -> asyncio.Task[object]:
        """Have something else written, at once and waited for by nobody."""
        writing = self._guard(work, default=None, timeout_seconds=WITHIN_SECONDS, operation=doing)
        task: asyncio.Task[object] = asyncio.create_task(writing)
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)
        return task

    async def settle(self) -> None:
        """Wait until all of it is in the journal."""
        while self._writing:
            await asyncio.wait(self._writing)
