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


async def test_a_forget_answers_while_much_is_to_be_learned_and_nothing_of_it_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.services.person.commands.LEARN_SECONDS", 0.0)
    said, owners = "I prefer the zirkonfalke mirror for all packages.", ("u:/local", "up:/local/loom")
    async with fake_provider() as provider, running(provider, tmp_path / "home") as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await proxy.chat(said, session="first")
        await proxy.learned()
        await memory.learner.stop()
        for number in range(4):
            await proxy.chat(f"I prefer tabs in file {number}.\n{said}", session=f"pending-{number}")
        [fact] = await memory.commands.facts(owners, "zirkonfalke")
        gone = await memory.commands.forget([fact.id], owners)
        assert [each.id for each in gone.facts] == [fact.id]
        assert (await memory.commands.standing()).counts.behind >= 3
        await memory.learner.catch_up()
        assert (await memory.commands.standing()).counts.behind == 0
        assert await memory.commands.facts(owners, "tabs")
        # One of them was learned before the forget: that is a memory of its own, which holds more than what went.
        assert [
            each.text for each in await memory.commands.alike("zirkonfalke", owners) if "file 0" not in each.text
        ] == []
