"""A replica that ends begins no work again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from memory.ports import SharedEvents
from memory.services.replica import Replica
from tests.memory.services.test_prepare import guard


class Work:
    """A duty that takes a while to give up."""

    def __init__(self) -> None:
        self.begun, self.ended = 0, 0
        self.may_end = asyncio.Event()

    def start(self) -> None:
        self.begun += 1

    async def stop(self) -> None:
        await self.may_end.wait()
        self.ended += 1


def nothing(*told: object) -> None:
    """Nobody wants to know."""


def up_to_date() -> Awaitable[None]:
    return asyncio.sleep(0)


async def rounds() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_the_work_is_not_begun_while_and_after_a_replica_ends() -> None:
    told, work = SharedEvents(), Work()
    replica = Replica(told, [work], lambda: None, nothing, lambda: None, up_to_date, guard)
    replica.start(lambda: True)
    await rounds()
    assert work.begun == 1 and replica.working
    said_before_the_end = told.work
    ending = asyncio.create_task(replica.stop())
    await rounds()
    said_before_the_end(True)
    told.work(True)
    await rounds()
    work.may_end.set()
    await ending
    said_before_the_end(True)
    await rounds()
    assert (work.begun, work.ended) == (1, 1) and not replica.working


async def test_the_work_that_was_left_is_not_begun_again() -> None:
    told, work = SharedEvents(), Work()
    work.may_end.set()
    replica = Replica(told, [work], lambda: None, nothing, lambda: None, up_to_date, guard)
    replica.start(lambda: True)
    await rounds()
    await replica.leave_work()
    told.work(True)
    await rounds()
    assert (work.begun, work.ended) == (1, 1) and not replica.working
    await replica.stop()
