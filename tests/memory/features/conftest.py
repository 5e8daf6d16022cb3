"""A proxy that runs, for what features answer over HTTP."""

from tests.memory.stores.conftest import journal
from tests.proxy.api.conftest import ask, proxy

__all__ = ["ask", "journal", "proxy"]
