"""One caller asks for no more than the settings say, is told so in its own format, and keeps nobody else waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from proxy import limits as limits_of_callers
from proxy.limits import Limited, Limits
from proxy.settings import LimitSettings
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.api.asking import asking
from tests.running import Running, running

BODY = {"model": "m", "messages": [{"role": "user", "content": "Hello."}]}
CLAUDE = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello."}]}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "Hello."}]}]}


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def made(**settings: int) -> tuple[Limits, Clock]:
    clock = Clock()
    return Limits(LimitSettings(**settings), clock), clock


def ask(limits: Limits, caller: str = "ann", size: int = 0) -> dict[str, str]:
    with limits.admitted(caller, size) as admitted:
        return dict(admitted.headers)


def test_without_settings_nothing_is_limited_or_told() -> None:
    limits, _ = made()
    assert [ask(limits, size=2**40) for _ in range(5000)] == [{}] * 5000


def test_requests_come_back_evenly() -> None:
    limits, clock = made(requests_per_minute=6)
    assert [ask(limits)["x-palimpsest-limit-requests"] for _ in range(6)] == [f"{left}/6" for left in range(5, -1, -1)]
    with pytest.raises(Limited) as refused:
        ask(limits)
    assert (refused.value.status, refused.value.retry_after) == (429, 10)
    assert ask(limits, "bob")
    clock.now += 10
    ask(limits)
    with pytest.raises(Limited):
        ask(limits)
    clock.now += 3600
    assert ask(limits)["x-palimpsest-limit-requests"] == "5/6"


def test_bytes_are_counted_and_the_largest_body_still_gets_through() -> None:
    limits, clock = made(mib_per_minute=1)
    assert ask(limits, size=2**19)["x-palimpsest-limit-bytes"] == f"{2**19}/{2**20}"
    with pytest.raises(Limited) as refused:
        ask(limits, size=2**20)
    assert refused.value.retry_after == 30
    clock.now += 60
    ask(limits, size=2**24)  # more than a minute's worth: it waits for a full one, and then owes
    with pytest.raises(Limited) as owing:
        ask(limits, size=1)
    assert owing.value.retry_after == 60 * 15 + 1


def test_a_body_whose_size_was_not_said_is_owed() -> None:
    limits, _ = made(mib_per_minute=1)
    with limits.admitted("ann", 0) as admitted:
        admitted.charge(2**21)
    with pytest.raises(Limited):
        ask(limits, size=1)


def test_so_many_are_under_way_at_a_time_however_they_end() -> None:
    limits, _ = made(at_once=2)
    with ExitStack() as under_way:
        under_way.enter_context(limits.admitted("ann", 0))
        under_way.enter_context(limits.admitted("ann", 0))
        with pytest.raises(Limited):
            ask(limits)
        ask(limits, "bob")
    with pytest.raises(ValueError, match="broke"), limits.admitted("ann", 0):
        raise ValueError("broke")
    assert ask(limits)["x-palimpsest-limit-at-once"] == "1/2"


def test_what_is_refused_takes_nothing() -> None:
    limits, _ = made(requests_per_minute=2, mib_per_minute=1)
    ask(limits, size=2**20)
    for _ in range(5):
        with pytest.raises(Limited, match="bytes"):
            ask(limits, size=2**20)
    ask(limits)


def test_callers_that_are_gone_are_forgotten_and_those_under_way_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_of_callers, "KNOWN", 200)
    limits, _ = made(at_once=1)
    with limits.admitted("ann", 0):
        for number in range(210):
            ask(limits, f"caller {number}")
        assert len(limits._callers) <= 200
        with pytest.raises(Limited):
            ask(limits)


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("/v1/chat/completions", BODY, ("error", "type", "rate_limit_error")),
        ("/v1/messages", CLAUDE, ("error", "type", "rate_limit_error")),
        ("/v1beta/models/gemini-2.5-pro:generateContent", GEMINI, ("error", "status", "RESOURCE_EXHAUSTED")),
        ("/v1/embeddings", {"model": "m", "input": "x"}, ("error", "type", "invalid_request_error")),
    ],
)
async def test_each_client_is_told_in_its_own_format(
    path: str, body: dict[str, Any], kind: tuple[str, str, str], tmp_path: Path
) -> None:
    options = {"server__limits__requests_per_minute": 1}
    async with fake_provider() as provider, running(provider, tmp_path / "home", **options) as proxy:
        status, _, headers = await proxy.post(path, body)
        assert status == 200 and headers["x-palimpsest-limit-requests"] == "0/1"
        status, told, headers = await proxy.post(path, body)
        assert status == 429 and 50 <= int(headers["Retry-After"]) <= 60
        assert orjson.loads(told)[kind[0]][kind[1]] == kind[2]
        assert len(provider.requests) == 1
        counted = await metrics(proxy)
        assert 'palimpsest_limited_total{what="requests a minute"}' in counted


async def metrics(proxy: Running) -> str:
    headers = {"Authorization": f"Bearer {asking(proxy).token}"}
    async with proxy.client.get(f"{proxy.url}/palimpsest/metrics", headers=headers) as reply:
        return await reply.text()


async def test_a_key_is_a_caller_of_its_own_and_a_made_up_one_is_not(tmp_path: Path) -> None:
    options = {"server__limits__requests_per_minute": 1}
    async with fake_provider() as provider, running(provider, tmp_path / "home", **options) as proxy:
        key = proxy.edge.key.value
        assert [(await proxy.post(f"/k/{key}/v1/chat/completions", BODY))[0] for _ in range(2)] == [200, 429]
        made_up = [{"Authorization": f"Bearer sk-{number:032}"} for number in range(3)]
        told = [(await proxy.post("/v1/chat/completions", BODY, **headers))[0] for headers in made_up]
        assert told == [200, 429, 429]


async def test_streams_that_hang_leave_room_when_their_client_leaves(tmp_path: Path) -> None:
    async with hanging() as (provider, came), running(provider, tmp_path / "home", server__limits__at_once=1) as proxy:
        first = asyncio.create_task(proxy.post("/v1/chat/completions", BODY))
        await came.wait()
        assert (await proxy.post("/v1/chat/completions", BODY))[0] == 429
        first.cancel()
        await asyncio.wait({first})
        provider.answer = None
        async with asyncio.timeout(30):
            while (await proxy.post("/v1/chat/completions", BODY))[0] == 429:
                pass


@asynccontextmanager
async def hanging() -> AsyncIterator[tuple[FakeProvider, asyncio.Event]]:
    """A provider that answers nobody, and whether a request has come."""
    came = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        came.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with fake_provider() as provider:
        provider.answer = answer
        yield provider, came
