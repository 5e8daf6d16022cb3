"""Message parts as JSON, for a store."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import orjson

from memory.conversation import Image, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, encodable

LARGE = 2**20
"""Size of a message from which on it is written and read in a way that survives a lack of memory."""


def pack(parts: Iterable[Part]) -> bytes:
    """Parts as JSON, for a store; :func:`unpack` is the inverse."""
    packed = [_packed(part) for part in parts]
    if _characters(packed) < LARGE:
        return orjson.dumps(packed)
    # The same bytes, more slowly: where memory runs out, this raises an error and orjson ends the process.
    return json.dumps(packed, ensure_ascii=False, separators=(",", ":")).encode()


def unpack(data: bytes) -> tuple[Part, ...]:
    """Parts out of what :func:`pack` made.

    Raises:
        ValueError: when the data is not of that form.
    """
    try:
        items = orjson.loads(data) if len(data) < LARGE else json.loads(data)
        return tuple(_unpacked(item) for item in items)
    except (KeyError, IndexError, TypeError, orjson.JSONDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"not packed message parts: {error}") from error


def _packed(part: Part) -> list[Any]:
    match part:
        case Text(text):
            return ["text", encodable(text)]
        case Image(source):
            return ["image", encodable(source)]
        case Reasoning(text, signature):
            return ["reasoning", encodable(text), encodable(signature)]
        case ToolCall(id, name, arguments):
            return ["call", encodable(id), encodable(name), encodable(arguments)]
        case ToolResult(call_id, content, failed):
            return ["result", encodable(call_id), failed, [_packed(inner) for inner in content]]
        case Opaque(kind, raw):
            return ["opaque", encodable(kind), encodable(raw)]


def _characters(packed: list[Any]) -> int:
    texts = (each for each in packed if not isinstance(each, bool))
    return sum(_characters(each) if isinstance(each, list) else len(each) for each in texts)


def _unpacked(item: list[Any]) -> Part:
    match item:
        case ["text", text]:
            return Text(text)
        case ["image", source]:
            return Image(source)
        case ["reasoning", text, signature]:
            return Reasoning(text, signature)
        case ["call", id, name, arguments]:
            return ToolCall(id, name, arguments)
        case ["result", call_id, failed, content]:
            inner = tuple(_unpacked(each) for each in content)
            return ToolResult(call_id, tuple(p for p in inner if isinstance(p, Text | Image | Opaque)), failed)
        case ["opaque", kind, raw]:
            return Opaque(kind, raw)
    raise ValueError(f"unknown packed part {item[:1]!r}")
