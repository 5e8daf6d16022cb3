"""What was made too late for one request is there for the next, once, where its history goes on."""

from __future__ import annotations

import asyncio

import pytest

from memory.edits import Key
from memory.services.window.shedding import MAX_LATE_PLANS, LatePlans

KEYS: tuple[Key, ...] = ((b"a" * 16, 0), (b"b" * 16, 0))
MORE: tuple[Key, ...] = (*KEYS, (b"c" * 16, 0))


async def given_up(overdue: LatePlans[str], session: str, gate: asyncio.Event, made: str = "a plan") -> None:
    async def work() -> str:
        await gate.wait()
        return made

    waiting = asyncio.create_task(overdue.plan_for(session, KEYS, work()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_what_is_ready_in_time_is_not_kept() -> None:
    async def work() -> str:
        return "a plan"

    overdue = LatePlans[str]()
    assert await overdue.plan_for("s1", KEYS, work()) == "a plan"
    assert await overdue.late("s1", MORE) is None


async def test_what_is_late_is_found_by_the_next_request_of_the_session_once() -> None:
    overdue, gate = LatePlans[str](), asyncio.Event()
    await given_up(overdue, "s1", gate)
    gate.set()
    assert await overdue.late("s2", MORE) is None
    assert await overdue.late("s1", MORE) == "a plan"
    assert await overdue.late("s1", MORE) is None


async def test_a_request_may_give_up_waiting_for_it_too() -> None:
    overdue, gate = LatePlans[str](), asyncio.Event()
    await given_up(overdue, "s1", gate)
    waiting = asyncio.create_task(overdue.late("s1", MORE))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    gate.set()
    assert await overdue.late("s1", MORE) == "a plan"


async def test_it_is_of_no_use_to_a_history_that_was_written_anew() -> None:
    overdue, gate = LatePlans[str](), asyncio.Event()
    await given_up(overdue, "s1", gate)
    gate.set()
    assert await overdue.late("s1", MORE[::-1]) is None
    assert await overdue.late("s1", MORE) is None


async def test_only_the_newest_are_kept() -> None:
    overdue, gate = LatePlans[str](), asyncio.Event()
    for number in range(MAX_LATE_PLANS + 1):
        await given_up(overdue, f"s{number}", gate)
    gate.set()
    assert await overdue.late("s0", MORE) is None
    assert await overdue.late("s1", MORE) == "a plan"
