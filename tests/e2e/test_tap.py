"""The relay in front of the proxy: every byte comes through, and what was sent is kept under its number."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from tests.bench.processes import free_port
from tests.e2e.tap import NUMBER, Tap

pytestmark = pytest.mark.asyncio
BODY = b'{"model": "m", "messages": []}'


@asynccontextmanager
async def tapped(handler: object) -> AsyncIterator[tuple[Tap, str]]:
    """A server behind a relay, and the relay's address."""
    app = web.Application(client_max_size=8 * 2**20)
    app.router.add_route("*", "/{path:.*}", handler)  # type: ignore[arg-type]
    runner = web.AppRunner(app)
    await runner.setup()
    behind = free_port()
    await web.TCPSite(runner, "127.0.0.1", behind).start()
    tap = Tap(free_port(), behind)
    await tap.start()
    try:
        yield tap, f"http://127.0.0.1:{tap.port}"
    finally:
        await tap.stop()
        await runner.cleanup()


async def _echo(request: web.Request) -> web.Response:
    return web.Response(body=await request.read(), headers={"seen": request.headers[NUMBER]})


async def test_requests_of_one_connection_are_kept_in_order_whole_and_numbered() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield BODY[:7]
        yield BODY[7:]

    async with tapped(_echo) as (tap, url), aiohttp.ClientSession() as client:
        for number, data in ((1, BODY), (2, pieces()), (3, io.BytesIO(BODY * 40_000))):
            async with client.post(f"{url}/v1/messages?beta=true", data=data) as reply:
                whole = await reply.read()
                assert reply.headers["seen"] == str(number)
            assert tap.sent[-1].raw == whole and tap.sent[-1].path == "/v1/messages?beta=true"
    assert [(one.number, one.answered["seen"]) for one in tap.sent] == [(1, "1"), (2, "2"), (3, "3")]
    assert tap.sent[1].raw == BODY and tap.sent[0].body == {"model": "m", "messages": []}


async def test_frames_of_a_websocket_are_kept_with_what_its_server_holds() -> None:
    async def answers(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        asked = 0
        async for message in socket:
            if "response.create" in message.data:
                asked += 1
                said = {"type": "message", "role": "assistant", "id": f"m{asked}", "content": "yes" * 40_000}
                await socket.send_json(
                    {"type": "response.completed", "response": {"id": f"r{asked}", "output": [said]}}
                )
        return socket

    async with tapped(answers) as (tap, url), aiohttp.ClientSession() as client:
        async with client.ws_connect(url, max_msg_size=0) as socket:
            await socket.send_str('{"type":"response.processed"}')
            for before, text in ((None, "a" * 70_000), ("r1", "b" * 300), ("r2", "c")):
                item = {"role": "user", "id": "x", "content": text}
                await socket.send_json({"type": "response.create", "previous_response_id": before, "input": [item]})
                await socket.receive()
        told = [
            (one.connection, one.before, [each["content"][:1] for each in one.whole["input"]]) for one in tap.frames
        ]
    assert told == [(1, None, ["a"]), (1, "r1", ["a", "y", "b"]), (1, "r2", ["a", "y", "b", "y", "c"])]
    assert tap.frames[-1].whole["input"][0] == {"role": "user", "content": "a" * 70_000}


async def test_a_reply_that_breaks_off_breaks_off_for_the_client() -> None:
    async def broken(request: web.Request) -> web.StreamResponse:
        reply = web.StreamResponse()
        await reply.prepare(request)
        await reply.write(b"half")
        assert request.transport is not None
        request.transport.abort()
        return reply

    async with tapped(broken) as (_, url), aiohttp.ClientSession() as client:
        with pytest.raises(aiohttp.ClientError):
            async with client.post(url, data=BODY) as reply:
                await reply.read()


async def test_a_client_that_leaves_is_gone_for_the_server_too() -> None:
    gone = asyncio.Event()

    async def listens(reads: asyncio.StreamReader, writes: asyncio.StreamWriter) -> None:
        await reads.readuntil(b"\r\n\r\n")
        await reads.read()
        gone.set()
        writes.close()

    async with await asyncio.start_server(listens, "127.0.0.1", 0) as server:
        tap = Tap(free_port(), server.sockets[0].getsockname()[1])
        await tap.start()
        _, writes = await asyncio.open_connection("127.0.0.1", tap.port)
        writes.write(b"POST /v1/responses HTTP/1.1\r\ncontent-length: 90\r\n\r\n{")
        await writes.drain()
        writes.close()
        await asyncio.wait_for(gone.wait(), 30)
        await tap.stop()
    assert tap.sent == [], "half a request is none"
