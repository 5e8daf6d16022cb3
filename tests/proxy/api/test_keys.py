"""Keys that are issued to users of clients: what they own, how they end, and what is kept of them."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory.learning.redact import redact
from proxy.auth.client_keys import HOLD_SECONDS, SHAPE, ClientKeys, new_client_key
from proxy.auth.tokens import TokenRole, hash_of
from proxy.edge import KEYS_UNTOLD
from tests import postgresql
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import Asking, asking
from tests.proxy.api.test_tokens import issued
from tests.proxy.homes import LESSONS, QUESTION
from tests.running import Running, running

TOMORROW = (datetime.now(UTC) + timedelta(days=1)).isoformat()
OTHER_CREDENTIAL = [{"key": "a-configured-key", "user": "carl"}]


async def made(ask: Asking, name: str = "laptop", **more: Any) -> str:
    """The text of a new key for ann of acme."""
    told = await ask("POST", "api/keys", {"name": name, "user": "ann", "org": "acme", **more}, status=201)
    assert SHAPE.fullmatch(told["key"]) and "hash" not in told
    return str(told["key"])


async def say(proxy: Running, text: str, key: str, session: str = "s", **headers: str) -> str:
    """Send a message with a key; what the reply says of memory."""
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    headers = {"x_session_id": session, "x_palimpsest_key": key, **headers}
    status, _, told = await proxy.post("/v1/chat/completions", body, **headers)
    assert status == 200
    return str(told["x-palimpsest-status"])


async def test_a_key_owns_what_it_was_issued_for_as_a_configured_one_does(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, credentials=OTHER_CREDENTIAL) as proxy:
        ask = asking(proxy)
        key = await made(ask, projects=["loom"], expires_at=TOMORROW)
        for number, lesson in enumerate(LESSONS):
            await say(proxy, lesson, key, f"lesson-{number}", x_palimpsest_project="loom")
        await proxy.learned()
        facts = (await ask("GET", "api/facts?org=acme&user=ann"))["facts"]
        assert facts and {fact["owner"].partition(":")[2].partition("/")[0] for fact in facts} == {"acme"}
        await say(proxy, QUESTION, key, "asks", x_palimpsest_project="loom")
        assert "7443" in provider.last.body.decode()
        # Neither the key nor its name goes on, and nothing is found with another's key.
        assert key not in str(provider.last.headers) + provider.last.path
        await say(proxy, QUESTION, "a-configured-key", "asks-too", x_palimpsest_project="loom")
        assert "7443" not in provider.last.body.decode()
        assert "does not own the project" in await say(proxy, "hello", key, x_palimpsest_project="sail")
        assert "does not own the user" in await say(proxy, "hello", key, x_palimpsest_user="bob")


async def test_a_key_that_was_revoked_or_is_unknown_opens_nothing(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        ask = asking(proxy)
        key = await made(ask)
        assert "not in force" not in await say(proxy, "hello", key)
        await ask("DELETE", "api/keys/laptop")
        assert "not in force" in await say(proxy, "hello", key)
        assert "not in force" in await say(proxy, "hello", new_client_key())
        assert (await ask("DELETE", "api/keys/laptop", status=404))["error"].startswith("there is no key")
        # Its name is free again.
        assert "not in force" not in await say(proxy, "hello", await made(ask))
        assert [each["in_force"] for each in (await ask("GET", "api/keys"))["keys"]] == [False, True]


async def test_a_read_only_key_teaches_nothing(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        key = await made(asking(proxy), read_only=True)
        await say(proxy, LESSONS[0], key)
        await proxy.learned()
        assert (await asking(proxy)("GET", "api/facts?org=acme&user=ann"))["facts"] == []


async def test_where_everybody_needs_a_key_an_issued_one_will_do(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, **{"server.require_key": True}) as proxy:
        key = await made(asking(proxy))
        body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
        for path, headers in ((f"/k/{key}/v1/chat/completions", {}), ("/v1/chat/completions", {"Authorization": key})):
            assert (await proxy.post(path, body, **headers))[0] == 200
        assert (await proxy.post(f"/k/{new_client_key()}/v1/chat/completions", body))[0] == 401


async def test_only_admins_issue_keys_and_it_is_written_down_who_did(proxy: Running, ask: Asking) -> None:
    for token in (issued(proxy, TokenRole.USER, "ann"), issued(proxy, TokenRole.READ)):
        await token("POST", "api/keys", {"name": "mine", "user": "ann"}, status=403)
    admin = issued(proxy, TokenRole.ADMIN)
    await made(admin)
    assert [each["made_by"] for each in (await ask("GET", "api/keys"))["keys"]] == ["admin-None-0"]
    assert [each["what"] for each in (await ask("GET", "api/audit?what=keys"))["audit"]][-1] == "POST api/keys"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"user": ""}, "user"),
        ({"user": "*"}, "one user"),
        ({"expires_at": "2020-01-01T00:00:00+00:00"}, "over"),
        ({"expires_at": "soon"}, "no moment"),
        ({"expires_at": "2999-01-01T00:00:00"}, "no offset"),
        ({"scope": "all"}, "no field"),
    ],
)
async def test_what_no_key_can_be_issued_for_is_refused_with_a_sentence(
    ask: Asking, more: dict[str, str], why: str
) -> None:
    told = await ask("POST", "api/keys", {"name": "laptop", "user": "ann", **more}, status=422)
    assert why in told["error"]


async def test_a_name_in_force_stands_once_and_of_a_key_only_a_hash_is_kept(proxy: Running, ask: Asking) -> None:
    key = await made(ask)
    await ask("POST", "api/keys", {"name": "laptop", "user": "bob"}, status=409)
    with closing(sqlite3.connect(proxy.edge.settings.home / "journal.db")) as journal:
        rows = str(journal.execute("SELECT * FROM client_keys").fetchall())
    assert hash_of(key) in rows and key not in rows


async def test_where_keys_cannot_be_looked_up_calls_go_on_and_memory_is_closed_after_a_minute(tmp_path: Path) -> None:
    time = [0.0]
    settings = {"credentials": OTHER_CREDENTIAL, "server.require_key": True}
    async with fake_provider() as provider, running(provider, tmp_path, **settings) as proxy:
        proxy.edge.client_keys = ClientKeys(clock=lambda: time[0])
        key = await made(asking(proxy))
        assert "keys" not in await say(proxy, "hello", key)
        with closing(sqlite3.connect(proxy.edge.settings.home / "journal.db")) as journal:
            journal.execute("ALTER TABLE client_keys RENAME TO gone")
        time[0] = HOLD_SECONDS - 1
        assert "keys" not in await say(proxy, "hello", key), "it was known a moment ago"
        time[0] = HOLD_SECONDS + 1
        assert await say(proxy, "hello", key) == f"untouched; {KEYS_UNTOLD}"
        assert "hello" in provider.last.body.decode(), "the call goes on"
        body = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
        status, told, _ = await proxy.post("/v1/chat/completions", body, x_palimpsest_key=new_client_key())
        assert status == 503 and KEYS_UNTOLD.encode() in told
        health = (await asking(proxy)("GET", "health"))["why"]
        assert any("issued to clients cannot be looked up: they open no memory" in why for why in health)
        with closing(sqlite3.connect(proxy.edge.settings.home / "journal.db")) as journal:
            journal.execute("ALTER TABLE gone RENAME TO client_keys")


async def test_a_key_holds_at_every_server_of_a_database_and_ends_there_within_a_second(
    server: postgresql.TestServer, tmp_path: Path
) -> None:
    shared = {"memory.postgresql.url": server.database(tmp_path), "memory.postgresql.replicas": True}
    async with (
        fake_provider() as provider,
        running(provider, tmp_path / "one", **shared) as one,
        running(provider, tmp_path / "two", **shared) as two,
    ):
        worker = one if one.edge.memory is not None and one.edge.memory.works else two
        other = two if worker is one else one
        key = await made(asking(worker))
        assert "not in force" not in await say(other, "hello", key)
        await asking(worker)("DELETE", "api/keys/laptop")
        until = asyncio.get_running_loop().time() + 1.5
        while "not in force" not in await say(other, "hello", key):
            assert asyncio.get_running_loop().time() < until


def test_a_key_that_stands_in_what_somebody_says_is_redacted() -> None:
    assert re.search(SHAPE, redact(f"use {new_client_key()} for it").text) is None
