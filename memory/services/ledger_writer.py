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
from memory.services.window.fitting import write
from memory.session import Prepared

LEDGER_SECONDS = 0.05
"""How long a request waits at most until its ledger is written; a disk that is well takes a millisecond."""

WITHIN_SECONDS = 30
"""How long writing may take."""

WITHDRAWING = "taking back what no provider has read"
"""What is told to be under way."""


class Ledgers:
    """Has what sessions decided written. Of the event loop only."""

    def __init__(self, sessions: SessionMatcher, guard: Guard) -> None:
        self._sessions = sessions
        self._guard = guard
        self._writing: set[asyncio.Task[object]] = set()

    async def written(self, live: LiveSession, seconds: float = LEDGER_SECONDS) -> None:
        """Wait until a session's ledger is written, for so many seconds at most; what is to be taken back goes first.
        The writing goes on behind them."""
        self.withdraw_beside(live)
        if live.ahead or not live.known:
            await self.waited_for(self._sessions.ledgers.save(live), "writing the ledger", seconds)

    def withdraw_beside(self, live: LiveSession) -> None:
        """Have taken back what of a session is to be, waited for by nobody."""
        if self._sessions.ledgers.withdrawals.of(live.session.id):
            self.run_in_background(self._sessions.ledgers.withdraw(live), WITHDRAWING)

    async def mark_sending(self, prepared: Prepared) -> None:
        """A shortened request is about to be sent: what was decided for it is in the journal before its provider may
        read it. Waits for that no longer than any request does."""
        live = self._pending_in(prepared)
        if live is not None:
            # What may be read now must not be taken back by what an earlier try left undone.
            self._sessions.ledgers.withdrawals.settled(live.session.id, prepared.pending.entries)
            saving = self._sessions.ledgers.save_beforehand(live, prepared.pending)
            await self.waited_for(saving, "writing the ledger")

    async def mark_sent(self, prepared: Prepared) -> None:
        """A shortened request was sent, and its provider may have read it: what was decided for it stands from now on.
        Waits for the ledger, no longer than any request does."""
        live = self._pending_in(prepared)
        if live is not None:
            write(live, prepared.pending.entries, prepared.pending.unkept)
            await self.written(live)

    async def mark_unread(self, prepared: Prepared) -> None:
        """A shortened request was refused for what stands in it, or never sent: what was decided for it does not stand.
        Where the journal cannot take it back now, it does with the session's next save."""
        live = self._pending_in(prepared)
        if live is not None:
            self._sessions.ledgers.withdrawals.add(live.session, prepared.pending.entries)
            await self.waited_for(self._sessions.ledgers.withdraw(live), WITHDRAWING)

    def _pending_in(self, prepared: Prepared) -> LiveSession | None:
        """The session that something is pending in."""
        return self._sessions.get(prepared.session.id) if prepared.session and prepared.pending.entries else None

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

    async def finish(self) -> None:
        """The same, and what was to be taken back is tried once more."""
        await self.settle()
        self.run_in_background(self._sessions.ledgers.withdraw_all(), WITHDRAWING)
        await self.settle()
