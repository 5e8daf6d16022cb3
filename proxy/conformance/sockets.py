"""Responses over a WebSocket: what each side sends reaches the other as it was, and the end of one is the other's.

A proxy that takes no WebSocket may say so, with 426 at once: then clients go on over HTTP, and the cases are skipped.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Final, TypeVar

import aiohttp
from aiohttp import WSMessage, WSMsgType, web

from proxy.conformance.bench import Bench, all_there
from proxy.conformance.case import CaseFailed, Skipped, case, must
from proxy.conformance.sessions import TURNS, GrowingSession, asked_until_known, new_session, teach

MODE: Final = "https://platform.openai.com/docs/guides/websocket-mode"
PROTOCOL: Final = "https://www.rfc-editor.org/rfc/rfc6455"
SECONDS: Final = 20.0
"""How long anything that is waited for may take, but for large frames."""
AT_ONCE_SECONDS: Final = 2.0
MOST_LARGE: Final = 16 * 2**20
"""Bytes of the largest frame: what a provider takes over a socket is less than over HTTP."""
Frames = list[str | bytes]
Socket = aiohttp.ClientWebSocketResponse | web.WebSocketResponse
OnSocket = Callable[[web.WebSocketResponse], Awaitable[None]]
T = TypeVar("T")

socket_case = partial(case, formats=("responses",))


@socket_case(
    "websocket.responses",
    "a WebSocket is relayed frame by frame, byte for byte, or refused with 426 at once",
    why="Codex and others try one first; after any other refusal they try again for half a minute",
    source=MODE,
)
async def relayed(on: Bench) -> str:
    sent = _asking(on, on.unique_text).replace('{"type"', '{ "x_odd" : [1e0, 0.10,"caf\\u00e9 \\/"] ,\n"type"', 1)
    _, got = await _exchange_frames(on, [sent], _event_frames(on))
    must(on.only().body == sent.encode(), "another frame arrived")
    must(got == _event_frames(on), "other frames came back")
    return "relayed"


@socket_case(
    "websocket.handshake",
    "the client's own headers arrive with the handshake, and the provider's come back",
    why="credentials, betas and the state of a turn are told there, and nowhere else",
    source=PROTOCOL + "#section-4.2.2",
)
async def handshake(on: Bench) -> None:
    told = {"x-codex-turn-state": "t-1", "x-request-id": "req_1"}
    sent = {"openai-beta": "responses_websockets=2026-02-06", "x-session-id": uuid.uuid4().hex, **on.format.headers}
    async with _socket_with_request(
        on, lambda there: _send(there, *_event_frames(on)), headers=sent, told=told
    ) as socket:
        await _next_message(socket)
        back = socket._response.headers
    all_there(sent, on.only().header)
    all_there(told, back.get)


@socket_case(
    "websocket.refused",
    "a handshake that the provider refuses is refused with its status and its retry-after",
    why="a client waits where it is told to, and asks for another key where its own is refused",
    source=PROTOCOL + "#section-4.2.2",
)
async def refused(on: Bench) -> None:
    async with _open_socket(on, _answering_provider(on)):
        pass
    for status in (401, 429):
        on.upstream.refuses_sockets = status
        try:
            async with on.client.ws_connect(_address(on), headers={**on.format.headers, **on.more}):
                raise CaseFailed(f"the provider's {status} became an open socket")
        except aiohttp.WSServerHandshakeError as error:
            must(error.status == status, f"the provider's {status} became {error.status}")
            waits = error.headers.get("retry-after") if error.headers else None
            must(waits == "7", f"the {status} lost its retry-after")


@socket_case(
    "websocket.unknown-frames",
    "frames of unknown types, what is no JSON and binary frames go through, in their order, in both directions",
    why="an API grows faster than a proxy; what it does not know it has to carry",
    source=MODE,
)
async def unknown(on: Bench) -> None:
    frames: Frames = [
        '{"type":"response.processed","x": 1.50}',
        '{ "type" : "session.of_tomorrow" }',
        "no JSON at all \u2028 caf\u00e9",
        b"\x00\xff\xfe",
        "{}",
        "",
    ]
    came = await _exchange_frames(on, frames, frames)
    must(came == (frames, frames), _told(frames, *came))


@socket_case(
    "websocket.goes-on",
    "a frame that goes on from an earlier response arrives with its id, and with its items and no others",
    why="the provider has the history; what is sent twice stands there twice, and without the id all of it is lost",
    source=MODE,
)
async def goes_on(on: Bench) -> None:
    sent = [_asking(on, on.unique_text), _asking(on, on.unique_text, previous_response_id="resp_1")]
    async with _open_socket(on, _answering_provider(on)) as socket:
        for frame in sent:
            await _send_and_await_response(on, socket, frame)
    came = [each.body.decode() for each in on.upstream.came]
    must(came == sent, _told(sent, came))


@socket_case(
    "websocket.large",
    "a large frame (16 MiB, or as --large-mib says where that is less) goes through whole, in both directions",
    why="agents send pictures, logs and a whole history; many libraries stop at 1 or 4 MiB unless they are told",
    source=PROTOCOL + "#section-5.2",
)
async def large(on: Bench) -> None:
    text = "x" * (min(on.large, MOST_LARGE) - 4096)
    sent: Frames = [_asking(on, text)]
    back: Frames = [json.dumps({"type": "response.output_text.delta", "delta": text})]
    came = await _exchange_frames(on, sent, back)
    must(came == (sent, back), f"of {len(sent[0])} and {len(back[0])} bytes came {[*map(len, came[0] + came[1])]}")


@socket_case(
    "websocket.pings",
    "pings of either side are answered, while a response is waited for, too",
    why="who gets no pong takes the connection for dead, in the middle of long thinking",
    source=PROTOCOL + "#section-5.5.2",
)
async def pings(on: Bench) -> None:
    heard, done = asyncio.Event(), asyncio.Event()

    async def provider(socket: web.WebSocketResponse) -> None:
        await socket.ping(b"from the provider")
        message = await socket.receive()
        if message.type is WSMsgType.PONG and message.data == b"from the provider":
            heard.set()
        await done.wait()

    async with _socket_with_request(on, provider, autoping=False) as socket:
        await socket.ping(b"from the client")
        try:
            # A proxy may carry the provider's pings on instead of answering them.
            while (message := await _next_message(socket)).type is WSMsgType.PING:
                await socket.pong(message.data)
            answered = (message.type, message.data)
            must(answered == (WSMsgType.PONG, b"from the client"), f"to its ping the client got {answered}")
            reader = asyncio.create_task(_answer_pings(socket))
            try:
                await _in_time(heard.wait(), "the provider's ping was not answered")
            finally:
                reader.cancel()
                await asyncio.gather(reader, return_exceptions=True)
        finally:
            done.set()


@socket_case(
    "websocket.closed-by-provider",
    "where the provider closes the socket the client gets its code and its words",
    why="by the code a client knows whether to connect again, to wait, or to give up",
    source=PROTOCOL + "#section-7.4",
)
async def closed_by_provider(on: Bench) -> None:
    for code, words in ((1000, ""), (1008, "policy"), (1013, "later"), (4001, "sixty minutes")):

        async def provider(socket: web.WebSocketResponse, code: int = code, words: str = words) -> None:
            await socket.close(code=code, message=words.encode())

        async with _socket_with_request(on, provider, autoclose=False) as socket:
            message = await _next_message(socket)
            got = (message.type, message.data, message.extra or "")
            must(got == (WSMsgType.CLOSE, code, words), f"the provider's {code} {words!r} became {got[1:]}")


@socket_case(
    "websocket.closed-by-client",
    "where the client closes the socket the provider gets its code",
    why="a provider tells a client that has finished from one that has failed",
    source=PROTOCOL + "#section-7.4",
)
async def closed_by_client(on: Bench) -> None:
    for code in (1000, 1001, 4000):
        got: asyncio.Future[object] = asyncio.get_running_loop().create_future()

        async def provider(socket: web.WebSocketResponse, got: asyncio.Future[object] = got) -> None:
            message = await socket.receive()
            if not got.done():
                got.set_result(message.data)

        async with _socket_with_request(on, provider) as socket:
            await socket.close(code=code)
            came = await _in_time(got, f"the provider never heard of the client's {code}")
        must(came == code, f"the client's {code} became {came!r}")


@socket_case(
    "websocket.broken",
    "where the provider's connection breaks off, the client does not see an ordinary end",
    why="an ordinary end reads as one that was meant: a reply that is cut is taken for whole, or never asked for again",
    source=PROTOCOL + "#section-7.1.5",
)
async def broken(on: Bench) -> str:
    async def provider(socket: web.WebSocketResponse) -> None:
        await _send(socket, _event_frames(on)[0])
        # What was written has to be on its way before the connection ends.
        await asyncio.sleep(0.05)
        on.upstream.abort_sockets()

    async with _socket_with_request(on, provider, autoclose=False) as socket:
        must((await _next_message(socket)).data == _event_frames(on)[0], "what came before was not passed on")
        message = await _next_message(socket)
        closed = message.type is WSMsgType.CLOSE
        must(not closed or message.data not in (1000, 1001, None), f"it became an ordinary end ({message.data})")
        return f"closed with {message.data}" if closed else "broken off, too"


@socket_case(
    "websocket.cancel",
    "who goes away in the middle of a response ends it at the provider",
    why="what nobody hears any more is still paid for",
    source=MODE,
)
async def cancel(on: Bench) -> None:
    gone = asyncio.Event()

    async def provider(socket: web.WebSocketResponse) -> None:
        try:
            await _send(socket, _event_frames(on)[0])
            while (await socket.receive()).type in (WSMsgType.TEXT, WSMsgType.BINARY):
                pass
        finally:
            gone.set()

    async with _socket_with_request(on, provider) as socket:
        await _next_message(socket)
        connection = socket._response.connection
        assert connection is not None and connection.transport is not None
        connection.transport.abort()
        await _in_time(gone.wait(), "the provider's socket is still open")


@socket_case(
    "websocket.prefix",
    "two successive frames that bring the whole history share no shorter a beginning at the provider than at the "
    "client",
    why="a cached token costs a tenth, over a socket as over HTTP",
    source="https://platform.openai.com/docs/guides/prompt-caching",
)
async def prefix(on: Bench) -> str:
    async with _open_socket(on, _answering_provider(on)):
        pass
    taught = await teach(on)
    await asked_until_known(on, taught[0])
    session = new_session(on)
    texts, grown = [f"Session {session['x-session-id'][:6]}. {taught[0].question}"], GrowingSession([], [])
    async with _open_socket(on, _answering_provider(on), headers=session) as socket:
        for number in range(1, TURNS + 1):
            sent = _asking(on, *texts)
            await _send_and_await_response(on, socket, sent)
            grown.sent.append(sent.encode())
            grown.came.append(on.upstream.came[-1].body)
            asked = taught[1].question if number == TURNS // 2 else f"And what of part {number} of it?"
            texts += [f"Very well, {number}.", asked]
    grown.must_have_grown()
    return grown.added(taught)


def _event_frames(on: Bench) -> Frames:
    return [each.split(b"data: ", 1)[1].strip().decode() for each in on.format.events("One two three.")]


def _answering_provider(on: Bench) -> OnSocket:
    """A provider that answers every frame that asks for a response with one."""

    async def provider(socket: web.WebSocketResponse) -> None:
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                await _send(socket, *_event_frames(on))

    return provider


def _asking(on: Bench, *texts: str, **more: str) -> str:
    return json.dumps({"type": "response.create", **on.format.body(on.model, *texts), **more})


def _address(on: Bench) -> str:
    return on.base.replace("http", "ws", 1) + on.format.path(on.model, False)


@asynccontextmanager
async def _open_socket(
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
                _address(on),
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
async def _socket_with_request(
    on: Bench, then: OnSocket, **options: Any
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """A socket as of :func:`_open_socket`, over which a response was asked for; ``then`` is what its provider does."""

    async def provider(socket: web.WebSocketResponse) -> None:
        await socket.receive()
        await then(socket)

    async with _open_socket(on, provider, **options) as socket:
        await socket.send_str(_asking(on, on.unique_text))
        yield socket


async def _send_and_await_response(on: Bench, socket: aiohttp.ClientWebSocketResponse, frame: str) -> None:
    """Send a frame, and wait for the whole response."""
    await socket.send_str(frame)
    for _ in _event_frames(on):
        await _next_message(socket)


async def _next_message(socket: aiohttp.ClientWebSocketResponse) -> WSMessage:
    return await _in_time(socket.receive(), "nothing came")


async def _answer_pings(socket: aiohttp.ClientWebSocketResponse) -> None:
    """Answer what is carried on."""
    while (message := await socket.receive()).type is WSMsgType.PING:
        await socket.pong(message.data)


async def _exchange_frames(on: Bench, sent: Frames, back: Frames) -> tuple[Frames, Frames]:
    """What came of frames at the provider, and at the client of those that it sends once it has got as many."""
    came: Frames = []
    got: Frames = []

    async def provider(socket: web.WebSocketResponse) -> None:
        await _gather(socket, came, len(sent), None)
        if len(came) == len(sent):
            await _send(socket, *back)
            await socket.receive()

    async with _open_socket(on, provider) as socket:
        await _send(socket, *sent)
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


async def _send(socket: Socket, *frames: str | bytes) -> None:
    for frame in frames:
        await (socket.send_str(frame) if isinstance(frame, str) else socket.send_bytes(frame))


async def _in_time(waited: Awaitable[T], otherwise: str) -> T:
    try:
        async with asyncio.timeout(SECONDS):
            return await waited
    except TimeoutError:
        raise CaseFailed(otherwise) from None


def _told(expected: object, *came: object) -> str:
    return f"of {expected} came {came}"[:600]
