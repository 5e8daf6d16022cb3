"""Crush: no ids; known by its user agent, or by the name that its system prompt gives itself."""

from __future__ import annotations

from memory.session import Patience
from proxy.runtimes.runtime import Headers, Runtime, preamble
from proxy.wire.dialect import RequestView


class Crush(Runtime):
    """Crush. Its sessions are found by their trail; it summarizes by the usage that is reported."""

    name = "crush"
    offers_tools = True
    patience = Patience(share=0.8, free=20_000)

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By its user agent, or its system prompt."""
        return "crush" in headers.get("user-agent", "").lower() or "You are Crush" in preamble(view)[:2000]
