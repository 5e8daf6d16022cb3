"""Whom an organisation lets be asked holds also while it cannot be told whose a key is that was issued."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import WSServerHandshakeError

from proxy.auth.client_keys import HOLD_SECONDS, ClientKeys, new_client_key
from proxy.edge import KEYS_OFF, KEYS_UNTOLD
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import asking
from tests.running import Running, running

REFUSES: dict[str, Any] = {"acme": {"upstreams": ["https://llm.acme.example"]}}
AWAY = {"memory.postgresql.url": "postgresql://nobody@127.0.0.1:1/gone"}
"""A database that does not answer from the start."""
TABLE = {"credentials": [{"key": "key-of-eve-0002", "user": "eve", "projects": ["*"]}]}
CHAT = "/v1/chat/completions"
BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


async def status_of(proxy: Running, key: str) -> int:
    return (await proxy.post(CHAT, BODY, x_palimpsest_key=key))[0]


async def issued(proxy: Running, org: str) -> str:
    asked = {"name": f"laptop-{org}", "user": "kim", "org": org}
    return str((await asking(proxy)("POST", "api/keys", asked, status=201))["key"])


@pytest.mark.parametrize("table", [{}, TABLE], ids=["own", "table"])
async def test_after_a_start_without_the_database_no_prompt_of_an_issued_key_is_sent(
    table: dict[str, Any], tmp_path: Path
) -> None:
    options = {"memory.policies": REFUSES, **AWAY, **table}
    async with fake_provider() as provider, running(provider, tmp_path, **options) as proxy:
        key = new_client_key()
        for path, body, kind in (
            (CHAT, BODY, "server_error"),
            ("/v1/messages", {**BODY, "max_tokens": 9}, "overloaded_error"),
            ("/v1/embeddings", {"model": "m", "input": "Hi"}, "api_error"),
        ):
            status, reply, headers = await proxy.post(path, body, x_palimpsest_key=key)
            error = orjson.loads(reply)["error"]
            assert status == 503 and int(headers["Retry-After"]) > 0, path
            assert KEYS_UNTOLD in error["message"] and "memory.policies" in error["message"]
            assert kind in error["type"] and headers["x-palimpsest-status"] == "refused; 503"
        with pytest.raises(WSServerHandshakeError) as refused:
            await proxy.client.ws_connect(f"{proxy.url}/v1/responses", headers={"x-palimpsest-key": key})
        assert refused.value.status == 503 and provider.requests == []
        # Other keys, and who shows none, are not told by the journal.
        assert await status_of(proxy, "key-of-eve-0002") == 200
        assert (await proxy.post(CHAT, BODY))[0] == 200 and len(provider.requests) == 2


async def test_where_no_policy_says_whom_to_ask_model_calls_go_on(tmp_path: Path) -> None:
    options = {"memory.policies": {"acme": {"redact": ["cards"]}}, **AWAY, **TABLE}
    async with fake_provider() as provider, running(provider, tmp_path, **options) as proxy:
        assert await status_of(proxy, new_client_key()) == 200


async def test_a_key_that_was_known_keeps_its_policy_and_one_issued_meanwhile_has_to_wait(tmp_path: Path) -> None:
    time = [0.0]
    options = {"memory.policies": REFUSES, **TABLE}
    async with fake_provider() as provider, running(provider, tmp_path, **options) as proxy:
        proxy.edge.client_keys = ClientKeys(clock=lambda: time[0])
        acme, other = await issued(proxy, "acme"), await issued(proxy, "other")
        assert [await status_of(proxy, key) for key in (acme, other)] == [403, 200]
        assert await status_of(proxy, new_client_key()) == 200, "the journal says that it is nobody's"
        with closing(sqlite3.connect(proxy.edge.settings.home / "journal.db")) as journal:
            journal.execute("ALTER TABLE client_keys RENAME TO gone")
        for time[0] in (HOLD_SECONDS - 1, HOLD_SECONDS + 1):
            assert [await status_of(proxy, key) for key in (acme, other, new_client_key())] == [403, 200, 503]
        with closing(sqlite3.connect(proxy.edge.settings.home / "journal.db")) as journal:
            journal.execute("ALTER TABLE gone RENAME TO client_keys")


async def test_memory_that_is_off_opens_no_provider(tmp_path: Path) -> None:
    options = {"memory.policies": REFUSES, "memory.mode": "off"}
    async with fake_provider() as provider, running(provider, tmp_path, **options) as proxy:
        status, reply, _ = await proxy.post(CHAT, BODY, x_palimpsest_key=new_client_key())
        assert status == 503 and KEYS_OFF.encode() in reply and provider.requests == []


async def test_an_issued_key_beside_the_installations_own_has_its_policy(tmp_path: Path) -> None:
    async with (
        fake_provider() as provider,
        running(provider, tmp_path, **{"memory.policies": REFUSES}) as proxy,
    ):
        beside = {"x_palimpsest_key": proxy.edge.key.value, "x_api_key": "sk-of-the-provider"}
        bearer = f"Bearer {await issued(proxy, 'acme')}"
        assert (await proxy.post(CHAT, BODY, Authorization=bearer, **beside))[0] == 403
        assert provider.requests == []


async def test_a_name_that_is_none_is_refused_only_where_it_says_whose_policy_holds(tmp_path: Path) -> None:
    async def models(proxy: Running) -> int:
        async with proxy.client.get(proxy.url + "/v1/models", headers={"x-palimpsest-org": "x" * 300}) as reply:
            return reply.status

    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        assert await models(proxy) == 200
    async with fake_provider() as provider, running(provider, tmp_path, **{"memory.policies": REFUSES}) as proxy:
        assert await models(proxy) == 400 and provider.requests == []


async def test_where_there_is_no_socket_a_client_hears_that_first(tmp_path: Path) -> None:
    options = {"memory.policies": REFUSES, "upstream.websocket": False, **AWAY}
    async with fake_provider() as provider, running(provider, tmp_path, **options) as proxy:
        with pytest.raises(WSServerHandshakeError) as refused:
            await proxy.client.ws_connect(f"{proxy.url}/v1/responses", headers={"x-palimpsest-key": new_client_key()})
        assert refused.value.status == 426 and provider.requests == []
