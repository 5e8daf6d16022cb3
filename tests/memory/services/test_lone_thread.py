"""What hangs in a thread of its own: it is begun once, and those who wait for it can give up."""

from __future__ import annotations

import asyncio
import threading

import pytest

from memory.services.background_task import LoneThread


async def test_while_a_look_goes_on_no_second_one_begins() -> None:
    lone, hangs, begun = LoneThread[int]("looking"), threading.Event(), list[int]()

    def look() -> int:
        begun.append(1)
        hangs.wait()
        return len(begun)

    waiting = asyncio.create_task(lone.run(look))
    other = asyncio.create_task(lone.run(look))
    await asyncio.wait({waiting}, timeout=0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    hangs.set()
    assert await other == 1
    assert await lone.run(look) == 2


async def test_what_it_raises_is_raised_and_the_next_look_is_a_new_one() -> None:
    lone = LoneThread[int]("looking")

    def fail() -> int:
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="gone"):
        await lone.run(fail)
    assert await lone.run(lambda: 3) == 3
