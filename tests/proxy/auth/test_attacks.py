"""Requests that were tried by hand against the door, and what is behind it, until one got through."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest
import pytest_asyncio
from aiohttp import web

from proxy import pass_through, websocket
from proxy.cli.log_format import OneLineFormatter
from proxy.limits import network_of
from proxy.upstream.direct import decompressed, outgoing_headers
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.auth.test_door import CHAT, SAID, post, raw
from tests.proxy.test_websocket import answered, asking, opened, standing
from tests.proxy.upstream.test_compression import compressed
from tests.running import Running, running

BODY = orjson.dumps(SAID)
PACKED = {
    "gzip": lambda: gzip.compress(BODY),
    "deflate": lambda: zlib.compress(BODY),
    "br": lambda: compressed("br", BODY),
    "zstd": lambda: compressed("zstd", BODY),
}
CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)


@pytest_asyncio.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with fake_provider() as started:
        yield started


@pytest_asyncio.fixture
async def proxy(provider: FakeProvider, tmp_path: Path) -> AsyncIterator[Running]:
    async with running(provider, tmp_path / "home") as started:
        yield started


def status(reply: bytes) -> int:
    return int(reply.split(b" ", 2)[1])


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1/evil.example",
        "127.0.0.1:80:80",
        "evil.example\\@127.0.0.1",
        "user@127.0.0.1",
        "127.0.0.1?evil.example",
        "127.0.0.1, evil.example",
        "127.0.0.1.evil.example",
        "127.1",
        "2130706433",
        "0.0.0.0",
        "[::]",
        "[::ffff:7f00:1].evil.example",
        "evil.localhost",
    ],
)
async def test_a_host_that_can_be_read_in_two_ways_is_not_ours(
    host: str, proxy: Running, provider: FakeProvider
) -> None:
    assert status(await raw(proxy, post(CHAT, SAID).replace(b"Host: 127.0.0.1", b"Host: " + host.encode()))) == 403
    assert provider.requests == []


@pytest.mark.parametrize("host", ["localhost.", "LOCALHOST:8484", "[::1]:8484", "palimpsest.localhost", "127.0.0.5"])
async def test_our_own_names_are_ours_in_any_letters(host: str, proxy: Running) -> None:
    assert status(await raw(proxy, post(CHAT, SAID).replace(b"Host: 127.0.0.1", b"Host: " + host.encode()))) == 200


@pytest.mark.parametrize("coding", ["gzip, chunked", "gzip,chunked", "identity, chunked", "deflate, chunked"])
async def test_a_body_in_a_transfer_coding_that_is_not_read_is_not_forwarded_as_another(
    coding: str, proxy: Running, provider: FakeProvider
) -> None:
    head = f"POST {CHAT} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nTransfer-Encoding: {coding}\r\n\r\n"
    assert status(await raw(proxy, head.encode() + CHUNKED)) in (400, 501)
    assert provider.requests == []


@pytest.mark.parametrize("path", ["/palimpsest;x/api/facts", "/v1/palimpsest;a=b/api", "/v1/x/k;v=1/anything/v1"])
async def test_a_parameter_in_a_path_hides_no_endpoint_and_no_key(
    path: str, proxy: Running, provider: FakeProvider
) -> None:
    assert status(await raw(proxy, post(path, SAID))) in (400, 404)
    assert provider.requests == []


async def test_a_key_is_not_forwarded_in_a_list_a_name_or_in_other_letters(proxy: Running) -> None:
    key, token = proxy.edge.key.value, proxy.edge.token
    told = [
        ("X-Parts", f"a=b; palimpsest={key}"),
        ("X-Parts", f"a={token.replace('a', '%61').replace('b', '%62')}"),
        ("Referer", f"http://127.0.0.1:8484/k/{key.replace('-', '%2D')}/v1"),
        ("Referer", f"http://127.0.0.1:8484/k/{key.replace('-', '%252D')}/v1"),
        (f"x-{key}", "1"),
        ("X-Original-Uri", f"/k/{key.upper()}/v1"),
        ("X-Parts", "theme=dark%20blue"),
    ]
    sent = outgoing_headers(told, listened=False, is_secret=proxy.edge.secrets.stand_in)
    assert list(sent.items()) == [("X-Parts", "theme=dark%20blue")]


async def test_a_key_is_not_forwarded_as_a_protocol_of_a_socket(tmp_path: Path) -> None:
    async with standing(tmp_path) as (proxy, provider):
        protocols = ("realtime", f"openai-insecure-api-key.{proxy.edge.key.value}")
        async with proxy.client.ws_connect(proxy.url + "/v1/responses", protocols=protocols):
            pass
        assert provider.headers[0]["Sec-WebSocket-Protocol"] == "realtime"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_body_behind_which_another_stands_is_not_read_as_the_first_alone(encoding: str) -> None:
    packed = PACKED[encoding]()
    assert decompressed(packed, encoding, 2**20) == BODY
    assert decompressed(packed + packed, encoding, 2**20) is None
    assert decompressed(packed + b"\0", encoding, 2**20) is None


async def test_a_providers_page_is_shown_in_a_sandbox_and_is_no_part_of_another(
    proxy: Running, provider: FakeProvider
) -> None:
    async def page(request: web.Request) -> web.Response:
        hostile = {"Set-Cookie": "palimpsest_page_1=x; Path=/palimpsest/", "Clear-Site-Data": '"*"'}
        return web.Response(text="<script>fetch('/palimpsest/')</script>", content_type="text/html", headers=hostile)

    provider.answer = page
    for headers in ({"Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "none"}, {"Accept": "text/html,*/*"}):
        async with proxy.client.get(proxy.url + "/v1/models", headers=headers) as reply:
            assert reply.headers["Content-Security-Policy"].startswith("sandbox;")
            assert reply.headers["X-Content-Type-Options"] == "nosniff"
            assert not {"Set-Cookie", "Clear-Site-Data"} & set(reply.headers)
    async with proxy.client.get(proxy.url + "/v1/models") as reply:
        assert "Content-Security-Policy" not in reply.headers and "Set-Cookie" in reply.headers
    asked = len(provider.requests)
    for wanted in ("script", "serviceworker", "iframe", "image", "style"):
        headers = {"Sec-Fetch-Dest": wanted, "Sec-Fetch-Site": "same-origin"}
        async with proxy.client.get(proxy.url + "/v1/models", headers=headers) as reply:
            assert reply.status == 403
    assert len(provider.requests) == asked


async def test_a_body_that_never_comes_takes_no_connection_for_ever(
    proxy: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pass_through, "BODY_SECONDS", 0.2)
    # At once: what refuses them lingers for some seconds, should the rest still come.
    halves = [raw(proxy, post(path, SAID)[:-5]) for path in (CHAT, "/v1/embeddings")]
    for reply in await asyncio.wait_for(asyncio.gather(*halves), 30):
        assert status(reply) in (408, 502)


async def test_a_socket_asks_for_so_many_responses_before_one_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "MOST_ASKED", 1)
    async with standing(tmp_path) as (proxy, provider), opened(proxy, "one") as socket:
        provider.end = "response.output_text.delta"
        await socket.send_str(asking("One."))
        for _ in provider.events():
            await socket.receive_str(timeout=30)
        [told] = await answered(socket, asking("Two."))
        assert (told["type"], told["status"]) == ("error", 429) and provider.frames == [asking("One.")]


def test_a_machine_is_one_caller_whichever_of_its_addresses_it_asks_from() -> None:
    assert network_of("2001:db8:1:2::1") == network_of("2001:db8:1:2:ffff::7%eth0") != network_of("2001:db8:1:3::1")
    assert network_of("192.0.2.1") != network_of("192.0.2.2") and network_of("here") == "here"


async def test_a_client_writes_no_line_into_the_log(
    proxy: Running, provider: FakeProvider, caplog: pytest.LogCaptureFixture
) -> None:
    forged = "m\n12:00:00 INFO proxy: all is well\x1b[2J\u202e"
    body = {"model": forged, "messages": [{"role": "user", "content": "Hello."}]}
    await proxy.post(CHAT, body, x_session_id="a\u0085b", User_Agent="x\u009b31m")
    await proxy.learned()
    lines = "\n".join(OneLineFormatter().format(record) for record in caplog.records)
    assert not any(each in lines for each in ("\n12:00:00 INFO", "\x1b", "\u009b", "\u0085", "\u202e"))
