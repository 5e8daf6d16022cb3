"""Cline: no ids and no user agent of its own; it is known by its system prompt."""

from __future__ import annotations

from memory.session import RequestKind
from proxy.runtimes.runtime import Headers, Runtime, SideRequestSign, preamble
from proxy.wire.dialect import RequestView


class Cline(Runtime):
    """Cline. A sub-agent's system prompt is whatever its parent wrote, so that it is known by its trail only."""

    name = "cline"
    offers_tools = True
    signs = (SideRequestSign(RequestKind.COMPACTION, False, first="<conversation>", tools=False),)

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By the name that its system prompt gives itself."""
        return "You are Cline" in preamble(view)[:2000]
