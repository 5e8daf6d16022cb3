"""Exchanges that are set aside while the journal cannot take them, and taken back into it.

An exchange is set aside before the end of its reply is let go, and leaves again when it is committed. What a process
left behind is taken back by the next one, before it serves anybody; what was committed after all is there once. A file
that cannot be taken back may be the only copy of what was acknowledged: it is deleted by nothing but a person's
``forget``, and then only where it is damaged, for nobody can tell what it holds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from memory.conversation import Message
from memory.edits import Act, Entry
from memory.fact import Fact, Passage
from memory.ports import SetAsideErasure
from memory.scope import place_of
from memory.session import Exchange, Session
from memory.stores.base import ask_many
from memory.stores.connection import Connection, Work
from memory.stores.erasure import LineEraser
from memory.stores.errors import PersonForgottenError, StoreFault, StoreFaultKind
from memory.stores.exchange_draft import Damaged, ExchangeDraft, Texts, dump, load
from memory.stores.exchanges import Exchanges, WrittenExchange
from memory.stores.forgetting import texts_of
from memory.stores.history_cache import split
from memory.stores.lost_journal import files_aside
from memory.stores.queries import QUERIES
from memory.stores.rows import fact_of, passage_of, session_of
from memory.stores.sessions import by_trail, links, write_new_entry, write_session
from memory.stores.spill import Spill

log = logging.getLogger(__name__)

T = TypeVar("T")

ASKED_SECONDS = 0.05
"""How long the database is asked what it has of an exchange that is set aside; it answers in a millisecond or so."""


class SetAsideStore(Exchanges):
    """The part of the journal that keeps what it cannot take yet."""

    _spill: Spill
    _damaged = 0  # that this process has set apart
    _left: tuple[Path, ...] = ()  # that it could not write, and leaves to the next one

    async def commit(self, exchange: Exchange, entries: Sequence[Entry] = (), messages: Sequence[Message] = ()) -> None:
        await super().commit(exchange, entries, messages)
        self._spill.drop(exchange.id)

    @property
    def aside(self) -> int:
        return sum(id not in self._drafts for id in self._spill.ids)

    @property
    def broken(self) -> int:
        return self._damaged + len(self._left)

    async def set_aside(self, exchange: Exchange, entries: Sequence[Entry] = ()) -> None:
        # A commit that waits for a `forget` makes its draft only after it.
        under_way = None if self._gate.shut else self._drafts.get(exchange.id)
        drafted = await self._drafted_in_time(exchange.id, under_way) if under_way is not None else None
        draft = drafted or await self._drafted_somehow(exchange)
        redact = self._redact.of(exchange.session.scope.org)
        await self._spill.put(exchange.id, dump(draft, entries, redact, await self._segment_texts(entries)))
        if exchange.id not in self._drafts and await self._committed(exchange.id):
            self._spill.drop(exchange.id)

    async def take_back(self, but: Collection[str] = ()) -> int:
        taken = 0
        for id in self._spill.ids:
            if id in self._drafts or id in but:
                continue
            # Whatever is wrong with one of them must not stand before the others.
            [outcome] = await asyncio.gather(self._write_one(id), return_exceptions=True)
            if not isinstance(outcome, BaseException):
                taken += outcome
                self._spill.drop(id)
                continue
            if isinstance(outcome, StoreFault) and outcome.fault is not StoreFaultKind.OTHER:
                raise outcome
            log.error("an exchange that was set aside cannot be taken back: %r", outcome)
            log.debug("while taking exchanges back", exc_info=outcome)
            if isinstance(outcome, Damaged):
                self._damaged += 1
                self._spill.set_apart(id)
            elif left := self._spill.leave(id):
                self._left = (*self._left, left)  # the next process may fare better
        return taken

    async def forget_aside(self) -> SetAsideErasure:
        waiting = sum(id not in self._drafts for id in self._spill.ids) + len(self._left)
        pages = len(await asyncio.to_thread(files_aside, self._db.folder))
        if await self._db.read(_person_count) > 1:
            return SetAsideErasure(0, len(await self._spill.broken()), waiting, pages)
        gone, stay = await self._spill.destroy_broken()
        self._damaged = min(self._damaged, len(stay))
        if gone:
            log.warning("%d damaged exchanges that were set aside are gone with what was forgotten", gone)
        return SetAsideErasure(gone, len(stay), waiting, pages)

    async def _write_one(self, id: str) -> bool:
        """Write one that is aside; whether it was new to the journal."""
        try:
            record = await self._spill.get(id)
        except KeyError:
            return False  # committed meanwhile
        draft, entries, texts = load(record)
        async with self._gate.passing():
            return await self._take_back(draft, entries, texts)

    async def _committed(self, id: str) -> bool:
        """Whether an exchange is in the journal; no where that cannot be told."""
        return await self._told(lambda connection: _is_committed(connection, id), False)

    async def _told(self, work: Work[T], untold: T) -> T:
        """What the database tells; ``untold`` where it cannot, or not in time: somebody waits for the end of a
        reply."""
        try:
            async with asyncio.timeout(ASKED_SECONDS):
                return await self._db.look(work)
        except (StoreFault, TimeoutError):
            return untold

    async def _drafted_in_time(self, id: str, under_way: asyncio.Future[ExchangeDraft | None]) -> ExchangeDraft | None:
        """The draft that a commit makes; None where it makes none, or still asks the database for what it needs."""
        # Who gives up waiting for a draft must not take it from the commit that makes it.
        await asyncio.wait({under_way}, timeout=ASKED_SECONDS)
        return None if id in self._asking else await asyncio.shield(under_way)

    async def _drafted_somehow(self, exchange: Exchange) -> ExchangeDraft:
        """A draft also where the database does not tell what it has."""
        try:
            return await self._drafted(exchange, asked_seconds=ASKED_SECONDS)
        except (StoreFault, TimeoutError):
            return await self._drafted_unasked(exchange)

    async def _segment_texts(self, entries: Sequence[Entry]) -> Texts:
        """What the memories say that stand where segments begin: by that their lines are known if they are forgotten
        before the entries are written. Empty where it cannot be read."""
        ids = [id for entry in entries if entry.act is Act.CUT for id in entry.memories]

        def work(connection: Connection) -> Texts:
            memories: list[Fact | Passage] = [
                *map(fact_of, ask_many(connection, "facts_get", ids)),
                *map(passage_of, ask_many(connection, "passages_get", ids)),
            ]
            return {memory.id: texts_of(memory) for memory in memories}

        return await self._told(work, {}) if ids else {}

    async def _take_back(self, draft: ExchangeDraft, entries: Sequence[Entry], texts: Texts) -> bool:
        """Write an exchange that was set aside, and what its session's ledger does not have; whether it was new."""

        def work(connection: Connection) -> WrittenExchange | None:
            session = draft.session
            if not draft.placed:
                if _is_committed(connection, draft.id):
                    return None
                session = _session_of(connection, draft)
            gone = _missing_memories(connection, draft, entries)
            lines = LineEraser(text for id in gone for text in texts.get(id, ()))
            shown = tuple(each for each in draft.receipt.shown if each.memory not in gone)
            forgotten = self._forgotten_persons.ask(connection, session.scope, draft.at)
            row = write_session(connection, session)
            self._forgotten_persons.refuse(forgotten)
            receipt = replace(draft.receipt, shown=shown, session=session.id)
            restored = replace(draft, session=session, receipt=receipt)
            written = self._append(connection, restored, row["number"], row["person"])
            for entry in entries:
                write_new_entry(connection, entry, _entry_without_forgotten(entry, gone, lines), row["number"])
            return replace(written, session=row) if written is not None else None

        written = None
        with suppress(PersonForgottenError):
            written = await self._db.write(work, anywhere=True)
        if written is not None:
            id = written.session["id"] if written.session is not None else draft.session.id
            self._remember(id, written)
        return written is not None


def _entry_without_forgotten(entry: Entry, gone: frozenset[str], lines: LineEraser) -> Entry:
    """An entry as `forget` would have left it: where a segment begins without the lines that tell of what is gone, if
    they can be found, and else empty."""
    if gone.isdisjoint(entry.memories):
        return entry
    left = lines.without(entry.text) if entry.act is Act.CUT else ""
    if left in ("", entry.text):
        return replace(entry, text="", memories=())
    return replace(entry, text=left, memories=tuple(id for id in entry.memories if id not in gone))


def _missing_memories(connection: Connection, draft: ExchangeDraft, entries: Sequence[Entry]) -> frozenset[str]:
    """The memories that an exchange was shown and that are there no more."""
    named = {each.memory for each in draft.receipt.shown}.union(*(entry.memories for entry in entries))
    tables = ("facts_get", "passages_get", "research_get")
    return frozenset(named - {row["id"] for table in tables for row in ask_many(connection, table, list(named))})


def _is_committed(connection: Connection, id: str) -> bool:
    return connection.execute(QUERIES["exchange_exists"], (id,)).fetchone() is not None


def _session_of(connection: Connection, draft: ExchangeDraft) -> Session:
    """The session of an exchange whose own could not be looked up: that of its key, or that which its request goes on
    with; where there is none, the one that was made up."""
    made_up = draft.session
    row = connection.execute(QUERIES["session_by_key"], (made_up.key,)).fetchone()
    if row is None and made_up.key.startswith(f"{draft.namespace}:trail:"):
        digests = split(draft.history)
        trail = links(digests[: len(digests) - draft.behind])
        found = by_trail(connection, draft.namespace, trail)
        if found is not None and found[0]["at_tip"] and found[1] < len(trail):
            row = found[0]
    if row is None:
        return made_up
    session = session_of(row)
    return replace(session, seen_at=max(session.seen_at, made_up.seen_at))


def _person_count(connection: Connection) -> int:
    places = (place_of(row["name"]) for row in connection.execute(QUERIES["owners_all"]))
    return len({place[0].user for place in places if place is not None} - {None})
