"""A database that takes what it is asked and does not answer: requests go on, and what was acknowledged is not lost.

Everything waits for as long as it does in life: these tests would otherwise show nothing.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import orjson
import pytest
from aiohttp import web

from memory.services import time_limits
from tests import postgresql
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.api.asking import asking
from tests.running import Running, running

LONG = 6.0
"""Seconds that nothing here may take, on a busy machine, while a statement would wait for ever."""

ENDED = 20.0
"""Seconds within which one ends; half of that on a machine that does nothing else."""

ALONE = pytest.mark.parametrize("replicas", [True, False], ids=["a replica", "alone"])


@asynccontextmanager
async def in_life(
    server: postgresql.TestServer, home: Path, provider: FakeProvider, replicas: bool, of: Path
) -> AsyncIterator[Running]:
    options = {
        "memory.postgresql.url": server.database(of),
        "memory.postgresql.replicas": replicas,
        "memory.recall.deadline_ms": 50,
        "memory.journal.hold_ms": 50,
        "memory.postgresql.unresponsive_ms": 750,
    }
    async with running(provider, home, **options) as proxy:
        assert proxy.edge.memory is not None, proxy.edge.memory_fault
        yield proxy


def aside(home: Path) -> list[Path]:
    return sorted((home / "aside").iterdir()) if (home / "aside").is_dir() else []


async def everything(proxy: Running) -> tuple[int, int, int]:
    """How many exchanges and sessions are in the journal, and how many exchanges wait for it."""
    memory = proxy.edge.memory
    assert memory is not None
    await memory.exchange_journal.write_pending()
    counts = await memory.journal.counts()
    sessions = await memory.journal._db.read(lambda c: c.execute("SELECT count(*) AS n FROM sessions").fetchone()["n"])
    return counts.exchanges, sessions, memory.exchange_journal.pending


async def answers(proxy: Running) -> None:
    """Wait until the database is known to answer."""
    memory = proxy.edge.memory
    assert memory is not None
    async with asyncio.timeout(60):
        while memory.journal.trouble:  # noqa: ASYNC110 (what a thread finds out is found out by looking)
            await asyncio.sleep(0.02)


@ALONE
async def test_what_is_acknowledged_while_the_database_hangs_is_on_the_disk_and_journaled_once(
    server: postgresql.TestServer, tmp_path: Path, replicas: bool
) -> None:
    home, killed = tmp_path / "home", tmp_path / "killed"
    async with fake_provider() as provider:
        async with in_life(server, home, provider, replicas, tmp_path) as proxy:
            await proxy.chat("We deploy with Nomad.", session="before")
            await proxy.learned()
            with server.hanging():
                took = []
                for number in range(3):
                    began = time.monotonic()
                    await proxy.chat("We deploy with Nomad.", "Fine.", f"Secret {number}.", session="before")
                    await proxy.chat("We log to Loki.", *["Fine.", "And to a file."][: 2 * number], session="new")
                    took.append(time.monotonic() - began)
                    assert len(aside(home)) == 2 * (number + 1)
                assert max(took) < LONG, took
                assert "setting an exchange aside" not in proxy.edge.degradations.counts
                # Nothing of a killed process is left but its files, as they are at this moment.
                shutil.copytree(home, killed)
            await answers(proxy)
            assert await everything(proxy) == (7, 2, 0)
            assert aside(home) == []
        async with in_life(server, killed, provider, replicas, tmp_path) as proxy:
            assert await everything(proxy) == (7, 2, 0)


@ALONE
async def test_what_a_killed_server_has_set_aside_is_found_its_session_by_the_next_one(
    server: postgresql.TestServer, tmp_path: Path, replicas: bool
) -> None:
    home, killed = tmp_path / "home", tmp_path / "killed"
    turns = ["We deploy with Nomad.", "OK.", "We log to Loki."]
    async with fake_provider() as provider:
        async with in_life(server, home, provider, replicas, tmp_path) as earlier:
            for session in ("named", ""):
                await say(earlier, session, *turns[:1])
        async with in_life(server, home, provider, replicas, tmp_path) as proxy:
            with server.hanging():
                # This server has not heard of any of them.
                for session in ("named", ""):
                    await say(proxy, session, *turns)
                shutil.copytree(home, killed)
                # What this one still has of them is lost, as it is with a kill.
                memory = proxy.edge.memory
                assert memory is not None
                memory.exchange_journal._pending.clear()
                memory.journal._spill._files.clear()
        async with in_life(server, killed, provider, replicas, tmp_path) as proxy:
            assert await everything(proxy) == (4, 2, 0)
            assert aside(killed) == []


async def say(proxy: Running, session: str, *texts: str) -> None:
    """A chat of a session that its client names, or, where that is empty, does not name."""
    named = {"x_session_id": session} if session else {}
    said = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]
    body = {"model": "m", "messages": [{"role": "system", "content": f"You help ({session})."}, *said]}
    status, reply, _ = await proxy.post("/v1/chat/completions", body, x_palimpsest_project="loom", **named)
    assert status == 200, reply


async def ready(proxy: Running) -> int:
    async with proxy.client.get(f"{proxy.url}/palimpsest/ready") as reply:
        return reply.status


async def until_ready(proxy: Running, status: int) -> float:
    """Seconds until a balancer is told so."""
    began = time.monotonic()
    async with asyncio.timeout(60):
        while await ready(proxy) != status:  # noqa: ASYNC110 (a balancer finds out by asking)
            await asyncio.sleep(0.02)
    return time.monotonic() - began


@ALONE
async def test_a_balancer_is_told_while_the_database_hangs_or_is_away_and_when_it_is_back(
    server: postgresql.TestServer, tmp_path: Path, replicas: bool
) -> None:
    async with fake_provider() as provider, in_life(server, tmp_path, provider, replicas, tmp_path) as proxy:
        await until_ready(proxy, 200)
        with server.hanging():
            assert await until_ready(proxy, 503) < LONG
            health = await asking(proxy)("GET", "health")
            assert any("does not answer" in why for why in health["why"])
        await until_ready(proxy, 200)
        server.pause()
        try:
            assert await until_ready(proxy, 503) < LONG
        finally:
            server.resume()
        await until_ready(proxy, 200)


@ALONE
async def test_a_new_session_is_not_held_up_longer_than_a_known_one(
    server: postgresql.TestServer, tmp_path: Path, replicas: bool
) -> None:
    forwarded: list[float] = []

    async def note(request: web.Request) -> web.StreamResponse:
        forwarded.append(time.monotonic())
        return await provider._chat(request, orjson.loads(provider.last.body))

    async with fake_provider() as provider, in_life(server, tmp_path, provider, replicas, tmp_path) as proxy:
        await proxy.chat("We deploy with Nomad.", session="before")
        await proxy.learned()
        provider.answer = note
        with server.hanging():
            began = time.monotonic()
            await proxy.chat("We log to Loki.", session="new")
            assert forwarded[0] - began < time_limits.REPLAY_SECONDS / 2, (
                "the database is waited for as if it were slow"
            )


@ALONE
async def test_a_server_ends_while_its_database_hangs_and_the_next_one_journals_what_it_had(
    server: postgresql.TestServer, tmp_path: Path, replicas: bool
) -> None:
    async with fake_provider() as provider:
        async with AsyncExitStack() as stack:
            proxy = await stack.enter_async_context(in_life(server, tmp_path / "home", provider, replicas, tmp_path))
            await proxy.chat("We deploy with Nomad.", session="before")
            await proxy.learned()
            with server.hanging():
                await proxy.chat("We log to Loki.", session="new")
                began = time.monotonic()
                await stack.aclose()
                assert time.monotonic() - began < ENDED
        async with in_life(server, tmp_path / "home", provider, replicas, tmp_path) as proxy:
            assert await everything(proxy) == (2, 2, 0)
