"""Requests whose head is no HTTP, or longer than aiohttp takes by itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.fake_provider import fake_provider
from tests.running import running

HEADS = {
    "a key with a control character in it": b"POST /v1/x HTTP/1.1\r\nAuthorization: Bearer sk-hush\x01\r\n\r\n",
    "a key in a URL with a space": b"POST /k/sk-hush/v1/chat comp HTTP/1.1\r\n\r\n",
    "a header without an end": b"POST /v1/x HTTP/1.1\r\nAuthorization: " + b"sk-hush" * 20_000 + b"\r\n\r\n",
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
async def test_what_cannot_be_read_is_refused_and_nothing_of_it_is_logged(
    head: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        host, _, port = proxy.url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(head)
        assert (await reader.readline()).split()[1] == b"400"
        writer.close()
    assert "could not be read as HTTP" in caplog.text
    assert "hush" not in caplog.text and "Traceback" not in caplog.text


async def test_a_long_token_and_a_long_question_are_no_fault(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        token = "Bearer " + "t" * 30_000
        status, _, _ = await proxy.post("/v1/chat/completions", b'{"model":"m","messages":[]}', Authorization=token)
        assert status == 200
        assert provider.last.headers["Authorization"] == token
        headers = {"Authorization": f"Bearer {proxy.edge.token}"}
        question = {"text": "ש" * 4000}
        async with proxy.client.get(f"{proxy.url}/palimpsest/api/search", params=question, headers=headers) as reply:
            assert reply.status == 200
