"""aider: no ids, no tools; commit messages and history summaries are asked for beside the chat."""

from __future__ import annotations

from memory.session import RequestKind
from proxy.runtimes.runtime import Headers, Runtime, Sign, preamble
from proxy.wire.dialect import View

_PROMPTS = ("*SEARCH/REPLACE block*", "add them to the chat", "added these files to the chat", "aider")


class Aider(Runtime):
    """aider through litellm: known by its texts, for its user agent is the SDK's."""

    name = "aider"
    signs = (
        Sign(RequestKind.SIDE, False, system="one-line Git commit messages"),
        Sign(RequestKind.COMPACTION, False, system="*Briefly* summarize this partial conversation"),
        Sign(RequestKind.COMPACTION, False, first="*Briefly* summarize this partial conversation"),
    )

    def recognises(self, headers: Headers, view: View) -> bool:
        """By a system prompt of its own, or by its side requests'."""
        if view.conversation.tools:
            return False
        told = preamble(view)
        if "one-line Git commit messages" in told or "*Briefly* summarize this partial" in told:
            return True
        texts = [told, *(message.text for message in view.conversation.messages[:12])]
        return any("I switched to a new code base. Please don't consider" in text for text in texts) or (
            told.startswith("Act as an expert") and any(mark in text for text in texts for mark in _PROMPTS)
        )
