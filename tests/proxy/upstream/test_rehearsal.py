"""Before any client does, litellm is asked once in each format; nobody outside of this machine hears of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aiohttp
import pytest

from proxy.upstream.rehearsal import ASKED, rehearse
from tests.fake_provider import fake_provider
from tests.proxy.upstream.test_bridge import bridged


async def test_each_format_is_rehearsed_on_a_socket_of_our_own() -> None:
    heard: list[tuple[str, int]] = []

    async def call(model: str, api_base: str, **more: Any) -> None:
        async with aiohttp.ClientSession() as client, client.post(api_base, json={"model": model}) as reply:
            heard.append((api_base.rpartition(":")[0], reply.status))
        raise ValueError("refused")

    await rehearse(dict.fromkeys(ASKED, call), (ValueError,))
    assert heard == [("http://127.0.0.1", 401)] * 3


async def test_a_call_that_cannot_connect_stops_no_start() -> None:
    async def call(**_: Any) -> None:
        raise ConnectionRefusedError

    await rehearse(dict.fromkeys(ASKED, call), ())


@pytest.mark.filterwarnings("ignore")
async def test_no_provider_hears_of_it(tmp_path: Path) -> None:
    async with fake_provider() as provider, bridged(provider, tmp_path, bridge="anthropic/m"):
        assert provider.requests == []
