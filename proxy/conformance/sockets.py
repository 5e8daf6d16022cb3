"""Responses over a WebSocket: what each side sends reaches the other as it was, and the end of one is the other's.

A proxy that takes no WebSocket may say so, with 426 at once: then clients go on over HTTP, and the cases are skipped.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from functools import partial
from typing import Final

import aiohttp
from aiohttp import WSMsgType, web

from proxy.conformance.bench import Bench, all_there
from proxy.conformance.case import CaseFailed, case, must
from proxy.conformance.sessions import TURNS, GrowingSession, asked_until_known, new_session, teach
from proxy.conformance.socket_client import (
    Frames,
    answer_pings,
    answering_provider,
    asking,
    event_frames,
    exchange_frames,
    in_time,
    next_message,
    open_socket,
    send_and_await_response,
    send_frames,
    socket_address,
    socket_with_request,
)

MODE: Final = "https://platform.openai.com/docs/guides/websocket-mode"
PROTOCOL: Final = "https://www.rfc-editor.org/rfc/rfc6455"
MOST_LARGE: Final = 16 * 2**20
"""Bytes of the largest frame: what a provider takes over a socket is less than over HTTP."""

socket_case = partial(case, formats=("responses",))


@socket_case(
    "websocket.responses",
    "a WebSocket is relayed frame by frame, byte for byte, or refused with 426 at once",
    why="Codex and others try one first; after any other refusal they try again for half a minute",
    source=MODE,
)
async def relayed(on: Bench) -> str:
    sent = asking(on, on.unique_text).replace('{"type"', '{ "x_odd" : [1e0, 0.10,"caf\\u00e9 \\/"] ,\n"type"', 1)
    _, got = await exchange_frames(on, [sent], event_frames(on))
    must(on.only().body == sent.encode(), "another frame arrived")
    must(got == event_frames(on), "other frames came back")
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
    async with socket_with_request(
        on, lambda there: send_frames(there, *event_frames(on)), headers=sent, told=told
    ) as socket:
        await next_message(socket)
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
    async with open_socket(on, answering_provider(on)):
        pass
    for status in (401, 429):
        on.upstream.refuses_sockets = status
        try:
            async with on.client.ws_connect(socket_address(on), headers={**on.format.headers, **on.more}):
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
    came = await exchange_frames(on, frames, frames)
    must(came == (frames, frames), _told(frames, *came))


@socket_case(
    "websocket.goes-on",
    "a frame that goes on from an earlier response arrives with its id, and with its items and no others",
    why="the provider has the history; what is sent twice stands there twice, and without the id all of it is lost",
    source=MODE,
)
async def goes_on(on: Bench) -> None:
    sent = [asking(on, on.unique_text), asking(on, on.unique_text, previous_response_id="resp_1")]
    async with open_socket(on, answering_provider(on)) as socket:
        for frame in sent:
            await send_and_await_response(on, socket, frame)
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
    sent: Frames = [asking(on, text)]
    back: Frames = [json.dumps({"type": "response.output_text.delta", "delta": text})]
    came = await exchange_frames(on, sent, back)
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

    async with socket_with_request(on, provider, autoping=False) as socket:
        await socket.ping(b"from the client")
        try:
            # A proxy may carry the provider's pings on instead of answering them.
            while (message := await next_message(socket)).type is WSMsgType.PING:
                await socket.pong(message.data)
            answered = (message.type, message.data)
            must(answered == (WSMsgType.PONG, b"from the client"), f"to its ping the client got {answered}")
            reader = asyncio.create_task(answer_pings(socket))
            try:
                await in_time(heard.wait(), "the provider's ping was not answered")
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

        async with socket_with_request(on, provider, autoclose=False) as socket:
            message = await next_message(socket)
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

        async with socket_with_request(on, provider) as socket:
            await socket.close(code=code)
            came = await in_time(got, f"the provider never heard of the client's {code}")
        must(came == code, f"the client's {code} became {came!r}")


@socket_case(
    "websocket.broken",
    "where the provider's connection breaks off, the client does not see an ordinary end",
    why="an ordinary end reads as one that was meant: a reply that is cut is taken for whole, or never asked for again",
    source=PROTOCOL + "#section-7.1.5",
)
async def broken(on: Bench) -> str:
    async def provider(socket: web.WebSocketResponse) -> None:
        await send_frames(socket, event_frames(on)[0])
        # What was written has to be on its way before the connection ends.
        await asyncio.sleep(0.05)
        on.upstream.abort_sockets()

    async with socket_with_request(on, provider, autoclose=False) as socket:
        must((await next_message(socket)).data == event_frames(on)[0], "what came before was not passed on")
        message = await next_message(socket)
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
            await send_frames(socket, event_frames(on)[0])
            while (await socket.receive()).type in (WSMsgType.TEXT, WSMsgType.BINARY):
                pass
        finally:
            gone.set()

    async with socket_with_request(on, provider) as socket:
        await next_message(socket)
        connection = socket._response.connection
        assert connection is not None and connection.transport is not None
        connection.transport.abort()
        await in_time(gone.wait(), "the provider's socket is still open")


@socket_case(
    "websocket.prefix",
    "two successive frames that bring the whole history share no shorter a beginning at the provider than at the "
    "client",
    why="a cached token costs a tenth, over a socket as over HTTP",
    source="https://platform.openai.com/docs/guides/prompt-caching",
)
async def prefix(on: Bench) -> str:
    async with open_socket(on, answering_provider(on)):
        pass
    taught = await teach(on)
    await asked_until_known(on, taught[0])
    session = new_session(on)
    texts, grown = [f"Session {session['x-session-id'][:6]}. {taught[0].question}"], GrowingSession([], [])
    async with open_socket(on, answering_provider(on), headers=session) as socket:
        for number in range(1, TURNS + 1):
            sent = asking(on, *texts)
            await send_and_await_response(on, socket, sent)
            grown.sent.append(sent.encode())
            grown.came.append(on.upstream.came[-1].body)
            asked = taught[1].question if number == TURNS // 2 else f"And what of part {number} of it?"
            texts += [f"Very well, {number}.", asked]
    grown.must_have_grown()
    return grown.added(taught)


def _told(expected: object, *came: object) -> str:
    return f"of {expected} came {came}"[:600]
