"""What the journal cannot take at once is kept, and written as soon as it can, though nothing else happens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import pytest

from memory.conversation import Conversation, Form, Message, Reply, Role, Text
from memory.edits import Entry
from memory.ports import Journal, StoreError
from memory.scope import Scope
from memory.services import journaling
from memory.services.journaling import ExchangeJournal
from memory.session import Arrival, Exchange, Prepared, Receipt, RequestKind, Session

T = TypeVar("T")
AT = datetime(2026, 3, 4, tzinfo=UTC)


class LockedJournal:
    """A journal that takes nothing until it is opened, and sets aside as much as there is ``room`` for."""

    def __init__(self, room: int = 0) -> None:
        self.open = False
        self.room = room
        self.written: list[Exchange] = []
        self.kept: list[tuple[Exchange, Sequence[Entry]]] = []
        self.broken = 0

    @property
    def aside(self) -> int:
        return len(self.kept)

    async def set_aside(self, exchange: Exchange, entries: Sequence[Entry] = ()) -> None:
        if len(self.kept) >= self.room:
            raise StoreError("no room")
        self.kept.append((exchange, entries))

    async def take_back(self, but: Collection[str] = ()) -> int:
        if not self.open:
            raise StoreError("locked")
        taken = [exchange for exchange, _ in self.kept if exchange.id not in but]
        self.kept = [kept for kept in self.kept if kept[0].id in but]
        self.written += taken
        return len(taken)

    async def commit(self, exchange: Exchange) -> None:
        if not self.open:
            raise StoreError("locked")
        self.written.append(exchange)
        self.kept = [kept for kept in self.kept if kept[0].id != exchange.id]


async def guard(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    try:
        return await awaitable, ""
    except (StoreError, journaling.DiskNearlyFull) as error:
        return default, str(error)


async def place(conversation: Conversation, arrival: Arrival) -> Session:
    return Session("found", "k", arrival.scope, arrival.runtime, AT, AT, arrival.kind)


def prepared(session: Session | None, *, unplaced: bool = False, id: str = "r") -> Prepared:
    arrival = Arrival(Scope(None, "ada", "loom"), RequestKind.MAIN, "test", "n", AT)
    return Prepared(session, arrival, (), Receipt(id, AT, "", RequestKind.MAIN, "untouched"), unplaced)


CONVERSATION = Conversation("openai-chat", "m", ())


async def test_what_is_kept_is_written_though_no_further_exchange_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journaling, "RETRY_SECONDS", 0.0)
    journal, told = LockedJournal(), asyncio.Event()
    notes = ExchangeJournal(cast(Journal, journal), guard, told.set, place)
    await notes.record(prepared(None, unplaced=True), CONVERSATION, Reply(), 200)
    assert (notes.pending, journal.written) == (1, [])
    journal.open = True
    await asyncio.wait_for(told.wait(), 5)
    assert notes.pending == 0
    assert [(each.session.id, each.receipt.session) for each in journal.written] == [("found", "found")]


async def test_stopping_writes_what_is_kept_once_more() -> None:
    journal = LockedJournal()
    notes = ExchangeJournal(cast(Journal, journal), guard, lambda: None, place)
    await notes.record(prepared(None, unplaced=True), CONVERSATION, Reply(), 200)
    journal.open = True
    await notes.stop()
    assert (notes.pending, len(journal.written)) == (0, 1)


async def test_where_memory_takes_no_part_nothing_is_journaled() -> None:
    journal: Any = LockedJournal()
    notes = ExchangeJournal(journal, guard, lambda: None, place)
    await notes.record(prepared(None), CONVERSATION, Reply(), 200)
    assert (notes.pending, journal.written) == (0, [])


async def test_what_is_kept_is_bounded_by_its_bytes_and_the_oldest_is_lost_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(journaling, "MAX_PENDING_BYTES", 30_000)
    journal = LockedJournal()
    notes = ExchangeJournal(cast(Journal, journal), guard, lambda: None, place)
    for name, size in (("a", 12_000), ("b", 12_000), ("c", 12_000), ("d", 50_000), ("e", 10)):
        message = Message(Role.USER, (Text(name * size),), name.encode())
        await notes.record(prepared(None, unplaced=True), Conversation("openai-chat", "m", (message,)), Reply(), 200)
        if name == "c":
            assert (notes.pending, notes.lost) == (2, 1)
        if name == "d":
            assert (notes.pending, notes.lost) == (1, 3)
    assert (notes.pending, notes.lost) == (1, 4)
    journal.open = True
    await notes.stop()
    assert [each.conversation.messages[0].digest for each in journal.written] == [b"e"]
    assert notes.pending == 0


async def test_what_the_journal_cannot_take_is_set_aside_with_its_sessions_decisions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(journaling, "RETRY_SECONDS", 0.0)
    journal, told = LockedJournal(room=1), asyncio.Event()
    entry = Entry(b"d", 0, "told", Form.PART, "recall")

    def unwritten(session: str) -> Sequence[Entry]:
        return (entry,) if session == "found" else ()

    notes = ExchangeJournal(cast(Journal, journal), guard, told.set, place, unwritten=unwritten)
    await notes.record(prepared(None, unplaced=True), CONVERSATION, Reply(), 200)
    [(exchange, entries)] = journal.kept
    assert (exchange.session.id, exchange.receipt.session, entries) == ("found", "found", (entry,))
    assert (notes.pending, notes.lost) == (1, 0)
    await notes.record(prepared(None, unplaced=True, id="r2"), CONVERSATION, Reply(), 200)
    assert notes.pending == 2, "what cannot be set aside is kept here"
    journal.open = True
    while notes.pending:
        await asyncio.wait_for(told.wait(), 5)
        told.clear()
    await notes.stop()
    assert (notes.pending, notes.lost, len(journal.written)) == (0, 0, 2)


def made_up(conversation: Conversation, arrival: Arrival) -> tuple[Session, Sequence[Entry]]:
    return Session("made up", "k", arrival.scope, arrival.runtime, AT, AT, arrival.kind), ()


async def test_what_is_set_aside_unplaced_counts_once_and_is_written_with_its_own_session() -> None:
    journal = LockedJournal(room=1)
    notes = ExchangeJournal(cast(Journal, journal), guard, lambda: None, not_yet(journal), make_up=made_up)
    await notes.record(prepared(None, unplaced=True), CONVERSATION, Reply(), 200)
    assert [(exchange.session.id, exchange.placed) for exchange, _ in journal.kept] == [("made up", False)]
    assert notes.pending == 1
    journal.open = True
    await notes.stop()
    assert [each.session.id for each in journal.written] == ["found"]
    assert notes.pending == 0


async def test_what_cannot_even_be_set_aside_unplaced_waits_is_retried_and_counts_when_it_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(journaling, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(journaling, "MAX_PENDING", 1)
    journal, told = LockedJournal(), asyncio.Event()
    notes = ExchangeJournal(cast(Journal, journal), guard, told.set, not_yet(journal), make_up=made_up)
    await notes.record(prepared(None, unplaced=True), CONVERSATION, Reply(), 200)
    assert (notes.pending, notes.lost) == (1, 0)
    await notes.record(prepared(None, unplaced=True), CONVERSATION, Reply(), 200)
    assert (notes.pending, notes.lost) == (1, 1)
    journal.open = True
    await asyncio.wait_for(told.wait(), 5)
    assert [each.session.id for each in journal.written] == ["found"]
    assert notes.pending == 0


async def test_a_file_that_was_written_after_all_is_not_taken_back_with_the_session_that_was_made_up() -> None:
    class LateJournal(LockedJournal):
        async def set_aside(self, exchange: Exchange, entries: Sequence[Entry] = ()) -> None:
            await super().set_aside(exchange, entries)
            raise StoreError("not in time")

    journal = LateJournal(room=1)
    notes = ExchangeJournal(cast(Journal, journal), guard, lambda: None, not_yet(journal), make_up=made_up)
    await notes.record(prepared(None, unplaced=True), CONVERSATION, Reply(), 200)
    assert [exchange.session.id for exchange, _ in journal.kept] == ["made up"]
    journal.open = True
    await notes.stop()
    assert [each.session.id for each in journal.written] == ["found"]
    assert notes.pending == 0


def not_yet(journal: LockedJournal) -> Callable[[Conversation, Arrival], Awaitable[Session]]:
    """Where no session can be found while the journal is locked."""

    async def find(conversation: Conversation, arrival: Arrival) -> Session:
        if not journal.open:
            raise StoreError("locked")
        return await place(conversation, arrival)

    return find


class SlowJournal(LockedJournal):
    """One whose commits and files take until they are let go on."""

    def __init__(self) -> None:
        super().__init__(room=1)
        self.open = True
        self.commits, self.files = asyncio.Event(), asyncio.Event()

    async def commit(self, exchange: Exchange) -> None:
        await self.commits.wait()
        await super().commit(exchange)

    async def set_aside(self, exchange: Exchange, entries: Sequence[Entry] = ()) -> None:
        await self.files.wait()
        await super().set_aside(exchange, entries)


async def test_what_was_journaled_before_its_file_was_written_does_not_stay_aside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(journaling, "RETRY_SECONDS", 0.0)
    journal, told = SlowJournal(), asyncio.Event()
    notes = ExchangeJournal(cast(Journal, journal), guard, told.set, place)
    noting = asyncio.create_task(notes.record(prepared(None, unplaced=True), CONVERSATION, Reply(), 200))
    await asyncio.sleep(0)
    aside = asyncio.create_task(notes.set_aside("r"))
    await asyncio.sleep(0)
    journal.commits.set()
    await noting
    told.clear()
    journal.files.set()
    assert await aside and notes.pending == 1
    await asyncio.wait_for(told.wait(), 5)
    await notes.stop()
    assert (notes.pending, notes.lost) == (0, 0)


async def test_what_an_earlier_process_set_aside_is_taken_back_when_the_journal_opens_and_what_cannot_be_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(journaling, "RETRY_SECONDS", 0.0)
    journal, told = LockedJournal(room=1), asyncio.Event()
    plan = prepared(await place(CONVERSATION, prepared(None).arrival))
    assert plan.session is not None
    await journal.set_aside(Exchange("r", plan.session, plan.arrival, CONVERSATION, Reply(), 200, plan.receipt))
    journal.broken = 2
    notes = ExchangeJournal(cast(Journal, journal), guard, told.set, place)
    await notes.open()
    assert (notes.pending, notes.lost, journal.written) == (1, 0, [])
    journal.open = True
    await asyncio.wait_for(told.wait(), 5)
    assert (notes.pending, notes.lost, notes.damaged, len(journal.written)) == (0, 0, 2, 1)


async def test_nothing_is_taken_back_while_there_is_no_room_on_the_disk() -> None:
    journal = LockedJournal(room=1)
    journal.open = True
    notes = ExchangeJournal(cast(Journal, journal), guard, lambda: None, place, room=lambda: False)
    await notes.record(prepared(None, unplaced=True), CONVERSATION, Reply(), 200)
    await notes.write_pending()
    assert (notes.pending, journal.written) == (1, [])
    await notes.stop()
