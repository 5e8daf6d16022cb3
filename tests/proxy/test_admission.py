"""Requests take turns."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from memory.services.deadline import longest_recall
from memory.settings import RecallSettings
from proxy.admission import PASSES, STANDING_SECONDS, STANDING_TURNS, AdmissionQueue
from tests.fake_provider import fake_provider
from tests.running import running


async def test_who_comes_alone_does_not_wait() -> None:
    turns = AdmissionQueue()
    coming = turns.take()
    try:
        coming.send(None)
    except StopIteration:
        return
    raise AssertionError("it waited")


async def test_of_those_that_come_at_once_one_begins_in_a_few_passes_of_the_loop() -> None:
    turns, passed, begun = AdmissionQueue(), 0, list[tuple[int, int]]()

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
    turns, begun = AdmissionQueue(), list[int]()

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


async def waited(turns: AdmissionQueue, clock: list[float], requests: int, seconds: float) -> list[float]:
    """What each of some requests is told that it waited, where each takes so many seconds."""
    told = list[float]()

    async def request() -> None:
        told.append(await turns.take())
        clock[0] += seconds

    await asyncio.gather(*(request() for _ in range(requests)))
    return told


async def test_who_waits_in_a_burst_is_told_of_no_wait() -> None:
    clock = [0.0]
    turns = AdmissionQueue(lambda: clock[0])
    assert await waited(turns, clock, 10, STANDING_SECONDS / 10) == [0.0] * 10


async def test_who_waits_in_a_queue_that_never_empties_is_told_for_how_long() -> None:
    clock = [0.0]
    turns = AdmissionQueue(lambda: clock[0])
    requests, seconds = 2 * STANDING_TURNS, 2 * STANDING_SECONDS / STANDING_TURNS
    told = await waited(turns, clock, requests, seconds)
    assert told[:STANDING_TURNS] == [0.0] * STANDING_TURNS
    assert told[STANDING_TURNS:] == pytest.approx([seconds * (each - 1) for each in range(STANDING_TURNS, requests)])
    clock[0] += 10 * STANDING_SECONDS
    assert await waited(turns, clock, 4, STANDING_SECONDS / 4) == [0.0] * 4, "the queue was empty meanwhile"


async def test_a_loop_that_stood_still_is_no_queue() -> None:
    clock = [0.0]
    turns = AdmissionQueue(lambda: clock[0])
    assert await waited(turns, clock, STANDING_TURNS, 2 * STANDING_SECONDS) == [0.0] * STANDING_TURNS


async def test_a_request_that_stood_in_a_queue_for_as_long_as_recall_may_take_goes_on_without(tmp_path: Path) -> None:
    class Standing(AdmissionQueue):
        seconds = 0.0

        async def take(self) -> float:
            return self.seconds

    async with fake_provider() as provider, running(provider, tmp_path, memory__page__enabled=False) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        proxy.edge.admission = turns = Standing()
        await proxy.chat("We decided to use PostgreSQL for the billing service.")
        await proxy.learned()
        turns.seconds = allowed = longest_recall(proxy.edge.settings.memory.recall, person=True)
        await proxy.chat("What did we decide to use for the billing service?", session="s2")
        assert b"PostgreSQL" not in provider.last.body
        assert memory.recall.crowded()
        turns.seconds = 0.9 * allowed
        await proxy.chat("Which database does the billing service use?", session="s3")
        assert b"PostgreSQL" in provider.last.body


def test_a_tools_result_waits_less_for_recall_than_a_person_and_neither_less_than_it_has_on_a_quiet_machine() -> None:
    usual = RecallSettings(deadline_ms=50, longest_ms=250)
    assert (longest_recall(usual, person=True), longest_recall(usual, person=False)) == (0.25, 0.1)
    unhurried = RecallSettings(deadline_ms=500, longest_ms=250)
    assert longest_recall(unhurried, person=False) == 0.5
