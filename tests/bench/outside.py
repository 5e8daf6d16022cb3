"""A client and a provider in a loop and a thread of their own, of which nothing is counted."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from aiohttp import web

from tests.bench.client import Connection, Timed
from tests.bench.scenarios import Asked
from tests.bench.seed import PROJECT
from tests.bench.sessions import CHAT
from tests.proxy.wire.rounds.scripts import Round, stream

T = TypeVar("T")


@dataclass
class Outside:
    """The client and the provider, in a loop and a thread of their own."""

    loop: asyncio.AbstractEventLoop
    replies: dict[str, Round] = field(default_factory=dict)
    port: int = 0
    connection: Connection | None = None
    runner: web.AppRunner | None = None

    async def do(self, work: Awaitable[T]) -> T:
        """Have something done there."""

        async def awaited() -> T:
            return await work

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(awaited(), self.loop))

    async def ask(self, port: int, request: Asked) -> Timed:
        """Send a request to the proxy."""
        self.replies[request.session] = request.reply
        self.connection = self.connection or Connection(port)
        headers = {"x-session-id": request.session, "x-palimpsest-project": PROJECT, "Authorization": "Bearer none"}
        return await self.do(self.connection.post(CHAT, request.body, headers))

    async def serve(self) -> None:
        """Begin to provide."""

        async def chat(request: web.Request) -> web.StreamResponse:
            await request.read()
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            await response.write(stream(CHAT, self.replies[request.headers["x-session-id"]]))
            await response.write_eof()
            return response

        app = web.Application(client_max_size=2**30)
        app.router.add_post(CHAT, chat)
        self.runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self.runner.setup()
        await web.TCPSite(self.runner, "127.0.0.1", 0).start()
        self.port = self.runner.addresses[0][1]


@asynccontextmanager
async def outside() -> AsyncIterator[Outside]:
    """A client and a provider that nothing is counted of."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="outside", daemon=True)
    thread.start()
    made = Outside(loop)
    await made.do(made.serve())
    try:
        yield made
    finally:
        if made.connection is not None:
            await made.do(made.connection.close())
        if made.runner is not None:
            await made.do(made.runner.cleanup())
        loop.call_soon_threadsafe(loop.stop)
        await asyncio.to_thread(thread.join)
        loop.close()
