"""A journal in a folder of its own, in each engine.

Every test that opens a journal is run once for each engine; what is of SQLite's files alone is marked so.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from memory.stores.journal import SqlJournal
from tests import postgresql
from tests.memory.stores import derived_facts
from tests.memory.stores.derived_facts import open_journal


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """On which engines a test is run."""
    opens = hasattr(metafunc.module, "open_journal") or "journal" in metafunc.fixturenames
    if opens and not metafunc.definition.get_closest_marker("sqlite"):
        metafunc.parametrize("engine", ("sqlite", "postgresql"), indirect=True)


@pytest.fixture(autouse=True)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where journals are opened during a test."""
    name: str = getattr(request, "param", "sqlite")
    if name == "sqlite":
        yield name
        return
    server = postgresql.server()
    if server is None:
        pytest.skip("there is no PostgreSQL on this machine")
    derived_facts.SERVER = server
    try:
        yield name
    finally:
        derived_facts.SERVER = None
        server.give_back()


@pytest.fixture(scope="session")
def server() -> postgresql.TestServer:
    """The tests' PostgreSQL."""
    found = postgresql.server()
    if found is None:
        pytest.skip("there is no PostgreSQL on this machine")
    return found


@pytest.fixture
def url(server: postgresql.TestServer, tmp_path: Path) -> Iterator[str]:
    """A database of its own."""
    yield server.database(tmp_path)
    server.give_back()


@pytest_asyncio.fixture
async def journal(tmp_path: Path, engine: str) -> AsyncIterator[SqlJournal]:
    opened = open_journal(tmp_path)
    yield opened
    await opened.close()
