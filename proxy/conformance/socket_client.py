"""The client's half of a WebSocket to the proxy, and the provider's behind it: opened, asked over, and heard."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TypeVar

import aiohttp
from aiohttp import WSMessage, WSMsgType, web

from proxy.conformance.bench import Bench
from proxy.conformance.case import CaseFailed, Skipped

SECONDS: Final = 20.0
"""How long anything that is waited for may take, but for large frames."""
AT_ONCE_SECONDS: Final = 2.0

Frames = list[str | bytes]
Socket = aiohttp.ClientWebSocketResponse | web.WebSocketResponse
OnSocket = Callable[[web.WebSocketResponse], Awaitable[None]]
T = TypeVar("T")


def event_frames(on: Bench) -> Frames:
    """The frames of a response, as the provider sends them."""
    return [each.split(b"data: ", 1)[1].strip().decode() for each in on.format.events("One two three.")]


def answering_provider(on: Bench) -> OnSocket:
    """A provider that answers every frame that asks for a response with one."""

    async def provider(socket: web.WebSocketResponse) -> None:
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                await send_frames(socket, *event_frames(on))

    return provider


def asking(on: Bench, *texts: str, **more: str) -> str:
    """A frame that asks for a response to some texts."""
    return json.dumps({"type": "response.create", **on.format.body(on.model, *texts), **more})


def socket_address(on: Bench) -> str:
    """Where the proxy takes a WebSocket."""
    return on.base.replace("http", "ws", 1) + on.format.path(on.model, False)


@asynccontextmanager
async def open_socket(
    on: Bench,
    provider: OnSocket,
    *,
    headers: Mapping[str, str] | None = None,
    told: Mapping[str, str] | None = None,
    autoping: bool = True,
    autoclose: bool = True,
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """A socket to the proxy, with what its ``provider`` does with its own, which is ``told`` headers in the handshake.

    Raises:
        Skipped: where it says at once that it takes none.
        CaseFailed: where it is refused in another way, or breaks off.
    """
    on.upstream.on_socket(provider, autoping=autoping)
    on.upstream.socket_headers = told or {}
    start = time.monotonic()
    try:
        async with asyncio.timeout(SECONDS):
            socket = await on.client.ws_connect(
                socket_address(on),
                headers={**on.format.headers, **on.more, **(headers or {})},
                autoping=autoping,
                autoclose=autoclose,
                max_msg_size=0,
            )
    except aiohttp.WSServerHandshakeError as error:
        if error.status == 426 and time.monotonic() - start < AT_ONCE_SECONDS:
            raise Skipped("it says at once that it takes none (426), and clients go on over HTTP") from None
        raise CaseFailed(f"it was refused with {error.status} after {time.monotonic() - start:.1f} s") from None
    except (TimeoutError, aiohttp.ClientError) as error:
        raise CaseFailed(f"it was not opened: {error!r}") from None
    try:
        yield socket
    finally:
        await socket.close()


@asynccontextmanager
async def socket_with_request(
    on: Bench, then: OnSocket, **options: Any
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """A socket as of :func:`open_socket`, over which a response was asked for; ``then`` is what its provider does."""

    async def provider(socket: web.WebSocketResponse) -> None:
        await socket.receive()
        await then(socket)

    async with open_socket(on, provider, **options) as socket:
        await socket.send_str(asking(on, on.unique_text))
        yield socket


async def send_and_await_response(on: Bench, socket: aiohttp.ClientWebSocketResponse, frame: str) -> None:
    """Send a frame, and wait for the whole response."""
    await socket.send_str(frame)
    for _ in event_frames(on):
        await next_message(socket)


async def next_message(socket: aiohttp.ClientWebSocketResponse) -> WSMessage:
    """What comes next.

    Raises:
        CaseFailed: when nothing does.
    """
    return await in_time(socket.receive(), "nothing came")


async def answer_pings(socket: aiohttp.ClientWebSocketResponse) -> None:
    """Answer what is carried on."""
    while (message := await socket.receive()).type is WSMsgType.PING:
        await socket.pong(message.data)


async def exchange_frames(on: Bench, sent: Frames, back: Frames) -> tuple[Frames, Frames]:
    """What came of frames at the provider, and at the client of those that it sends once it has got as many."""
    came: Frames = []
    got: Frames = []

    async def provider(socket: web.WebSocketResponse) -> None:
        await _gather(socket, came, len(sent), None)
        if len(came) == len(sent):
            await send_frames(socket, *back)
            await socket.receive()

    async with open_socket(on, provider) as socket:
        await send_frames(socket, *sent)
        with suppress(TimeoutError):
            await _gather(socket, got, len(back), SECONDS)
    return came, got


async def _gather(socket: Socket, frames: Frames, most: int, seconds: float | None) -> None:
    """Gather frames until they are so many or something else comes, each within so many seconds."""
    while len(frames) < most:
        async with asyncio.timeout(seconds):
            message = await socket.receive()
        if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
            return
        frames.append(message.data)


async def send_frames(socket: Socket, *frames: str | bytes) -> None:
    """Send frames, each as text or as bytes."""
    for frame in frames:
        await (socket.send_str(frame) if isinstance(frame, str) else socket.send_bytes(frame))


async def in_time(waited: Awaitable[T], otherwise: str) -> T:
    """What is waited for.

    Raises:
        CaseFailed: with the words of ``otherwise``, when it takes longer than :data:`SECONDS`.
    """
    try:
        async with asyncio.timeout(SECONDS):
            return await waited
    except TimeoutError:
        raise CaseFailed(otherwise) from None
