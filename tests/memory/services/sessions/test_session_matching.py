"""Which session a request belongs to, when many ask at once."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from memory.conversation import Conversation, Form, Message, Reply, Role, Text, digest
from memory.edits import Act, Entry
from memory.ports import Journal, StoreError
from memory.scope import Scope
from memory.services.sessions import live_sessions
from memory.services.sessions.session_matching import SessionMatcher
from memory.session import Arrival, Exchange, Receipt, RequestKind, Session

AT = datetime(2026, 3, 4, tzinfo=UTC)


class SlowJournal:
    """A journal that knows nothing, and answers about what it is told to hold back only when it is let go."""

    def __init__(self, held: str = "") -> None:
        self.held = held
        self.go_on = asyncio.Event()
        self.asked = 0

    async def session_by_key(self, key: str) -> Session | None:
        self.asked += 1
        if key.endswith(self.held or "\0"):
            await self.go_on.wait()
        return None

    async def session_by_trail(self, namespace: str, trail: Sequence[bytes]) -> tuple[Session, int, bool] | None:
        self.asked += 1
        if self.held:
            await self.go_on.wait()
        return None

    async def ledger(self, session: str) -> tuple[Entry, ...]:
        return ()


def said(*texts: str) -> Conversation:
    """An agent's system prompt, then a person and a model in turn."""
    roles = (Role.USER, Role.ASSISTANT)
    messages = [message(Role.SYSTEM, "You are an agent.")]
    messages += [message(roles[index % 2], text) for index, text in enumerate(texts)]
    return Conversation("openai-chat", "m", tuple(messages))


def message(role: Role, text: str) -> Message:
    parts = (Text(text),)
    return Message(role, parts, digest(role, parts), text if role is Role.USER else "")


def arrival(key: str | None = None) -> Arrival:
    return Arrival(Scope(None, "ada", "loom"), RequestKind.MAIN, "test", "n", AT, session_key=key)


def sessions_of(journal: SlowJournal) -> SessionMatcher:
    ids = itertools.count()
    return SessionMatcher(cast(Journal, journal), lambda: f"id{next(ids)}")


async def test_a_session_does_not_wait_for_another_one_that_is_still_looked_for() -> None:
    journal = SlowJournal("s1")
    sessions = sessions_of(journal)
    first = asyncio.create_task(sessions.find(said("hello"), arrival("s1")))
    await asyncio.sleep(0)
    journal.held = ""
    other = await asyncio.wait_for(sessions.find(said("hello"), arrival("s2")), 5)
    assert not first.done()
    journal.go_on.set()
    assert (await first).session.id != other.session.id


async def test_sessions_without_a_key_wait_for_each_other_only_where_a_person_begins_alike() -> None:
    journal = SlowJournal("every")
    sessions = sessions_of(journal)
    first, again = (asyncio.create_task(sessions.find(said("hello"), arrival())) for _ in range(2))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert journal.asked == 1
    other = asyncio.create_task(sessions.find(said("what is new?"), arrival()))
    await asyncio.sleep(0)
    assert journal.asked == 2
    journal.go_on.set()
    assert (await first).session.id == (await again).session.id != (await other).session.id
    assert journal.asked == 2


async def test_two_first_requests_of_one_key_find_one_session() -> None:
    journal = SlowJournal("s1")
    sessions = sessions_of(journal)
    both = [asyncio.create_task(sessions.find(said(text), arrival("s1"))) for text in ("hello", "hi")]
    await asyncio.sleep(0)
    journal.go_on.set()
    assert len({(await each).session.id for each in both}) == 1


async def test_what_this_process_remembers_is_found_without_the_journal() -> None:
    journal = SlowJournal()
    sessions = sessions_of(journal)
    keyed = await sessions.find(said("hello"), arrival("s1"))
    trailed = await sessions.find(said("hi"), arrival())
    asked = journal.asked
    assert await sessions.find(said("hello", "Yes?", "go on"), arrival("s1")) is keyed
    assert await sessions.find(said("hi", "Yes?", "go on"), arrival()) is trailed
    assert journal.asked == asked


class FailingJournal(SlowJournal):
    """A journal that takes its time over the first write of a ledger, and fails at it unless it ``works``."""

    def __init__(self, works: bool = False) -> None:
        super().__init__()
        self.works = works
        self.written: list[str] = []
        self.begun = asyncio.Event()

    async def enter(self, session: Session, entries: Sequence[Entry], messages: Sequence[Message] = ()) -> None:
        if not self.begun.is_set():
            self.begun.set()
            await self.go_on.wait()
            if not self.works:
                raise StoreError("the disk is full")
        self.written += [entry.text for entry in entries]


@pytest.mark.parametrize("works", [False, True])
async def test_what_was_decided_during_a_write_is_written_later_whether_that_fails_or_not(works: bool) -> None:
    journal = FailingJournal(works)
    sessions = SessionMatcher(cast(Journal, journal), lambda: "id")
    live = await sessions.find(said("hello"), arrival("s1"))
    live.decide([Entry(b"0" * 16, 0, "first", Form.SUFFIX, "shed", act=Act.REPLACE)])
    first = asyncio.create_task(sessions.ledgers.save(live))
    await journal.begun.wait()
    live.decide([Entry(b"0" * 16, 0, "second", Form.SUFFIX, "shed", act=Act.REPLACE)])
    second = asyncio.create_task(sessions.ledgers.save_by_id("id"))
    await asyncio.sleep(0)
    journal.go_on.set()
    assert isinstance((await asyncio.gather(first, second, return_exceptions=True))[0], StoreError) is not works
    assert journal.written == ["first", "second"] and not live.ahead


async def test_a_ledger_is_not_taken_for_written_as_long_as_its_write_can_fail() -> None:
    journal = FailingJournal()
    sessions = SessionMatcher(cast(Journal, journal), lambda: "id")
    live = await sessions.find(said("hello"), arrival("s1"))
    live.decide([Entry(b"0" * 16, 0, "first", Form.SUFFIX, "shed", act=Act.REPLACE)])
    first = asyncio.create_task(sessions.ledgers.save(live))
    await journal.begun.wait()
    committing = asyncio.create_task(sessions.ledgers.save_by_id("id"))
    await asyncio.sleep(0)
    assert not committing.done()
    journal.go_on.set()
    await asyncio.gather(first, committing, return_exceptions=True)
    assert journal.written == ["first"]


async def test_an_exchange_takes_along_what_the_journal_does_not_have_of_its_ledger() -> None:
    journal = CommittingJournal()
    sessions = SessionMatcher(cast(Journal, journal), lambda: "id")
    live = await sessions.find(said("hello"), arrival("s1"))
    told = Exchange("e", live.session, arrival("s1"), said("hello"), Reply(), 200, RECEIPT)
    live.decide([Entry(b"0" * 16, 0, "first", Form.SUFFIX, "shed", act=Act.REPLACE)])
    kept = message(Role.ASSISTANT, "kept")
    live.unkept[kept.digest] = kept
    journal.works = False
    with pytest.raises(StoreError):
        await sessions.ledgers.commit(told)
    assert live.ahead and not live.known
    journal.works = True
    await sessions.ledgers.commit(told)
    assert journal.committed == [(["first"], 1)] and not live.ahead and live.known
    await sessions.ledgers.commit(told)
    assert journal.committed[1:] == [([], 0)]


RECEIPT = Receipt("e", AT, "id", RequestKind.MAIN, "")


class CommittingJournal(SlowJournal):
    """Takes exchanges while it ``works``."""

    works = True

    def __init__(self) -> None:
        super().__init__()
        self.committed: list[tuple[list[str], int]] = []

    async def commit(self, exchange: Exchange, entries: Sequence[Entry] = (), messages: Sequence[Message] = ()) -> None:
        if not self.works:
            raise StoreError("the disk is full")
        self.committed.append(([entry.text for entry in entries], len(messages)))


@pytest.mark.parametrize("doing", ["writing", "deciding"])
async def test_a_session_that_something_is_still_done_with_stays_however_long_it_is_quiet(
    monkeypatch: pytest.MonkeyPatch, doing: str
) -> None:
    monkeypatch.setattr(live_sessions, "MAX_LEDGER_BYTES", 25_000)
    sessions, found = sessions_of(SlowJournal()), []
    for minute in (0, 1, 20):
        came = replace(arrival(f"s{minute}"), at=AT + timedelta(minutes=minute))
        found.append(live := await sessions.find(said(f"hello {minute}"), came))
        if minute == 0:
            await (live.saving if doing == "writing" else live.lock).acquire()
        live.ledger.write(Entry(live.end[-1], 0, "x" * 10_000, Form.PART, "recall"))
        await sessions.find(said(f"hello {minute}"), came)
    assert [sessions.get(each.session.id) is each for each in found] == [True, False, True]


async def test_quiet_sessions_leave_when_their_ledgers_take_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_sessions, "MAX_LEDGER_BYTES", 25_000)
    sessions = sessions_of(SlowJournal())

    async def asked(name: str, minute: int, text: str = "") -> str:
        at = AT + timedelta(minutes=minute)
        live = await sessions.find(said(name), replace(arrival(name), at=at))
        live.ledger.write(Entry(live.end[-1], 0, text, Form.PART, "recall"))
        await sessions.find(said(name), replace(arrival(name), at=at))
        return live.session.id

    first = await asked("s0", 0, "x" * 10_000)
    busy = await asked("s1", 0, "x" * 10_000)
    undecided = sessions.get(busy)
    assert undecided is not None
    undecided.unwritten.append(Entry(b"d", 0, "", Form.PART, "recall"))
    second = await asked("s2", 4, "x" * 10_000)
    assert all(map(sessions.get, (first, busy, second))), "a reply may still be under way"
    third = await asked("s3", 6)
    assert [bool(sessions.get(each)) for each in (first, busy, second, third)] == [False, True, True, True]
    undecided.unwritten.clear()
    fourth = await asked("s4", 12, "x" * 9_000)
    assert [bool(sessions.get(each)) for each in (busy, second, third, fourth)] == [False, True, True, True]
    again = await asked("s0", 13)
    assert again != first, "the journal did not know it"
