"""Write the ledgers of sessions beside their requests: a slow disk must not hold a request up."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

from memory.ports import Guard
from memory.services.sessions.live import LiveSession
from memory.services.sessions.session_matching import SessionMatcher

LEDGER_SECONDS = 0.25
"""How long after a request its ledger is written, unless the exchange is journaled before."""

WITHIN_SECONDS = 30
"""How long writing may take."""


class Ledgers:
    """Has what sessions decided written. Of the event loop only."""

    def __init__(self, sessions: SessionMatcher, guard: Guard) -> None:
        self._sessions = sessions
        self._guard = guard
        self._writing: set[asyncio.Task[object]] = set()
        self._soon: dict[str, tuple[asyncio.TimerHandle, LiveSession]] = {}

    def write(self, live: LiveSession) -> None:
        """Have a session's ledger written soon, where the journal is behind: the request's own way to the provider
        comes first."""
        if (live.ahead or not live.known) and live.session.id not in self._soon:
            timer = asyncio.get_running_loop().call_later(LEDGER_SECONDS, self._write_now, live)
            self._soon[live.session.id] = timer, live

    def run_in_background(self, work: Coroutine[object, object, object], doing: str) -> None:
        """Have something else written, at once and waited for by nobody."""
        writing = self._guard(work, default=None, timeout_seconds=WITHIN_SECONDS, operation=doing)
        task: asyncio.Task[object] = asyncio.create_task(writing)
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def settle(self) -> None:
        """Wait until all of it is in the journal."""
        for _, live in list(self._soon.values()):
            self._write_now(live)
        while self._writing:
            await asyncio.wait(self._writing)

    def _write_now(self, live: LiveSession) -> None:
        timer, _ = self._soon.pop(live.session.id)
        timer.cancel()
        if live.ahead or not live.known:
            self.run_in_background(self._sessions.save(live), "writing the ledger")
