"""A proxy that runs before a provider, and a browser that has been let in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.api.asking import Asking, asking
from tests.proxy.web.browsing import Browser, let_in
from tests.proxy.web.filled import projects
from tests.running import Running, running


@pytest_asyncio.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with fake_provider() as served:
        yield served


@pytest_asyncio.fixture
async def proxy(provider: FakeProvider, tmp_path: Path) -> AsyncIterator[Running]:
    async with running(provider, tmp_path / "home", projects=projects(tmp_path / "checkout")) as started:
        yield started


@pytest_asyncio.fixture
async def ask(proxy: Running) -> Asking:
    return asking(proxy)


@pytest_asyncio.fixture
async def browser(proxy: Running) -> Browser:
    return await let_in(proxy)
