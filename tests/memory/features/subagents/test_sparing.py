"""Requests are spared the work on research where no sub-agent is about, and not where one is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

from memory.features.subagents.folders import AllowedFolders
from memory.features.subagents.journal_port import ResearchJournal
from memory.features.subagents.research_worker import LOOK_FOR_IDLE, ResearchWorker
from memory.services.learn import Learner
from memory.services.sessions.subagent_detection import RecentErrands
from memory.session import RequestKind
from memory.tiers.shape import Hint, Tiers
from tests.memory.services.sessions.test_subagent_detection import ARRIVAL, ASKED, AT, SESSION

T = TypeVar("T")


class Journal:
    """Has nothing to tell, and knows how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.looked = 0

    async def unobserved(self, limit: int) -> Sequence[Any]:
        self.asked += 1
        return []

    async def idle_research(self, before: datetime) -> Sequence[Any]:
        self.looked += 1
        return []


class Bench:
    """Research that is kept while requests come without end."""

    def __init__(self) -> None:
        self.journal, self.spawned, self.now = Journal(), RecentErrands(), AT
        self.spared = asyncio.Event()
        self.settled = asyncio.Event()
        learner, journal = cast("Learner", None), cast("ResearchJournal", self.journal)
        folders = AllowedFolders(())
        self.researching = ResearchWorker(
            journal, learner, self.spawned, self.tiers, folders, self.guard, lambda: self.now, self.busy
        )

    def busy(self) -> bool:
        self.spared.set()
        return True

    @staticmethod
    def tiers(text: str, hint: Hint) -> Tiers:
        raise AssertionError("there is nothing to shorten")

    async def guard(
        self, awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str
    ) -> tuple[T, str]:
        done = await awaitable
        if self.journal.asked:
            self.settled.set()
        return done, ""


async def test_without_sub_agents_requests_go_first() -> None:
    bench = Bench()
    bench.researching.start()
    async with asyncio.timeout(10):
        await bench.spared.wait()
    assert bench.journal.asked == 0
    await bench.researching.stop()


async def test_with_a_sub_agent_about_no_request_is_spared() -> None:
    bench = Bench()
    bench.spawned.arrived(replace(ARRIVAL, kind=RequestKind.SUBAGENT), SESSION, None, ASKED)
    bench.researching.start()
    async with asyncio.timeout(10):
        await bench.settled.wait()
    assert bench.journal.asked == 1
    assert not bench.spared.is_set()
    await bench.researching.stop()


async def test_it_is_looked_for_silent_ones_now_and_then() -> None:
    bench = Bench()
    for _ in range(3):
        await bench.researching._settle(True)
    assert bench.journal.looked == 1
    bench.now += LOOK_FOR_IDLE
    await bench.researching._settle(True)
    assert bench.journal.looked == 2
    await bench.researching._settle(False)
    bench.now += timedelta(hours=1)
    await bench.researching._settle(False)
    assert bench.journal.looked == 2
