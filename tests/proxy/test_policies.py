"""What an organisation decides holds for its people and for nobody else, whichever the engine of the journal."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeGuard

import orjson
import psycopg
import pytest
from aiohttp import WSServerHandshakeError

from memory.clock import local_now
from memory.scope import Scope
from tests import rooms
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.api.asking import asking
from tests.running import Running, running

CARD = "4111 1111 1111 1111"
DECISION = "We decided to use PostgreSQL 16 for the billing service, because SQLite locks under our load."
PERSONAL = "My name is Ada and I live in Lisbon."
RESTRICTED = "Keep this between us, top secret: the merger with Globex closes on Friday, never share it."
KEYS = {"ada": "key-of-ada-0001", "eve": "key-of-eve-0002"}

Started = Callable[..., AbstractAsyncContextManager[tuple[Running, FakeProvider]]]


@pytest.fixture
def started(database_options: dict[str, str], tmp_path: Path) -> Started:
    """A server whose acme has a policy, to which ada belongs; eve is of no organisation."""

    @asynccontextmanager
    async def start(
        policy: dict[str, Any], now: Callable[[], datetime] = local_now, **options: Any
    ) -> AsyncIterator[tuple[Running, FakeProvider]]:
        options |= {"memory.policies": {"acme": policy}, "credentials": CREDENTIALS, **database_options}
        async with fake_provider() as provider, running(provider, tmp_path, now=now, **options) as proxy:
            yield proxy, provider

    return start


CREDENTIALS = [
    {"key": KEYS["ada"], "user": "ada", "org": "acme", "projects": ["*"]},
    {"key": KEYS["eve"], "user": "eve", "projects": ["*"]},
]


async def say(proxy: Running, text: str, user: str, session: str = "s1") -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    named = {"x_palimpsest_key": KEYS[user], "x_palimpsest_project": "loom", "x_session_id": f"{user}-{session}"}
    status, reply, _ = await proxy.post("/v1/chat/completions", body, **named)
    assert status == 200, reply


async def known(proxy: Running, user: str) -> str:
    """Every fact and passage of a person."""
    await proxy.learned()
    assert proxy.edge.memory is not None
    org = "acme" if user == "ada" else ""
    found = []
    for owner in (f"u:{org}/{user}", f"up:{org}/{user}/loom"):
        found += [fact.text for fact in await proxy.edge.memory.journal.facts_of([owner])]
        found += [each.text for each in await proxy.edge.memory.journal.find_passages([owner], "", 100)]
    return "\n".join(found)


def stored(proxy: Running) -> str:
    """Every row of every table, as text; messages as they are kept."""
    memory = proxy.edge.memory
    assert memory is not None
    url = memory.settings.postgresql.url
    with (
        psycopg.connect(url, options="-c palimpsest.owners=*")
        if url
        else closing(sqlite3.connect(memory.home / "journal.db")) as connection
    ):
        names = (
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
            if url
            else "SELECT name FROM sqlite_master WHERE type = 'table'"
        )
        tables = [name for (name,) in connection.execute(names).fetchall()]
        rows = [row for name in tables for row in connection.execute(f"SELECT * FROM {name}").fetchall()]
    bodies = [zlib.decompress(value).decode() for row in rows for value in row if _is_packed(value)]
    assert bodies
    return "\n".join([*(str(row) for row in rows), *bodies])


def _is_packed(value: object) -> TypeGuard[bytes]:
    return isinstance(value, bytes) and value[:2] == zlib.compress(b"", 1)[:2]


async def test_nothing_about_people_is_kept_where_it_is_switched_off(started: Started) -> None:
    async with started({"personal": False}) as (proxy, _):
        for user in KEYS:
            await say(proxy, DECISION, user, "decides")
            await say(proxy, PERSONAL, user, "tells")
        assert "PostgreSQL 16" in await known(proxy, "ada") and "Lisbon" not in await known(proxy, "ada")
        assert "PostgreSQL 16" in await known(proxy, "eve") and "Lisbon" in await known(proxy, "eve")
        told = await asking(proxy)(
            "POST", "api/remember?user=ada&org=acme", {"text": "My wife is called Grace."}, status=403
        )
        assert "memory.policies.acme.personal" in str(told)
        await asking(proxy)("POST", "api/remember?user=eve", {"text": "My wife is called Grace."}, status=201)


async def test_nothing_restricted_is_kept_where_it_is_switched_off(started: Started) -> None:
    async with started({"restricted": False}) as (proxy, _):
        for user in KEYS:
            await say(proxy, f"{DECISION}\n\n{RESTRICTED}", user)
        assert "PostgreSQL 16" in await known(proxy, "ada") and "Globex" not in await known(proxy, "ada")
        assert "Globex" in await known(proxy, "eve")
        text = "Remember: the root password is hunter2hunter2."
        told = await asking(proxy)("POST", "api/remember?user=ada&org=acme", {"text": text}, status=403)
        assert "memory.policies.acme.restricted" in str(told)


async def test_an_organisations_numbers_are_taken_out_of_all_that_is_stored(started: Started) -> None:
    text = f"We decided that test payments in the staging shop always use the card {CARD}, nothing else."
    async with started({"redact": ["cards"]}) as (proxy, provider):
        await say(proxy, text, "ada")
        assert CARD in provider.last.body.decode()  # What the client says goes on as it said it.
        told = await known(proxy, "ada")
        assert "staging shop" in told and "[secret:" in told and CARD not in told
        assert CARD not in stored(proxy)
        await say(proxy, text, "eve")
        assert CARD in await known(proxy, "eve")


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}]}, ("error", "type")),
        ("/v1/messages", {"max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}, ("error", "type")),
        ("/v1beta/models/m:generateContent", {"contents": [{"parts": [{"text": "Hi"}]}]}, ("error", "status")),
        ("/v1/embeddings", {"input": "Hi"}, ("error", "type")),
    ],
)
async def test_a_request_to_an_upstream_that_is_not_allowed_is_refused_in_the_clients_format(
    started: Started, path: str, body: dict[str, Any], kind: tuple[str, str]
) -> None:
    async with started({"upstreams": ["https://llm.acme.example"]}) as (proxy, provider):
        status, reply, headers = await proxy.post(path, {"model": "m", **body}, x_palimpsest_key=KEYS["ada"])
        told = orjson.loads(reply)
        assert status == 403 and provider.requests == []
        assert str(told[kind[0]][kind[1]]).lower() in ("permission_error", "permission_denied", "invalid_request_error")
        assert provider.url in told["error"]["message"] and "llm.acme.example" in told["error"]["message"]
        assert "memory.policies.acme.upstreams" in told["error"]["message"]
        assert headers["x-palimpsest-status"] == "refused; 403"
        # Another organisation is named in vain: the key says whose it is.
        named = {"x_palimpsest_key": KEYS["ada"], "x_palimpsest_org": "other"}
        status, _, _ = await proxy.post(path, {"model": "m", **body}, **named)
        assert status == 403 and provider.requests == []
        status, _, _ = await proxy.post(path, {"model": "m", **body}, x_palimpsest_key=KEYS["eve"])
        assert status == 200 and len(provider.requests) == 1


async def test_a_request_to_an_upstream_that_is_allowed_goes_on(started: Started) -> None:
    options = {"upstream.routes": [{"model": "other", "url": "https://llm.acme.example"}]}
    async with (
        fake_provider() as allowed,
        started({"upstreams": [allowed.url]}, upstream__url=allowed.url, **options) as (proxy, _),
    ):
        await say(proxy, DECISION, "ada")
        assert len(allowed.requests) == 1
        body = {"model": "other", "messages": [{"role": "user", "content": "Hi"}]}
        status, reply, _ = await proxy.post("/v1/chat/completions", body, x_palimpsest_key=KEYS["ada"])
        assert status == 403 and b"llm.acme.example" in reply


async def test_a_key_that_was_issued_stands_for_its_organisation(started: Started) -> None:
    async with started({"upstreams": ["https://llm.acme.example"]}) as (proxy, provider):
        ask = asking(proxy)
        body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        for org, expected in (("acme", 403), ("other", 200)):
            issued = {"name": f"laptop-{org}", "user": "kim", "org": org}
            key = (await ask("POST", "api/keys", issued, status=201))["key"]
            status, _, _ = await proxy.post("/v1/chat/completions", body, x_palimpsest_key=key)
            assert status == expected, org
        assert len(provider.requests) == 1


async def test_messages_and_memories_go_after_the_days_of_an_organisation_and_of_a_person(started: Started) -> None:
    moment = [local_now()]
    policy = {"keep_days": 30, "keep_memories_days": 60, "users": {"bob": {"keep_days": 1}}}
    async with started(policy, lambda: moment[0]) as (proxy, _):
        memory = proxy.edge.memory
        assert memory is not None

        for user in KEYS:
            await say(proxy, DECISION, user)
            await say(proxy, "And the gateway listens on port 7443.", user, "s2")
        assert "PostgreSQL 16" in await known(proxy, "ada")
        await memory.tier_worker.catch_up()
        await rooms.subagents(memory).worker.catch_up()
        assert await memory.retention.delete_expired() == (0, 0) and await memory.retention.delete_memories() == 0
        moment[0] += timedelta(days=40)
        exchanges, messages = await memory.retention.delete_expired()
        assert exchanges == 2 and messages >= 2
        assert await memory.retention.delete_memories() == 0 and "PostgreSQL 16" in await known(proxy, "ada")
        moment[0] += timedelta(days=40)
        assert await memory.retention.delete_memories() > 0
        assert await known(proxy, "ada") == "" and "PostgreSQL 16" in await known(proxy, "eve")
        assert "PostgreSQL 16" not in await memory.pages.text(Scope("acme", "ada", "loom"))
        # What is said again is learnt again.
        await say(proxy, DECISION, "ada", "again")
        assert "PostgreSQL 16" in await known(proxy, "ada")


async def test_a_policy_that_is_set_later_holds_for_what_is_there(started: Started, tmp_path: Path) -> None:
    async with started({}) as (proxy, _):
        await say(proxy, f"{DECISION}\n\n{RESTRICTED}", "ada")
        await say(proxy, PERSONAL, "ada", "tells")
        told = await known(proxy, "ada")
        assert "Globex" in told and "Lisbon" in told
    async with started({"personal": False, "restricted": False}) as (proxy, _):
        memory = proxy.edge.memory
        assert memory is not None
        await memory.retention.delete_memories()
        told = await known(proxy, "ada")
        assert "PostgreSQL 16" in told and "Globex" not in told and "Lisbon" not in told


@pytest.mark.litellm
async def test_a_websocket_and_a_bridge_are_upstreams_as_well(tmp_path: Path) -> None:
    routes = [{"model": "claude-*", "dialect": "openai-chat", "bridge": "anthropic/*"}]
    policy = {"acme": {"upstreams": ["bedrock/*"]}}
    options = {"memory.policies": policy, "credentials": CREDENTIALS, "upstream.routes": routes}
    async with fake_provider() as provider, running(provider, tmp_path, **options) as proxy:
        body = {"model": "claude-x", "messages": [{"role": "user", "content": "Hi"}]}
        status, reply, _ = await proxy.post("/v1/chat/completions", body, x_palimpsest_key=KEYS["ada"])
        assert status == 403 and b"may not go to anthropic/claude-x" in reply and b"bedrock/*" in reply
    async with fake_provider() as provider, running(provider, tmp_path, **options | {"upstream.routes": []}) as proxy:
        with pytest.raises(WSServerHandshakeError) as refused:
            await proxy.client.ws_connect(f"{proxy.url}/v1/responses", headers={"x-palimpsest-key": KEYS["ada"]})
        assert refused.value.status == 403 and provider.requests == []


async def test_the_policy_of_all_others_holds_for_who_shows_no_key(tmp_path: Path) -> None:
    options = {"memory.policies": {"*": {"upstreams": []}}, "credentials": CREDENTIALS}
    async with fake_provider() as provider, running(provider, tmp_path, **options) as proxy:
        body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        for headers in ({}, {"x_palimpsest_key": KEYS["ada"]}, {"x_palimpsest_key": "nobody-s-key"}):
            status, reply, _ = await proxy.post("/v1/chat/completions", body, **headers)
            assert status == 403 and b"allowed are none" in reply
        assert provider.requests == []
