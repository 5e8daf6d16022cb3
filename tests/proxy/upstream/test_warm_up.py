"""Before any client does, litellm is asked once in each format; nobody outside of this machine hears of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from proxy.upstream import warm_up
from proxy.upstream.warm_up import WARM_UP_REQUESTS, warm_up_litellm
from tests.fake_provider import fake_provider
from tests.proxy.upstream.test_bridge import bridged


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def test_each_format_is_rehearsed_on_a_socket_of_our_own() -> None:
    heard: list[tuple[str, int]] = []

    async def call(model: str, api_base: str, **more: Any) -> None:
        async with aiohttp.ClientSession() as client, client.post(api_base, json={"model": model}) as reply:
            heard.append((api_base.rpartition(":")[0], reply.status))
        raise ValueError("refused")

    await warm_up_litellm(dict.fromkeys(WARM_UP_REQUESTS, call), (ValueError,))
    assert heard == [("http://127.0.0.1", 401)] * 3


async def test_a_call_that_cannot_connect_stops_no_start() -> None:
    async def call(**_: Any) -> None:
        raise ConnectionRefusedError

    await warm_up_litellm(dict.fromkeys(WARM_UP_REQUESTS, call), ())


@pytest.mark.parametrize(("past", "asked"), [("", 0), ("localhost,127.0.0.1", 3)])
async def test_nobody_is_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch, past: str, asked: int) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:3128")
    monkeypatch.setenv("NO_PROXY", past)
    heard: list[str] = []

    async def call(model: str, **_: Any) -> None:
        heard.append(model)

    await warm_up_litellm(dict.fromkeys(WARM_UP_REQUESTS, call), ())
    assert len(heard) == asked


async def test_what_hangs_is_given_up_with_all_that_would_come_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_up, "SECONDS", 0.0)
    heard: list[str] = []

    async def call(model: str, **_: Any) -> None:
        heard.append(model)
        await asyncio.Event().wait()

    await warm_up_litellm(dict.fromkeys(WARM_UP_REQUESTS, call), ())
    assert len(heard) == 1


@pytest.mark.litellm
@pytest.mark.filterwarnings("ignore")
async def test_no_provider_hears_of_it(tmp_path: Path) -> None:
    async with fake_provider() as provider, bridged(provider, tmp_path, bridge="anthropic/m"):
        assert provider.requests == []
