"""Gemini CLI: no ids; its routing, its checks and its compaction are known by their texts."""

from __future__ import annotations

from memory.session import Patience, RequestKind
from proxy.runtimes.runtime import Headers, RequestPurpose, Runtime, SideRequestSign
from proxy.wire.dialect import RequestView


class GeminiCli(Runtime):
    """Gemini CLI, over Gemini's own format. Its sessions are found by their trail."""

    name = "gemini-cli"
    offers_tools = True
    # It compacts at half of the window by the usage that is reported, unless model.compressionThreshold says more.
    patience = Patience(share=0.5)
    signs = (
        SideRequestSign(RequestKind.SIDE, False, system="You are a specialized Task Routing AI", tools=False),
        SideRequestSign(
            RequestKind.SIDE, True, last="Analyze *only* the content and structure of your immediately preceding"
        ),
        SideRequestSign(RequestKind.SIDE, False, system="You are an expert code-editing assistant", tools=False),
        SideRequestSign(RequestKind.SIDE, False, first="Summarize the user's primary intent", tools=False),
        SideRequestSign(RequestKind.SIDE, False, first="Summarize the following tool output", tools=False),
        SideRequestSign(
            RequestKind.COMPACTION, True, system="You are a specialized system component responsible for distilling"
        ),
        SideRequestSign(RequestKind.COMPACTION, True, last="First, reason in your scratchpad. Then, generate the"),
    )

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By its user agent."""
        return headers.get("user-agent", "").startswith("GeminiCLI")

    def own_kind(self, headers: Headers, view: RequestView) -> RequestPurpose | None:
        """Its searches and fetches are asked with Google's own tools and none of its functions."""
        tools = view.conversation.tools
        served = {"googleSearch", "google_search", "urlContext", "url_context"}
        return RequestPurpose(RequestKind.SIDE, False) if tools and set(tools) <= served else None

    def is_subagent(self, headers: Headers, view: RequestView) -> bool:
        """An agent that it invokes has a tool to say that it is done."""
        return "complete_task" in view.conversation.tools
