"""A journal in a folder of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from memory.stores.journal import SqliteJournal
from tests.memory.stores.derived_facts import open_journal


@pytest_asyncio.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    opened = open_journal(tmp_path)
    yield opened
    await opened.close()
