"""What is older than a person wants to keep goes, and nothing where all is kept for ever."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.bootstrap import open_memory
from memory.services.retention import RetentionWorker
from memory.settings import JournalSettings, LearningSettings, MemorySettings, ResearchSettings
from tests import rooms
from tests.memory.services.person.test_commands import unguarded
from tests.memory.stores.derived_facts import exchange, session, user

NOW = datetime(2026, 3, 4, 15, 30, tzinfo=UTC)


class Journal:
    """Notes what it was asked to let go of."""

    def __init__(self) -> None:
        self.asked: list[tuple[datetime, tuple[str, ...]]] = []

    async def delete_old(
        self, before: datetime, works: Sequence[str], rest: Callable[[], Awaitable[None]]
    ) -> tuple[int, int]:
        self.asked.append((before, tuple(works)))
        await rest()
        return 3, 5


async def test_what_is_older_than_so_many_days_goes() -> None:
    journal = Journal()
    retaining = RetentionWorker(30, journal, ("learned", "tiered"), unguarded, lambda: NOW)
    assert await retaining.delete_expired() == (3, 5)
    assert journal.asked == [(NOW - timedelta(days=30), ("learned", "tiered"))]


async def test_without_a_setting_all_is_kept_for_ever() -> None:
    journal = Journal()
    retaining = RetentionWorker(None, journal, ("learned",), unguarded, lambda: NOW)
    retaining.start()
    assert await retaining.delete_expired() == (0, 0)
    await retaining.stop()
    assert journal.asked == []


@pytest.mark.parametrize("enabled", [False, True])
async def test_a_work_that_is_switched_off_is_not_waited_for(tmp_path: Path, enabled: bool) -> None:
    settings = MemorySettings(
        journal=JournalSettings(keep_days=30),
        learning=LearningSettings(enabled=enabled),
        research=ResearchSettings(enabled=enabled),
    )
    memory = await open_memory(settings, tmp_path, unguarded)
    assert memory is not None
    long_ago = NOW - timedelta(days=2000)
    of = session(started_at=long_ago, seen_at=long_ago)
    await memory.exchange_journal._journal.commit(exchange("e1", [user("use pnpm")], "noted", of=of, at=long_ago))
    await memory.learner.catch_up()
    await memory.tier_worker.catch_up()
    await rooms.subagents(memory).worker.catch_up()
    assert await memory.retention.delete_expired() == (1, 2)
    await memory.close()
