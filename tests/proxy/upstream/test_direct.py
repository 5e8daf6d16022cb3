"""The way to the provider: addresses, headers, connections that cannot be made, clients that go away."""

import socket

import pytest
from aiohttp import web
from multidict import CIMultiDict

from proxy.errors import UpstreamUnreachable
from proxy.settings import UpstreamSettings
from proxy.upstream.direct import Direct, address, incoming_headers, outgoing_headers
from tests.fake_provider import fake_provider


@pytest.mark.parametrize(
    ("base", "path", "whole"),
    [
        ("https://api.openai.com/v1", "/v1/chat/completions", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1", "/chat/completions", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1", "/v1/models?x=1", "https://api.openai.com/v1/models?x=1"),
        ("https://api.openai.com/v1", "/models?x=1", "https://api.openai.com/v1/models?x=1"),
        ("https://api.anthropic.com", "/v1/messages?beta=true", "https://api.anthropic.com/v1/messages?beta=true"),
        ("http://127.0.0.1:9", "/chat/completions", "http://127.0.0.1:9/chat/completions"),
        ("http://127.0.0.1:9/v1", "/api/hello", "http://127.0.0.1:9/api/hello"),
        ("http://127.0.0.1:9/v1", "/", "http://127.0.0.1:9/"),
        ("https://host/api/paas/v4", "/v1/chat/completions", "https://host/api/paas/v4/chat/completions"),
        ("https://openrouter.ai/api/v1", "/v1/responses", "https://openrouter.ai/api/v1/responses"),
    ],
)
def test_a_version_is_never_doubled(base: str, path: str, whole: str) -> None:
    assert address(base, path) == whole


def test_headers_that_are_not_ours_or_of_the_connection_travel_on() -> None:
    came = [
        ("Host", "127.0.0.1:8484"),
        ("Authorization", "Bearer k"),
        ("X-Stainless-Timeout", "600"),
        ("anthropic-beta", "a"),
        ("anthropic-beta", "b"),
        ("Connection", "keep-alive, X-Hop"),
        ("X-Hop", "1"),
        ("Transfer-Encoding", "chunked"),
        ("TE", "trailers"),
        ("Trailer", "X-Sum"),
        ("Content-Length", "7"),
        ("x-palimpsest-user", "ada"),
        ("Accept-Encoding", "br"),
        ("Cookie", "c=1"),
    ]
    kept = [("Authorization", "Bearer k"), ("X-Stainless-Timeout", "600"), ("anthropic-beta", "a")]
    kept += [("anthropic-beta", "b")]
    assert list(outgoing_headers(came, listened=False).items()) == [*kept, ("Accept-Encoding", "br")]
    listened = outgoing_headers(came, listened=True)
    assert list(listened.items()) == [*kept, ("Accept-Encoding", "identity")]


@pytest.mark.parametrize(
    "name", ["Cookie", "Forwarded", "X-Forwarded-For", "x-forwarded-host", "X-Forwarded-Proto", "X-Real-IP"]
)
def test_what_is_for_this_host_stays_here(name: str) -> None:
    assert not outgoing_headers([(name, "sessionid=1")], listened=False)


def test_a_header_that_holds_a_secret_of_ours_stays_here_whatever_its_name() -> None:
    came = [("Authorization", "Bearer ours"), ("X-Other", "theirs"), ("X-Third", "ours")]
    assert list(outgoing_headers(came, False, lambda value: "ours" in value).items()) == [("X-Other", "theirs")]


def test_a_reply_keeps_its_headers() -> None:
    came = [("Content-Type", "text/event-stream"), ("x-request-id", "r"), ("Transfer-Encoding", "chunked")]
    came += [("Access-Control-Allow-Origin", "*")]
    assert list(incoming_headers(came).items()) == came[:2]


async def test_a_connection_that_cannot_be_made_is_tried_again_and_told() -> None:
    # The socket stays bound and never listens, so that nobody else on this machine can answer on its port.
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        direct = Direct(UpstreamSettings(attempts=2))
        await direct.open()
        try:
            with pytest.raises(UpstreamUnreachable, match=f"127.0.0.1:{port}"):
                async with direct.send("POST", f"http://127.0.0.1:{port}/v1/x", CIMultiDict(), b"{}"):
                    pass
        finally:
            await direct.close()


async def test_bytes_and_headers_arrive_as_they_were_sent_and_nothing_is_added() -> None:
    async with fake_provider() as provider:
        direct = Direct(UpstreamSettings())
        await direct.open()
        try:
            headers = CIMultiDict({"X-One": "1", "content-type": "application/json"})
            async with direct.send(
                "POST", f"{provider.url}/v1/chat/completions?b=%2F", headers, b'{ "a": 1e0 }'
            ) as reply:
                await reply.read()
        finally:
            await direct.close()
    assert provider.last.body == b'{ "a": 1e0 }'
    assert provider.last.path == "/v1/chat/completions?b=%2F"
    assert set(map(str.lower, provider.last.headers)) == {"host", "x-one", "content-type", "content-length"}


async def test_a_redirect_is_handed_on_and_not_followed() -> None:
    async def elsewhere(request: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": "http://example.org/"})

    async with fake_provider() as provider:
        provider.answer = elsewhere
        direct = Direct(UpstreamSettings())
        await direct.open()
        try:
            async with direct.send("GET", f"{provider.url}/x", CIMultiDict(), None) as reply:
                assert reply.status == 307
        finally:
            await direct.close()


async def test_a_provider_may_send_long_headers() -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text="well", headers={"x-policy": "p" * 40_000})

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    direct = Direct(UpstreamSettings())
    await direct.open()
    try:
        port = runner.addresses[0][1]
        async with direct.send("GET", f"http://127.0.0.1:{port}/", CIMultiDict[str](), None) as reply:
            assert len(reply.headers["x-policy"]) == 40_000
            assert await reply.read() == b"well"
    finally:
        await direct.close()
        await runner.cleanup()
