"""A reply's end is let go only when its exchange is in the journal or aside, and no kill loses what is aside."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memory.edits import Entry
from memory.services import journaling
from memory.session import Exchange
from memory.stores import spill
from tests.fake_provider import FakeProvider, fake_provider
from tests.running import Running, running
from tests.sparse_files import copy_tree

DOG = "My dog is called Quirinus and he is six."


@asynccontextmanager
async def locked(provider: FakeProvider, home: Path) -> AsyncIterator[Running]:
    """A proxy whose journal somebody else holds, so that every commit hangs."""
    async with running(provider, home, memory__journal__hold_ms=20) as proxy:
        assert proxy.edge.memory is not None
        await proxy.edge.memory.cache_warmer.settle()  # what is read behind the start would take of these 20 ms
        other = sqlite3.connect(home / "journal.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            yield proxy
        finally:
            other.close()


async def everything(proxy: Running) -> tuple[int, int, list[str]]:
    """What the next process has: exchanges in the journal, exchanges aside, and what was learned of the dog."""
    assert proxy.edge.memory is not None
    await proxy.learned()
    memory = proxy.edge.memory
    owners = await memory.journal.owners()
    found = await memory.journal.find_passages(owners, "Quirinus")
    return (await memory.journal.counts()).exchanges, memory.journal.aside, [each.text for each in found]


def noted(proxy: Running) -> set[str]:
    """How journaling went wrong, as it is counted."""
    return {each.why.partition(":")[0] for each in proxy.edge.degradations.latest if each.doing == "journaling"}


async def test_what_a_hanging_journal_did_not_take_is_there_after_a_kill(tmp_path: Path) -> None:
    async with fake_provider() as provider:
        async with locked(provider, tmp_path / "home") as proxy:
            await proxy.chat(DOG)
            # Nothing of a killed process is left but its files, as they are at this moment.
            copy_tree(tmp_path / "home", tmp_path / "killed")
            assert list((tmp_path / "killed" / "aside").iterdir())
            assert noted(proxy) == {"aside"}
        async with running(provider, tmp_path / "killed") as proxy:
            assert await everything(proxy) == (1, 0, [DOG])
            await proxy.chat(DOG, "Noted.", "And he barks.")
            assert (await everything(proxy))[0] == 2
        assert not list((tmp_path / "killed" / "aside").iterdir())


async def test_what_was_written_after_all_is_there_once(tmp_path: Path) -> None:
    async with fake_provider() as provider:
        async with locked(provider, tmp_path / "home") as proxy:
            await proxy.chat(DOG)
            shutil.copytree(tmp_path / "home" / "aside", tmp_path / "aside")
        async with running(provider, tmp_path / "home") as proxy:
            assert await everything(proxy) == (1, 0, [DOG])
        shutil.copytree(tmp_path / "aside", tmp_path / "home" / "aside", dirs_exist_ok=True)
        async with running(provider, tmp_path / "home") as proxy:
            assert await everything(proxy) == (1, 0, [DOG])


async def test_the_end_of_a_stream_is_held_until_the_exchange_is_aside(tmp_path: Path) -> None:
    async with fake_provider() as provider, locked(provider, tmp_path) as proxy:
        assert proxy.edge.memory is not None
        journal, order = proxy.edge.memory.journal, list[str]()
        set_aside = journal.set_aside

        async def told(exchange: Exchange, entries: Sequence[Entry] = ()) -> None:
            await set_aside(exchange, entries)
            order.append("aside")

        journal.set_aside = told  # type: ignore[method-assign]
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
        async with proxy.client.post(proxy.url + "/v1/chat/completions", json=body) as reply:
            heard = b""
            async for chunk in reply.content.iter_any():
                heard += chunk
                if b"[DONE]" in heard:
                    order.append("end")
        assert order[:2] == ["aside", "end"]
        assert heard.endswith(b"data: [DONE]\n\n")


async def test_where_the_disk_fails_the_end_is_let_go_and_the_exchange_is_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, go_on = spill._write, threading.Event()

    def hanging(path: Path, record: bytes, flush: bool) -> None:
        go_on.wait()
        write(path, record, flush)

    monkeypatch.setattr(spill, "_write", hanging)
    monkeypatch.setattr(journaling, "SET_ASIDE_SECONDS", 0.05)
    async with fake_provider() as provider:
        async with locked(provider, tmp_path) as proxy:
            try:
                async with asyncio.timeout(60):
                    assert (await proxy.chat(DOG)).startswith(b"{")
                assert noted(proxy) == {"late"}
            finally:
                go_on.set()
        async with running(provider, tmp_path) as proxy:
            assert await everything(proxy) == (1, 0, [DOG])


async def test_a_folder_that_cannot_be_written_costs_no_reply(tmp_path: Path) -> None:
    async with fake_provider() as provider, locked(provider, tmp_path) as proxy:
        (tmp_path / "aside").write_text("no folder")
        assert (await proxy.chat(DOG)).startswith(b"{")
        assert proxy.edge.degradations.counts["setting an exchange aside"] >= 1
        assert proxy.edge.memory is not None
        assert proxy.edge.memory.journal.aside == 0
