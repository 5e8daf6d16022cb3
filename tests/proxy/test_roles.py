"""Servers that divide the work over one PostgreSQL journal: proxies take requests, a worker does the rest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from proxy.cli.serving import welcome
from proxy.setting_sources import SettingsError
from proxy.settings import Role, load
from tests import postgresql
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.api.asking import asking
from tests.proxy.homes import LESSONS, QUESTION
from tests.running import Running, running

CHAT = {"model": "m", "messages": [{"role": "user", "content": "Where does the boat lie?"}]}
MESSAGES = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Where does the boat lie?"}]}


@pytest.fixture
def database(server: postgresql.TestServer, tmp_path: Path) -> str:
    return server.database(tmp_path)


@pytest.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with fake_provider() as found:
        yield found


Starting = Callable[[Role], Awaitable[Running]]


@pytest.fixture
async def start(provider: FakeProvider, database: str, tmp_path: Path) -> AsyncIterator[Starting]:
    async with AsyncExitStack() as stack:
        started = 0

        async def one(role: Role) -> Running:
            nonlocal started
            started += 1
            settings = {
                "memory.postgresql.url": database,
                "memory.postgresql.replicas": True,
                "server.role": role.value,
            }
            server = await stack.enter_async_context(running(provider, tmp_path / f"server-{started}", **settings))
            assert server.edge.memory is not None, server.edge.memory_fault
            return server

        yield one


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 (what another server does is found out by looking)
            await asyncio.sleep(0.02)


async def asked(server: Running, path: str) -> int:
    async with server.client.get(f"{server.url}/palimpsest/{path}") as reply:
        return reply.status


async def test_proxies_journal_and_a_worker_learns(start: Starting, provider: FakeProvider) -> None:
    first, second = await start(Role.PROXY), await start(Role.PROXY)
    memory = first.edge.memory
    assert memory is not None
    for number, lesson in enumerate(LESSONS):
        await (first, second)[number % 2].chat(lesson, session=f"lesson-{number}")
    # Each of them has written, and asked whether the work is free if it ever does.
    assert not memory.works and (await memory.commands.standing()).counts.behind >= len(LESSONS)
    assert any("no worker is heard of" in why for why in (await asking(first)("GET", "health"))["why"])
    worker = await start(Role.WORKER)
    assert worker.edge.memory is not None
    await until(lambda: worker.edge.memory is not None and worker.edge.memory.works)
    await worker.learned()
    while await memory.journal.waiting():  # noqa: ASYNC110 (the proxy's own index is brought up to date beside)
        await asyncio.sleep(0.02)
    await first.chat(QUESTION, session="later")
    assert b"7443" in provider.last.body
    assert not memory.works
    assert "no worker" not in str((await asking(first)("GET", "health"))["why"])


async def test_a_balancer_sends_models_calls_to_proxies_and_changes_to_the_worker(start: Starting) -> None:
    worker, proxy = await start(Role.WORKER), await start(Role.PROXY)
    await until(lambda: worker.edge.memory is not None and worker.edge.memory.works)
    ready = [await asked(each, path) for each in (worker, proxy) for path in ("ready", "ready?role=work")]
    assert ready == [503, 200, 200, 503]
    assert [await asked(each, "health") for each in (worker, proxy)] == [200, 200]
    assert (await asking(worker)("GET", "health"))["role"] == "worker"
    token = {"Authorization": f"Bearer {worker.edge.token}"}
    async with worker.client.get(f"{worker.url}/palimpsest/metrics", headers=token) as reply:
        assert ',role="worker"} 1' in await reply.text()
    text = {"text": "Ada's cat is called Zorro."}
    await asking(worker)("POST", "api/remember", text, status=201)
    await asking(proxy)("POST", "api/remember", text, status=503)


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [("/v1/chat/completions", CHAT, "invalid_request_error"), ("/v1/messages", MESSAGES, "invalid_request_error")],
)
async def test_a_worker_refuses_model_calls_in_the_clients_format(
    start: Starting, provider: FakeProvider, path: str, body: dict[str, Any], kind: str
) -> None:
    worker = await start(Role.WORKER)
    status, reply, _ = await worker.post(path, body)
    assert status == 421 and kind.encode() in reply and b"worker" in reply
    assert not provider.requests


@pytest.mark.parametrize("role", ["proxy", "worker"])
def test_without_a_shared_journal_the_work_cannot_be_divided(role: str) -> None:
    alone = {"server.role": role}
    for more in ({}, {"memory.postgresql.url": "postgresql://ada@db/palimpsest"}):
        with pytest.raises(SettingsError, match=r"only servers that share a PostgreSQL database"):
            load(options={**alone, **more})
    with pytest.raises(SettingsError, match=r"server\.role"):
        load(options={"server.role": "cook"})


def test_what_is_said_at_the_start_names_the_role_and_offers_no_worker_to_clients() -> None:
    shared = {"memory.postgresql.url": "postgresql://ada@db/palimpsest", "memory.postgresql.replicas": True}
    said = {
        role: welcome(load(options={**shared, "server.role": role.value}).settings, "http://127.0.0.1:8484")
        for role in Role
    }
    assert "role      worker" in said[Role.WORKER] and "connect" not in said[Role.WORKER]
    assert "role      proxy" in said[Role.PROXY] and "connect" in said[Role.PROXY]
    assert "role" not in said[Role.ALL]
