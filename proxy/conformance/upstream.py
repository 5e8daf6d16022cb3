"""The provider behind the proxy: records what comes, byte for byte, and answers as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import WSMessage, WSMsgType, web


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
OnSocket = Callable[[web.WebSocketResponse], Awaitable[None]]
"""What a provider does with a WebSocket; when it is done the socket is closed, if it is not yet."""


async def _listens(socket: web.WebSocketResponse) -> None:
    async for _ in socket:
        pass


class Upstream:
    """What has come, and how the next request is answered."""

    def __init__(self) -> None:
        self.came: list[RecordedRequest] = []
        self.choose: Choose = lambda came: ScriptedAnswer([b"{}"])
        self.refuses_sockets = 0
        self.socket_headers: Mapping[str, str] = {}
        self._on_socket: OnSocket = _listens
        self._autoping = True
        self._transports: set[asyncio.Transport] = set()

    def answers(self, answer: ScriptedAnswer) -> ScriptedAnswer:
        """Answer so from now on, with nothing recorded yet."""
        self.came.clear()
        self.choose = lambda came: answer
        return answer

    def on_socket(self, action: OnSocket, autoping: bool = True) -> None:
        """Take WebSockets from now on, with nothing recorded yet. ``autoping``: pings and pongs are not shown to it.
        ``refuses_sockets`` is the status that refuses them, 0 for none; ``socket_headers`` come with the handshake."""
        self.came.clear()
        self._on_socket, self._autoping = action, autoping
        self.refuses_sockets, self.socket_headers = 0, {}

    def abort_sockets(self) -> None:
        """End the connections of all sockets without a word."""
        for transport in self._transports:
            transport.abort()

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
        if self.refuses_sockets:
            return web.Response(status=self.refuses_sockets, headers={"retry-after": "7"})
        socket = _RecordedSocket(request, self.came, self._autoping)
        socket.headers.update(self.socket_headers)
        await socket.prepare(request)
        assert request.transport is not None
        self._transports.add(request.transport)
        try:
            await self._on_socket(socket)
            await socket.close()
        finally:
            self._transports.discard(request.transport)
        return socket


class _RecordedSocket(web.WebSocketResponse):
    """A WebSocket of which each text frame is recorded like a request."""

    def __init__(self, request: web.Request, came: list[RecordedRequest], autoping: bool) -> None:
        super().__init__(max_msg_size=0, autoping=autoping, autoclose=True)
        self._headers_came = tuple(
            (key.decode("latin-1"), value.decode("latin-1")) for key, value in request.raw_headers
        )
        self._path, self._came = request.raw_path, came

    async def receive(self, timeout: float | None = None) -> WSMessage:  # noqa: ASYNC109  # aiohttp's own
        message = await super().receive(timeout)
        if message.type is WSMsgType.TEXT:
            body = message.data.encode("utf-8", "surrogatepass")
            self._came.append(RecordedRequest("GET", self._path, self._headers_came, body))
        return message


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
