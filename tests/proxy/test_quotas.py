"""Quotas of a day: too many requests are refused in the client's format, and used-up recall leaves the call alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import orjson
import pytest

from proxy.setting_sources import SettingsError
from proxy.settings import load
from tests import postgresql
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.homes import LESSONS, QUESTION
from tests.running import Headers, Running, running

CHAT = ("/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "Hello there."}]})
MESSAGES = ("/v1/messages", {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello there."}]})
GEMINI = ("/v1beta/models/m:generateContent", {"contents": [{"role": "user", "parts": [{"text": "Hello there."}]}]})


@pytest.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with fake_provider() as found:
        yield found


async def ask(
    proxy: Running, path: str, body: dict[str, Any], user: str = "ann", **more: str
) -> tuple[int, Any, Headers]:
    status, reply, headers = await proxy.post(path, body, x_palimpsest_user=user, x_palimpsest_project="loom", **more)
    return status, orjson.loads(reply) if status != 200 else reply, headers


@pytest.mark.parametrize(
    ("asked", "kind", "header"),
    [
        (CHAT, "rate_limit_error", "x-ratelimit-limit-requests"),
        (MESSAGES, "rate_limit_error", "anthropic-ratelimit-requests-limit"),
        (GEMINI, "RESOURCE_EXHAUSTED", ""),
    ],
    ids=["chat", "messages", "gemini"],
)
async def test_who_has_sent_as_many_as_may_be_is_refused_in_the_clients_format(
    provider: FakeProvider, tmp_path: Path, asked: tuple[str, dict[str, Any]], kind: str, header: str
) -> None:
    quota = {"memory.quotas": {"*": {"requests_a_day_per_user": 2, "users": {"bob": {"requests_a_day": 3}}}}}
    async with running(provider, tmp_path, **quota) as proxy:
        # Also what asks for no memory is counted.
        for number, mode in enumerate(("on", "off")):
            status, _, headers = await ask(proxy, *asked, x_palimpsest_memory=mode)
            assert status == 200 and headers["x-palimpsest-quota-requests"] == f"{1 - number}/2"
        status, told, headers = await ask(proxy, *asked)
        assert status == 429 and len(provider.requests) == 2
        assert kind in (told["error"].get("type"), told["error"].get("status"))
        assert "memory.quotas.*.requests_a_day_per_user" in told["error"]["message"]
        assert 0 < int(headers["Retry-After"]) <= 86_400 and headers["x-palimpsest-quota-requests"] == "0/2"
        assert not header or headers[header] == "2"
        status, _, headers = await ask(proxy, *asked, user="bob")
        assert status == 200 and headers["x-palimpsest-quota-requests"] == "2/3"


async def test_who_gets_no_memory_for_want_of_a_key_uses_up_nobodys_quota(
    provider: FakeProvider, tmp_path: Path
) -> None:
    key = "a-long-random-text"
    settings = {
        "memory.quotas": {"acme": {"requests_a_day_per_user": 1}},
        "credentials": [{"key": key, "user": "ann", "org": "acme"}],
    }
    async with running(provider, tmp_path, **settings) as proxy:
        for _ in range(2):
            status, _, headers = await proxy.post(*CHAT)
            assert status == 200 and "x-palimpsest-quota-requests" not in headers
        statuses = [(await proxy.post(*CHAT, x_palimpsest_key=key))[0] for _ in range(2)]
        assert statuses == [200, 429]


async def test_used_up_recall_leaves_memory_out_and_says_so(provider: FakeProvider, tmp_path: Path) -> None:
    quota = {"memory.quotas": {"*": {"recall_tokens_a_day_per_user": 60}}, "memory.page.enabled": False}
    async with running(provider, tmp_path, **quota) as proxy:
        for number, lesson in enumerate(LESSONS):
            await proxy.chat(lesson, session=f"lesson-{number}")
        await proxy.learned()
        path, body = CHAT
        question = {**body, "messages": [{"role": "user", "content": QUESTION}]}
        statuses = []
        for number in range(4):
            status, _, headers = await proxy.post(
                path, question, x_palimpsest_project="loom", x_session_id=f"asks-{number}"
            )
            assert status == 200
            statuses.append(headers["x-palimpsest-status"])
        assert "recalled=" in statuses[0]
        assert statuses[-1] == "untouched; memory.quotas.*.recall_tokens_a_day_per_user (60) is used up for today"
        assert b"7443" not in provider.last.body


async def test_whose_memories_are_full_is_told_in_the_status(provider: FakeProvider, tmp_path: Path) -> None:
    async with running(provider, tmp_path, **{"memory.quotas": {"*": {"memories_per_user": 1}}}) as proxy:
        for number, lesson in enumerate(LESSONS):
            await proxy.chat(lesson, session=f"lesson-{number}")
            await proxy.learned()
        path, body = CHAT
        _, _, headers = await proxy.post(path, body, x_palimpsest_project="loom")
        assert "nothing more is learnt" in headers["x-palimpsest-status"]


async def test_proxies_over_one_database_count_together(
    provider: FakeProvider, server: postgresql.TestServer, tmp_path: Path
) -> None:
    settings = {
        "memory.postgresql.url": server.database(tmp_path),
        "memory.postgresql.replicas": True,
        "server.role": "proxy",
        "memory.quotas": {"*": {"requests_a_day_per_user": 4}},
    }
    async with AsyncExitStack() as stack:
        proxies = [await stack.enter_async_context(running(provider, tmp_path / n, **settings)) for n in ("a", "b")]
        for proxy in (*proxies, *proxies):
            assert (await ask(proxy, *CHAT))[0] == 200
        for proxy in proxies:
            memory = proxy.edge.memory
            assert memory is not None
            await memory.quota_use.settle()
        assert (await ask(proxies[1], *CHAT))[0] == 429


@pytest.mark.parametrize(
    "quota", [{"requests_a_day": 0}, {"requests_per_day": 1}, {"users": {"ada": {"memories_per_user": 1}}}]
)
def test_a_quota_that_means_nothing_is_told(quota: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"memory\.quotas\.acme\."):
        load(options={"memory.quotas": {"acme": quota}})
