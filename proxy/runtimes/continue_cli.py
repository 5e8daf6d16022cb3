"""Continue's ``cn``: no ids and no user agent of its own; it is known by its system prompt."""

from __future__ import annotations

from proxy.runtimes.runtime import Headers, Runtime, preamble
from proxy.wire.dialect import RequestView


class ContinueCli(Runtime):
    """Continue's command line. Its sessions are found by their trail."""

    name = "continue"
    offers_tools = True

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By the name that its system prompt gives itself."""
        return "an agent in the Continue CLI" in preamble(view)[:2000]
