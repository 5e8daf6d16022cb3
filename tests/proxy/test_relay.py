"""A client that leaves: whenever it does, nothing is raised and what was said is journaled."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from multidict import CIMultiDict

from tests.fake_provider import fake_provider
from tests.running import Running, running

TOOL = {"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}


def leaving(proxy: Running) -> None:
    """Have every client be gone at the moment at which its reply begins."""
    send = proxy.edge.upstream.send

    @asynccontextmanager
    async def sent(
        method: str, url: str, headers: CIMultiDict[str], body: bytes | AsyncIterator[bytes] | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        async with send(method, url, headers, body) as reply:
            assert proxy.runner.server is not None
            for connection in proxy.runner.server.connections:
                assert connection.transport is not None
                connection.transport.close()
            yield reply

    proxy.edge.upstream.send = sent  # type: ignore[method-assign]


@pytest.mark.parametrize("offer", [False, True])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_leaves_before_its_reply_begins_leaves_no_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, offer: bool, stream: bool
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__tools__offer=offer) as proxy:
        leaving(proxy)
        body = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": "hi"}], "tools": [TOOL]}
        with pytest.raises(aiohttp.ClientError):
            await proxy.post("/v1/chat/completions", body)
        await proxy.learned()
        assert proxy.edge.memory is not None
        assert (await proxy.edge.memory.journal.counts()).exchanges == 1
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_a_client_that_leaves_a_reply_that_is_not_listened_to_leaves_no_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        leaving(proxy)
        with pytest.raises(aiohttp.ClientError):
            await proxy.client.get(proxy.url + "/v1/models")
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
