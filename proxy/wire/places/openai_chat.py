"""Where the parts of a Chat Completions message stand."""

from __future__ import annotations

import msgspec

from proxy.wire.places.place import Fields, PartNames, Place, arguments, free, in_content, result, sealed
from proxy.wire.slices import fields_of, is_object, items_of, string_of, value_of

_WORDS = PartNames("text", frozenset({"text"}), frozenset({"image_url", "file", "input_audio"}))


def places_of(message: msgspec.Raw) -> list[Place | None]:
    """One place for each part of a message, in their order."""
    fields = fields_of(message)
    role = string_of(fields.get("role"))
    if sealed(fields):
        return []
    if role in ("tool", "function"):
        return [result(fields.get("content"), _WORDS)]
    if role != "assistant":
        return in_content(fields.get("content"), _WORDS)
    reasons = bool(string_of(fields.get("reasoning_content")) or string_of(fields.get("reasoning")))
    extras = sum(1 for kind in ("refusal", "audio", "reasoning_details") if value_of(fields.get(kind)))
    places: list[Place | None] = [None] * reasons
    places += in_content(fields.get("content"), _WORDS)
    places += [None] * extras
    places += [_of_call(fields_of(call)) for call in items_of(fields.get("tool_calls"))]
    if is_object(fields.get("function_call")):
        places.append(arguments(fields_of(fields["function_call"]).get("arguments")))
    return places


def _of_call(call: Fields) -> Place | None:
    custom, function = fields_of(call.get("custom")), fields_of(call.get("function"))
    if sealed(call) or sealed(function) or sealed(custom):
        return None
    return free(custom.get("input")) if custom else arguments(function.get("arguments"))
