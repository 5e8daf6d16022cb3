"""The rules of a body of Ollama's chat: who speaks, texts that are texts, and arguments that are objects."""

from __future__ import annotations

from typing import Any

from proxy.wire.lenient_json import dict_in, list_in, loads, str_in

_ROLES = ("system", "user", "assistant", "tool")


def broken(body: bytes) -> list[str]:
    """The rules that the body breaks."""
    value = loads(body)
    if not isinstance(value, dict):
        return ["The body is not a JSON object."]
    messages = value.get("messages")
    if not isinstance(messages, list) or not messages:
        return ["There are no messages."]
    return [sentence for index, message in enumerate(messages) for sentence in _message(index, message)]


def _message(index: int, message: Any) -> list[str]:
    if not isinstance(message, dict):
        return [f"Message {index} is not an object."]
    found = []
    if str_in(message, "role") not in _ROLES:
        found.append(f"Message {index} has the unknown role {str_in(message, 'role')!r}.")
    if not isinstance(message.get("content", ""), str | None):
        found.append(f"The content of message {index} is no text.")
    calls = [dict_in(call, "function") for call in list_in(message, "tool_calls") if isinstance(call, dict)]
    if any(not isinstance(call.get("arguments", {}), dict) for call in calls):
        found.append(f"A call of message {index} has arguments that are no object.")
    return found
