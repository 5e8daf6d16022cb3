"""What clients were recorded to send, read back from ``tests/data/requests``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson

from proxy.runtimes import user_text
from proxy.wire import dialect_of
from proxy.wire.dialect import Dialect, RequestView
from tests.e2e.clients import CLIENTS
from tests.e2e.recorded import REQUESTS
from tests.e2e.script import messages_of

RECORDED = sorted(file.stem for file in REQUESTS.glob("*.json"))
"""The clients that were recorded."""
NAMES = {
    "claude": "claude-code",
    "qwen": "qwen-code",
    "copilot": "copilot-cli",
    "gemini": "gemini-cli",
    "cn": "continue",
    "openai-agents-chat": "openai-agents",
    "pydantic-ai-responses": "pydantic-ai",
    "pydantic-ai-messages": "pydantic-ai",
    "langgraph": "openai-sdk",  # its models are asked by OpenAI's client, and nothing else tells it
    "deepagents": "langchain",
}
"""What the proxy calls a client, where that is another name than its package's."""
SIGNED = "[step-"
"""What a prompt names its step with; nothing but a turn has it, and tools."""


class Request:
    """One request of a client's, as it was recorded."""

    def __init__(self, client: str, recorded: Mapping[str, Any]) -> None:
        self._has_tools = CLIENTS[client].tools
        self.path: str = recorded["path"]
        self.headers: dict[str, str] = recorded["headers"]
        self.body: dict[str, Any] = recorded["body"]
        self.sent = orjson.dumps(self.body)

    @property
    def turn(self) -> bool:
        """Whether a person or an agent said what it answers."""
        # A client that has no tools streams its turns, and no title.
        may = self.body.get("tools") if self._has_tools else self.body.get("stream")
        return bool(may) and SIGNED in self.sent.decode()

    @property
    def dialect(self) -> Dialect:
        dialect = dialect_of(self.path.partition("?")[0])
        assert dialect is not None
        return dialect

    @property
    def view(self) -> RequestView:
        return self.dialect.read(self.sent, user_text)

    def holding(self, mark: str, body: Mapping[str, Any] | None = None) -> list[int]:
        """Which of its messages hold something."""
        messages = messages_of(body or self.body)
        return [at for at, message in enumerate(messages) if mark in json.dumps(message)]


def recorded(client: str) -> list[Request]:
    """A client's session, in order."""
    told = json.loads((REQUESTS / f"{client}.json").read_text(encoding="utf-8"))
    return [Request(client, one) for one in told["requests"]]
