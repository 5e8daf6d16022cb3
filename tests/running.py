"""The real proxy, in this process, on a free loopback port, with real stores in a throwaway folder."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from aiohttp import web
from multidict import CIMultiDictProxy

from memory.clock import local_now
from proxy.app import make_app, make_runner
from proxy.edge import EDGE, Edge
from proxy.settings import load
from tests import fresh_journal, rooms
from tests.fake_provider import FakeProvider

Headers = CIMultiDictProxy[str]


@dataclass
class Running:
    """A proxy that runs, and a client of it."""

    url: str
    edge: Edge
    client: aiohttp.ClientSession
    runner: web.AppRunner

    async def post(self, path: str, body: bytes | dict[str, Any], **headers: str) -> tuple[int, bytes, Headers]:
        """Send a body; status, whole reply, headers. Underscores in header names stand for dashes."""
        data = body if isinstance(body, bytes) else orjson.dumps(body)
        named = {"Content-Type": "application/json", **{key.replace("_", "-"): v for key, v in headers.items()}}
        async with self.client.post(self.url + path, data=io.BytesIO(data), headers=named) as reply:
            return reply.status, await reply.read(), reply.headers

    async def chat(self, *texts: str, session: str = "s1", project: str = "loom", **more: Any) -> bytes:
        """A chat of a person's and a model's turns, in alternation; the whole reply."""
        roles = ("user", "assistant")
        messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)]
        headers = {"x_session_id": session, "x_palimpsest_project": project}
        status, reply, _ = await self.post(
            "/v1/chat/completions", {"model": "m", "messages": messages, **more}, **headers
        )
        assert status == 200, reply
        return reply

    async def learned(self) -> None:
        """Wait until everything that was acknowledged has been learned from and can be found."""
        assert self.edge.memory is not None
        while self.edge.beside:
            await asyncio.wait(self.edge.beside)
            await asyncio.sleep(0)  # a task that is done takes itself out of the set only in the loop's next round
        await self.edge.memory.learner.catch_up()


@asynccontextmanager
async def running(provider: FakeProvider | str, home: Path, **options: Any) -> AsyncIterator[Running]:
    """A running proxy before a provider. ``options`` are dotted settings with ``__`` for the dots, ``now``, the clock
    by which it lives, and ``planner_process``, whether nights are planned in a process of their own, as in life."""
    now: Callable[[], datetime] = options.pop("now", local_now)
    planner_process: bool = options.pop("planner_process", False)
    upstream = provider if isinstance(provider, str) else provider.url
    # A busy machine must not decide what a test sees: only tests of the deadline set it to what it is in life.
    dotted: dict[str, Any] = {"memory.recall.deadline_ms": 10_000, "memory.journal.hold_ms": 10_000}
    dotted["memory.postgresql.unresponsive_ms"] = 10_000
    dotted |= {key.replace("__", "."): value for key, value in options.items()}
    if "memory.postgresql.url" not in dotted:
        fresh_journal.put(home / "journal.db")
    settings = load(options={"home": str(home), "upstream.url": upstream, "server.port": 0, **dotted}).settings
    app = make_app(settings, now=now)
    runner = make_runner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    memory = await app[EDGE].opened()
    if memory is not None and not planner_process:
        rooms.plan_nights_here(memory)
    host, port = runner.addresses[0][:2]
    async with aiohttp.ClientSession(auto_decompress=False) as client:
        try:
            yield Running(f"http://{host}:{port}", app[EDGE], client, runner)
        finally:
            await runner.cleanup()
