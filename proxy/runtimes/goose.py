"""goose: no ids; known by its user agent, or by the name that its system prompt gives itself."""

from __future__ import annotations

from memory.session import Patience
from proxy.runtimes.runtime import Headers, Runtime, preamble
from proxy.wire.dialect import RequestView


class Goose(Runtime):
    """goose. Its sessions are found by their trail; it compacts by the tokens that are reported."""

    name = "goose"
    offers_tools = True
    patience = Patience(share=0.8)

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By its user agent, or its system prompt."""
        agent = headers.get("user-agent", "").lower()
        return agent.startswith("goose") or "AI agent called goose" in preamble(view)[:2000]
