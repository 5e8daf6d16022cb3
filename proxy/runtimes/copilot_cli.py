"""Copilot CLI with an own key: no session's id; its sub-agents say so in a header."""

from __future__ import annotations

from proxy.runtimes.runtime import Headers, Runtime, preamble
from proxy.wire.dialect import RequestView


class CopilotCli(Runtime):
    """Copilot CLI, over whichever format it is told to speak. Its sessions are found by their trail."""

    name = "copilot-cli"
    offers_tools = True

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By the name that its system prompt gives itself, or the header that only it sends."""
        return "x-interaction-type" in headers or "You are the GitHub Copilot CLI" in preamble(view)[:2000]

    def is_subagent(self, headers: Headers, view: RequestView) -> bool:
        """By the header that says what a request is for."""
        return headers.get("x-interaction-type", "") == "conversation-subagent"
