"""pi: a session id on the Responses wire and where its affinity headers are on; sub-agents are own processes."""

from __future__ import annotations

from memory.session import Patience, RequestKind
from proxy.runtimes.runtime import Headers, Identity, Runtime, SideRequestSign, first_user, preamble
from proxy.wire.dialect import RequestView


class Pi(Runtime):
    """pi, over any of the three dialects."""

    name = "pi"
    offers_tools = True
    patience = Patience(free=16_384)
    signs = (SideRequestSign(RequestKind.COMPACTION, False, first="<conversation>", tools=False),)

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By its user agent."""
        return headers.get("user-agent", "").startswith("pi (")

    def own_identity(self, headers: Headers, view: RequestView) -> Identity:
        """``session_id``, or the affinity header."""
        return Identity(headers.get("session_id") or headers.get("x-session-affinity"))

    def is_subagent(self, headers: Headers, view: RequestView) -> bool:
        """The sub-agent extension begins the task with ``Task: `` and appends the agent's own prompt."""
        message = first_user(view)
        return message is not None and message.text.startswith("Task: ") and "<addendum>" in preamble(view)
