"""Qwen Code: no ids at all; its own memory, its suggestions and its two compactions are known by their texts."""

from __future__ import annotations

from memory.session import Patience, RequestKind
from proxy.runtimes.runtime import Headers, Runtime, SideRequestSign, preamble
from proxy.wire.dialect import RequestView


class QwenCode(Runtime):
    """Qwen Code. Its sessions are found by their trail."""

    name = "qwen-code"
    offers_tools = True
    patience = Patience(share=0.85, free=33_000)
    signs = (
        SideRequestSign(RequestKind.SIDE, True, system="You are now acting as the managed memory extraction subagent"),
        SideRequestSign(RequestKind.SIDE, True, last="[SUGGESTION MODE:"),
        SideRequestSign(RequestKind.COMPACTION, True, last="You are the component that summarizes a conversation"),
        # Where that gives no summary it asks once more, with a system prompt of its own before the same history.
        SideRequestSign(RequestKind.COMPACTION, True, system="You are the component that summarizes", tools=False),
        SideRequestSign(RequestKind.COMPACTION, True, system="<state_snapshot>", tools=False),
    )

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By its user agent."""
        return headers.get("user-agent", "").startswith("QwenCode/")

    def is_subagent(self, headers: Headers, view: RequestView) -> bool:
        """By what is added to every sub-agent's system prompt."""
        opening = preamble(view)
        return (
            "subagent working for a parent agent" in opening or "Agent threads always have their cwd reset" in opening
        )
