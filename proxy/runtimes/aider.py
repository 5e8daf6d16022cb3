"""aider: no ids, no tools; commit messages and history summaries are asked for beside the chat."""

from __future__ import annotations

from memory.session import RequestKind
from proxy.runtimes.runtime import Headers, Runtime, SideRequestSign, preamble
from proxy.wire.dialect import RequestView

_PROMPTS = ("*SEARCH/REPLACE block*", "add them to the chat", "added these files to the chat", "aider")


class Aider(Runtime):
    """aider through litellm: known by its texts, for its user agent is the SDK's."""

    name = "aider"
    signs = (
        SideRequestSign(RequestKind.SIDE, False, system="one-line Git commit messages"),
        SideRequestSign(RequestKind.COMPACTION, False, system="*Briefly* summarize this partial conversation"),
        SideRequestSign(RequestKind.COMPACTION, False, first="*Briefly* summarize this partial conversation"),
    )

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By a system prompt of its own, or by its side requests'."""
        if view.conversation.tools:
            return False
        opening = preamble(view)
        if "one-line Git commit messages" in opening or "*Briefly* summarize this partial" in opening:
            return True
        texts = [opening, *(message.text for message in view.conversation.messages[:12])]
        return any("I switched to a new code base. Please don't consider" in text for text in texts) or (
            opening.startswith("Act as an expert") and any(mark in text for text in texts for mark in _PROMPTS)
        )
