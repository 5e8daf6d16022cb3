"""Who waits for what was said to be learnt, as a forget does, waits for no more than had been said by then."""

from __future__ import annotations

import asyncio
from itertools import count
from pathlib import Path

import pytest

from memory.ports import Journaled
from tests.fake_provider import fake_provider
from tests.running import running


async def test_where_requests_never_cease_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home") as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await memory.learner.stop()
        for number in range(40):
            await proxy.chat(f"I prefer tabs in file {number}.", session=f"before-{number}")
        numbers, unlearned = count(), memory.journal.unlearned

        async def with_one_more(limit: int) -> list[Journaled]:
            await proxy.chat(f"And file {next(numbers)}?", session="meanwhile")
            return await unlearned(limit)

        monkeypatch.setattr(memory.journal, "unlearned", with_one_more)
        async with asyncio.timeout(120):
            await memory.learner.catch_up()
        assert next(numbers) < 6
        monkeypatch.undo()
        facts = await memory.commands.facts(["u:/local", "up:/local/loom"])
        assert facts
