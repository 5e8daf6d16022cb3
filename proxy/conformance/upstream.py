"""The provider behind the proxy: records what comes, byte for byte, and answers as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as it arrived. ``headers`` are in their order, as they were spelt."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first header of a name."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass(slots=True)
class ScriptedAnswer:
    """How a request is answered: ``pieces`` one after the other, each flushed. ``before`` is awaited before anything is
    sent, ``between`` before the last piece; ``cut`` ends the connection behind the pieces without an end, ``gone`` is
    set when the other side went away meanwhile."""

    pieces: Sequence[bytes]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    before: asyncio.Event | None = None
    between: asyncio.Event | None = None
    cut: bool = False
    came: asyncio.Event = field(default_factory=asyncio.Event)
    sent: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)


Choose = Callable[[RecordedRequest], ScriptedAnswer]


class Upstream:
    """What has come, and how the next request is answered."""

    def __init__(self) -> None:
        self.came: list[RecordedRequest] = []
        self.choose: Choose = lambda came: ScriptedAnswer([b"{}"])

    def answers(self, answer: ScriptedAnswer) -> ScriptedAnswer:
        """Answer so from now on, with nothing recorded yet."""
        self.came.clear()
        self.choose = lambda came: answer
        return answer

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Record, then answer."""
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await self._socket(request)
        body = await request.read()
        headers = tuple((key.decode("latin-1"), value.decode("latin-1")) for key, value in request.raw_headers)
        came = RecordedRequest(request.method, request.raw_path, headers, body)
        self.came.append(came)
        answer = self.choose(came)
        answer.came.set()
        try:
            return await self._answer(request, answer)
        except (asyncio.CancelledError, ConnectionError):
            answer.gone.set()
            raise

    async def _answer(self, request: web.Request, answer: ScriptedAnswer) -> web.StreamResponse:
        if answer.before is not None:
            await answer.before.wait()
        response = web.StreamResponse(status=answer.status, headers=dict(answer.headers))
        if "Content-Length" not in answer.headers:
            response.enable_chunked_encoding()
        if answer.cut and not answer.pieces:
            _abort(request)
            return response
        await response.prepare(request)
        for place, piece in enumerate(answer.pieces):
            if place == len(answer.pieces) - 1 and answer.between is not None:
                answer.sent.set()
                await answer.between.wait()
            await response.write(piece)
            await asyncio.sleep(0)
        if answer.cut:
            await asyncio.sleep(0.05)  # what was written has to be on its way before the connection ends
            _abort(request)
            return response
        await response.write_eof()
        return response

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        """A WebSocket that sends back what it hears, after saying that it did."""
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                headers = tuple((key.decode("latin-1"), value.decode("latin-1")) for key, value in request.raw_headers)
                self.came.append(RecordedRequest("GET", request.raw_path, headers, message.data.encode()))
                for piece in self.choose(self.came[-1]).pieces:
                    await socket.send_str(piece.decode())
        return socket


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


@asynccontextmanager
async def upstream(port: int) -> AsyncIterator[Upstream]:
    """A provider that listens on a port of this machine.

    Raises:
        OSError: when the port is taken.
    """
    provider = Upstream()
    app = web.Application(client_max_size=2**30)
    app.router.add_route("*", r"/{path:[\s\S]*}", provider.handle)
    runner = web.AppRunner(
        app,
        handler_cancellation=True,
        auto_decompress=False,
        access_log=None,
        max_field_size=2**17,
        shutdown_timeout=0.1,
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield provider
    finally:
        await runner.cleanup()
