"""The rules of a Chat Completions body: who may speak, and that every tool call has its answer."""

from __future__ import annotations

from typing import Any

from proxy.wire.lenient_json import dict_in, is_json, list_in, loads, str_in

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def broken(body: bytes) -> list[str]:
    """The rules that the body breaks."""
    value = loads(body)
    if not isinstance(value, dict):
        return ["The body is not a JSON object."]
    messages = value.get("messages")
    if not isinstance(messages, list) or not messages:
        return ["There are no messages."]
    found: list[str] = []
    waiting: dict[str, int] = {}
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            found.append(f"Message {index} is not an object.")
            continue
        role = str_in(message, "role")
        if role not in _ROLES:
            found.append(f"Message {index} has the unknown role {role!r}.")
        if role == "tool":
            id = str_in(message, "tool_call_id")
            if waiting.pop(id, None) is None:
                found.append(f"Message {index} answers the tool call {id!r}, which nobody waits for.")
        elif waiting:
            found += _unanswered(waiting)
            waiting = {}
        if role == "assistant" and ("tool_calls" in message or "function_call" in message):
            for call in list_in(message, "tool_calls"):
                id = str_in(call, "id") if isinstance(call, dict) else ""
                if id in waiting:
                    found.append(f"Message {index} makes the tool call {id!r} twice.")
                waiting[id] = index
            found += _argument_faults(index, message)
        if not isinstance(message.get("content"), str):
            found += _content(index, role, message)
    return found + _unanswered(waiting)


def _unanswered(waiting: dict[str, int]) -> list[str]:
    return [f"The tool call {id!r} of message {index} has no answer." for id, index in waiting.items()]


def _argument_faults(index: int, message: dict[str, Any]) -> list[str]:
    """A function's arguments are JSON in a string; some clients send none of them as an empty one."""
    calls = [call for call in list_in(message, "tool_calls") if isinstance(call, dict)]
    found = []
    for id, function in [
        *((str_in(call, "id"), dict_in(call, "function")) for call in calls),
        ("", dict_in(message, "function_call")),
    ]:
        given = str_in(function, "arguments")
        if given.strip() and not is_json(given):
            found.append(f"The arguments of the tool call {id!r} of message {index} are not JSON.")
    return found


def _content(index: int, role: str, message: dict[str, Any]) -> list[str]:
    content = message.get("content")
    if content is None:
        if role == "assistant" and any(message.get(key) for key in ("tool_calls", "function_call", "refusal", "audio")):
            return []
        return [f"Message {index} has no content."]
    if not isinstance(content, list):
        return [f"The content of message {index} is neither text nor a list."]
    if not content:
        return [f"The content of message {index} is empty."]
    found = []
    for place, part in enumerate(content):
        if not isinstance(part, dict) or not str_in(part, "type"):
            found.append(f"Part {place} of message {index} has no type.")
        elif part["type"] == "text" and not isinstance(part.get("text"), str):
            found.append(f"Part {place} of message {index} is a text without text.")
    return found
