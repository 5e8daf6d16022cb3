"""Exchanges that are set aside while the journal cannot take them, and taken back into it.

An exchange is set aside before the end of its reply is let go, and leaves again when it is committed. What a process
left behind is taken back by the next one, before it serves anybody; what was committed after all is there once.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from memory.edits import Entry
from memory.ports import TakenBack
from memory.session import Exchange
from memory.stores.draft import Draft, dump, load
from memory.stores.errors import Fault, StoreFault
from memory.stores.exchanges import Exchanges, reply_message
from memory.stores.histories import join
from memory.stores.queries import QUERIES
from memory.stores.recent import Past
from memory.stores.sessions import write_new_entry, write_session
from memory.stores.shelf import ask_many
from memory.stores.spill import Spill

log = logging.getLogger(__name__)


class Aside(Exchanges):
    """The part of the journal that keeps what it cannot take yet."""

    _spill: Spill

    async def commit(self, exchange: Exchange) -> None:
        """See :class:`memory.ports.Journal`."""
        await super().commit(exchange)
        self._spill.drop(exchange.id)

    @property
    def aside(self) -> int:
        """See :class:`memory.ports.Journal`."""
        return sum(id not in self._drafts for id in self._spill.ids)

    async def set_aside(self, exchange: Exchange, entries: Sequence[Entry] = ()) -> None:
        """See :class:`memory.ports.Journal`."""
        under_way = self._drafts.get(exchange.id)
        draft = (await under_way if under_way is not None else None) or await self._drafted_somehow(exchange)
        await self._spill.put(exchange.id, dump(draft, entries, self._redact))
        if exchange.id not in self._drafts and await self._committed(exchange.id):
            self._spill.drop(exchange.id)

    async def take_back(self) -> TakenBack:
        """See :class:`memory.ports.Journal`."""
        taken = broken = 0
        for id in self._spill.ids:
            if id in self._drafts:
                continue
            try:
                draft, entries = load(await self._spill.get(id))
                async with self._gate.passing():
                    taken += await self._take_back(draft, entries)
            except KeyError:
                continue  # committed meanwhile
            except ValueError as error:
                log.error("an exchange that was set aside is lost: %s", error)
                broken += 1
            except StoreFault as fault:
                if fault.fault is not Fault.OTHER:
                    raise
                # One that cannot be written must not stand before the others. Its file stays.
                log.error("an exchange that was set aside could not be written: %s", fault)
                broken += 1
                self._spill.leave(id)
            self._spill.drop(id)
        return TakenBack(taken, broken)

    async def _committed(self, id: str) -> bool:
        """Whether an exchange is in the journal; no where that cannot be told."""
        try:
            return await self._db.look(lambda c: c.execute(QUERIES["exchange_exists"], (id,)).fetchone() is not None)
        except StoreFault:
            return False

    async def _drafted_somehow(self, exchange: Exchange) -> Draft:
        """A draft also where the journal cannot even be asked what it has: then all of it is new."""
        try:
            return await self._drafted(exchange)
        except StoreFault:
            messages, reply = exchange.conversation.messages, reply_message(exchange.reply)
            each_once = {message.digest: message for message in (*messages, *([reply] if reply else []))}
            history = join([message.digest for message in messages])
            return await self._sealed(exchange, history, reply, list(each_once.values()))

    async def _take_back(self, draft: Draft, entries: Sequence[Entry]) -> bool:
        """Write an exchange that was set aside, and what its session's ledger does not have; whether it was new."""

        def work(connection: sqlite3.Connection) -> Past | None:
            gone = _gone(connection, draft, entries)
            shown = tuple(each for each in draft.receipt.shown if each.memory not in gone)
            written = self._append(connection, replace(draft, receipt=replace(draft.receipt, shown=shown)))
            session, _ = write_session(connection, draft.session)
            for entry in entries:
                # What a forgotten memory was told in is empty, as `forget` would have left it.
                kept = replace(entry, text="", memories=()) if gone.intersection(entry.memories) else entry
                write_new_entry(connection, entry, kept, session)
            return written

        written = await self._db.write(work)
        if written is not None:
            self._recent.remember(draft.session.id, written)
        return written is not None


def _gone(connection: sqlite3.Connection, draft: Draft, entries: Sequence[Entry]) -> frozenset[str]:
    """The memories that an exchange was shown and that are there no more."""
    named = {each.memory for each in draft.receipt.shown}.union(*(entry.memories for entry in entries))
    tables = ("facts_get", "passages_get", "research_get")
    return frozenset(named - {row["id"] for table in tables for row in ask_many(connection, table, list(named))})
