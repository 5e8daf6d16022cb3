"""What several tests of the proxy stand on."""

from __future__ import annotations

from collections.abc import Iterator

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
