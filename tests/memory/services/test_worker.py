"""Workers give way to requests, but not for ever."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable
from types import SimpleNamespace
from typing import TypeVar

import pytest

from memory.services.worker import CROWDED_OWED, OWED, TRIES, FailedTries, JournalFollower, Pace, YieldToRequests

T = TypeVar("T")

FOR_EVER = 1e9


class Endless(JournalFollower):
    """Has two exchanges to work on, of which the first takes for ever."""

    def __init__(self) -> None:
        super().__init__(self.within_no_time, "testing")
        self.left = [1, 2]
        self.tried: list[int] = []
        self.done = asyncio.Event()

    async def within_no_time(
        self, awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str
    ) -> tuple[T, str]:
        try:
            async with asyncio.timeout(0):
                return await awaitable, ""
        except TimeoutError:
            self.wake()
            return default, "too long"

    async def _batch(self, pace: Pace) -> bool:
        async with self._tries.one(self.left[0]) as again:
            self.tried.append(self.left[0])
            if again and self.left[0] == 1:
                await asyncio.Event().wait()
            self.left.pop(0)
        if not self.left:
            self.done.set()
        return bool(self.left)


async def test_an_exchange_that_always_takes_too_long_holds_up_no_other() -> None:
    endless = Endless()
    endless.start()
    async with asyncio.timeout(10):
        await endless.done.wait()
    await endless.stop()
    assert endless.tried == [1] * (TRIES + 1) + [2]
    assert endless.passed_over == 1


class Hanging(JournalFollower):
    """Hangs between two exchanges, until it is let go."""

    def __init__(self) -> None:
        super().__init__(self.guarded, "testing")
        self.hung, self.free, self.rests = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.failing = False

    async def guarded(
        self, awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str
    ) -> tuple[T, str]:
        done = await awaitable
        return (default, "too long") if self.failing else (done, "")

    async def _batch(self, pace: Pace) -> bool:
        self.hung.set()
        await self.free.wait()
        self.free.clear()
        return False

    async def _settle(self, done: bool) -> None:
        # What comes after this is done before anybody else has a turn.
        self.rests.set()


async def test_a_worker_that_hangs_between_two_exchanges_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr("memory.services.worker.time", SimpleNamespace(monotonic=lambda: clock[0]))
    worker = Hanging()
    assert worker.still == 0.0
    worker.start()
    async with asyncio.timeout(10):
        await worker.hung.wait()
        clock[0] += 400.0
        assert worker.still == 400.0
        # To be given up and begun again is not to get anywhere.
        worker.failing = True
        await again(worker)
        clock[0] += 100.0
        assert worker.still == 500.0
        worker.failing = False
        await again(worker)
        assert worker.still == 0.0
    await worker.stop()


async def again(worker: Hanging) -> None:
    """Let go of what hangs; it is woken, and hangs again unless nothing failed."""
    worker.rests.clear()
    worker.free.set()
    await worker.rests.wait()
    if worker.failing:
        worker.hung.clear()
        worker.wake()
        await worker.hung.wait()


@pytest.mark.parametrize("short_of", [errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EIO])
async def test_what_the_machine_has_no_more_of_does_not_count_against_an_exchange(short_of: int) -> None:
    tries = FailedTries()
    for _ in range(3 * TRIES):
        with pytest.raises(OSError, match="no more"):
            async with tries.one(1):
                raise OSError(short_of, "no more")
    async with tries.one(1) as again:
        assert again
    assert tries.passed_over == 0


async def test_a_file_that_cannot_be_read_counts_against_the_exchange_that_names_it() -> None:
    tries = FailedTries()
    for _ in range(TRIES):
        with pytest.raises(OSError, match="too long"):
            async with tries.one(1):
                raise OSError(errno.ENAMETOOLONG, "too long")
    async with tries.one(1) as again:
        assert not again


async def test_to_be_stopped_amid_an_exchange_does_not_count_against_it() -> None:
    tries, begun = FailedTries(), asyncio.Event()

    async def work() -> None:
        async with tries.one(1):
            begun.set()
            await asyncio.Event().wait()

    for _ in range(2 * TRIES):
        begun.clear()
        task = asyncio.create_task(work())
        await begun.wait()
        task.cancel()
        await asyncio.wait({task})
    tries.begin()
    tries.late()
    async with tries.one(1) as again:
        assert again


async def test_a_lack_of_memory_does_not_count_against_an_exchange() -> None:
    tries = FailedTries()

    async def without_memory() -> None:
        async with tries.one(1) as again:
            if again:
                raise MemoryError

    for _ in range(TRIES + 1):
        with pytest.raises(MemoryError):
            await without_memory()
    assert tries.passed_over == 0


async def test_where_more_come_than_can_be_served_less_is_done_beside_them_but_not_nothing() -> None:
    sparing = YieldToRequests(lambda: True, old=0.0, crowded=lambda: True)
    sparing.begin()
    for _ in range(CROWDED_OWED - 1):
        sparing.owe()
    assert await sparing.give_way()
    sparing.owe()
    assert not await sparing.give_way()


async def test_nobody_is_spared_who_does_not_come() -> None:
    sparing = YieldToRequests(lambda: False, FOR_EVER)
    sparing.begin()
    assert await sparing.give_way()


async def test_what_waits_too_long_is_done_though_requests_come() -> None:
    sparing = YieldToRequests(lambda: True, old=0.0)
    sparing.begin()
    sparing.owe()
    assert not await sparing.give_way()


async def test_too_much_is_worked_off_though_requests_come_until_it_is_paid() -> None:
    busy = True
    sparing = YieldToRequests(lambda: busy, FOR_EVER)
    sparing.begin()
    for _ in range(OWED):
        sparing.owe()
    assert not await sparing.give_way()
    busy = False
    sparing.paid(1)
    assert await sparing.give_way()
    sparing.paid()
    sparing.paid(3)
    assert await sparing.give_way()
