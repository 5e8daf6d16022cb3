"""Clients without ids, whose user agent is often a library's: each is known by a name or a phrase in its prompts."""

from __future__ import annotations

from memory.session import Patience, RequestKind
from proxy.runtimes.runtime import Headers, RequestPurpose, Runtime, SideRequestSign, preamble
from proxy.wire.dialect import RequestView

_COMMITS = "You are an expert software engineer that generates concise, one-line Git commit"
_SUMMARIZES = "*Briefly* summarize this partial conversation"
_PROMPTS = ("*SEARCH/REPLACE block*", "add them to the chat", "added these files to the chat", "aider")


class Aider(Runtime):
    """aider through litellm: known by its texts, for its user agent is the SDK's."""

    name = "aider"
    signs = (
        SideRequestSign(RequestKind.SIDE, False, system=_COMMITS, tools=False),
        SideRequestSign(RequestKind.COMPACTION, False, system=_SUMMARIZES, tools=False),
        SideRequestSign(RequestKind.COMPACTION, False, first=_SUMMARIZES, tools=False),
    )

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By a system prompt of its own, or by its side requests'."""
        if view.conversation.tools:
            return False
        opening = preamble(view)
        if opening.startswith((_COMMITS, _SUMMARIZES)):
            return True
        texts = [opening, *(message.text for message in view.conversation.messages[:12])]
        whole = "\0".join(texts)
        return "I switched to a new code base. Please don't consider" in whole or (
            opening.startswith("Act as an expert") and any(mark in whole for mark in _PROMPTS)
        )


class ContinueCli(Runtime):
    """Continue's `cn`. Its sessions are found by their trail."""

    name = "continue"
    offers_tools = True

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By the name that its system prompt gives itself."""
        return "an agent in the Continue CLI" in preamble(view)[:2000]


class CopilotCli(Runtime):
    """Copilot CLI with an own key, over whichever format it is told to speak. Its sessions are found by their trail."""

    name = "copilot-cli"
    offers_tools = True
    patience = Patience(share=0.8)
    signs = (
        SideRequestSign(
            RequestKind.COMPACTION,
            True,
            last="Please create a detailed summary of the conversation so far. The history is being compacted",
        ),
    )

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By the name that its system prompt gives itself, or the header that only it sends."""
        return "x-interaction-type" in headers or "You are the GitHub Copilot CLI" in preamble(view)[:2000]

    def own_kind(self, headers: Headers, view: RequestView) -> RequestPurpose | None:
        """By the header that says what a request is for."""
        compacts = headers.get("x-interaction-type", "") == "conversation-compaction"
        return RequestPurpose(RequestKind.COMPACTION, True) if compacts else None

    def is_subagent(self, headers: Headers, view: RequestView) -> bool:
        """By the same header."""
        return headers.get("x-interaction-type", "") == "conversation-subagent"


class Crush(Runtime):
    """Crush. Its sessions are found by their trail; it summarizes by the usage that is reported."""

    name = "crush"
    offers_tools = True
    patience = Patience(share=0.8, free=20_000)

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By its user agent, or its system prompt."""
        return "crush" in headers.get("user-agent", "").lower() or "You are Crush" in preamble(view)[:2000]


class Zed(Runtime):
    """Zed's own agent. Its sessions are found by their trail; a sub-agent of it has the prompt of its parent."""

    name = "zed"
    offers_tools = True
    signs = (
        SideRequestSign(
            RequestKind.COMPACTION, True, last="Your task is to create a detailed summary of the conversation"
        ),
        SideRequestSign(RequestKind.SIDE, True, last="Generate a concise 3-7 word title for this conversation"),
    )

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By its user agent, or the name that its system prompt gives itself."""
        return (
            headers.get("user-agent", "").startswith("Zed/") or "You are the Zed coding agent" in preamble(view)[:2000]
        )


class Cline(Runtime):
    """Cline. A sub-agent's system prompt is whatever its parent wrote, so that it is known by its trail only."""

    name = "cline"
    offers_tools = True
    signs = (SideRequestSign(RequestKind.COMPACTION, False, first="<conversation>", tools=False),)

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By the name that its system prompt gives itself."""
        return "You are Cline" in preamble(view)[:2000]
