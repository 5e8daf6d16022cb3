"""Views for tests: a request as a runtime sees it, built from a few words."""

from __future__ import annotations

from typing import Any

import msgspec

from memory.conversation import Conversation, Message, Part, Role, Text, ToolResult, digest
from proxy.runtimes import user_text
from proxy.wire.dialect import RequestView

Said = tuple[str, str | list[str]]


def view(
    *said: Said,
    system: str = "",
    tools: tuple[str, ...] = ("read", "bash"),
    items: list[dict[str, Any]] | None = None,
    **fields: Any,
) -> RequestView:
    """A view of messages given as (role, text) or (role, [text part, text part])."""
    messages = []
    for role, texts in said:
        parts: tuple[Part, ...] = tuple(Text(text) for text in ([texts] if isinstance(texts, str) else texts))
        if role == "tool":
            parts = (ToolResult("call_1", tuple(Text(part.text) for part in parts if isinstance(part, Text))),)
        words = "\n".join(filter(None, (user_text(part.text) for part in parts if isinstance(part, Text))))
        messages.append(Message(Role(role), parts, digest(Role(role), parts), words if role == "user" else ""))
    raw = [msgspec.Raw(msgspec.json.encode(item)) for item in items or [{"role": role} for role, _ in said]]
    return RequestView(
        body=b"{}",
        conversation=Conversation("openai-chat", "a-model", tuple(messages), instructions=system, tools=tools),
        fields={key: msgspec.Raw(msgspec.json.encode(value)) for key, value in fields.items()},
        items=raw,
    )
