"""The end of a server: replies that are under way come whole, and nobody new is let in."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import aiohttp
import orjson
import pytest
from aiohttp import web

from proxy.draining import STORES_SECONDS, Draining
from proxy.settings import DrainSettings
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.balancer import balancing
from tests.proxy.cli.running import serving
from tests.running import Running, running

BODY = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Tell me a story."}]}
PIECES = 6


class SlowReplies:
    """Replies of several events, each of which waits for its ``turn``."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.turn = asyncio.Event()

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in range(PIECES):
            delta = {"choices": [{"index": 0, "delta": {"content": f"{piece} "}, "finish_reason": None}]}
            await response.write(b"data: " + orjson.dumps(delta) + b"\n\n")
            if piece == 0:
                self.begun.set()
                await self.turn.wait()
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        await response.write(b"data: " + orjson.dumps(end) + b"\n\ndata: [DONE]\n\n")
        await response.write_eof()
        return response


async def test_each_part_of_an_end_takes_what_is_left_before_the_stores() -> None:
    draining = Draining()
    assert draining.may_take(5) == 5
    draining.end_within(STORES_SECONDS + 1)
    assert 0 < draining.may_take(5) <= 1
    assert draining.may_take(0.01) == 0.01
    draining.end_within(STORES_SECONDS)
    assert draining.may_take(5) == 0


async def test_what_hangs_beside_requests_takes_nothing_from_the_stores(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.opening.BESIDE_SECONDS", 600.0)
    never = asyncio.create_task(asyncio.Event().wait())
    async with asyncio.timeout(60), running(provider, tmp_path / "home") as proxy:
        proxy.edge.beside.add(never)
        proxy.edge.draining.end_within(STORES_SECONDS)
    never.cancel()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 (other processes tell nobody)
            await asyncio.sleep(0.02)


@pytest.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with fake_provider() as found:
        yield found


async def asked(client: aiohttp.ClientSession, url: str) -> tuple[int, str, str]:
    """A streamed chat: its status, its text, and what the connection's header says."""
    async with client.post(f"{url}/v1/chat/completions", json=BODY) as reply:
        return reply.status, (await reply.read()).decode(), reply.headers.get("Connection", "")


async def ready(proxy: Running) -> tuple[int, str]:
    async with proxy.client.get(f"{proxy.url}/palimpsest/ready") as reply:
        return reply.status, (await reply.json())["why"]


async def test_a_reply_under_way_comes_whole_and_idle_connections_end(provider: FakeProvider, tmp_path: Path) -> None:
    replies = SlowReplies()
    async with running(provider, tmp_path) as proxy:
        assert await ready(proxy) == (200, "")
        provider.answer = replies
        telling = asyncio.create_task(asked(proxy.client, proxy.url))
        await replies.begun.wait()
        draining = asyncio.create_task(proxy.edge.draining.drain(proxy.runner, DrainSettings(reply_seconds=60)))
        await until(lambda: not proxy.runner.sites)
        with pytest.raises(aiohttp.ClientConnectionError):
            async with aiohttp.ClientSession() as other:
                await asked(other, proxy.url)
        assert not draining.done() and not telling.done()
        replies.turn.set()
        status, text, _ = await telling
        assert status == 200 and text.endswith("data: [DONE]\n\n") and f"{PIECES - 1} " in text
        assert await draining == 0


async def test_until_the_notice_is_over_requests_are_taken_and_their_connections_end(
    provider: FakeProvider, tmp_path: Path
) -> None:
    async with running(provider, tmp_path) as proxy:
        assert (await asked(proxy.client, proxy.url))[2] == ""
        draining = asyncio.create_task(proxy.edge.draining.drain(proxy.runner, DrainSettings(notice_seconds=60)))
        await proxy.edge.draining.begun.wait()
        assert await ready(proxy) == (503, "this server is about to end")
        status, text, connection = await asked(proxy.client, proxy.url)
        assert status == 200 and text.endswith("[DONE]\n\n") and connection == "close"
        draining.cancel()


async def test_a_reply_that_takes_too_long_is_given_up_and_counted(provider: FakeProvider, tmp_path: Path) -> None:
    provider.answer = replies = SlowReplies()
    async with running(provider, tmp_path) as proxy:
        telling = asyncio.create_task(asked(proxy.client, proxy.url))
        await replies.begun.wait()
        assert await proxy.edge.draining.drain(proxy.runner, DrainSettings(reply_seconds=0)) == 1
        replies.turn.set()
        await telling


async def test_a_server_whose_memory_does_not_open_is_not_ready(provider: FakeProvider, tmp_path: Path) -> None:
    (tmp_path / "journal.db").mkdir()
    async with running(provider, tmp_path) as proxy:
        assert await ready(proxy) == (503, "memory is not open")
    async with running(provider, tmp_path / "off", **{"memory.mode": "off"}) as proxy:
        assert await ready(proxy) == (200, "")


async def test_a_server_whose_journal_takes_nothing_is_not_ready_until_it_does(
    provider: FakeProvider, tmp_path: Path
) -> None:
    async with running(provider, tmp_path) as proxy:
        with contextlib.closing(sqlite3.connect(tmp_path / "journal.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await asked(proxy.client, proxy.url)
            async with asyncio.timeout(60):
                while (await ready(proxy))[0] == 200:  # noqa: ASYNC110 (a balancer finds out by asking)
                    await asyncio.sleep(0.02)
            assert await ready(proxy) == (503, "the journal does not answer, or takes nothing")
        async with asyncio.timeout(60):
            # Though no request is made.
            while (await ready(proxy))[0] != 200:  # noqa: ASYNC110 (a balancer finds out by asking)
                await asyncio.sleep(0.02)


async def test_a_signal_ends_the_program_after_the_reply_that_is_under_way(
    provider: FakeProvider, tmp_path: Path
) -> None:
    provider.answer = replies = SlowReplies()
    async with serving("--home", str(tmp_path), "--upstream", provider.url) as started:
        telling = asyncio.create_task(asked_alone(started.url))
        await replies.begun.wait()
        ending = asyncio.create_task(started.stop())
        await until(lambda: _refuses(started.url))
        replies.turn.set()
        status, text, _ = await telling
        assert status == 200 and text.endswith("data: [DONE]\n\n")
        code, logged = await ending
        assert code == 0 and "cut off" not in logged and "Traceback" not in logged


def _refuses(url: str) -> bool:
    host, _, port = url.removeprefix("http://").partition(":")
    try:
        socket.create_connection((host, int(port)), 1).close()
    except OSError:
        return True
    return False


async def test_a_rolling_restart_behind_a_balancer_cuts_no_stream(provider: FakeProvider, tmp_path: Path) -> None:
    """Two servers are ended one after the other, and others take their places, while streams go through."""
    provider.answer = replies = SlowReplies()
    settings = DrainSettings(notice_seconds=0.5, reply_seconds=60)
    told: list[tuple[int, str, str]] = []
    ended = asyncio.Event()

    async def client(url: str) -> None:
        while not ended.is_set():
            told.append(await asked_alone(url))

    async with contextlib.AsyncExitStack() as stack:

        async def start(name: str) -> Running:
            return await stack.enter_async_context(running(provider, tmp_path / name))

        servers = [await start(name) for name in ("one", "two")]
        balancer = await stack.enter_async_context(balancing(*(each.url for each in servers)))
        clients = [asyncio.create_task(client(balancer.url)) for _ in range(4)]
        await replies.begun.wait()
        for number, old in enumerate(servers):
            draining = asyncio.create_task(old.edge.draining.drain(old.runner, settings))
            await until(lambda gone=old: gone.url not in balancer.ready)  # type: ignore[misc]
            replies.turn.set()
            assert await draining == 0
            await old.runner.cleanup()
            balancer.servers = [each for each in balancer.servers if each != old.url]
            balancer.servers.append((await start(f"new-{number}")).url)
            await until(lambda: len(balancer.ready) == 2)
            before = len(told)
            await until(lambda then=before: len(told) >= then + 6)  # type: ignore[misc]
        ended.set()
        await asyncio.gather(*clients)
    assert [each[0] for each in told] == [200] * len(told)
    assert all(text.endswith("data: [DONE]\n\n") for _, text, _ in told)


async def asked_alone(url: str) -> tuple[int, str, str]:
    async with aiohttp.ClientSession() as session:
        return await asked(session, url)
