"""The printed address, opened by a person, says what it is for; a client's request there goes its way."""

from __future__ import annotations

import pytest

from tests.proxy.api.asking import Asking
from tests.running import Running


@pytest.mark.parametrize("path", ["/", "/palimpsest"])
async def test_a_person_is_told_what_it_is_for(path: str, proxy: Running) -> None:
    async with proxy.client.get(proxy.url + path) as reply:
        told = (await reply.read()).decode()
        assert reply.status == 200 and reply.content_type == "text/plain"
    assert "palimpsest connect NAME" in told and "palimpsest open" in told and f"{proxy.url}/palimpsest/health" in told


async def test_a_client_there_is_none_of_ours(proxy: Running, ask: Asking) -> None:
    async with proxy.client.get(proxy.url + "/", headers={"Authorization": "Bearer x"}) as reply:
        assert "palimpsest connect NAME" not in (await reply.read()).decode()
    assert "palimpsest" in await ask("GET", "api")
