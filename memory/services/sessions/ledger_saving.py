"""Bring the journal up to the ledgers of the sessions that are alive, and take back there what no provider has read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from memory.conversation import Message
from memory.edits import Act, Entry
from memory.ports import Journal
from memory.services.sessions.live import LiveSession
from memory.services.sessions.live_sessions import LiveSessions
from memory.session import Exchange, Pending


class LedgerSaver:
    """Writes ledgers into the journal.

    One write of a session after the other: what is decided later must be written later, also when the earlier write has
    to be tried again.
    """

    def __init__(self, journal: Journal, live_sessions: LiveSessions) -> None:
        self._journal = journal
        self._live_sessions = live_sessions
        self.withdrawals = live_sessions.withdrawals

    async def save(self, live: LiveSession) -> None:
        """Bring the journal up to the ledger; what could not be written stays for the next time."""
        async with self.pending_writes(live) as (entries, messages):
            if not live.known or entries or messages:
                await self._journal.enter(live.session, entries, messages)

    async def save_by_id(self, session: str) -> None:
        """Bring the journal up to the ledger of a session, if anything of it is unwritten."""
        live = self._live_sessions.get(session)
        if live is not None and live.ahead:
            await self.save(live)

    async def save_beforehand(self, live: LiveSession, pending: Pending) -> None:
        """Bring into the journal what is to stand in the ledger if a request is not refused for it. Whoever is killed
        meanwhile makes it again, since the provider may have read it; otherwise it stands with ``decide``, or is taken
        back with :meth:`withdraw`."""
        async with self.pending_writes(live) as (entries, messages):
            more = tuple(filter(live.undecided, pending.entries))
            cuts = any(entry.act is Act.CUT for entry in more)
            session = replace(live.session, segment=live.session.segment + 1) if cuts else live.session
            await self._journal.enter(session, (*entries, *more), (*messages, *pending.unkept))

    async def withdraw(self, live: LiveSession) -> None:
        """Take back what was saved beforehand and does not stand, but for what another request has decided
        meanwhile."""
        async with live.saving:
            entries = self.withdrawals.of(live.session.id)
            await self._journal.withdraw(live.session, tuple(filter(live.undecided, entries)))
            self.withdrawals.settled(live.session.id, entries)

    async def withdraw_all(self) -> None:
        """Take back all that is to be taken back, also of sessions that are not in memory any more.

        Raises:
            StoreError: when the journal cannot be read or written.
        """
        for id, key in self.withdrawals.sessions().items():
            live = self._live_sessions.get(id) or await self._live_sessions.by_key(key)
            if live is None or live.session.id != id:
                self.withdrawals.settled(id, self.withdrawals.of(id))  # it was forgotten
                continue
            await self.withdraw(live)

    async def commit(self, exchange: Exchange) -> None:
        """Journal an exchange and, in the same transaction, what the journal does not have of its session's ledger.

        Raises:
            StoreError: when the journal takes neither.
        """
        live = self._live_sessions.get(exchange.session.id)
        if live is None or not live.ahead:
            await self._journal.commit(exchange)
            return
        async with self.pending_writes(live) as (entries, messages):
            await self._journal.commit(exchange, entries, messages)

    def unwritten(self, session: str) -> tuple[Entry, ...]:
        """What of a session's ledger the journal does not have, as far as that is known."""
        live = self._live_sessions.get(session)
        return tuple(live.unwritten) if live is not None else ()

    @asynccontextmanager
    async def pending_writes(self, live: LiveSession) -> AsyncIterator[tuple[tuple[Entry, ...], tuple[Message, ...]]]:
        """What the journal does not have of a ledger, for the one who brings it there; nobody else does meanwhile."""
        async with live.saving:
            # They stay where they are until they are written: who asks meanwhile is told of them.
            entries, messages = tuple(live.unwritten), tuple(live.unkept.values())
            yield entries, messages
            live.known = True
            self.withdrawals.settled(live.session.id, entries)  # decided anew, it stands
            del live.unwritten[: len(entries)]
            for message in messages:
                live.unkept.pop(message.digest, None)
