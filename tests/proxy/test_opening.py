"""A server listens before its memory is open."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import aiohttp
import pytest
from aiohttp import web

from memory import bootstrap
from memory.parts import Memory
from proxy.app import make_app, make_runner
from proxy.cli import serving
from proxy.cli.server_access import built
from proxy.edge import EDGE, Edge
from proxy.settings import Loaded, load
from tests.fake_provider import fake_provider

BODY = {"model": "m", "messages": [{"role": "user", "content": "We use pnpm."}]}


@dataclass
class Gate:
    """Holds the stores of a server closed until it is set."""

    reached: asyncio.Event
    free: asyncio.Event


class Awaited(asyncio.Event):
    """An event that tells when somebody waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def wait(self) -> Literal[True]:
        self.asked.set()
        return await super().wait()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    gate, open_memory = Gate(asyncio.Event(), asyncio.Event()), bootstrap.open_memory

    async def held(*args: Any) -> Memory | None:
        gate.reached.set()
        await gate.free.wait()
        return await open_memory(*args)

    monkeypatch.setattr(bootstrap, "open_memory", held)
    return gate


@asynccontextmanager
async def started(home: Path, **options: Any) -> AsyncIterator[tuple[Edge, aiohttp.ClientSession, web.AppRunner]]:
    dotted = {"home": str(home), "server.port": 0} | {key.replace("__", "."): value for key, value in options.items()}
    app = make_app(load(options=dotted).settings)
    runner = make_runner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        async with aiohttp.ClientSession(f"http://127.0.0.1:{runner.addresses[0][1]}") as client:
            yield app[EDGE], client, runner
    finally:
        await runner.cleanup()


async def test_a_model_call_waits_for_memory_that_is_soon_open(tmp_path: Path, gate: Gate) -> None:
    async with fake_provider() as provider, started(tmp_path, upstream__url=provider.url) as (edge, client, _):
        edge.opening_seconds, edge.tried = 60.0, (tried := Awaited())
        await gate.reached.wait()
        call = asyncio.create_task(client.post("/v1/chat/completions", json=BODY))
        await tried.asked.wait()
        gate.free.set()
        reply = await call
        assert reply.status == 200 and "x-palimpsest-receipt" in reply.headers
        async with client.get("/palimpsest/ready") as told:
            assert (await told.json())["ready"]


async def test_a_model_call_goes_on_without_memory_that_is_long_in_opening(tmp_path: Path, gate: Gate) -> None:
    async with fake_provider() as provider, started(tmp_path, upstream__url=provider.url) as (edge, client, _):
        edge.opening_seconds = 0.01
        async with client.post("/v1/chat/completions", json=BODY) as reply:
            assert reply.status == 200 and "x-palimpsest-receipt" not in reply.headers
            assert reply.headers["x-palimpsest-status"] == "degraded; the stores are still being opened"
        assert edge.opening and edge.degradations.counts == {"waiting for the stores to open": 1}


async def test_who_asks_whether_it_is_well_is_told_at_once_that_it_opens(tmp_path: Path, gate: Gate) -> None:
    async with started(tmp_path) as (edge, client, _):
        edge.opening_seconds = 0.01
        async with client.get("/palimpsest/health") as told:
            health = await told.json()
            assert told.status == 503 and health["status"] == "opening" and health["memory"] == "missing"
        async with client.get("/palimpsest/ready") as told:
            ready = await told.json()
            assert told.status == 503 and not ready["ready"] and ready["why"].startswith("opening")
        assert edge.opening


async def test_the_door_turns_away_before_memory_is_open(tmp_path: Path, gate: Gate) -> None:
    async with started(tmp_path) as (edge, client, _):
        edge.opening_seconds = 0.01
        async with client.get("/palimpsest/api/status", headers={"Host": "elsewhere.example"}) as refused:
            assert refused.status == 403
        async with client.get("/palimpsest/api/status") as refused:
            assert refused.status == 401
        async with client.post("/palimpsest/api/facts") as refused:
            assert refused.status == 401
        async with client.get("/palimpsest/memory") as refused:
            assert refused.status == 401
        assert edge.opening


async def test_who_is_let_in_waits_for_memory(tmp_path: Path, gate: Gate) -> None:
    async with started(tmp_path) as (edge, client, _):
        token = {"Authorization": f"Bearer {edge.token}"}
        asked = asyncio.create_task(client.get("/palimpsest/api/status", headers=token))
        async with client.get("/palimpsest/health"):  # has taken the same way, and is back
            assert not asked.done()
        gate.free.set()
        reply = await asked
        assert reply.status == 200 and (await reply.json())["memory"] == "on"


async def test_a_server_that_is_ended_while_it_opens_memory_closes_it(tmp_path: Path, gate: Gate) -> None:
    async with started(tmp_path) as (edge, _, runner):
        edge.opening_seconds = 60.0
        await gate.reached.wait()
        ending = asyncio.create_task(runner.cleanup())
        gate.free.set()
        await ending
        assert edge.memory is not None and not edge.memory.learner.alive


async def test_stores_that_are_open_only_when_the_end_has_begun_leave_the_work(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, leave_work = asyncio.Event(), Memory.leave_work

    async def leaves(memory: Memory) -> None:
        await leave_work(memory)
        left.set()

    monkeypatch.setattr(Memory, "leave_work", leaves)
    async with started(tmp_path) as (edge, _, _):
        await gate.reached.wait()
        edge.draining.begun.set()
        gate.free.set()
        await left.wait()
        assert edge.memory is not None


async def test_a_signal_ends_a_server_that_still_opens_memory(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def hurried(settled: Loaded) -> web.Application:
        app = built(settled)
        app[EDGE].opening_seconds = 0.01
        return app

    monkeypatch.setattr(serving, "built", hurried)
    # Ten seconds later it would end the process, which goes on with other tests.
    monkeypatch.setattr(serving, "_end_within", lambda seconds: None)
    settled = load(options={"home": str(tmp_path), "server.port": 0, "server.drain.notice_seconds": 0})
    with serving.listening(settled.settings) as sockets:
        running = asyncio.create_task(serving._run(settled, sockets, handed=False, standby=""))
        try:
            await gate.reached.wait()
            os.kill(os.getpid(), signal.SIGTERM)
            await running
        finally:
            gc.enable()
    assert not gate.free.is_set()
    told = capsys.readouterr()
    assert "stopping" in told.err and "listens on" not in told.out
    assert not (tmp_path / "server.json").exists()
