"""The rules of a body of Gemini's format: turns of parts that say one thing each, and as many answers as calls."""

from __future__ import annotations

from typing import Any

from proxy.wire.lenient_json import loads, str_in

_ROLES = ("", "user", "model", "function", "system")
_SAYS = (
    *("text", "inlineData", "inline_data", "fileData", "file_data", "functionCall", "function_call"),
    *("functionResponse", "function_response", "executableCode", "executable_code"),
    *("codeExecutionResult", "code_execution_result", "toolCall", "tool_call", "toolResponse", "tool_response"),
)
"""What a part can say; another key stands beside one of these."""


def broken(body: bytes) -> list[str]:
    """The rules that the body breaks."""
    value = loads(body)
    if not isinstance(value, dict):
        return ["The body is not a JSON object."]
    contents = value.get("contents")
    if not isinstance(contents, list) or not contents:
        return ["There are no contents."]
    found: list[str] = []
    waiting: list[str] | None = None
    for index, content in enumerate(contents):
        if not isinstance(content, dict):
            found.append(f"Message {index} is not an object.")
            continue
        role = str_in(content, "role")
        if role not in _ROLES:
            found.append(f"Message {index} has the unknown role {role!r}.")
        if index == 0 and role == "model":
            found.append("The first message is not the user's.")
        parts = content.get("parts")
        if not isinstance(parts, list) or not parts:
            found.append(f"Message {index} has no parts.")
            parts = []
        known = [part for part in parts if isinstance(part, dict)]
        found += _parts(index, parts)
        calls = [_called_name(part, "functionCall", "function_call") for part in known]
        answers = [_called_name(part, "functionResponse", "function_response") for part in known]
        found += _unanswered_calls(waiting, [name for name in answers if name is not None])
        waiting = [name for name in calls if name is not None]
    return found + _unanswered_calls(waiting, [])


def _parts(index: int, parts: list[Any]) -> list[str]:
    found = []
    for place, part in enumerate(parts):
        if not isinstance(part, dict):
            found.append(f"Part {place} of message {index} is not an object.")
        elif sum(part.get(name) is not None for name in _SAYS) > 1:
            found.append(f"Part {place} of message {index} says several things.")
        elif "text" in part and not isinstance(part["text"], str):
            found.append(f"Part {place} of message {index} is a text without text.")
        elif any(name in part and not isinstance(part[name], dict) for name in ("functionCall", "functionResponse")):
            found.append(f"Part {place} of message {index} is no object of its kind.")
    return found


def _called_name(part: dict[str, Any], *spellings: str) -> str | None:
    """What the function is called that a part calls or answers; None where it does neither."""
    inner = next((part[name] for name in spellings if isinstance(part.get(name), dict)), None)
    return None if inner is None else str_in(inner, "name")


def _unanswered_calls(waiting: list[str] | None, answers: list[str]) -> list[str]:
    """A turn's calls are answered in the very next one, each once."""
    if sorted(waiting or ()) == sorted(answers):
        return []
    if answers and not waiting:
        return ["A response answers no call of the turn before."]
    return ["The calls of a turn do not have as many responses in the next."]
