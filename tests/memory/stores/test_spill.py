"""A file goes with what it keeps, also where that is let go of while it is being written."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memory.stores import spill
from memory.stores.spill import Spill
from tests.memory.stores.derived_facts import exchange, open_journal, user

_write = spill._write

PATIENCE = 20.0
"""Seconds after which a disk goes on by itself, so that a test that fails ends."""


class SlowDisk:
    """Begins to write when told to, and then goes on when told to."""

    def __init__(self) -> None:
        self.begin, self.begun, self.finish = threading.Event(), threading.Event(), threading.Event()

    def write(self, path: Path, record: bytes, flush: bool) -> None:
        self.begin.wait(PATIENCE)
        self.begun.set()
        self.finish.wait(PATIENCE)
        _write(path, record, flush)

    def go_on(self) -> None:
        self.begin.set()
        self.finish.set()


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> SlowDisk:
    slow = SlowDisk()
    monkeypatch.setattr(spill, "_write", slow.write)
    return slow


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Spill]:
    kept = Spill(folder)
    try:
        yield kept
    finally:
        await kept.close()


async def test_what_is_let_go_of_before_it_is_written_leaves_no_file(tmp_path: Path, disk: SlowDisk) -> None:
    async with opened(tmp_path / "aside") as kept:
        first, second = (asyncio.create_task(kept.put(id, b"record")) for id in ("e1", "e2"))
        await asyncio.sleep(0)
        kept.drop("e2")
        disk.go_on()
        await asyncio.gather(first, second)
        assert [path.name.partition("-")[2] for path in (tmp_path / "aside").iterdir()] == ["e1"]


async def test_what_is_let_go_of_while_it_is_written_leaves_no_file(tmp_path: Path, disk: SlowDisk) -> None:
    disk.begin.set()
    async with opened(tmp_path / "aside") as kept:
        putting = asyncio.create_task(kept.put("e1", b"record"))
        await asyncio.to_thread(disk.begun.wait)
        kept.drop("e1")
        disk.finish.set()
        await putting
        assert list((tmp_path / "aside").iterdir()) == []


async def test_what_is_kept_again_while_it_is_let_go_of_stays(tmp_path: Path, disk: SlowDisk) -> None:
    disk.begin.set()
    async with opened(tmp_path / "aside") as kept:
        before = asyncio.create_task(kept.put("e1", b"before"))
        await asyncio.to_thread(disk.begun.wait)
        kept.drop("e1")
        after = asyncio.create_task(kept.put("e1", b"after"))
        disk.finish.set()
        await asyncio.gather(before, after)
        assert (kept.ids, await kept.get("e1")) == (("e1",), b"after")
    assert len(list((tmp_path / "aside").iterdir())) == 1


async def test_a_write_that_fails_after_all_takes_nothing_from_one_that_came_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def fails_once(path: Path, record: bytes, flush: bool) -> None:
        if record == b"before":
            begun.set()
            go_on.wait(PATIENCE)
            raise OSError
        _write(path, record, flush)

    monkeypatch.setattr(spill, "_write", fails_once)
    async with opened(tmp_path / "aside") as kept:
        before = asyncio.create_task(kept.put("e1", b"before"))
        await asyncio.to_thread(begun.wait)
        kept.drop("e1")
        after = asyncio.create_task(kept.put("e1", b"after"))
        go_on.set()
        await asyncio.gather(before, after, return_exceptions=True)
        assert await kept.get("e1") == b"after"


@pytest.mark.parametrize("ask", [Spill.broken, Spill.destroy_broken])
async def test_who_asks_for_what_is_damaged_is_answered_when_what_was_let_go_of_is_gone(
    tmp_path: Path, disk: SlowDisk, ask: object
) -> None:
    disk.begin.set()
    async with opened(tmp_path / "aside") as kept:
        putting = asyncio.create_task(kept.put("e1", b"record"))
        await asyncio.to_thread(disk.begun.wait)
        kept.drop("e1")
        asking = asyncio.create_task(ask(kept))  # type: ignore[operator]
        await asyncio.sleep(0)
        assert not asking.done()
        disk.finish.set()
        await asyncio.gather(asking, putting)
        assert list((tmp_path / "aside").iterdir()) == []


async def test_what_was_forgotten_is_in_no_file_once_that_is_said(tmp_path: Path, disk: SlowDisk) -> None:
    disk.begin.set()
    journal = open_journal(tmp_path)
    try:
        told = exchange("e1", [user("My dog is called Quirinus.")])
        putting = asyncio.create_task(journal.set_aside(told))
        await asyncio.to_thread(disk.begun.wait)
        await journal.commit(told)
        forgetting = asyncio.create_task(journal.forget_aside())
        disk.finish.set()
        await forgetting
        assert list((tmp_path / "store" / "aside").iterdir()) == []
        await putting
        assert journal.aside == 0
    finally:
        await journal.close()
