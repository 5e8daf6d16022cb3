"""A server that starts while its Qdrant server is away: all goes on without the index, and it is reached later."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import AsyncQdrantClient
from qdrant_client.http.exceptions import ResponseHandlingException

from tests import postgresql
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import asking
from tests.proxy.homes import LESSONS, QUESTION
from tests.running import running

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect")


class Engine:
    """The client's own engine in a server's place, which is away at first."""

    def __init__(self) -> None:
        self.away = True
        self.made_with: dict[str, Any] = {}
        self._engine = AsyncQdrantClient(":memory:")

    async def close(self) -> None:
        """It goes with the process."""

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def ask(*asked: Any, **named: Any) -> Any:
            if self.away:
                raise ResponseHandlingException(ConnectionRefusedError("Connection refused"))
            if name == "create_collection":
                self.made_with = named
            return await getattr(self._engine, name)(*asked, **named)

        return ask


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    found = Engine()
    monkeypatch.setattr("memory.stores.generations.client_of", lambda *asked, **named: found)
    return found


async def test_the_stores_open_without_the_index_and_it_is_filled_when_its_server_is_there(
    server: postgresql.TestServer, tmp_path: Path, engine: Engine
) -> None:
    options = {"memory.postgresql.url": server.database(tmp_path), "memory.qdrant.url": "http://qdrant:6333"}
    async with fake_provider() as provider:
        for start in ("the first one", "a later one"):
            engine.away = True
            async with running(provider, tmp_path, **options) as proxy:
                memory = proxy.edge.memory
                assert memory is not None, (start, proxy.edge.memory_fault)
                await proxy.chat(LESSONS[2], session=start)
                assert (await memory.journal.counts()).exchanges > 0
                await memory.index_repair.look()
                assert any("looking after the index" in why for why in (await asking(proxy)("GET", "health"))["why"])
                engine.away = False
                assert not await memory.index_repair.look()
                await proxy.learned()
                await proxy.chat(QUESTION, session=f"asks {start}")
                assert "7443" in provider.last.body.decode()
                assert [each.number for each in await memory.journal.generations()] == [1]


async def test_an_index_that_its_server_has_lost_meanwhile_is_filled_anew(
    server: postgresql.TestServer, tmp_path: Path, engine: Engine
) -> None:
    options: dict[str, Any] = {"memory.postgresql.url": server.database(tmp_path)}
    options["memory.qdrant.url"] = "http://qdrant:6333"
    options["memory.qdrant.replication"] = 2
    async with fake_provider() as provider:
        engine.away = False
        async with running(provider, tmp_path, **options) as proxy:
            assert engine.made_with["replication_factor"] == 2
            await proxy.chat(LESSONS[2], session="lesson")
            await proxy.learned()
        engine.away, engine._engine = True, AsyncQdrantClient(":memory:")
        async with running(provider, tmp_path, **options) as proxy:
            memory = proxy.edge.memory
            assert memory is not None
            engine.away = False
            assert await memory.index_repair.look()
            await proxy.chat(QUESTION, session="asks")
            assert "7443" in provider.last.body.decode()
