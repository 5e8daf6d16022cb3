"""A provider, and a proxy before it that takes its time to look for earlier research."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy import conftest
from tests.running import Running, running

server = conftest.server
database_options = conftest.database_options


@pytest_asyncio.fixture
async def upstream() -> AsyncIterator[FakeProvider]:
    async with fake_provider() as served:
        yield served


@pytest_asyncio.fixture
async def proxy(upstream: FakeProvider, tmp_path: Path) -> AsyncIterator[Running]:
    async with running(upstream, tmp_path / "home", memory__research__deadline_ms=10_000) as served:
        yield served
