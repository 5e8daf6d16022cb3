"""Servers that remember something, one for all tests of a module."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from tests.proxy.runtimes.memories import Told


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def told_once(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Told]:
    async with AsyncExitStack() as stack:
        yield Told(tmp_path_factory.mktemp("told"), stack)
