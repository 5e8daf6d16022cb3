"""What a reply of Ollama's chat says: one object, or a line for each piece of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory.conversation import Part, Reasoning, Reply, Text, ToolCall, Usage
from proxy.wire.lenient_json import dict_in, dump, int_in, list_in, loads, str_in


def of_document(data: bytes) -> Reply:
    """The reply in a whole document."""
    return _heard([data])


def of_lines(chunks: Sequence[bytes]) -> Reply:
    """The reply in a stream of lines."""
    return _heard(b"".join(chunks).splitlines())


def _heard(lines: Sequence[bytes]) -> Reply:
    fields: dict[str, list[str]] = {"thinking": [], "content": []}
    calls: list[ToolCall] = []
    last: dict[str, Any] = {}
    failed = False
    for line in lines:
        value = loads(line) if line.strip() else None
        if not isinstance(value, dict):
            continue
        failed = failed or bool(value.get("error"))
        message = dict_in(value, "message")
        for name, texts in fields.items():
            texts.append(str_in(message, name))
        calls += [_call(call) for call in list_in(message, "tool_calls") if isinstance(call, dict)]
        last = value if value.get("done") is True else last
    thought, text = ("".join(texts) for texts in fields.values())
    parts: list[Part] = [*([Reasoning(thought)] if thought else []), *([Text(text)] if text else []), *calls]
    counted = "eval_count" in last or "prompt_eval_count" in last
    usage = Usage(int_in(last, "prompt_eval_count"), int_in(last, "eval_count")) if counted else None
    return Reply(tuple(parts), str_in(last, "done_reason"), usage, bool(last) and not failed)


def _call(call: dict[str, Any]) -> ToolCall:
    function = dict_in(call, "function")
    name = str_in(function, "name")
    return ToolCall(str_in(call, "id") or name, name, dump(function.get("arguments") or {}))
