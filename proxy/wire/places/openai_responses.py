"""Where the parts of an item of the Responses format stand."""

from __future__ import annotations

import msgspec
import orjson

from proxy.wire.parts.openai_responses import kind_of
from proxy.wire.places.place import PartNames, Place, Swap, arguments, free, in_content, result, sealed
from proxy.wire.slices import fields_of, is_string, string_of

_TEXTS = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})
_SENT = PartNames("input_text", _TEXTS, frozenset({"input_image", "input_file", "input_audio"}))
_ANSWERED = PartNames("output_text", _TEXTS, frozenset())


def places_of(item: msgspec.Raw) -> list[Place | None]:
    """One place for each part of an item, in their order."""
    fields = fields_of(item)
    if sealed(fields):
        return []
    match kind_of(fields):
        case "message":
            answered = string_of(fields.get("role")) == "assistant"
            return in_content(fields.get("content"), _ANSWERED if answered else _SENT)
        case "function_call":
            return [arguments(fields.get("arguments"))]
        case "custom_tool_call":
            return [free(fields.get("input"))]
        case "function_call_output" | "custom_tool_call_output":
            return [result(fields.get("output"), _SENT)]
        case "local_shell_call_output":
            return [_shell(fields.get("output"))]
    return []


def _shell(output: msgspec.Raw | None) -> Place | None:
    """The server's own shell tool reads its output, JSON in a string: what was JSON stays JSON."""
    inside = free(output)
    if inside is None or not is_string(output) or not _is_json(string_of(output)):
        return inside

    def place(text: str) -> list[Swap]:
        return list(inside(text)) if _is_json(text) else []

    return place


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True
