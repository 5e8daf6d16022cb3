"""Workers give way to requests, but not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from memory.day.worker import OWED, TRIES, Following, Pace, Sparing, Tries

T = TypeVar("T")

FOR_EVER = 1e9


class Endless(Following):
    """Has two exchanges to work on, of which the first takes for ever."""

    def __init__(self) -> None:
        super().__init__(self.within_no_time, "testing")
        self.left = [1, 2]
        self.tried: list[int] = []
        self.done = asyncio.Event()

    async def within_no_time(
        self, awaitable: Awaitable[T], *, otherwise: T, within: float, doing: str
    ) -> tuple[T, str]:
        try:
            async with asyncio.timeout(0):
                return await awaitable, ""
        except TimeoutError:
            self.wake()
            return otherwise, "too long"

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


async def test_to_be_stopped_amid_an_exchange_does_not_count_against_it() -> None:
    tries, begun = Tries(), asyncio.Event()

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


async def test_nobody_is_spared_who_does_not_come() -> None:
    sparing = Sparing(lambda: False, FOR_EVER)
    sparing.begin()
    assert await sparing.give_way()


async def test_what_waits_too_long_is_done_though_requests_come() -> None:
    sparing = Sparing(lambda: True, old=0.0)
    sparing.begin()
    sparing.owe()
    assert not await sparing.give_way()


async def test_too_much_is_worked_off_though_requests_come_until_it_is_paid() -> None:
    busy = True
    sparing = Sparing(lambda: busy, FOR_EVER)
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
