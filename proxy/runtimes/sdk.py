"""Applications on an SDK: openai-agents, deepagents, the AI SDK, the plain client libraries.

They send no ids unless the application sets the headers that every client may set, so that their sessions are
found by their trail. They are told apart only for the log.
"""

from __future__ import annotations

from memory.session import RequestKind
from proxy.runtimes.runtime import Headers, Runtime, SideRequestSign
from proxy.wire.dialect import RequestView

_AGENTS = {
    "Agents/": "openai-agents",
    "pydantic-ai/": "pydantic-ai",
    "langchain": "langchain",
    "ai-sdk": "ai-sdk",
    "ai/": "ai-sdk",
    "OpenAI/": "openai-sdk",
    "AsyncOpenAI/": "openai-sdk",
    "Anthropic/": "anthropic-sdk",
    "AsyncAnthropic/": "anthropic-sdk",
    "curl/": "curl",
}


class Sdk(Runtime):
    """An application on one of the SDKs."""

    signs = (SideRequestSign(RequestKind.COMPACTION, False, first="<role>\nContext Extraction Assistant", tools=False),)

    def __init__(self, name: str, opening: str) -> None:
        self.name = name
        self._opening = opening

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By its user agent."""
        return headers.get("user-agent", "").startswith(self._opening)


SDKS = tuple(Sdk(name, opening) for opening, name in _AGENTS.items())
