"""A proxy that runs, before a provider that answers, with an empty memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.fake_provider import fake_provider
from tests.proxy.api.asking import Asking, asking
from tests.running import Running, running


@pytest_asyncio.fixture
async def proxy(tmp_path: Path) -> AsyncIterator[Running]:
    async with fake_provider() as provider, running(provider, tmp_path / "home") as started:
        yield started


@pytest_asyncio.fixture
async def ask(proxy: Running) -> Asking:
    return asking(proxy)
