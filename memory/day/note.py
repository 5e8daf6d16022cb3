"""Note an exchange: bring it into the journal before the client sees the end of the reply.

When the journal cannot take it, the exchange is kept here and written as soon as the journal can.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from memory.conversation import Conversation, Reply
from memory.ports import Guard, Journal
from memory.session import Exchange, Mode, Prepared

PATIENCE = 30.0
"""Seconds that one write may take before it is tried again later."""

KEPT = 2000
"""Exchanges kept while the journal cannot be written; beyond it the oldest are lost, and that is counted."""


class DiskNearlyFull(Exception):
    """The disk is too full to journal anything more. What comes is kept in memory and written when there is room."""


class Notes:
    """The shell that journals exchanges."""

    def __init__(
        self,
        journal: Journal,
        guard: Guard,
        journaled: Callable[[], None],
        room: Callable[[], bool] = lambda: True,
    ) -> None:
        self._journal = journal
        self._room = room
        self._guard = guard
        self._journaled = journaled
        self._kept: deque[Exchange] = deque()
        self.lost = 0

    @property
    def kept(self) -> int:
        """How many exchanges wait for the journal."""
        return len(self._kept)

    async def note(self, prepared: Prepared, conversation: Conversation, reply: Reply, status: int) -> None:
        """Journal an exchange. Where the caller asked for no storing, only the session and its ledger are kept."""
        if prepared.session is None or prepared.arrival.mode is not Mode.ON:
            return
        exchange = Exchange(
            prepared.receipt.id, prepared.session, prepared.arrival, conversation, reply, status, prepared.receipt
        )
        if await self._write(exchange):
            self._journaled()
            return
        if len(self._kept) >= KEPT:
            self._kept.popleft()
            self.lost += 1
        self._kept.append(exchange)

    async def write_kept(self) -> None:
        """Try again to write what could not be written, oldest first; stops at the first that still cannot."""
        while self._kept:
            exchange = self._kept[0]
            if not await self._write(exchange):
                return
            if self._kept and self._kept[0] is exchange:
                self._kept.popleft()
            self._journaled()

    async def _write(self, exchange: Exchange) -> bool:
        written, _ = await self._guard(
            self._commit(exchange), otherwise=False, within=PATIENCE, doing="journaling an exchange"
        )
        return written

    async def _commit(self, exchange: Exchange) -> bool:
        if not self._room():
            raise DiskNearlyFull("there is less free disk than memory.journal.min_free_mib")
        await self._journal.commit(exchange)
        return True
