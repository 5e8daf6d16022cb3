"""A task beside the requests."""

from __future__ import annotations

import asyncio

import pytest

from memory.services.background_task import BackgroundTask


async def test_it_runs_until_it_ends_or_is_stopped() -> None:
    beside, go_on, done = BackgroundTask(), asyncio.Event(), list[str]()

    async def work() -> None:
        await go_on.wait()
        done.append("done")

    await beside.stop()
    await beside.ended()
    assert not beside.running
    beside.begin(work())
    assert beside.running
    with pytest.raises(AssertionError, match="runs already"):
        beside.begin(work())
    await beside.stop()
    assert not beside.running and done == []
    beside.begin(work())
    go_on.set()
    await beside.ended()
    assert not beside.running and done == ["done"]
