"""What several tests of the proxy stand on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import postgresql


@pytest.fixture
def server() -> Iterator[postgresql.TestServer]:
    found = postgresql.server()
    if found is None:
        pytest.skip("there is no PostgreSQL on this machine")
    try:
        yield found
    finally:
        found.give_back()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_options(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """The settings by which a server has its journal in the one database, then in the other."""
    if request.param == "sqlite":
        return {}
    return {"memory.postgresql.url": request.getfixturevalue("server").database(tmp_path)}
