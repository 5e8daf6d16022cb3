"""How often a request waits for a database on a network before it is forwarded."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from memory.stores.postgresql import pulse, writer
from tests import postgresql
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.homes import LESSONS, QUESTION
from tests.running import Running, running
from tests.slow_link import SlowLink

NEW_SESSION, HUMAN, TOOL_RESULT = 4, 3, 2
"""Round trips at most of a request that begins a session, has a person's message, has the result of a tool.

All are one look whether others have written, what recall asks, and one transaction; beside the look at a session that
begins, it is asked what other replicas' agents have said.
"""
READERS = 4
TOOLS = [{"type": "function", "function": {"name": "run", "parameters": {"type": "object", "properties": {}}}}]


class Asked:
    """A server whose round trips are counted, up to the moment in which a request is with the provider."""

    def __init__(self, proxy: Running, provider: FakeProvider, link: SlowLink) -> None:
        self._proxy, self._provider, self._link = proxy, provider, link
        self._forwarded = 0
        provider.answer = self._answer

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self._forwarded = self._link.round_trips
        return await self._provider._chat(request, orjson.loads(self._provider.last.body))

    async def round_trips(self, session: str, messages: list[dict[str, Any]]) -> int:
        """Of one request, while nothing else is done."""
        memory = self._proxy.edge.memory
        assert memory is not None
        await self._proxy.learned()
        await memory.journal._db.caught_up()
        before = -1
        while before != self._link.round_trips:  # until what is done beside requests is done
            before = self._link.round_trips
            await asyncio.sleep(0.15)
        headers = {"x_palimpsest_project": "loom", **({"x_session_id": session} if session else {})}
        body = {"model": "m", "messages": messages, "tools": TOOLS, "stream": True}
        status, reply, head = await self._proxy.post("/v1/chat/completions", body, **headers)
        assert status == 200 and not head["x-palimpsest-status"].startswith("degraded"), reply
        return self._forwarded - before


@pytest.fixture
async def asked(server: postgresql.TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Asked]:
    class Silent:
        """Nobody listens: what is heard is looked up at once, beside the requests."""

        def __init__(self, *given: object) -> None:
            pass

        def close(self) -> None:
            """Nothing to close."""

    monkeypatch.setattr("memory.stores.postgresql.database.Listener", Silent)
    # Nor does anybody look in quiet times, or ask whether the database answers.
    monkeypatch.setattr(writer, "REPLICA_SECONDS", 3600.0)
    monkeypatch.setattr(pulse, "EVERY_SECONDS", 3600.0)
    link = SlowLink(server.database(tmp_path))
    options: dict[str, Any] = {"memory.postgresql.url": link.url, "memory.postgresql.replicas": True}
    async with fake_provider() as provider, running(provider, tmp_path / "home", **options) as proxy:
        memory = proxy.edge.memory
        assert memory is not None and memory.works
        # Each reader has its connection before anything is counted.
        together = threading.Barrier(READERS)
        await asyncio.gather(*(memory.journal._db.read(lambda connection: together.wait()) for _ in range(READERS)))
        found = Asked(proxy, provider, link)
        for number, lesson in enumerate(LESSONS):
            await proxy.chat(lesson, session=f"lesson-{number}")
        await proxy.learned()
        await proxy.chat(QUESTION, session="asks")  # what is asked once by each process
        yield found
    link.close()


@pytest.mark.parametrize("named", [True, False])
async def test_a_request_waits_for_the_database_that_often(asked: Asked, named: bool) -> None:
    begun, tools, human = [], [], []
    for session in range(2):
        name = f"session-{session}" if named else ""
        said: list[dict[str, Any]] = [
            {"role": "system", "content": f"You are agent {session}."},
            {"role": "user", "content": QUESTION},
        ]
        begun.append(await asked.round_trips(name, said))
        for number in range(2):
            call = {"id": f"c{number}", "type": "function", "function": {"name": "run", "arguments": "{}"}}
            said += [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"c{number}", "content": f"{number} passed"},
            ]
            tools.append(await asked.round_trips(name, said))
        said += [
            {"role": "assistant", "content": "OK."},
            {"role": "user", "content": "And who reviews the gateway?"},
        ]
        human.append(await asked.round_trips(name, said))
    # Something may have been asked beside one of them.
    assert min(tools) <= TOOL_RESULT and min(human) <= HUMAN and min(begun) <= NEW_SESSION, (tools, human, begun)
