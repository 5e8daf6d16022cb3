"""The rules of a Responses body: calls and outputs belong together, and reasoning stands before what it led to."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from proxy.wire.lenient_json import is_json, loads, str_in

_ROLES = ("system", "developer", "user", "assistant")


def broken(body: bytes) -> list[str]:
    """The rules that the body breaks."""
    value = loads(body)
    if not isinstance(value, dict):
        return ["The body is not a JSON object."]
    items = value.get("input")
    if isinstance(items, str):
        return [] if items else ["The input is empty."]
    if not isinstance(items, list):
        return ["There is no input."]
    held = bool(value.get("previous_response_id") or value.get("conversation"))
    if not items and not held:
        return ["The input is empty."]
    found: list[str] = []
    for index, item in enumerate(items):
        if isinstance(item, dict):
            found += _message(index, item)
        else:
            found.append(f"Item {index} is not an object.")
    known = [item for item in items if isinstance(item, dict)]
    return found + _repeated(known) + _pair_faults(known, held) + _reasoning(known)


def _kind(item: dict[str, Any]) -> str:
    return str_in(item, "type") or ("message" if "role" in item else "")


def _message(index: int, item: dict[str, Any]) -> list[str]:
    kind = _kind(item)
    if not kind:
        return [f"Item {index} has no type."]
    if kind == "message":
        if str_in(item, "role") not in _ROLES:
            return [f"Item {index} has the unknown role {str_in(item, 'role')!r}."]
        return _content(index, item.get("content"))
    if kind == "function_call":
        given = str_in(item, "arguments")
        if given.strip() and not is_json(given):
            return [f"The arguments of the call {str_in(item, 'call_id')!r} are not JSON."]
    if kind in ("function_call_output", "custom_tool_call_output"):
        output = item.get("output")
        return [] if isinstance(output, str) else _content(index, output)
    return []


def _content(index: int, content: Any) -> list[str]:
    if isinstance(content, str):
        return []
    if not isinstance(content, list):
        return [f"The content of item {index} is neither text nor a list."]
    if not content:
        return [f"The content of item {index} is empty."]
    found = []
    for place, part in enumerate(content):
        if not isinstance(part, dict) or not str_in(part, "type"):
            found.append(f"Part {place} of item {index} has no type.")
        elif part["type"] in ("input_text", "output_text") and not isinstance(part.get("text"), str):
            found.append(f"Part {place} of item {index} is a text without text.")
    return found


def _repeated(items: list[dict[str, Any]]) -> list[str]:
    found = []
    seen: set[str] = set()
    for item in items:
        id = str_in(item, "id")
        if id and id in seen and _kind(item) != "item_reference":
            found.append(f"The id {id!r} stands twice.")
        seen.add(id)
    return found


def _pair_faults(items: list[dict[str, Any]], held: bool) -> list[str]:
    """Every output has its call before it, every call its output behind it; what the server holds, a history or an
    item that is only named, may be the call."""
    found = []
    open_calls: dict[str, None] = {}
    for item in items:
        kind, id = _kind(item), str_in(item, "call_id")
        if kind == "local_shell_call_output":
            id = id or str_in(item, "id")
        held = held or kind == "item_reference"
        if not id:
            continue
        if kind.endswith("_output"):
            if id in open_calls:
                del open_calls[id]
            elif not held:
                found.append(f"The output for {id!r} has no call before it.")
        elif kind.endswith("_call"):
            if id in open_calls:
                found.append(f"The call {id!r} stands twice.")
            open_calls[id] = None
    return found + [f"The call {id!r} has no output." for id in open_calls]


def _reasoning(items: list[dict[str, Any]]) -> list[str]:
    found = []
    for item, following in zip_longest(items, items[1:]):
        if item is None or _kind(item) != "reasoning":
            continue
        if following is None or not _from_model(following):
            found.append(f"The reasoning {str_in(item, 'id')!r} stands without the item that it led to.")
    return found


def _from_model(item: dict[str, Any]) -> bool:
    kind = _kind(item)
    if kind == "message":
        return str_in(item, "role") == "assistant"
    return not kind.endswith("_output")
