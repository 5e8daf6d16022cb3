"""What is used of a day's quotas is counted for all servers together, and nothing where none is set."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest

from memory.ports import StoreError
from memory.scope import Scope
from memory.services import quota_use
from memory.services.lessons.quotas import Quotas
from memory.services.quota_use import QuotaUse
from memory.settings import RECALL_TOKENS, REQUESTS, Quota, QuotaSettings

T = TypeVar("T")

ADA, BOB, EVE = Scope("acme", "ada", "loom"), Scope("acme", "bob"), Scope(None, "eve")
NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


class Table:
    """The journal's counts, of all servers."""

    def __init__(self) -> None:
        self.used: Counter[tuple[str, str, str]] = Counter()
        self.asked = 0
        self.fails = False
        self.answers_writes: Exception | None = None
        self.held: asyncio.Event | None = None

    async def quota_uses(self, day: str, owners: Sequence[str]) -> dict[tuple[str, str], int]:
        self.asked += 1
        if self.fails:
            raise StoreError
        return {(owner, sort): n for (on, owner, sort), n in self.used.items() if on == day and owner in owners}

    async def add_quota_uses(self, day: str, used: Mapping[tuple[str, str], int]) -> dict[tuple[str, str], int]:
        if self.fails:
            raise StoreError
        for (owner, sort), more in used.items():
            self.used[day, owner, sort] += more
        if self.held is not None:
            self.held.set()
            await asyncio.Event().wait()
        if self.answers_writes is not None:
            raise self.answers_writes
        return {(owner, sort): self.used[day, owner, sort] for owner, sort in used}

    async def texts_below(self, owners: Sequence[str], beginnings: Sequence[str]) -> int:
        return 7


async def guard(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    try:
        return await awaitable, ""
    except (StoreError, TimeoutError):
        return default, "away"


class CutOffError(StoreError):
    may_be_done = True


class Clock:
    def __init__(self) -> None:
        self.now = NOON


def server(table: Table, clock: Clock | None = None, **quotas: QuotaSettings) -> QuotaUse:
    settings = {name.replace("others", "*"): each for name, each in quotas.items()}
    at = clock or Clock()
    return QuotaUse(settings, table, Quotas(settings, table), guard, lambda: at.now)


async def left(use: QuotaUse, scope: Scope, sort: str = REQUESTS) -> int | None:
    found = await use.left(scope, sort)
    return found.left if found is not None else None


async def test_a_persons_own_quota_goes_before_everybodys_and_the_organisation_has_one_for_all() -> None:
    acme = QuotaSettings(requests_a_day=10, requests_a_day_per_user=4, users={"bob": Quota(requests_a_day=8)})
    use = server(Table(), acme=acme, others=QuotaSettings(requests_a_day_per_user=1))
    assert [await left(use, each) for each in (ADA, BOB, EVE, Scope())] == [4, 8, 1, None]
    use.count(ADA, REQUESTS, 4)
    use.count(BOB, REQUESTS, 4)
    assert [await left(use, each) for each in (ADA, BOB, EVE)] == [0, 2, 1]
    found = await use.left(BOB, REQUESTS)
    assert found is not None and found.setting == "memory.quotas.acme.requests_a_day" and found.seconds == 12 * 3600
    assert await left(use, ADA, RECALL_TOKENS) is None
    await use.settle()


async def test_servers_count_together_and_a_new_one_goes_on_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota_use, "WRITE_SECONDS", 0)
    table, quota = Table(), QuotaSettings(requests_a_day_per_user=10)
    first, second = (server(table, acme=quota) for _ in range(2))
    for use in (first, second):
        assert await left(use, ADA) == 10
        use.count(ADA, REQUESTS, 3)
    while sum(table.used.values()) < 6:  # noqa: ASYNC110 (it is written beside)
        await asyncio.sleep(0)
    second.count(ADA, REQUESTS, 1)
    await second.settle()
    assert await left(second, ADA) == 3
    assert await left(server(table, acme=quota), ADA) == 3
    await first.settle()
    assert sum(table.used.values()) == 7


async def test_what_was_not_written_is_kept_and_nobody_is_refused_for_it() -> None:
    table = Table()
    use = server(table, acme=QuotaSettings(requests_a_day_per_user=2))
    table.fails = True
    assert await left(use, ADA) == 2
    use.count(ADA, REQUESTS, 1)
    await use.settle()
    assert await left(use, ADA) == 1
    table.fails = False
    await use.settle()
    assert sum(table.used.values()) == 1 and await left(use, ADA) == 1


@pytest.mark.parametrize("answer", [TimeoutError(), CutOffError()])
async def test_what_may_be_written_is_not_written_again(answer: Exception) -> None:
    table = Table()
    use = server(table, acme=QuotaSettings(requests_a_day_per_user=9))
    assert await left(use, ADA) == 9
    use.count(ADA, REQUESTS, 2)
    table.answers_writes = answer
    await use.settle()
    assert await left(use, ADA) == 7
    table.answers_writes = None
    use.count(ADA, REQUESTS, 1)
    await use.settle()
    assert sum(table.used.values()) == 3 and await left(use, ADA) == 6


async def test_what_is_being_written_when_it_ends_is_not_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota_use, "WRITE_SECONDS", 0)
    table = Table()
    use = server(table, acme=QuotaSettings(requests_a_day_per_user=9))
    table.held = asyncio.Event()
    use.count(ADA, REQUESTS, 2)
    await table.held.wait()
    table.held = None
    use.count(ADA, REQUESTS, 1)
    await use.settle()
    assert sum(table.used.values()) == 3


async def test_another_day_begins_anew() -> None:
    clock = Clock()
    use = server(Table(), clock, acme=QuotaSettings(requests_a_day_per_user=2))
    use.count(ADA, REQUESTS, 2)
    assert await left(use, ADA) == 0
    clock.now += timedelta(hours=12)
    assert await left(use, ADA) == 2
    await use.settle()


async def test_what_was_not_used_is_given_back_on_its_own_day_only() -> None:
    table, clock = Table(), Clock()
    use = server(table, clock, acme=QuotaSettings(requests_a_day=9, requests_a_day_per_user=2))
    use.count(ADA, REQUESTS, 2)
    use.give_back(ADA, REQUESTS, 1)
    assert await left(use, ADA) == 1
    await use.settle()
    use.give_back(ADA, REQUESTS, 1)
    await use.settle()
    assert await left(use, ADA) == 2 and not any(table.used.values())
    use.count(ADA, REQUESTS, 1)
    clock.now += timedelta(hours=12)
    use.give_back(ADA, REQUESTS, 1)
    assert await left(use, ADA) == 2
    await use.settle()
    assert not any(table.used.values())


async def test_where_no_quota_is_set_nothing_is_asked() -> None:
    table = Table()
    use = server(table, acme=QuotaSettings(memories=9))
    assert await left(use, ADA) is None
    use.count(ADA, REQUESTS, 1)
    assert server(table).learns_nothing(ADA) == "" and use.learns_nothing(ADA) == ""
    await use.settle()
    assert not table.asked and not table.used


async def test_who_has_as_many_memories_as_may_be_is_told_after_a_look_beside() -> None:
    use = server(Table(), acme=QuotaSettings(memories=100, users={"ada": Quota(memories=7)}))
    assert use.learns_nothing(ADA) == use.learns_nothing(BOB) == ""
    while use._beside:  # noqa: ASYNC110 (it is looked beside)
        await asyncio.sleep(0)
    assert "nothing more is learnt" in use.learns_nothing(ADA) and use.learns_nothing(BOB) == ""
