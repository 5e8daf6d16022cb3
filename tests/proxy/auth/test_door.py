"""The door before every path: real requests to a real proxy."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
import pytest_asyncio

from proxy.auth.peer import Peers
from tests.fake_provider import FakeProvider, fake_provider
from tests.running import Running, running

CHAT = "/v1/chat/completions"
SAID = {"model": "m", "messages": [{"role": "user", "content": "I always want tabs instead of spaces in Go files."}]}
KEY = "key-of-ada-1234"


@pytest_asyncio.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with fake_provider() as started:
        yield started


@pytest_asyncio.fixture
async def proxy(provider: FakeProvider, tmp_path: Path) -> AsyncIterator[Running]:
    async with running(provider, tmp_path / "home", server__origins=["http://localhost:3000"]) as started:
        yield started


class Somebody(Peers):
    """A process of another user, whatever the tables say."""

    async def owns(self, peer: Any, here: Any) -> bool:
        return False


async def raw(proxy: Running, request: bytes, connection: socket.socket | None = None) -> bytes:
    """What is answered to some bytes."""
    host, port = proxy.runner.addresses[0][:2]
    if connection is not None:
        reader, writer = await asyncio.open_connection(sock=connection)
    else:
        reader, writer = await asyncio.open_connection(host, port)
    writer.write(request)
    reply = await reader.read()
    writer.close()
    return reply


def post(path: str, body: dict[str, Any], *headers: str) -> bytes:
    """A request as it is sent, on a connection that ends with it."""
    data = orjson.dumps(body)
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close", f"Content-Length: {len(data)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + data


FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "http://127.0.0.1:9999"},
    {"Origin": "null"},
    {"Host": "rebind.evil.example"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", CHAT),
        ("POST", "/v1/messages"),
        ("GET", "/v1/models"),
        ("POST", "/v1/embeddings"),
        ("OPTIONS", CHAT),
        ("GET", "/"),
        ("GET", "/palimpsest/api/facts"),
        ("GET", "/palimpsest/health"),
        ("POST", "/u/ada/p/demo/v1/responses"),
    ],
)
async def test_no_path_answers_a_foreign_page_or_name(
    method: str, path: str, proxy: Running, provider: FakeProvider
) -> None:
    data = orjson.dumps(SAID) if method == "POST" else None
    for headers in FOREIGN:
        sent = {"Content-Type": "text/plain", "Access-Control-Request-Method": "POST", **headers}
        async with proxy.client.request(method, proxy.url + path, data=data, headers=sent) as reply:
            assert reply.status == 403, headers
            told = orjson.loads(await reply.read())
            assert told["error"]
            assert not [name for name in reply.headers if name.lower().startswith("access-control")]
            if not path.startswith("/palimpsest"):
                assert reply.headers["x-palimpsest-status"] == "refused; 403"
            if path == "/v1/messages":
                assert told["type"] == "error"
    assert provider.requests == []


async def test_a_web_socket_of_a_foreign_page_is_refused(proxy: Running) -> None:
    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Origin": "https://evil.example"}
    async with proxy.client.get(proxy.url + "/v1/responses", headers=headers) as reply:
        assert reply.status == 403


async def test_a_page_is_refused_before_its_body_has_come(proxy: Running) -> None:
    head = f"POST {CHAT} HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://evil.example\r\nContent-Length: 1000\r\n\r\n"
    host, port = proxy.runner.addresses[0][:2]
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(head.encode())
    assert (await asyncio.wait_for(reader.readline(), 5)).startswith(b"HTTP/1.1 403")
    writer.close()


async def test_a_host_that_is_told_twice_is_refused(proxy: Running) -> None:
    assert b" 400 " in (await raw(proxy, post(CHAT, SAID, "Host: evil.example"))).partition(b"\r\n")[0]


async def test_a_head_that_is_long_in_whole_is_refused_in_the_clients_format(
    proxy: Running, provider: FakeProvider
) -> None:
    lines = [f"X-{number}: {'%41' * 20_000}" for number in range(3)]
    reply = await raw(proxy, post("/v1/messages", SAID, *lines))
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431") and b"x-palimpsest-status: refused; 431" in head
    assert orjson.loads(body)["type"] == "error"
    assert not provider.requests


@pytest.mark.parametrize("path", ["/v1/messages/", "/palimpsest/api/"])
async def test_a_path_of_thousands_of_segments_is_refused_before_a_route_is_looked_for(
    path: str, proxy: Running
) -> None:
    assert (await raw(proxy, post(path + "a/" * 20_000, SAID))).startswith(b"HTTP/1.1 414")


@pytest.mark.parametrize("path", ["/v1/messages", "/palimpsest/api/facts"])
async def test_what_cannot_be_expected_is_refused_whatever_its_letters(
    path: str, proxy: Running, caplog: pytest.LogCaptureFixture
) -> None:
    reply = await raw(proxy, post(path, SAID, "Expect: ä"))
    assert reply.startswith(b"HTTP/1.1 417") and b"only 100-continue" in reply
    assert not caplog.records


async def test_an_allowed_page_is_answered_and_may_read_the_reply(proxy: Running, provider: FakeProvider) -> None:
    headers = {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "cross-site"}
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-api-key"}
    async with proxy.client.options(proxy.url + CHAT, headers={**headers, **asked}) as reply:
        assert reply.status == 204
        assert reply.headers["Access-Control-Allow-Headers"] == "x-api-key"
    assert provider.requests == []
    for path in (CHAT, "/v1/embeddings"):
        async with proxy.client.post(proxy.url + path, json=SAID, headers=headers) as reply:
            assert reply.status == 200
            assert reply.headers["Access-Control-Allow-Origin"] == "http://localhost:3000"
            assert "x-palimpsest-status" in reply.headers


async def test_what_a_provider_says_of_web_pages_is_not_relayed(proxy: Running, provider: FakeProvider) -> None:
    from aiohttp import web

    async def open_to_all(_: web.Request) -> web.Response:
        allowed = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": "true"}
        return web.json_response({"choices": []}, headers=allowed)

    provider.answer = open_to_all
    for method, path in (("POST", CHAT), ("GET", "/v1/models"), ("OPTIONS", "/v1/models")):
        async with proxy.client.request(method, proxy.url + path, json=SAID) as reply:
            assert reply.status == 200
            assert not [name for name in reply.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://api.openai.com/v1/models", 421),
        ("http://127.0.0.1:1/v1/models", 200),
        ("http://evil.example/palimpsest/api/facts", 421),
        ("//v1/models", 200),
        ("//palimpsest/api/facts", 404),
        ("/palimpsest", 404),
        ("/v1/models%0a", 400),
        ("/v1/k/mistyped/models", 400),
    ],
)
async def test_odd_targets(target: str, status: int, proxy: Running, provider: FakeProvider) -> None:
    token = f"Authorization: Bearer {proxy.edge.token}"
    request = f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{token}\r\n\r\n"
    reply = await raw(proxy, request.encode())
    assert reply.startswith(f"HTTP/1.1 {status}".encode()), reply
    assert [each.path for each in provider.requests] == (["/v1/models"] if status == 200 else [])
    assert all("Authorization" not in each.headers for each in provider.requests)


@pytest.mark.parametrize("path", [f"/{CHAT}", f"{CHAT}/", f"{CHAT.replace('/chat', '//chat')}"])
async def test_a_doubled_or_trailing_slash_keeps_memory(path: str, proxy: Running, provider: FakeProvider) -> None:
    reply = await raw(proxy, post(path, SAID))
    assert b"x-palimpsest-receipt" in reply
    assert provider.last.path == CHAT


async def test_hop_by_hop_headers_go_no_further(proxy: Running, provider: FakeProvider) -> None:
    await raw(proxy, post(CHAT, SAID, "TE: trailers", "Trailer: X-Sum", "Keep-Alive: timeout=5", "Proxy-Connection: x"))
    assert not {"te", "trailer", "keep-alive", "proxy-connection"} & {name.lower() for name in provider.last.headers}


async def test_no_secret_of_ours_is_forwarded(provider: FakeProvider, tmp_path: Path) -> None:
    credentials = [{"key": KEY, "user": "ada"}]
    async with running(provider, tmp_path, credentials=credentials) as proxy:
        for secret in (KEY, proxy.edge.token, proxy.edge.key.value):
            for headers in (
                {"Authorization": f"Bearer {secret}"},
                {"x_api_key": secret},
                {"api_key": secret, "Cookie": f"a={secret}"},
                {"x_palimpsest_key": secret, "Referer": f"http://127.0.0.1/k/{secret}/v1"},
            ):
                for path in (CHAT, "/v1/embeddings", f"/k/{secret}/v1/messages", f"//K/{secret}/v1/models"):
                    await proxy.post(path, SAID, **headers)
        assert provider.requests
        for each in provider.requests:
            told = f"{each.path} {each.headers}"
            assert not any(secret in told for secret in (KEY, proxy.edge.token, proxy.edge.key.value))


async def test_a_key_of_the_table_may_be_given_as_the_providers(provider: FakeProvider, tmp_path: Path) -> None:
    async with running(provider, tmp_path, credentials=[{"key": KEY, "user": "ada"}]) as proxy:
        _, _, headers = await proxy.post(CHAT, SAID, Authorization=f"Bearer {KEY}")
        assert "x-palimpsest-receipt" in headers
        _, _, headers = await proxy.post(CHAT, SAID, Authorization="Bearer sk-proj-1")
        assert headers["x-palimpsest-status"].startswith("passed; the caller shows no key")
        assert "x-palimpsest-receipt" not in headers


async def test_a_process_of_this_user_needs_no_key(proxy: Running) -> None:
    _, _, headers = await proxy.post(CHAT, SAID)
    assert "x-palimpsest-receipt" in headers


async def test_another_user_is_passed_on_without_memory_unless_it_shows_the_key(
    proxy: Running, provider: FakeProvider
) -> None:
    proxy.edge.peers = Somebody()
    status, _, headers = await proxy.post(CHAT, SAID)
    assert status == 200 and provider.last.body == orjson.dumps(SAID)
    assert headers["x-palimpsest-status"].startswith("passed; not a process of this installation's own user")
    assert "x-palimpsest-receipt" not in headers
    await proxy.learned()
    assert proxy.edge.memory is not None
    assert (await proxy.edge.memory.journal.counts()).exchanges == 0
    key = proxy.edge.key.value
    for path, more in ((f"/k/{key}{CHAT}", {}), (CHAT, {"x_palimpsest_key": key}), (CHAT, {"x_api_key": key})):
        _, _, headers = await proxy.post(path, SAID, **more)
        assert "x-palimpsest-receipt" in headers
    _, _, headers = await proxy.post(f"/k/palimpsest-{'0' * 32}{CHAT}", SAID)
    assert "x-palimpsest-receipt" not in headers


async def test_where_everybody_needs_the_key_who_has_none_is_told_how_to_connect(
    provider: FakeProvider, tmp_path: Path
) -> None:
    async with running(provider, tmp_path, server__require_key=True) as proxy:
        for path, kind in ((CHAT, None), ("/v1/messages", "error"), ("/v1/models", None), ("/v1/embeddings", None)):
            status, reply, headers = await proxy.post(path, SAID)
            assert status == 401 and headers["x-palimpsest-status"] == "refused; 401"
            told = orjson.loads(reply)
            assert "palimpsest connect" in told["error"]["message"] and told.get("type") == kind
        assert provider.requests == []
        status, _, headers = await proxy.post(f"/k/{proxy.edge.key.value}{CHAT}", SAID)
        assert status == 200 and "x-palimpsest-receipt" in headers


async def test_nobody_needs_a_key_where_the_settings_say_so(provider: FakeProvider, tmp_path: Path) -> None:
    async with running(provider, tmp_path, server__require_key=False) as proxy:
        proxy.edge.peers = Somebody()
        assert "x-palimpsest-receipt" in (await proxy.post(CHAT, SAID))[2]


async def test_a_session_goes_on_with_the_same_prefix_when_its_runtime_shows_a_key_or_another_one(
    proxy: Running, provider: FakeProvider
) -> None:
    await proxy.chat("We decided to use PostgreSQL 16 for the billing service.")
    await proxy.learned()
    question = "Which database did we decide to use?"
    bodies = []
    texts = [question]
    for path in (CHAT, f"/k/{proxy.edge.key.value}{CHAT}", f"/k/palimpsest-{'0' * 32}{CHAT}"):
        messages = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]
        named = {"x_session_id": "s2", "x_palimpsest_project": "loom"}
        await proxy.post(path, {"model": "m", "messages": messages}, **named)
        bodies.append(orjson.loads(provider.last.body)["messages"][0])
        texts += ["PostgreSQL 16.", "Thanks, go on"]
    assert b"PostgreSQL 16" in orjson.dumps(bodies[0]) and bodies[0] == bodies[1] == bodies[2]


@contextmanager
def of_another_user(address: tuple[str, int]) -> Iterator[socket.socket]:
    """A connection that a process of another user has made."""
    os.seteuid(65534)
    try:
        connection = socket.socket()
    finally:
        os.seteuid(0)
    with connection:
        connection.connect(address)
        connection.setblocking(False)
        yield connection


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or not Path("/proc/net/tcp").exists(),
    reason="only root can be two users, and only Linux tells them apart",
)
async def test_a_real_process_of_another_user_gets_no_memory(proxy: Running, provider: FakeProvider) -> None:
    address = proxy.runner.addresses[0][:2]
    with of_another_user(address) as connection:
        reply = await raw(proxy, post(CHAT, SAID), connection)
    assert b"passed; not a process" in reply and b"x-palimpsest-receipt" not in reply
    with of_another_user(address) as connection:
        reply = await raw(proxy, post(f"/k/{proxy.edge.key.value}{CHAT}", SAID), connection)
    assert b"x-palimpsest-receipt" in reply
