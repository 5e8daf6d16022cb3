"""Issued keys are looked up beside the requests, which wait for the journal once at most."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from memory.client_key import ClientKey, KeysAndMembers
from memory.member import UNTOLD, Member, MemberRole
from memory.session import Mode
from proxy.auth.client_keys import FRESH_SECONDS, HOLD_SECONDS, SURE_SECONDS, ClientKeys, new_client_key
from proxy.auth.tokens import hash_of

NOW = datetime(2026, 3, 4, tzinfo=UTC)
KEY = new_client_key()
ROW = ClientKey("a", hash_of(KEY), "ann", NOW, "owner", read_only=True, expires_at=NOW + timedelta(days=1))


@dataclass
class Journal:
    """One that answers, fails (``rows`` is None), or is silent until ``answers`` is set."""

    rows: list[ClientKey] | None = field(default_factory=lambda: [ROW])
    members: list[Member] = field(default_factory=list)
    asked: int = 0
    answers: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self) -> KeysAndMembers | None:
        self.asked += 1
        rows = self.rows
        await self.answers.wait()
        return None if rows is None else KeysAndMembers(tuple(rows), tuple(self.members))


class Server:
    """What a server has of keys, with a clock that is set by hand."""

    def __init__(self, patience: float = 30.0) -> None:
        self.time = 0.0
        self.today = NOW
        self.slept: list[float] = []
        self.retry = asyncio.Event()
        self.journal = Journal()
        self.journal.answers.set()
        self.keys = ClientKeys(lambda: self.today, lambda: self.time, self._sleep, patience)
        self.tasks: list[asyncio.Task[object]] = []

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.retry.clear()
        await self.retry.wait()

    async def look(self, text: str = KEY) -> None:
        await self.keys.look(text, self.journal, self._run)

    def _run(self, work: object) -> asyncio.Task[object]:
        self.tasks.append(asyncio.ensure_future(work))  # type: ignore[call-overload]
        return self.tasks[-1]

    async def settled(self) -> None:
        """Whatever can go on has gone on."""
        for _ in range(20):
            await asyncio.sleep(0)


async def test_many_calls_look_a_key_up_once() -> None:
    server = Server()
    assert server.keys.of(KEY) is None
    await asyncio.gather(*(server.look() for _ in range(9)))
    found = server.keys.of(KEY)
    assert server.journal.asked == 1 and found is not None and (found.user, found.memory) == ("ann", Mode.READ_ONLY)
    assert server.keys.of("palimpsest-client-" + "0" * 40) is None and server.keys.of(ROW.hash) is None
    server.today += timedelta(days=1)
    assert server.keys.of(KEY) is None


async def test_a_key_that_is_known_is_waited_for_only_where_a_second_has_passed() -> None:
    server = Server()
    await server.look()
    server.journal.rows = []
    server.time = FRESH_SECONDS
    server.journal.answers.clear()
    await server.look()
    await server.settled()
    assert server.keys.of(KEY) is not None and server.journal.asked == 2
    server.time = SURE_SECONDS
    waiting = asyncio.ensure_future(server.look())
    server.journal.answers.set()
    await waiting
    assert server.keys.of(KEY) is None, "it was revoked elsewhere"


async def test_a_silent_journal_is_waited_for_in_the_first_moment_of_a_refresh_alone() -> None:
    server = Server(patience=0.01)
    server.journal.answers.clear()
    await asyncio.gather(*(server.look(new_client_key()) for _ in range(20)))
    server.time = 1.0
    async with asyncio.timeout(30):
        for _ in range(50):
            await server.look(new_client_key())
    assert server.journal.asked == 1 and len(server.tasks) == 1


async def test_after_a_failure_the_journal_is_asked_ever_less_and_nobody_waits() -> None:
    server = Server()
    server.journal.rows = None
    for _ in range(7):
        await server.look(new_client_key())
        await server.settled()
        server.retry.set()
        await server.settled()
    assert server.slept[:6] == [0.5, 1.0, 2.0, 5.0, 10.0, 10.0] and len(server.tasks) == 1
    server.journal.rows = [ROW]
    server.retry.set()
    await server.settled()
    assert server.keys.of(KEY) is not None and server.keys.fault == "" and server.tasks[0].done()


async def test_what_was_known_holds_for_a_minute_without_the_journal() -> None:
    server = Server()
    await server.look()
    server.journal.rows = None
    server.time = HOLD_SECONDS
    await server.look()
    assert server.keys.of(KEY) is not None and not server.keys.untold(KEY)
    assert "cannot be looked up" in server.keys.fault
    server.time = HOLD_SECONDS + 1
    await server.look()
    assert server.keys.of(KEY) is None and server.keys.untold(KEY) and server.keys.was_known(KEY)
    assert not server.keys.was_known(new_client_key()) and not server.keys.untold("sk-other")
    assert server.keys.fault.endswith("they open no memory")
    server.journal.rows = [ROW]
    server.retry.set()
    await server.settled()
    assert server.keys.of(KEY) is not None and not server.keys.untold(KEY)


async def test_a_caller_that_leaves_takes_no_refresh_with_it() -> None:
    server = Server()
    server.journal.answers.clear()
    caller = asyncio.ensure_future(server.look())
    await server.settled()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    server.journal.answers.set()
    await server.settled()
    assert server.keys.of(KEY) is not None and server.journal.asked == 1


async def test_what_changes_here_holds_at_once_and_over_what_was_read_before() -> None:
    server = Server()
    await server.look()
    server.time = FRESH_SECONDS
    server.journal.answers.clear()
    await server.look()
    await server.settled()
    server.keys.revoked("a")
    other = new_client_key()
    server.keys.issued(row := replace(ROW, name="b", hash=hash_of(other)))
    assert server.keys.of(KEY) is None and server.keys.of(other) is not None
    server.journal.rows = [row]
    server.journal.answers.set()
    await server.settled()
    assert server.keys.of(KEY) is None and server.keys.of(other) is not None and server.journal.asked == 3


async def test_a_key_that_is_not_known_is_nobodys_only_while_the_journal_answers() -> None:
    server = Server()
    other = new_client_key()
    assert server.keys.unresolved(other) and not server.keys.unresolved("sk-other")
    await server.look()
    assert not server.keys.unresolved(other) and not server.keys.unresolved(KEY)
    server.time = SURE_SECONDS + 0.1
    assert server.keys.unresolved(other) and not server.keys.unresolved(KEY)


async def test_who_is_a_member_holds_as_it_was_told_last_however_long_ago() -> None:
    server = Server()
    assert server.keys.membership("acme", "ann") == UNTOLD
    server.journal.members = [Member("acme", "ann", MemberRole.READ_ONLY, NOW, "owner")]
    await server.look("")
    ann = server.keys.membership("acme", "ann")
    assert ann.member is not None and ann.belongs
    assert not server.keys.membership("acme", "bob").belongs and server.keys.membership("globex", "bob").belongs
    server.keys.member_changed(Member("acme", "bob", MemberRole.MEMBER, NOW, "owner"))
    server.keys.member_removed("acme", "ann")
    assert server.keys.membership("acme", "bob").belongs and not server.keys.membership("acme", "ann").belongs
    server.journal.rows = None
    server.time += HOLD_SECONDS + 1
    await server.look("")
    assert server.keys.membership("acme", "bob").belongs
    server.keys.close()
