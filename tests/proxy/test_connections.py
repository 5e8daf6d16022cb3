"""Connections are bounded, heads have a limit, and what the loop reports fills no log."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import orjson
import pytest
from aiohttp import web

from proxy import connections
from proxy.connections import (
    REPEATED_SECONDS,
    Connection,
    Connections,
    LoopFaults,
    bound,
    open_files,
    raise_descriptors,
)
from tests.fake_provider import FakeProvider, fake_provider
from tests.running import Running, running

MOST = 4


class Held:
    """A provider that answers when it is told to."""

    def __init__(self, provider: FakeProvider) -> None:
        self.arrived = asyncio.Semaphore(0)
        self.go_on = asyncio.Event()
        provider.answer = self.answer

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.arrived.release()
        await self.go_on.wait()
        return web.json_response({})


def port_of(proxy: Running) -> int:
    return int(proxy.url.rpartition(":")[2])


async def raw(proxy: Running, head: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection of its own that has sent these bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(proxy))
    writer.write(head)
    await writer.drain()
    return reader, writer


def request(path: str) -> bytes:
    body = b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@pytest.mark.parametrize(
    ("path", "kind"), [("/v1/messages", "overloaded_error"), ("/v1/chat/completions", "server_error")]
)
async def test_who_comes_beyond_the_bound_is_told_to_wait_in_its_own_format(
    tmp_path: Path, path: str, kind: str
) -> None:
    async with (
        fake_provider() as provider,
        running(provider, tmp_path, server__max_connections=MOST) as proxy,
        asyncio.timeout(30),
    ):
        held = Held(provider)
        busy = [await raw(proxy, request("/v1/chat/completions")) for _ in range(MOST)]
        for _ in busy:
            await held.arrived.acquire()
        reader, writer = await raw(proxy, request(path))
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503") and b"\r\nRetry-After: 2" in head
        assert orjson.loads(body)["error"]["type"] == kind
        writer.close()
        held.go_on.set()
        for each, there in busy:
            assert (await each.readline()).startswith(b"HTTP/1.1 200")
            there.close()


async def test_who_rests_gives_way(tmp_path: Path) -> None:
    async with (
        fake_provider() as provider,
        running(provider, tmp_path, server__max_connections=MOST) as proxy,
        asyncio.timeout(30),
    ):
        resting = [await raw(proxy, b"POST /v1/chat") for _ in range(MOST)]
        for _, writer in resting:
            await writer.drain()
        reader, writer = await raw(proxy, request("/v1/chat/completions"))
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        assert await resting[0][0].read() == b""
        for _, each in [*resting, (reader, writer)]:
            each.close()


HALF = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500\r\n\r\n{"


@pytest.fixture
def came(monkeypatch: pytest.MonkeyPatch) -> asyncio.Semaphore:
    """Is released whenever a connection has heard something."""
    heard, hear = asyncio.Semaphore(0), Connection.data_received

    def data_received(self: Connection, data: bytes) -> None:
        hear(self, data)
        heard.release()

    monkeypatch.setattr(Connection, "data_received", data_received)
    return heard


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings"])
async def test_a_body_that_ceases_to_come_gives_way_and_one_that_comes_does_not(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    came: asyncio.Semaphore,
    path: str,
) -> None:
    async with (
        fake_provider() as provider,
        running(provider, tmp_path, server__max_connections=MOST) as proxy,
        asyncio.timeout(30),
    ):
        half = [await raw(proxy, HALF.replace(b"/v1/chat/completions", path.encode())) for _ in range(MOST)]
        for _ in half:
            await came.acquire()
        reader, writer = await raw(proxy, request(path))
        assert (await reader.readline()).startswith(b"HTTP/1.1 503")
        writer.close()
        await writer.wait_closed()
        monkeypatch.setattr(connections, "STALLED_SECONDS", 0.0)
        reader, writer = await raw(proxy, request(path))
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        assert await half[0][0].read() == b""
        assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
        for _, each in [*half, (reader, writer)]:
            each.close()


async def test_one_caller_has_no_more_connections_than_it_may(tmp_path: Path) -> None:
    async with (
        fake_provider() as provider,
        running(provider, tmp_path, server__limits__connections=2) as proxy,
        asyncio.timeout(30),
    ):
        idle = await raw(proxy, b"POST")
        held = Held(provider)
        first, second = [await raw(proxy, request("/v1/messages")) for _ in range(2)]
        for _ in range(2):
            await held.arrived.acquire()
        assert await idle[0].read() == b"", "it gives way"
        reader, writer = await raw(proxy, request("/v1/messages"))
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 429") and b"\r\nRetry-After: 1" in head
        assert orjson.loads(body)["error"]["type"] == "rate_limit_error"
        held.go_on.set()
        for each, there in (first, second):
            assert (await each.readline()).startswith(b"HTTP/1.1 200")
            there.close()
            await there.wait_closed()
        reader, last = await raw(proxy, request("/v1/messages"))
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        for done in (idle[1], writer, last):
            done.close()


async def test_beyond_what_can_be_refused_connections_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REFUSED_AT_ONCE", 0)
    async with (
        fake_provider() as provider,
        running(provider, tmp_path, server__max_connections=MOST) as proxy,
        asyncio.timeout(30),
    ):
        held = Held(provider)
        busy = [await raw(proxy, request("/v1/chat/completions")) for _ in range(MOST)]
        for _ in busy:
            await held.arrived.acquire()
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(proxy))
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        held.go_on.set()
        for each in [writer, *(there for _, there in busy)]:
            each.close()


@pytest.mark.parametrize("sent", [b"", b"POST /v1/chat/completions HTTP/1.1\r\nHost: a"])
async def test_a_head_that_never_comes_ends_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.05)
    monkeypatch.setattr(connections, "SILENT_SECONDS", 0.1)
    async with fake_provider() as provider, running(provider, tmp_path) as proxy, asyncio.timeout(30):
        reader, writer = await raw(proxy, sent)
        assert await reader.read() == b""
        writer.close()


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nno colon\r\n\r\n",
        b"\x16\x03\x01 / HTTP/1.1\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n",
    ],
)
async def test_a_head_that_cannot_be_read_is_refused_aloud(tmp_path: Path, head: bytes) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy, asyncio.timeout(30):
        reader, writer = await raw(proxy, head)
        told = await reader.read()
        assert told.startswith((b"HTTP/1.1 400", b"HTTP/1.0 400")), told
        assert b"\r\nx-palimpsest-status: refused; 400\r\n" in told
        writer.close()


async def test_a_request_under_way_has_no_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.0)
    monkeypatch.setattr(connections, "SILENT_SECONDS", 1000.0)
    async with fake_provider() as provider, running(provider, tmp_path) as proxy, asyncio.timeout(30):
        held = Held(provider)
        reader, writer = await raw(proxy, request("/v1/chat/completions"))
        await held.arrived.acquire()
        # A connection that came later is closed by its limit: this one's would have passed as well.
        late, other = await raw(proxy, b"POST")
        assert await late.read() == b""
        held.go_on.set()
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()
        other.close()


async def test_the_bound_leaves_descriptors_to_everything_else(tmp_path: Path) -> None:
    assert bound(2048, 65_536, 40) == 2048
    assert bound(2048, 1024, 40) == (1024 - 40 - connections.SPARE) // 2
    assert bound(2048, 64, 40) == 4
    assert 0 < open_files() < raise_descriptors()
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        assert isinstance(proxy.runner.server, Connections)


async def test_what_the_loop_reports_again_and_again_is_counted_and_logged_once_in_a_while(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told, now = list[str](), [0.0]
    faults = LoopFaults(told.append, lambda: now[0])
    loop = asyncio.get_running_loop()
    context = {"message": "socket.accept() out of system resource", "exception": OSError(24, "Too many open files")}
    with caplog.at_level(logging.ERROR):
        for _ in range(1000):
            faults(loop, context)
        assert len(caplog.records) == len(told) == 1
        now[0] = REPEATED_SECONDS
        faults(loop, context)
        faults(loop, {"message": "something else"})
    assert [record.args[0] for record in caplog.records if isinstance(record.args, tuple)] == [1, 1000, 1]
    assert told[0] == "OSError: socket.accept() out of system resource"
