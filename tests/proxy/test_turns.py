"""Requests take turns."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from proxy.turns import PASSES, Turns


async def test_who_comes_alone_does_not_wait() -> None:
    turns = Turns()
    coming = turns.take()
    try:
        coming.send(None)
    except StopIteration:
        return
    raise AssertionError("it waited")


async def test_of_those_that_come_at_once_one_begins_in_a_few_passes_of_the_loop() -> None:
    turns, passed, begun = Turns(), 0, list[tuple[int, int]]()

    async def request(number: int) -> None:
        await turns.take()
        begun.append((number, passed))

    requests = [asyncio.create_task(request(number)) for number in range(5)]
    while len(begun) < len(requests):
        passed += 1
        await asyncio.sleep(0)
    assert [number for number, _ in begun] == [0, 1, 2, 3, 4]
    assert all(later - at >= PASSES for (_, at), (_, later) in pairwise(begun))


async def test_a_request_that_has_gone_holds_up_nobody() -> None:
    turns, begun = Turns(), list[int]()

    async def request(number: int) -> None:
        await turns.take()
        begun.append(number)

    requests = [asyncio.create_task(request(number)) for number in range(4)]
    await asyncio.sleep(0)
    requests[1].cancel()
    requests[2].cancel()
    await asyncio.wait(requests)
    assert begun == [0, 3]
    await turns.take()
