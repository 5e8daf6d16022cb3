"""The worker passes over what it cannot learn from, and never what a store could not take for a while."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from memory.learning.lesson import learn
from memory.services.worker import TRIES
from memory.stores.errors import StoreFault
from tests.fake_provider import fake_provider
from tests.running import running


async def test_an_exchange_that_cannot_be_learned_from_is_passed_over_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def poisoned(journaled: Any, **more: Any) -> Any:
        if "poison" in str(journaled.messages):
            raise RuntimeError("cannot be read")
        return learn(journaled, **more)

    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        assert proxy.edge.memory is not None
        await proxy.edge.memory.learner.stop()
        monkeypatch.setattr("memory.services.lessons.rules.learned", poisoned)
        await proxy.chat("We decided to put poison into this exchange.")
        await proxy.chat("We decided to use PostgreSQL 16 for the billing service.", session="s2")
        for _ in range(TRIES):
            with pytest.raises(RuntimeError):
                await proxy.learned()
        await proxy.learned()
        standing = await proxy.edge.memory.commands.standing()
        assert (standing.passed_over, standing.counts.behind, standing.counts.facts) == (1, 0, 1)


async def test_a_store_that_fails_for_long_costs_no_exchange_its_lesson(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await memory.learner.stop()
        await proxy.chat("We decided to use PostgreSQL 16 for the billing service.")
        search = memory.recall.index.search

        async def away(query: Any) -> Any:
            raise StoreFault("the Qdrant server is away")

        memory.recall.index.search = away  # type: ignore[method-assign]
        for _ in range(2 * TRIES):
            with pytest.raises(StoreFault):
                await proxy.learned()
        memory.recall.index.search = search  # type: ignore[method-assign]
        await proxy.learned()
        standing = await memory.commands.standing()
        assert (standing.passed_over, standing.counts.facts) == (0, 1)


async def test_who_asks_the_learner_to_rest_comes_after_one_exchange_and_not_after_all_that_wait(
    tmp_path: Path,
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await memory.learner.stop()
        for number in range(6):
            await proxy.chat(f"We decided to use queue {number} for the billing service.", session=f"s{number}")
        behind: list[int] = []
        taught = memory.learner._teach

        async def resting() -> None:
            async with memory.learner.resting():
                behind.append((await memory.commands.standing()).counts.behind)

        waits: list[asyncio.Task[None]] = []

        async def teach(journaled: Any) -> None:
            if not waits:
                waits.append(asyncio.create_task(resting()))
            await taught(journaled)

        memory.learner._teach = teach  # type: ignore[method-assign]
        await proxy.learned()
        await asyncio.gather(*waits)
        assert behind == [5] and (await memory.commands.standing()).counts.behind == 0


async def test_an_index_that_is_deleted_while_it_runs_is_made_again_at_the_next_start(tmp_path: Path) -> None:
    async with fake_provider() as provider:
        async with running(provider, tmp_path) as proxy:
            await proxy.chat("We decided to use PostgreSQL 16 for the billing service.")
            await proxy.learned()
            shutil.rmtree(tmp_path / "index")
            await proxy.chat("We decided to use Kafka for the bus.", session="s2")
            await proxy.learned()
        async with running(provider, tmp_path) as proxy:
            await proxy.learned()
            await proxy.chat("What did we decide to use for the bus?", session="s3")
            assert b"Kafka" in provider.last.body


async def test_requests_that_never_cease_put_learning_off_and_do_not_stop_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.services.worker.GIVE_WAY_SECONDS", 0.0)
    monkeypatch.setattr("memory.services.recall.BUSY_SECONDS", float("inf"))
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        for number in range(3):
            await proxy.chat(f"We decided to use port {8000 + number} for the billing service.", session=f"s{number}")
        assert memory.recall.busy()
        async with asyncio.timeout(10):
            while (await memory.journal.counts()).behind:
                pass


async def test_requests_are_not_spared_any_more_when_too_much_has_piled_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.services.worker.GIVE_WAY_SECONDS", float("inf"))
    monkeypatch.setattr("memory.services.recall.BUSY_SECONDS", float("inf"))
    monkeypatch.setattr("memory.services.worker.OWED", 2)
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await memory.learner.stop()
        for number in range(2):
            await proxy.chat(f"We decided to use port {8000 + number} for the billing service.", session=f"s{number}")
        assert (await memory.journal.counts()).behind == 2
        memory.learner.start()
        async with asyncio.timeout(10):
            while (await memory.journal.counts()).behind:
                pass
