"""A proxy that runs, for what features answer over HTTP."""

from tests.memory.stores.conftest import engine, journal, pytest_generate_tests
from tests.proxy.api.conftest import ask, proxy

__all__ = ["ask", "engine", "journal", "proxy", "pytest_generate_tests"]
