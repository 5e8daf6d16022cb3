"""A server listens before its memory is open."""

from __future__ import annotations

from pathlib import Path

import aiohttp
from aiohttp import web

from proxy.app import make_app, make_runner
from proxy.edge import EDGE
from proxy.settings import load
from tests.fake_provider import fake_provider


async def test_what_is_asked_while_memory_is_opened_waits_for_it(tmp_path: Path) -> None:
    async with fake_provider() as provider:
        app = make_app(load(options={"home": str(tmp_path), "upstream.url": provider.url, "server.port": 0}).settings)
        runner = make_runner(app)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            assert not app[EDGE].tried.is_set()
            async with aiohttp.ClientSession(f"http://127.0.0.1:{runner.addresses[0][1]}") as client:
                body = {"model": "m", "messages": [{"role": "user", "content": "We use pnpm."}]}
                async with client.post("/v1/chat/completions", json=body) as reply:
                    assert reply.status == 200 and "x-palimpsest-receipt" in reply.headers
                async with client.get("/palimpsest/ready") as told:
                    assert (await told.json())["ready"]
        finally:
            await runner.cleanup()


async def test_a_server_that_is_ended_while_it_opens_memory_closes_it(tmp_path: Path) -> None:
    app = make_app(load(options={"home": str(tmp_path), "server.port": 0}).settings)
    runner = make_runner(app)
    await runner.setup()
    await runner.cleanup()
    opened = app[EDGE].memory
    assert opened is not None and not opened.learner.alive
