"""Requests that are relayed as they came and not looked into: what is too large, or whose caller has no memory."""

from __future__ import annotations

import gzip
from pathlib import Path

import orjson
import pytest

from proxy import request_body
from proxy.upstream.direct import INFLATED, INFLATION, decompressed
from tests.fake_provider import fake_provider
from tests.running import Running, running

PATH = "/v1/chat/completions"
TABLE = [{"key": "a-long-random-key", "user": "ada"}]


def chat(text: str) -> bytes:
    return orjson.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})


async def exchanges(proxy: Running) -> int:
    assert proxy.edge.memory is not None
    await proxy.learned()
    return (await proxy.edge.memory.journal.counts()).exchanges


async def test_a_body_that_grows_beyond_what_text_does_goes_on_as_it_came(tmp_path: Path) -> None:
    bomb = gzip.compress(chat("a " * INFLATED))
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        status, _, headers = await proxy.post(PATH, bomb, Content_Encoding="gzip")
        assert (status, provider.last.body) == (200, bomb)
        assert headers["x-palimpsest-status"].startswith("passed; the body is")
        assert await exchanges(proxy) == 0
        honest = gzip.compress(chat("We decided to keep three retries."))
        await proxy.post(PATH, honest, Content_Encoding="gzip")
        assert await exchanges(proxy) == 1


def test_a_small_body_may_grow_to_a_mebibyte_and_a_large_one_by_a_bounded_ratio() -> None:
    assert decompressed(gzip.compress(b"a" * INFLATED), "gzip", 2**30) is not None
    assert decompressed(gzip.compress(b"a" * (INFLATED + 1)), "gzip", 2**30) is None
    varied = gzip.compress(b"".join(b"%x" % number for number in range(2**20)))
    assert INFLATION * len(varied) > 2**23
    assert decompressed(varied, "gzip", 2**30) is not None
    assert decompressed(varied, "gzip", 2**20) is None


async def test_a_body_that_is_too_large_to_be_read_goes_on_as_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_body, "MAX_READ_BYTES", 1000)
    body = chat("a" * 1000)
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        status, _, headers = await proxy.post(PATH, body)
        assert (status, provider.last.body) == (200, body)
        assert headers["x-palimpsest-status"].startswith("passed; the body is")
        assert await exchanges(proxy) == 0


@pytest.mark.parametrize("body", [chat("hi"), b'{"messages": ['], ids=["any", "what would be refused"])
async def test_a_caller_outside_the_table_is_relayed_without_being_read(tmp_path: Path, body: bytes) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, credentials=TABLE) as proxy:
        _, _, headers = await proxy.post(PATH, body.ljust(100), Authorization="Bearer sk-somebody-else")
        assert headers["x-palimpsest-status"].startswith("passed; the caller shows no key of the table")
        assert provider.last.body == body.ljust(100)
        assert await exchanges(proxy) == 0
