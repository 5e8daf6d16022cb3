"""An index that somebody has deleted is filled anew under the running server."""

from __future__ import annotations

import shutil
from pathlib import Path

from memory.bootstrap import open_memory
from memory.parts import Memory
from memory.ports import Guard
from memory.settings import MemorySettings
from proxy.fail_open import Degradations, fail_open
from tests.memory.stores.derived_facts import ANN, fact


def counting(degradations: Degradations) -> Guard:
    async def guard(awaitable, *, default, timeout_seconds, operation):  # type: ignore[no-untyped-def]
        return await fail_open(
            awaitable, default=default, timeout_seconds=timeout_seconds, operation=operation, degradations=degradations
        )

    return guard


async def opened(home: Path, degradations: Degradations) -> Memory:
    memory = await open_memory(MemorySettings(), home, counting(degradations))
    assert memory is not None
    await memory.learner.remember([fact("The staging cluster is called heron.")])
    return memory


async def found(memory: Memory) -> list[str]:
    return [each.memory.text for each in await memory.commands.search("staging cluster", ANN.owners(), 5)]


async def test_an_index_that_is_gone_is_told_and_filled_anew(tmp_path: Path) -> None:
    degradations = Degradations()
    memory = await opened(tmp_path, degradations)
    shutil.rmtree(tmp_path / "index")
    assert await memory.index_repair.look()
    assert any("is gone" in each.why for each in degradations.latest)
    assert any((tmp_path / "index").rglob("*"))
    assert await found(memory) == ["The staging cluster is called heron."]
    assert not await memory.index_repair.look()
    await memory.close()


async def test_an_index_that_is_there_is_left_alone(tmp_path: Path) -> None:
    degradations = Degradations()
    memory = await opened(tmp_path, degradations)
    before = await memory.journal.generations()
    assert not await memory.index_repair.look()
    assert await memory.journal.generations() == before and not degradations.latest
    await memory.close()
